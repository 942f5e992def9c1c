#!/usr/bin/env python3
"""The MPI layer over two hosts: the programs of tests/mpi, by each MPI that is here."""
import shlex
import shutil
import sys

import harness
from harness import ROOT, Skip, needs_hosts, on_hosts, program

ONE_EACH = "h1:1,h2:1", "h1,h2"                             # for Open MPI's and MPICH's launcher
TWO_EACH = "h1:2,h2:2", "h1:2,h2:2"
NETWORK = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"} # MPICH's own; Open MPI finds the network by itself

LIMIT = 15                                                  # seconds for a program
GRACE = 3                                                   # and from its PASS to its end
# MPICH 4.0 hangs in MPI_Finalize now and then over UCX and TCP, also without the layer: one rank waits for the network, and
# the other for the launcher. It has printed PASS by then.
HANGS = {"openmpi": "", "mpich": "|124"}


def needs_layer(mpi):
    layer = harness.BUILD / "lib" / f"liblateral-mpi-{mpi}.so"
    if not layer.exists() or not shutil.which(f"mpirun.{mpi}"):
        raise Skip(f"no layer for {mpi} is built here, or its mpirun is not called mpirun.{mpi}")
    return layer


def launcher(mpi, where):
    if mpi == "openmpi":
        return ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--host", where[0]]
    return ["mpirun.mpich", "-hosts", where[1], *(word for pair in NETWORK.items() for word in ("-genv", *pair))]


def command(mpi, layer, ranks, where, stem):
    words = launcher(mpi, where) + ["-n", ranks, "env", f"LD_PRELOAD={layer}", "LATERAL_MPI=verbose", program(f"test_mpi_{stem}_{mpi}"), "far"]
    return shlex.join(str(word) for word in words)


def between_nodes():
    """The programs that have a test with each rank on a node of its own."""
    return sorted(path.stem for path in (ROOT / "tests" / "mpi").glob("*.c")
                  if any(line.startswith(" * ways: ") and "far" in line.split() for line in path.read_text(encoding="utf-8").splitlines()))


def whole(mpi):
    needs_hosts()
    layer = needs_layer(mpi)
    runs = [(2, ONE_EACH, stem) for stem in between_nodes()]
    runs += [(4, TWO_EACH, stem) for stem in ("windows", "accumulate", "locks", "overlap")]
    script = "\n".join(f"{sys.executable} -S {ROOT / 'tests/hosts/passed.py'} {LIMIT} {GRACE} {command(mpi, layer, *each)}; status=$?\n"
                       f"case $status in 0{HANGS[mpi]}) ;; *) echo {each[2]} of {each[0]} ranks: status $status; exit 1;; esac"
                       for each in runs)
    result = on_hosts(2, "sh", "-c", script, timeout=110)
    assert result.status == 0 and result.out.count("PASS\n") == len(runs), result
    for line in result.err.splitlines():
        assert "is carried by " not in line or "carried by Lateral" in line, line
    assert "others by messages" in result.err, result


def test_openmpi():
    """Open MPI: each program with a rank on each host, and some with two."""
    whole("openmpi")


def test_mpich():
    """MPICH: the same."""
    whole("mpich")


def without(mpi):
    """Ranks 1 and 2, of both hosts, run without the layer: one line says so, and the program goes on with the MPI's windows."""
    needs_hosts()
    layer = needs_layer(mpi)
    test = program(f"test_mpi_starts_{mpi}")
    good = ["-n", "1", "env", f"LD_PRELOAD={layer}", test]
    words = [*launcher(mpi, TWO_EACH), *good, ":", "-n", "2", test, ":", *good]
    result = on_hosts(2, sys.executable, "-S", ROOT / "tests/hosts/passed.py", LIMIT, GRACE, *words, env={"OMPI_MCA_osc": "pt2pt"})
    assert result.status in (0, 124 if HANGS[mpi] else 0) and "PASS\n" in result.out, result
    assert result.err.count("rank 1 cannot have windows of Lateral: it runs without this library") == 1, result


def test_without_openmpi():
    """Open MPI: a rank without the layer on each host."""
    without("openmpi")


def test_without_mpich():
    """MPICH: the same."""
    without("mpich")


if __name__ == "__main__":
    sys.exit(harness.main(globals()))
