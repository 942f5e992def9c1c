"""Several hosts: they come up and go away, launchers start PEs on them, nodes find each other."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import harness
from harness import HOSTS, Skip, exchange, hydra, mpirun, needs, needs_hosts, on_hosts, oshrun, program, prterun, rows, run, whole_job


def state_of_machine():
    """What hosts could leave behind: links, mounts, files."""
    mounts = len(pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines())
    return sorted(os.listdir("/sys/class/net")), mounts, sorted(name for name in os.listdir("/tmp") if "lateral-hosts" in name)


def test_up_and_away():
    """Names, addresses, own namespaces; after the command nothing is left."""
    needs_hosts()
    before = state_of_machine()
    script = "for h in $(cut -d' ' -f1 \"$TEST_HOSTFILE\"); do ssh -x $h 'hostname; ls -l /proc/self/ns/ipc /proc/self/ns/net | cut -d: -f3; " \
             "getent hosts h1 h2 launch; ls /sys/class/net'; done; hostname; exit 9"
    result = on_hosts(3, "sh", "-c", script)
    assert result.status == 9, result
    words = result.out.split()
    assert words.count("launch") == 4 and all(words.count(name) >= 1 for name in ("h1", "h2", "h3")), result
    spaces = [word for word in words if word.startswith("[")]
    assert len(spaces) == 6 and len(set(spaces)) == 6, result
    assert words.count("eth0") == 3 and state_of_machine() == before, result


def test_kill():
    """Killed by SIGKILL: hosts and what runs there go too."""
    needs_hosts()
    before = state_of_machine()
    sleep = f"sleep {10**7 + os.getpid()}"
    script = f"ssh h2 '{sleep}' & until pgrep -fx '{sleep}' >/dev/null; do sleep 0.1; done; echo up; {sleep}"
    with subprocess.Popen([sys.executable, "-B", str(HOSTS), "2", "--", "sh", "-c", script], stdout=subprocess.PIPE) as job:
        assert job.stdout.readline() == b"up\n"
        job.send_signal(signal.SIGKILL)
        job.wait()
    end = time.monotonic() + 5
    while run("pgrep", "-f", sleep).out or state_of_machine() != before:
        assert time.monotonic() < end, "something is left"
        time.sleep(0.05)


def test_ordinary_user():
    """Not as root, where user namespaces are allowed."""
    needs_hosts()
    if os.geteuid() != 0:
        raise Skip("this is an ordinary user already: every other test is this one")
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", "HOME=/", "python3", "-B"]
    with tempfile.TemporaryDirectory(prefix="lateral-user.") as folder:
        os.chmod(folder, 0o755)
        copy = pathlib.Path(folder, "tools/dev/hosts.py")
        copy.parent.mkdir(parents=True)
        copy.write_bytes(HOSTS.read_bytes())
        probe = run(*user, copy, "--check")
        if probe.status:
            raise Skip(f"an ordinary user cannot make hosts: {probe.err.strip()}")
        os.chdir(folder)
        result = run(*user, copy, 2, "--", "sh", "-c", "ssh h1 hostname; ssh h2 hostname")
        os.chdir("/")
    assert (result.status, result.out) == (0, "h1\nh2\n"), result


def needs_launcher(launcher):
    needs_hosts()
    {"mpirun": mpirun, "prterun": prterun, "mpiexec.hydra": hydra}[launcher](1)     # or there is a word why not


def launched(launcher, pes, *words, hosts=2, slots=2, env=None, timeout=60):
    """oshrun, which hands over to the launcher of this name."""
    needs_launcher(launcher)
    return on_hosts(hosts, "sh", "-c", 'exec "$0" --hostfile $TEST_HOSTFILE "$@"', oshrun(), "-n", pes, *words,
                    slots=slots, env={"LATERAL_LAUNCHER": launcher} | (env or {}), timeout=timeout)


def exchanges(launcher):
    """oshrun --hostfile hands over; PEs of a host share memory, others are told through PMIx or PMI-1."""
    result = launched(launcher, 4, exchange())
    found = whole_job(result, 4)
    assert "oshrun: several hosts: handing over to " in result.err and launcher in result.err, result
    for pe, record in found.items():
        wanted = {"nodes": 2, "node": pe // 2, "size": 2, "index": pe % 2, "host": f"h{pe // 2 + 1}"}
        assert wanted.items() <= record.items(), result
    cores = len(os.sched_getaffinity(0))
    assert found[0]["busy"] == (cores < 4), "PEs of all hosts share this machine's cores"


def ends(launcher):
    """A PE that leaves, aborts or dies on one host ends the job on all."""
    for how, pe, status in (("leave", 2, 1), ("abort", 3, 7), ("kill", 1, None)):
        result = launched(launcher, 4, exchange(), how, pe)
        assert result.status == status or (status is None and result.status != 0), result
        assert result.seconds < 30, result


rows(globals(), "exchange", exchanges, mpirun="mpirun", prterun="prterun", hydra="mpiexec.hydra")
rows(globals(), "ends", ends, mpirun="mpirun", hydra="mpiexec.hydra")


def answers_at_the_end(launcher):
    """A PE that waits in shmem_finalize asks the launcher for the address of one that it owes an answer."""
    result = launched(launcher, 4, harness.BUILD / "tests/test_conform_finalize_late", env={"UCX_TLS": "tcp,self"})
    assert (result.status, result.out) == (0, "PASS\n"), result


rows(globals(), "answers_at_the_end", answers_at_the_end, mpirun="mpirun", hydra="mpiexec.hydra")


def test_dealt_in_turn():
    """PEs dealt out to hosts in turn, until one is full: each host is a node all the same."""
    needs_hosts()
    result = on_hosts(3, *mpirun(7)[:-2], "--map-by", "node", "--host", "h1:3,h2:1,h3:3", "-n", 7, exchange())
    found = whole_job(result, 7)
    hosts, seen = [0, 1, 2, 0, 2, 0, 2], [0, 0, 0]
    for pe, host in enumerate(hosts):
        wanted = {"nodes": 3, "node": host, "size": hosts.count(host), "index": seen[host], "host": f"h{host + 1}"}
        assert wanted.items() <= found[pe].items(), result
        seen[host] += 1


def test_uneven():
    """Hosts with different numbers of PEs."""
    needs_hosts()
    result = on_hosts(3, oshrun(), "--host", "h2:1,h3:4,h1:2", exchange(), env={"LATERAL_LAUNCHER": hydra(1)[0]})
    found = whole_job(result, 7)
    hosts = ["h2", "h3", "h3", "h3", "h3", "h1", "h1"]
    for pe, record in found.items():
        assert (record["host"], record["nodes"], record["size"]) == (hosts[pe], 3, hosts.count(hosts[pe])), result


def test_many_nodes():
    """16 hosts."""
    found = whole_job(launched("mpiexec.hydra", 32, exchange(), hosts=16, timeout=100), 32)
    assert [found[pe]["node"] for pe in range(32)] == [pe // 2 for pe in range(32)], found


def test_many_pes():
    """So many PEs that what is known of nodes goes to PE 0 in two steps."""
    found = whole_job(launched("mpiexec.hydra", 129, exchange(), "place", hosts=3, slots=43, timeout=100), 129)
    assert [found[pe]["node"] for pe in range(129)] == [pe // 43 for pe in range(129)], found


SHOW = 'echo "$(hostname) $A $SHMEM_B $(pwd)"'


def options(launcher):
    """-x, --wdir, --tag-output, --timeout, several programs; SHMEM_ variables are passed on."""
    needs_launcher(launcher)
    env = {"LATERAL_LAUNCHER": launcher, "SHMEM_B": "b"}
    result = on_hosts(2, oshrun(), "-q", "--host", "h1:2,h2", "--wdir", "/usr", "-x", "A=x y", "-n", 2, "sh", "-c", SHOW,
                      ":", "--wdir", "/", "-n", 1, "sh", "-c", SHOW, env=env)
    assert sorted(result.out.splitlines()) == ["h1 x y b /usr"] * 2 + ["h2  b /"] and result.status == 0, result
    tagged = on_hosts(2, oshrun(), "--host", "h1,h2", "--tag-output", "hostname", env=env)
    assert sorted(line[-2:] for line in tagged.out.splitlines()) == ["h1", "h2"], tagged
    assert all(len(line) > 2 for line in tagged.out.splitlines()), tagged
    late = on_hosts(2, oshrun(), "--host", "h1,h2", "--timeout", 1, "sleep", 50, env=env)
    assert late.status == 124 and late.seconds < 20, late


rows(globals(), "options", options, mpirun="mpirun", prterun="prterun", hydra="mpiexec.hydra")


def test_nobody_there():
    """Without a launcher: one line that says what to install. A host that is this machine needs none."""
    needs_hosts()
    result = on_hosts(1, "env", "PATH=/no/such/folder", oshrun(), "--host", "h1", exchange())
    assert result.status == 127 and "no launcher for other hosts in PATH; install" in result.err, result
    here = on_hosts(1, oshrun(), "--host", "launch:2,localhost", "-n", 3, exchange(), "bare")
    assert whole_job(here, 3)[0]["host"] == "launch", here


def account(launcher, start):
    """The clock of the second host is hours ahead, where this may be set."""
    counted, trace = program("test_job_counted"), harness.BUILD / f"account.{launcher}.json"
    may_shift = subprocess.run(["unshare", "--time", "--monotonic", "10000", "--fork", "true"], capture_output=True, check=False).returncode == 0
    shifted = "exec unshare --time --monotonic 10000 --fork" if may_shift else "exec"
    chosen = f"sh -c 'case $(hostname) in h2) {shifted} {counted} ;; esac; exec {counted}'"
    try:
        result = on_hosts(2, "sh", "-c", f"{start} -n 4 {chosen}", env={"LATERAL_STATS": "1", "LATERAL_TRACE": str(trace)})
        harness.one_account(result, trace, 4)
    finally:
        trace.unlink(missing_ok=True)


def test_account_mpirun():
    """LATERAL_STATS and LATERAL_TRACE in the user's own line of mpirun: one table and one timeline of both hosts."""
    needs_hosts()
    mpirun(1)
    account("mpirun", "mpirun --bind-to none -x LATERAL_STATS -x LATERAL_TRACE --hostfile $TEST_HOSTFILE")


def test_account_hydra():
    """The same of Hydra."""
    needs_hosts()
    hydra(1)
    account("hydra", "mpiexec.hydra -hosts h1:2,h2:2")


if __name__ == "__main__":
    harness.main(globals())
