"""The measurements of ./dev bench --mpi and their targets, as data: MPI's one-sided functions by each MPI and by Lateral's layer on
it, the same program with and without the layer. mpi.py runs them."""
from collections import namedtuple

# One start of a program of bench/mpi/. bind: each rank on a core of its own.
# rounds: at most so many. limit: seconds for one measurement. hosts: each rank on a host of its own (mpi_hosts.py).
Run = namedtuple("Run", "key program ranks args bind rounds limit hosts", defaults=((), True, 99, 20, False))
# against: "best" (the fastest MPI without the layer), the name of one MPI, "bound" (a number), or another key of the same
# implementation; limit: at most, of the ratio.
Row = namedtuple("Row", "section question key against limit", defaults=(None, None))

ALLOCATED, CREATED, DYNAMIC = "Allocated windows, 2 ranks", "Created windows, 2 ranks", "Dynamic windows, 2 ranks"
MEET, THREADS, BUSY = "Synchronisation, 2 ranks", "Threads: put and flush, time per operation of all", "The target computes for 3 s: the first operation"
HOSTS = "Two hosts over TCP, a rank on each"
CREATION, PROGRAM = "Making and freeing an allocated window", "Programs, 2 ranks"
COUNTS, RANKS = (1, 2, 4, 8, 16, 32), (2, 4, 8, 16, 64, 256)
KINDS, LATE = ("allocate", "create", "small", "dynamic"), ("put", "get", "fetch_add", "accumulate", "lock", "swap")
WORDS = {"put": "put 8 B, flush", "get": "get 8 B, flush", "fetch_add": "fetch_and_op, flush",
         "accumulate": "accumulate of 1000 doubles, flush", "lock": "lock, put 8 B, unlock",
         "swap": "compare_and_swap, flush", "big": "put 1 MiB, flush",
         "put_vector": "put 64 words that lie apart, flush", "get_vector": "get 64 words that lie apart, flush",
         "raccumulate": "16 raccumulates of a word, waitall, flush",
         "mutual_put": "put 8 B and flush, each rank to the other at the same time",
         "mutual_get": "get 8 B and flush, each rank to the other at the same time"}

RUNS = [Run("allocate-2", "rma", 2, ("allocate", "put", "get", "fetch_add", "accumulate", "lock")),
        Run("swap-2", "rma", 2, ("allocate", "swap")),
        Run("allocate-vector-2", "rma", 2, ("allocate", "put_vector", "get_vector")),
        Run("meet-2", "rma", 2, ("allocate", "fence", "pscw")),
        Run("create-2", "rma", 2, ("create", "put", "get", "fetch_add")),
        Run("small-2", "rma", 2, ("small", "put", "get")),
        Run("dynamic-2", "rma", 2, ("dynamic", "put", "get", "fetch_add")),
        Run("threads-2", "rma", 2, ("allocate", "threads"), False),
        *[Run(f"busy.{kind}-2", "rma", 2, (kind, *[f"busy.{op}" for op in LATE]), rounds=1) for kind in KINDS],
        *[Run(f"creation-{ranks}", "creation", ranks, (), False, *((1, 120) if ranks > 16 else ())) for ranks in RANKS],
        *[Run(f"hosts.{kind}-2", "rma", 2, (kind, "put", "get", "fetch_add", "big"), hosts=True) for kind in ("allocate", "dynamic")],
        Run("hosts.vector-2", "rma", 2, ("allocate", "put_vector", "get_vector", "raccumulate"), hosts=True),
        Run("hosts.mutual-2", "rma", 2, ("allocate", "mutual_put", "mutual_get"), hosts=True),
        Run("stencil-2", "stencil", 2), Run("table-2", "table", 2)]


def rows():
    for op, limit in (("put", 0.6), ("get", 0.6), ("fetch_add", 0.8), ("accumulate", 1.0), ("lock", 0.8)):
        yield Row(ALLOCATED, WORDS[op], f"allocate-2/allocate.{op}", "best", limit)
    yield Row(ALLOCATED, "compare_and_swap, flush", "swap-2/allocate.swap", "best", 0.8)
    for op in ("put_vector", "get_vector"):
        yield Row(ALLOCATED, WORDS[op], f"allocate-vector-2/allocate.{op}", "best", 1.0)
    for op in ("fence", "pscw"):
        yield Row(MEET, {"pscw": "post, start, complete, wait"}.get(op, op), f"meet-2/allocate.{op}", "best", 0.8)
    for op in ("put", "get", "fetch_add"):
        yield Row(CREATED, f"16 pages: {WORDS[op]}", f"create-2/create.{op}", "best", 1.0)
    for op in ("put", "get"):
        yield Row(CREATED, f"512 B of malloc: {WORDS[op]}", f"small-2/small.{op}", "best")
    for op in ("put", "get", "fetch_add"):
        yield Row(DYNAMIC, WORDS[op], f"dynamic-2/dynamic.{op}", "best", 1.0)
    for count in COUNTS:
        yield Row(THREADS, f"{count} threads", f"threads-2/allocate.threads.{count}", "best", 1.0 if count == 32 else None)
    yield Row(THREADS, "32 threads, against MPICH", "threads-2/allocate.threads.32", "mpich", 0.1)
    for kind in KINDS:
        for op in LATE:
            yield Row(BUSY, f"{kind}: {WORDS[op].replace('1000', '64') if kind == 'small' else WORDS[op]}", f"busy.{kind}-2/{kind}.busy.{op}", "bound", 50000)
    for kind in ("allocate", "dynamic"):
        for op in ("put", "get", "fetch_add", "big"):
            name = "allocated" if kind == "allocate" else kind
            yield Row(HOSTS, f"{name}: {WORDS[op]}", f"hosts.{kind}-2/{kind}.{op}", "best", None if op == "get" else 1.0)
    for op in ("put_vector", "get_vector", "raccumulate"):
        yield Row(HOSTS, f"allocated: {WORDS[op]}", f"hosts.vector-2/allocate.{op}", "best", 1.0)
    for op in ("mutual_put", "mutual_get"):
        yield Row(HOSTS, f"allocated: {WORDS[op]}", f"hosts.mutual-2/allocate.{op}", "best", 1.0)
    for ranks in RANKS:
        yield Row(CREATION, f"time, {ranks} ranks", f"creation-{ranks}/time", "best")
        yield Row(CREATION, f"bytes of a rank, {ranks} ranks", f"creation-{ranks}/memory", "best")
    yield Row(PROGRAM, "stencil 256 x 256, 2000 steps: fences", "stencil-2/time", "best")
    yield Row(PROGRAM, "hash table, 20,000 keys a rank: atomics and gets", "table-2/time", "best")


ROWS = list(rows())
