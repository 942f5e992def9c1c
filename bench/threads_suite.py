"""The experiments of UCCS, as data: many threads of one process against as many processes, active messages with many threads in
progress, and a coarse lock round every call as UCCS began. Keys are as in suite.py. A row's "floor" is another way to
do the same work: fewer threads, processes in place of threads, the lock, ucx_perftest."""
from collections import namedtuple

from suite import Row, size_name

# program, PEs, arguments; peers: True if they run it too.
Run = namedtuple("Run", "key program pes args peers", defaults=((), True))
# One test of ucx_perftest with so many threads.
Floor = namedtuple("Floor", "key test size threads count")

SIZES, THREADS, MANY = [16384, 262144, 4194304], (1, 2, 4), (1, 2, 4, 8)
MESSAGES, FAIRNESS = "Active messages: threads in progress", "Callbacks of each thread in a run of 1050"
STREAMS, LOCK = "Threads against processes, shared memory", "Against a coarse lock"
FAR, ANYWHERE = "Threads against processes, UCX, each side on its half of the cores", "Threads against processes, UCX, anywhere"
MODES, SUBSTRATE = "One thread", "UCX itself"
ACCUMULATE = "Accumulates of uccs.h"
COMPUTING, SUMS = "A progress thread while both PEs compute", [8 ** power for power in range(7)]
BRIEF = 4096  # longs: up to so many the last of two PEs to start a sum does it for both
MEMORY = "Memory and locks of uccs.h"
LANES = "Threads on lanes, UCX on one node"
STREAM = "Streams and atomics of uccs.h, UCX over TCP"

RUNS = [
    Run("am-2", "uccs_am", 2, peers=False),
    Run("memory-2", "uccs_memory", 2, peers=False),
    *[Run(f"streams-{pes}", "uccs_bandwidth", pes) for pes in (2, 4, 8)],
    Run("computing-2", "computing", 2, peers=False),
    Run("far-2", "uccs_far", 2, peers=False),
    Run("lanes-2", "lanes", 2, ("--ucx",), False),
    Run("one.lanes-2", "lanes", 2, ("--ucx", "--one"), False),
    Run("accumulate-2", "uccs_accumulate", 2, peers=False),
    *[Run(f"sides.ucx-{pes}", "uccs_bandwidth", pes, ("--shmem", "--ucx", "--sides"), False) for pes in (2, 4, 8)],
    *[Run(f"ucx-{pes}", "uccs_bandwidth", pes, ("--shmem", "--ucx"), False) for pes in (2, 4, 8)],
]

