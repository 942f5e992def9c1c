"""MPI's one-sided functions by each MPI and by Lateral's layer on it, the same program with and without the layer."""
import ways
from figures import Figure, Panel, Series
from rows import Page, Row, Run

TEXT = """The same programs (`bench/mpi`) run on each MPI, and on it with Lateral's layer preloaded; lower is better. "best" is the
fastest MPI of the round without the layer; a verdict is that of the worse layer. A dash marks what an MPI cannot run.

"Bytes of a rank" hold the window's communicator, which is the MPI's, with the layer too: MPICH 4 takes 100 KB for one, Open MPI some KB, so the layer
on MPICH is held against an Open MPI there.

What is behind, and why:

- Created and dynamic windows on a node, on memory that the program brought: a target that polls executes a short operation; else the kernel
  copies, a system call as of Open MPI 4's put, and two for an atomic, whatever the target does. The MPIs leave it to the target's next call of
  the MPI. Windows on memory of MPI_Alloc_mem are as fast as allocated ones.
- An accumulate of words that lie apart: each word is an atomic of the processor, 5 ns, so that a fetch_and_op on it needs no lock. MPICH 5 adds all of
  them under one lock.
- 64 words at irregular places, or accumulated, over hosts: one message, a table of their places and the words; MPICH sends the datatype, which is
  shorter.
- Making windows: the handle that the program holds is a window of the MPI's on one process; a freed window leaves its handle to the next one, so
  the MPI's time shows in the first ones alone, but its bytes in all. With more ranks than cores the ranks wait for each other's time slices.

Rank 0 issues the operations, and rank 1 waits in MPI_Barrier; each completes before the next one begins. `bench/pages/mpi.py` lists
programs and targets."""

ALLOCATED, CREATED, DYNAMIC = "Allocated windows, 2 ranks", "Created windows, 2 ranks", "Dynamic windows, 2 ranks"
MEET, THREADS = "Synchronisation, 2 ranks", "Threads: put and flush, time per operation of all"
HOSTS = "Two hosts over TCP, a rank on each"
CREATION, PROGRAM = "Making and freeing an allocated window", "A program, 2 ranks"
COUNTS, RANKS = (1, 2, 4, 8, 16, 32), (2, 4, 8, 16, 64, 256)
NOT_MPICH = ("openmpi", "openmpi.sm", "openmpi5")          # to make a window of 64 ranks takes MPICH seconds
NOT_SM = ("openmpi", "openmpi5", "mpich", "mpich5")                              # osc/sm runs allocated windows alone
VECTORS = ("put_vector", "get_vector", "accumulate_vector", "put_irregular")
WORDS = {"put": "put 8 B, flush", "get": "get 8 B, flush", "fetch_add": "fetch_and_op, flush",
         "accumulate": "accumulate of 1000 doubles, flush", "lock": "lock, put 8 B, unlock", "big": "put 1 MiB, flush",
         "put_vector": "put 64 words that lie apart, flush", "get_vector": "get 64 words that lie apart, flush",
         "accumulate_vector": "accumulate of 64 words that lie apart, flush", "put_irregular": "put 64 words at irregular places, flush",
         "mutual_put": "put 8 B, flush, both ranks at once"}


def windows(key, *args, place="node", peers=True):
    return Run(f"{key}-2", "mpi/rma", 2, args, place, peers, limit=20)


RUNS = [windows("allocate", "allocate", "put", "get", "fetch_add", "accumulate", "lock"), windows("allocate-vector", "allocate", *VECTORS),
        windows("meet", "allocate", "fence", "pscw"),
        windows("create", "create", "put", "get", "fetch_add", peers=NOT_SM), windows("small", "small", "put", "get", peers=NOT_SM),
        windows("dynamic", "dynamic", "put", "get", "fetch_add", peers=NOT_SM), windows("threads", "allocate", "threads", place="free"),
        *[Run(f"creation-{ranks}", "mpi/creation", ranks, place="free", peers=True if ranks <= 16 else NOT_MPICH, limit=120 if ranks > 16 else 20,
              rounds=2 if ranks > 8 else 99, quick=ranks <= 16) for ranks in RANKS],
        *[windows(f"hosts.{kind}", kind, "put", "get", "fetch_add", "big", place="hosts", peers=NOT_SM) for kind in ("allocate", "dynamic")],
        windows("hosts.vector", "allocate", *VECTORS, place="hosts", peers=NOT_SM),
        windows("hosts.mutual", "allocate", "mutual_put", place="hosts", peers=NOT_SM), Run("stencil-2", "mpi/stencil", 2, limit=20)]


