"""Applications: time to solution of whole programs in OpenSHMEM, coarrays, PETSc and Python, beside the same programs on the peers."""
import ways
from figures import Figure, Panel, Series
from rows import Page, Row, Run

TEXT = """Each program checks its result, and prints the time of a step; lower is better. The sources are `bench/apps`:

- `solver.c`: conjugate gradients on a sparse matrix, 4,096 rows a PE, in OpenSHMEM. "plain" puts, a barrier and sums run on every peer;
  "counters" waits, by counting puts, for the values that it needs alone, and multiplies its own part meanwhile.
- `coarray.f90`: heat on 256 x 256 in Fortran's coarrays, by OpenCoarrays, whose coarrays are MPI windows.
- `forest.c`: a broadcast and a reduction of PETSc's star forest by windows (`-sf_type window`), 1,024 leaves a rank at irregular roots.
  PETSc makes a window of the program's memory for each, so the layer's copies go through the kernel.
- `plate.py`: heat on 128 x 128 with NumPy: lateral.shmem's counting puts, and mpi4py's window with two fences a step.

MPI stands for the Open MPI of the system, for which Debian builds OpenCoarrays, PETSc and mpi4py; what is not installed is not measured."""

SOLVER, MPI = "Sparse solver: a step", "Programs on MPI's windows: a step"
PLACES = {"node": "on a node", "hosts": "over two hosts"}


def run(program, place, ours, peers, *args, name=None):
    return Run(f"{place}/{name or program.partition('.')[0]}-2", f"apps/{program}", 2, args, "free" if place == "node" else place, peers, ours=ours, limit=60)


RUNS = [one for place in PLACES for one in (
    run("solver", place, ("lateral",), ("openmpi", "sos") if place == "node" else ("openmpi",), "plain"),
    run("solver", place, ("lateral",), False, "counters", name="counters"),
    run("coarray.f90", place, ("mpi+",), ("mpi",)), run("forest", place, ("mpi+",), ("mpi",), "-sf_type", "window"),
    run("plate.py", place, ("mpi+",), ("mpi",), "mpi"), run("plate.py", place, ("lateral",), False, "shmem", name="shmem"))]


def rows():
    for place, words in PLACES.items():
        yield Row(SOLVER, f"plain, {words}", f"{place}/solver-2/step", None, "best", 1.0)
        yield Row(SOLVER, f"counters, {words}, against plain", f"{place}/counters-2/step", f"{place}/solver-2/step", "reference", 1.0)
    for place, words in PLACES.items():
        yield Row(MPI, f"heat in coarrays, {words}", f"{place}/coarray-2/step", None, "best", 1.0)
        for name in ("bcast", "reduce"):
            yield Row(MPI, f"star forest, {name}, {words}", f"{place}/forest-2/{name}", None, "best", 1.0)
        yield Row(MPI, f"plate in Python by mpi4py, {words}", f"{place}/plate-2/step", None, "best", 1.0)
        yield Row(MPI, f"plate in Python by lateral.shmem, {words}", f"{place}/shmem-2/step")


def picture(place, words):
    keys = {f"{place}/{key}": name for key, name in {
        "solver-2/step": "solver, plain", "counters-2/step": "solver, counters", "coarray-2/step": "coarrays", "forest-2/bcast": "star forest, bcast",
        "forest-2/reduce": "star forest, reduce", "plate-2/step": "plate, mpi4py", "shmem-2/step": "plate, lateral.shmem"}.items()}
    return Panel(f"A step {words} (lower is better)", "us", "program", list(keys), [Series("", "all", "{}")], list(keys.values()), joined=False)


FIGURES = [Figure("apps.png", "Applications", [picture(*place) for place in PLACES.items()])]
PAGE = Page("apps", "apps.md", "Applications", TEXT, RUNS, list(rows()), FIGURES, ways.applications, each=False)