FLOORS = [Floor(f"put.{threads}.{size}", "ucp_put_bw", size, threads, max(50, min(20000, (1 << 30) // size // threads ** 2)))
          for threads in THREADS for size in SIZES]
FLOORS += [Floor(f"am.{threads}.8", "ucp_am_bw", 8, threads, 100000 // threads ** 2) for threads in (1, 2)]


def message_rows():
    for threads in MANY[1:]:
        for way in ("injection", "sustained"):
            what = "1050 messages" if way == "injection" else "200,000 messages"
            yield Row(MESSAGES, f"{what}, {threads} threads, against 1", f"am-2/{way}.{threads}", f"am-2/{way}.1", "floor", 0.5, True)
    yield Row(MESSAGES, "1000 messages that lie there, the sender asleep, 2 threads, against 1", "am-2/drain.2", "am-2/drain.1", "floor", 0.9, True)
    for threads in MANY:
        yield Row(MESSAGES, f"200,000 messages, {threads} threads, against a coarse lock", f"am-2/sustained.{threads}",
                  f"am-2/coarse.{threads}", None, None, True)
    for threads in MANY[1:]:
        yield Row(FAIRNESS, f"{threads} threads: deviation between them, over the mean", f"am-2/fairness.{threads}")
        yield Row(FAIRNESS, f"{threads} threads: one thread's deviation between runs, over the mean", f"am-2/between.{threads}")
        yield Row(FAIRNESS, f"{threads} threads: fewest", f"am-2/least.{threads}", None, None, None, True)
        yield Row(FAIRNESS, f"{threads} threads: most", f"am-2/most.{threads}")


def stream_rows(section, run, held):
    for way in ("put", "get"):
        for threads in THREADS[1:]:
            for size in SIZES:
                yield Row(section, f"{way} {size_name(size)}, {threads} threads each way, against processes",
                          f"{run}-2/{way}.{threads}.{size}", f"{run}-{2 * threads}/{way}.1.{size}", "floor" if held else None,
                          0.95 if held else None, True)


def lock_rows():
    for size in (8, *SIZES):
        limit = 3.0 if size == 8 else 1.6
        for threads in THREADS[1:]:
            yield Row(LOCK, f"put {size_name(size)}, {threads} threads, one way: they have all cores", f"streams-2/oneway.{threads}.{size}",
                      f"streams-2/oneway_coarse.{threads}.{size}", "floor", limit, True)
    for size in (8, *SIZES):
        yield Row(LOCK, f"put {size_name(size)}, 4 threads, both ways", f"streams-2/put.4.{size}", f"streams-2/coarse.4.{size}",
                  "floor" if size == 8 else None, 3.0 if size == 8 else None, True)


def mode_rows():
    for size in (8, 4096, 262144):
        yield Row(MODES, f"put {size_name(size)}, MULTIPLE against SINGLE", f"streams-2/multiple.{size}",
                  f"streams-2/single.{size}", "floor", round(1 / 1.2, 3), True)
        yield Row(MODES, f"put {size_name(size)}, against memcpy", f"streams-2/multiple.{size}", f"streams-2/memcpy.{size}",
                  None, None, True)


def substrate_rows():
    for threads in THREADS:
        for size in SIZES:
            yield Row(SUBSTRATE, f"put {size_name(size)}, {threads} threads, one way, against ucp_put_bw",
                      f"streams-2/oneway.{threads}.{size}", f"perftest/put.{threads}.{size}", None, None, True)
    for threads in (1, 2):
        yield Row(SUBSTRATE, f"messages of 8 B, {threads} threads, against ucp_am_bw", f"am-2/sustained.{threads}",
                  f"perftest/am.{threads}.8", None, None, True)


def computing_rows():
    yield Row(COMPUTING, "message to a PE that computes, and its answer", "computing-2/answer", None, "bound", 50000.0)
    yield Row(COMPUTING, "the same, 99th percentile", "computing-2/answer.p99")
    yield Row(COMPUTING, "the same while the PE waits in the library", "computing-2/answer.waiting")
    for n in SUMS:
        brief = n <= BRIEF
        yield Row(COMPUTING, f"sum of {n} longs, started and waited for", f"computing-2/alone.{n}", None,
                  "bound" if brief else None, 5000.0 if brief else None)
        yield Row(COMPUTING, f"sum of {n} longs: left of it beside work off the processor", f"computing-2/left_away.{n}")
        yield Row(COMPUTING, f"sum of {n} longs: part hidden by work off the processor", f"computing-2/overlap_away.{n}", None,
                  None if brief else "bound", None if brief else 0.9, True)
        yield Row(COMPUTING, f"sum of {n} longs: part hidden by work on the processor", f"computing-2/overlap.{n}", None, None, None,
                  True)


def accumulate_rows():
    yield Row(ACCUMULATE, "sum of 1,000 doubles, against a plain loop under one lock", "accumulate-2/doubles", "accumulate-2/doubles.plain",
              "floor", 1.25)
    yield Row(ACCUMULATE, "the same, both PEs at once", "accumulate-2/doubles.contended")
    yield Row(ACCUMULATE, "the same with the old values", "accumulate-2/doubles.fetched")
    yield Row(ACCUMULATE, "addition to an integer, against the bare instruction", "accumulate-2/integer", "accumulate-2/integer.bare")


def memory_rows():
    for mode in ("shared", "exclusive"):
        yield Row(MEMORY, f"a free lock, {mode}: enter and leave, against two atomics", f"memory-2/lock.{mode}", "memory-2/lock.bare", "floor", 3.0)
        yield Row(MEMORY, f"the same by two PEs at once, against one, {mode}", f"memory-2/contended.{mode}", f"memory-2/lock.{mode}")
    for size in (8, 4096):
        yield Row(MEMORY, f"put {size_name(size)} and flush, into dynamic memory, against allocated", f"memory-2/put.{size}.dynamic",
                  f"memory-2/put.{size}.allocated")
    yield Row(MEMORY, "allocate and release 256 MB", "memory-2/allocate")


def far_rows():
    for name, what in (("beside", "8 KB puts"), ("beside_nb", "8 KB non-blocking puts"), ("other_nb", "the same in a stream of its own")):
        yield Row(STREAM, f"put and flush beside a thread with {what}, against alone", f"far-2/{name}", f"far-2/{name}.alone", "floor", 1.3)
        yield Row(STREAM, "the same, 90th percentile", f"far-2/{name}.p90")
        yield Row(STREAM, "the other thread meanwhile", f"far-2/{name}.rate", None, None, None, True)
    yield Row(STREAM, "fetching add, 64 under way, against blocking", "far-2/add.64", "far-2/add.blocking", "floor", 0.2)
    yield Row(STREAM, "add without the old value, flush after 64", "far-2/add.posted")
    for op, what in (("put", "put_nbi, 64 and a quiet"), ("get", "get")):
        for threads in THREADS[1:]:
            yield Row(LANES, f"{what}, {threads} threads, shared context, against one lane", f"lanes-2/shared.{op}.{threads}",
                      f"one.lanes-2/shared.{op}.{threads}", "floor", 1.0)
        yield Row(LANES, f"{what}, 4 threads, contexts of their own, against shared", f"lanes-2/own.{op}.4", f"lanes-2/shared.{op}.4")


ROWS = [*message_rows(), *stream_rows(STREAMS, "streams", True), *lock_rows(), *mode_rows(), *stream_rows(FAR, "sides.ucx", True),
        *stream_rows(ANYWHERE, "ucx", False),
        *substrate_rows(), *computing_rows(), *memory_rows(),
        *accumulate_rows(), *far_rows()]