def rows():
    for op, limit in (("put", 0.6), ("get", 0.6), ("fetch_add", 0.8), ("accumulate", 1.0), ("lock", 0.8)):
        yield Row(ALLOCATED, WORDS[op], f"allocate-2/allocate.{op}", None, "best", limit)
    for op in VECTORS:
        yield Row(ALLOCATED, WORDS[op], f"allocate-vector-2/allocate.{op}", None, "best", 1.0)
    for op in ("fence", "pscw"):
        yield Row(MEET, {"pscw": "post, start, complete, wait"}.get(op, op), f"meet-2/allocate.{op}", None, "best", 0.8)
    for op in ("put", "get", "fetch_add"):
        yield Row(CREATED, f"16 pages: {WORDS[op]}", f"create-2/create.{op}", None, "best", 1.0)
    for op in ("put", "get"):
        yield Row(CREATED, f"512 B of malloc: {WORDS[op]}", f"small-2/small.{op}", None, "best")
    for op in ("put", "get", "fetch_add"):
        yield Row(DYNAMIC, f"dynamic: {WORDS[op]}", f"dynamic-2/dynamic.{op}", None, "best", 1.0)
    for count in COUNTS:
        yield Row(THREADS, f"{count} threads", f"threads-2/allocate.threads.{count}", None, "best", 1.0 if count == 32 else None)
    yield Row(THREADS, "32 threads, against MPICH", "threads-2/allocate.threads.32", None, "mpich", 0.1)
    for kind, name in (("allocate", "allocated"), ("dynamic", "dynamic")):
        for op in ("put", "get", "fetch_add", "big"):
            yield Row(HOSTS, f"{name}: {WORDS[op]}", f"hosts.{kind}-2/{kind}.{op}", None, "best", None if op == "get" else 1.0)
    for op in (*VECTORS, "mutual_put"):
        yield Row(HOSTS, f"allocated: {WORDS[op]}", f"hosts.{'mutual' if op == 'mutual_put' else 'vector'}-2/allocate.{op}", None, "best", 1.0)
    for ranks in RANKS:
        yield Row(CREATION, f"time, {ranks} ranks", f"creation-{ranks}/time", None, "best")
        yield Row(CREATION, f"bytes of a rank, {ranks} ranks", f"creation-{ranks}/memory", None, "best")
    yield Row(PROGRAM, "stencil 256 x 256, 2000 steps: fences", "stencil-2/time", None, "best")


ROWS = list(rows())


def dots(title, unit, *sections):
    """A panel with all rows of these sections."""
    lines = {row.key: row.question for row in ROWS if row.section in sections and row.against == "best"}
    return Panel(f"{title} (lower is better)", unit, "operation", list(lines), [Series("", "all", "{}")], list(lines.values()), joined=False)


def ranked(title, unit, name):
    return Panel(f"{title} (lower is better)", unit, "number of ranks", RANKS, [Series("", "all", f"creation-{{}}/{name}")])


FIGURES = [Figure("mpi-operations.png", "One operation and its flush", [dots("Allocated windows", "us", ALLOCATED),
                                                                            dots("Created and dynamic windows", "us", CREATED, DYNAMIC)]),
           Figure("mpi-meet.png", "Synchronisation, and a program", [dots("Synchronisation", "us", MEET), dots("A program", "s", PROGRAM)]),
           Figure("mpi-threads.png", "Threads: time per operation of all", [
               Panel("Put and flush (lower is better)", "us", "number of threads", COUNTS, [Series("", "all", "threads-2/allocate.threads.{}")])]),
           Figure("mpi-hosts.png", HOSTS, [dots(HOSTS, "us", HOSTS)]),
           Figure("mpi-creation.png", "Making and freeing a window", [ranked("Time", "us", "time"), ranked("Memory of a rank", "bytes", "memory")])]

LAYERS = [(name, "") for name in ("openmpi+", "mpich+", "openmpi", "openmpi.sm", "openmpi5", "mpich", "mpich5")]
README = {"mpi": ("2 ranks on 2 cores", LAYERS, [
    ("allocated window: put 8 B, flush", ["allocate-2/allocate.put"]), ("created window of 16 pages: put 8 B, flush", ["create-2/create.put"]),
    ("created window of 16 pages: get 8 B, fetch_and_op, each with a flush", ["create-2/create.get", "create-2/create.fetch_add"]),
    ("created window of 512 B: put 8 B, flush", ["small-2/small.put"]),
    ("dynamic window: put 8 B, flush", ["dynamic-2/dynamic.put"]), ("allocated window: fetch_and_op, flush", ["allocate-2/allocate.fetch_add"]),
    ("accumulate of 1,000 doubles, flush", ["allocate-2/allocate.accumulate"]), ("lock, put, unlock", ["allocate-2/allocate.lock"]),
    ("fence", ["meet-2/allocate.fence"]), ("post, start, complete, wait", ["meet-2/allocate.pscw"]),
    ("32 threads, put and flush, per operation of all", ["threads-2/allocate.threads.32"]),
    ("making and freeing an allocated window, 64 and 256 ranks", ["creation-64/time", "creation-256/time"]),
    ("its bytes of a rank, 64 and 256 ranks", ["creation-64/memory", "creation-256/memory"]),
    ("heat on 256 x 256, 2,000 steps with two fences", ["stencil-2/time"]),
    ("two hosts: allocated window, put 8 B, flush", ["hosts.allocate-2/allocate.put"]),
    ("two hosts: both ranks at the same time", ["hosts.mutual-2/allocate.mutual_put"]),
    ("two hosts: dynamic window, put 8 B, flush", ["hosts.dynamic-2/dynamic.put"])])}

PAGE = Page("mpi", "mpi.md", "MPI's one-sided functions", TEXT, RUNS, ROWS, FIGURES, ways.mpis(), README, each=False, peers=ways.ALL_MPIS)
