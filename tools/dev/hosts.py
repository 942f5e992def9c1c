#!/usr/bin/env python3
"""Several hosts on this machine, to start real jobs of several nodes on.

usage: hosts.py N [--slots S] [--] COMMAND [ARGUMENTS]   run COMMAND with hosts h1 .. hN
       hosts.py --check                                  exit 77 with a line when this machine cannot

Each host is a set of namespaces with a name, a network address, IPC, /tmp and /dev/shm of its own,
joined by a bridge. COMMAND runs on one more, the launch node, with

    TEST_HOSTFILE   a file with a line "hI slots=S" per host (S: 2 unless --slots says otherwise)
    PATH               in front a stand-in for ssh, so `ssh h1 command` works
    and what makes mpirun, prterun and mpiexec.hydra use it

so `oshrun --hostfile $TEST_HOSTFILE -n 4 ./program` starts PEs on the hosts. Of /tmp and /dev/shm they see this tree and
the folder that COMMAND starts in; a word of COMMAND that names something else there is refused. Root is not needed where
user namespaces are allowed. All processes live in one pid namespace that ends with COMMAND or with this
script, however it dies, and all files lie in memory of that namespace: nothing is left.
"""
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = "/tmp/lateral-hosts"                      # on every host; in a tmpfs that dies with the namespaces
HIDDEN = ("/tmp/", "/dev/shm/")                  # each host has its own
MAX_HOSTS = 1000
LAUNCH_ADDRESS = "10.99.255.254"
SKIP = 77


def say(text):
    print("hosts:", text, file=sys.stderr, flush=True)


def address(number):
    return f"10.99.{number // 250}.{number % 250 + 1}"


# ------------------------------------------------------------------------- outside the namespaces

def refusal():
    """Why no hosts can be made here, and the flags for unshare when they can."""
    missing = [tool for tool in ("unshare", "nsenter", "mount", "hostname", "ip") if not shutil.which(tool)]
    if missing:
        return f"{' and '.join(missing)} missing (Debian: util-linux, mount, hostname, iproute2)", None
    why = "?"
    for user in ([], ["-Ur"]) if os.geteuid() == 0 else (["-Ur"],):
        flags = [*user, "-n", "-m", "-u", "-i", "-p", "-f", "--kill-child", "--mount-proc"]
        probe = "mount -t tmpfs none /tmp && ip link add name br0 type bridge && ip link add v1 type veth peer name v2"
        done = subprocess.run(["unshare", *flags, "sh", "-c", probe], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return None, flags
        why = (done.stderr.strip().splitlines() or [f"unshare exits with {done.returncode}"])[-1]
    return f"namespaces are not allowed here: {why}", None


def enter(argv):
    why, flags = refusal()
    if why:
        say(why)
        return SKIP
    os.execvp("unshare", ["unshare", *flags, sys.executable, "-B", __file__, "--inside", *argv])


# -------------------------------------------------------------------------- inside, as process 1

def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"hosts: {shlex.join(command)}: {done.stderr.strip()}")


def hidden_paths():
    """What a new /tmp would hide though the command needs it."""
    wanted = {str(ROOT), os.getcwd()}
    return sorted(path for path in wanted if path.startswith(HIDDEN))


def unseen(words):
    """A path among the words that is there now, and that no host would see."""
    for word in words:
        path = os.path.realpath(word.partition("=")[2] if word.startswith("-") else word)
        kept = any(pathlib.Path(path).is_relative_to(folder) for folder in hidden_paths())
        if os.path.isabs(word.partition("=")[2] or word) and path.startswith(HIDDEN) and os.path.exists(path) and not kept:
            return path
    return None


def cover(extra):
    """Shell lines that mount an own /tmp and /dev/shm and bring back in what must stay. A plain sh knows
    descriptors up to 9, and mount(8) without -c would look through the link to the new, empty place."""
    keep = [*hidden_paths(), *extra]
    lines = [f"exec {3 + i}<{shlex.quote(path)}" for i, path in enumerate(keep)]
    lines += ["mount -t tmpfs -o mode=1777 tmp /tmp", "mkdir -p /dev/shm", "mount -t tmpfs -o mode=1777 shm /dev/shm"]
    for i, path in enumerate(keep):
        lines += [f"mkdir -p {shlex.quote(path)}", f"mount -c --bind /proc/self/fd/{3 + i} {shlex.quote(path)}",
                  f"exec {3 + i}<&-"]
    return lines


def launch_node():
    """This process becomes the launch node: a bridge, /etc/hosts, and the folder that hosts share."""
    here = os.getcwd()
    keep = [(path, os.open(path, os.O_PATH)) for path in hidden_paths()]
    run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmp", "/tmp")
    for path, fd in keep:
        os.makedirs(path, exist_ok=True)
        run("mount", "-c", "--bind", f"/proc/{os.getpid()}/fd/{fd}", path)
        os.close(fd)
    os.chdir(here)
    os.makedirs(HOME + "/bin")
    socket.sethostname("launch")
    run("mount", "-t", "sysfs", "none", "/sys")
    run("ip", "-batch", "-", text="link set lo up\nlink add name br0 type bridge\n"
        f"addr add {LAUNCH_ADDRESS}/16 dev br0\nlink set br0 up\n")


