#!/usr/bin/env python3
"""A small Slurm cluster of Debian's packages, on hosts made of namespaces (hosts.py).

usage: hosts.py N -- slurm.py [--] COMMAND [ARGUMENTS]     root only

The launch node runs munged and slurmctld, each host a slurmd. COMMAND runs on the launch node with
SLURM_CONF set, so `srun -N2 ...` works. Everything ends with the hosts.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

HOME = pathlib.Path("/tmp/lateral-hosts/slurm")      # on every host, see hosts.py
CPUS = 4
SKIP = 77

CONF = """ClusterName=small
SlurmctldHost=launch
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation={home}/state
SlurmdSpoolDir=/tmp/slurmd
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile=/tmp/slurmd.log
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE
"""


def say(text):
    print("slurm:", text, file=sys.stderr, flush=True)


def missing():
    tools = {"slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "munged": "munge"}
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [package for tool, package in tools.items() if not shutil.which(tool, path=path)]


def write_configuration(names):
    (HOME / "state").mkdir(parents=True)
    nodes = "\n".join(f"NodeName={name} NodeAddr={socket.gethostbyname(name)} CPUs={CPUS} State=UNKNOWN" for name in names)
    path = HOME / "slurm.conf"
    path.write_text(CONF.format(home=HOME, nodes=nodes, names=",".join(names)), encoding="ascii")
    (HOME / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="ascii")    # none is used
    os.environ["SLURM_CONF"] = str(path)
    return path


def start_munge():
    """Its folders must belong to who runs it; one serves all hosts, whose files are the same here."""
    key = HOME / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={HOME}/munge.{end}" for option, end in files.items()]
    subprocess.run(["munged", "--force", *options], check=True)


def start_daemons(names, conf):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    daemons = [subprocess.Popen(["slurmctld", "-c", "-D"], **quiet)]
    wait_for(lambda: "UP" in output("scontrol", "ping"), "slurmctld answers")
    for name in names:
        line = f"mkdir -p /tmp/slurmd && SLURM_CONF={conf} exec slurmd -D -N {name}"
        daemons.append(subprocess.Popen(["ssh", name, line], **quiet))
    wait_for(lambda: output("sinfo", "-h", "-o", "%T %D").strip() == f"idle {len(names)}", "all nodes are idle")
    return daemons


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def wait_for(holds, what, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            log = (HOME / "slurmctld.log").read_text(errors="replace") if (HOME / "slurmctld.log").exists() else ""
            raise SystemExit(f"slurm: not within {seconds} s: {what}\n{log[-2000:]}{output('sinfo', '-N', '-l')}")
        time.sleep(0.05)


def main(argv):
    if argv == ["--check"]:
        why = missing()
        if os.geteuid() != 0:
            say("a Slurm cluster needs root")
        elif why:
            say(f"packages are missing: {' '.join(why)}")
        return SKIP if why or os.geteuid() != 0 else 0
    hostfile = os.environ.get("TEST_HOSTFILE")
    names = [line.split()[0] for line in pathlib.Path(hostfile).read_text(encoding="utf-8").splitlines()] if hostfile else []
    argv = argv[argv[:1] == ["--"]:]
    if not names or not argv:
        print(__doc__.strip())
        return 2
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    conf = write_configuration(names)
    start_munge()
    start_daemons(names, conf)
    return subprocess.run(argv, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
