"""Tells the bench runner about the machine and the OpenSHMEM implementations on it."""
import os
import platform
import re
import subprocess
import time
from collections import namedtuple
from pathlib import Path

# name: short, for columns. title: with its version. launch: the command in front of "-n N program"; it binds PEs to cores
# in turn even when PEs outnumber cores, because otherwise chance decides how many PEs share a core. spins: waiting PEs
# keep their core, so with more PEs than cores each step of a program takes a time slice of the scheduler.
Implementation = namedtuple("Implementation", "name title oshcc launch env spins", defaults=(False,))

PLACES = ["/usr/bin", "/usr/lib64/openmpi/bin", "/usr/local/bin", "/opt/openmpi/bin", "/opt/sos/bin", "/usr/local/sos/bin"]


def text_of(command, env=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30, env=env)
        return done.stdout + done.stderr
    except (OSError, subprocess.TimeoutExpired):
        return ""


def open_mpi(folder):
    """Open MPI runs as root only with two variables set. Its memory hooks crash at exit in Debian 12's 4.1.4,
    so they stay off."""
    version = re.search(r"([\d.]+\w*)", text_of([folder / "oshcc", "--showme:version"]))
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    launch = [folder / "oshrun", "--oversubscribe", "--bind-to", "core:overload-allowed",
              "--mca", "opal_common_ucx_opal_mem_hooks", "0"]
    title = f"Open MPI {version.group(1)}" if version else "Open MPI"
    return Implementation("openmpi", title, folder / "oshcc", launch, env)


def sandia(folder):
    """Sandia's oshrun is a script that calls a launcher; it takes Open MPI's if it finds that. Copies by the kernel need
    heaps at the same address in all PEs. libfabric's shm provider serves PEs of one node."""
    pages = (folder.parent / "lib" / "pkgconfig").glob("sandia-openshmem.pc")
    version = re.search(r"^Version:\s*(\S+)", "".join(p.read_text(encoding="utf-8") for p in pages), re.MULTILINE)
    provider = os.environ.get("SHMEM_OFI_PROVIDER", "shm")
    launch = ["setarch", "--addr-no-randomize", folder / "oshrun", "-bind-to", "core"]
    title = f"Sandia OpenSHMEM {version.group(1) if version else ''}".strip()
    env = {"SHMEM_OFI_PROVIDER": provider, "OSHRUN_LAUNCHER": os.environ.get("OSHRUN_LAUNCHER", "mpiexec.hydra")}
    return Implementation("sos", title, folder / "oshcc", launch, env, spins=True)


def other(folder, name):
    return Implementation(name, name, folder / "oshcc", [folder / "oshrun"], {})


def peer_at(folder, name=None):
    """Returns the implementation that has its wrapper compilers in this folder."""
    if "Open SHMEM" in text_of([folder / "oshcc", "--showme:version"]):
        found = open_mpi(folder)
        return found._replace(name=name or found.name)
    if "-lsma" in text_of([folder / "oshcc", "-show"]):
        found = sandia(folder)
        return found._replace(name=name or found.name)
    return other(folder, name or folder.parent.name or "peer")


def find_peers(ours, given):
    """Returns the peers given as NAME=FOLDER, and every oshcc in a usual place or on the path, except ours."""
    peers, seen = [], {(ours / "oshcc").resolve()}
    for item in given:
        name, _, folder = item.rpartition("=")
        folder = Path(folder) / "bin" if (Path(folder) / "bin" / "oshcc").exists() else Path(folder)
        if not (folder / "oshcc").exists():
            raise SystemExit(f"run.py: no oshcc in {folder} or {folder / 'bin'}")
        seen.add((folder / "oshcc").resolve())
        peers.append(peer_at(folder, name or None))
    for place in PLACES + os.environ.get("PATH", "").split(":"):
        wrapper = Path(place or ".") / "oshcc"
        if wrapper.exists() and wrapper.resolve() not in seen:
            seen.add(wrapper.resolve())
            if "lateral" not in text_of([wrapper, "--show"]).lower():
                peers.append(peer_at(wrapper.parent))
    return peers


def lateral(build):
    folder = build / "bin"
    return Implementation("lateral", "Lateral", folder / "oshcc", [folder / "oshrun", "--bind-to", "core"], {})


def cores():
    return len(os.sched_getaffinity(0))


def busy(seconds=0.3):
    """Returns the share of all processors' time, 0 to 1, that others use while this process sleeps."""
    def times():
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, idle, wait, *rest = map(int, file.readline().split()[1:])
        return user + nice + system + sum(rest), user + nice + system + idle + wait + sum(rest)
    try:
        used, total = times()
        time.sleep(seconds)
        used_then, total_then = times()
        return (used_then - used) / max(1, total_then - total)
    except (OSError, ValueError):
        return 0.0


def describe():
    model = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        found = re.search(r"^model name\s*:\s*(.*)$", info, re.MULTILINE)
        model = found.group(1) if found else model
        virtual = " (a virtual machine)" if re.search(r"^flags.*\bhypervisor\b", info, re.MULTILINE) else ""
    except OSError:
        virtual = ""
    compiler = text_of(["cc", "--version"]).splitlines()
    return {"processor": model, "cores": cores(), "virtual": bool(virtual), "kernel": platform.release().split("-")[0],
            "compiler": compiler[0] if compiler else "unknown"}