def write_names(count, slots):
    names = [f"h{i}" for i in range(1, count + 1)]
    lines = ["127.0.0.1 localhost", f"{LAUNCH_ADDRESS} launch"]
    lines += [f"{address(i)} {name}" for i, name in enumerate(names, 1)]
    pathlib.Path(HOME, "hosts").write_text("\n".join(lines) + "\n", encoding="ascii")
    run("mount", "--bind", HOME + "/hosts", "/etc/hosts")
    pathlib.Path(HOME, "hostfile").write_text("".join(f"{name} slots={slots}\n" for name in names), encoding="ascii")
    return names


HOST = """
set -e
{cover}
mount -t sysfs none /sys
hostname {name}
echo ready
read -r go
ip -batch - <<'END'
link set lo up
addr add {address}/16 dev eth0
link set eth0 up
END
echo up
exec sleep infinity
"""


def start_hosts(names):
    """One process holds the namespaces of each host; its number is what the stand-in for ssh looks up."""
    hosts = []
    for i, name in enumerate(names, 1):
        script = HOST.format(name=name, address=address(i), cover="\n".join(cover([HOME])))
        hosts.append(subprocess.Popen(["unshare", "-n", "-u", "-m", "-i", "sh", "-c", script],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    expect(hosts, names, "ready")
    links = "".join(f"link add name v{i} type veth peer name eth0 netns {host.pid}\nlink set v{i} master br0 up\n"
                    for i, host in enumerate(hosts, 1))
    run("ip", "-batch", "-", text=links)
    for name, host in zip(names, hosts):
        pathlib.Path(HOME, "pid." + name).write_text(str(host.pid), encoding="ascii")
        host.stdin.write("go\n")
        host.stdin.close()
    expect(hosts, names, "up")
    return hosts


def expect(hosts, names, word):
    for name, host in zip(names, hosts):
        if host.stdout.readline() != word + "\n":
            raise SystemExit(f"hosts: {name} does not come up")


# Launchers send a shell line, so it goes through a shell. They expect what a login gives: a home, a bare
# environment.
SSH = r"""#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    -[bcDEeFIiJLlmOopQRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
host=${1##*@}
shift
[ -r HOME/pid.$host ] || host=$(awk -v a="$host" '$1 == a { print $2 }' /etc/hosts)
pid=$(cat "HOME/pid.$host" 2>/dev/null) && kill -0 "$pid" 2>/dev/null ||
    { echo "ssh: connect to host $host: No route to host" >&2; exit 255; }
exec nsenter -t "$pid" -n -u -m -i -- env -i HOME="$HOME" USER="${USER:-root}" LOGNAME="${USER:-root}" \
    SHELL=/bin/sh PATH="HOME/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    sh -c 'cd "${HOME:-/}" 2>/dev/null || cd /; exec sh -c "$1"' sh "$*"
"""


def write_ssh():
    path = pathlib.Path(HOME, "bin/ssh")
    path.write_text(SSH.replace("HOME/", HOME + "/"), encoding="ascii")
    path.chmod(0o755)
    return str(path)


def environment(names, ssh):
    out = dict(os.environ)
    root = {f"{who}_ALLOW_RUN_AS_ROOT{more}": "1" for who in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}
    out.update(root, TEST_HOSTFILE=HOME + "/hostfile",
               PATH=f"{HOME}/bin:{os.environ.get('PATH', '/usr/bin:/bin')}",
               OMPI_MCA_plm_rsh_agent=ssh, PRTE_MCA_plm_ssh_agent=ssh,
               HYDRA_LAUNCHER="ssh", HYDRA_LAUNCHER_EXEC=ssh)
    return out


def wait_for(child):
    """As process 1 this one is the parent of every orphan."""
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def inside(count, slots, command):
    launch_node()
    names = write_names(count, slots)
    env = environment(names, write_ssh())
    hosts = start_hosts(names)
    try:
        child = subprocess.Popen(command, env=env)
    except OSError as why:
        say(f"{command[0]}: {why.strerror}")
        return 127
    status = wait_for(child)
    del hosts
    return status


def number(text, what, most):
    if not text.isdigit() or not 1 <= int(text) <= most:
        say(f"{what} {text}: expected a number from 1 to {most}")
        sys.exit(2)
    return int(text)


def main(argv):
    within = argv[:1] == ["--inside"]
    argv = argv[within:]
    if argv == ["--check"]:
        why, _ = refusal()
        if why:
            say(why)
        return SKIP if why else 0
    given, slots = list(argv), 2
    if not argv or argv[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if argv else 2
    count = number(argv.pop(0), "number of hosts", MAX_HOSTS)
    if argv[:1] == ["--slots"] and len(argv) > 1:
        slots = number(argv[1], "--slots", 65536)
        argv = argv[2:]
    argv = argv[argv[:1] == ["--"]:]
    if not argv:
        say("no command given")
        return 2
    path = None if within else unseen(argv)
    if path:
        say(f"{path}: each host has a /tmp and a /dev/shm of its own, so none sees it; move it elsewhere, or start this in its folder")
        return 2
    return inside(count, slots, argv) if within else enter(given)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
