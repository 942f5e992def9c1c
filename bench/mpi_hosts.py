"""How an MPI and Lateral's layer on it run over two hosts of this machine (tools/dev/hosts.py), all over TCP: the MPIs through
UCX, Lateral by its own module."""
import subprocess
import sys

import hosts

# Open MPI takes its component for UCX: it serves many threads, and TCP when told to.
OVER_UCX = ["--mca", "osc", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any",
            "--mca", "opal_common_ucx_opal_mem_hooks", "0"]
NETWORK = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}


def options(mpi):
    """Returns the words for the MPI's launcher that put one rank on each host, unbound."""
    names = ",".join(hosts.NAMES)
    if mpi == "openmpi":
        network = [word for pair in NETWORK.items() for word in ("-x", "=".join(pair))]
        return ["--oversubscribe", "--bind-to", "none", "--host", names, *network, *OVER_UCX]
    return ["-hosts", names, *(word for pair in NETWORK.items() for word in ("-genv", *pair))]


def made(command):
    """Returns the command that makes the hosts and runs another on their launch node."""
    return [sys.executable, "-B", hosts.HOSTS, len(hosts.NAMES), "--", *command]


def are_here():
    return subprocess.run([sys.executable, "-B", hosts.HOSTS, "--check"], capture_output=True, check=False).returncode == 0
