"""Many threads of one process against as many processes, active messages with many threads in progress, and a coarse lock round every
call. A row's "reference" is another way to do the same work: fewer threads, processes in place of threads, the lock, ucx_perftest."""
import ways
from figures import Figure, Panel, Series
from rows import Beside, Page, Row, Run, size_name

TEXT = """These are the experiments of the paper on a thread-safe UCCS. The number of cores limits them:

- A sender and T receiving threads need T + 1 cores. In every row with more of them the threads share cores; there the target is half of
  one thread's rate. The rows "the sender asleep" show what many threads cost at the receiver alone: the messages have arrived already,
  and the threads have all cores. Their handlers only count, each thread on a line of its own, so what is left is that they hand the
  ring's head to each other for every message.
- In the rows "both ways" one thread of each process fills the cores, so a coarse lock leaves no core idle and costs less than in a
  process with more cores. In the rows "one way" the other process sleeps and the threads have all cores; these rows have the target.
- The coarse lock is a mutex around every call. A thread holds it also while `uccs_progress` gives the core to another thread.
- Threads against processes over UCX (TCP): a stream whose ends share a core is faster, because its data stays in that core's cache.
  Left alone, the kernel places pairs of processes on one core; it cannot do so with 2 processes whose threads share a connection. So
  the target is in the rows where each side has its half of the cores, and the rows "anywhere" show what the kernel makes of it. There
  are as many progress engines as processes: the threads of a process share one.
- Workers: with 2 threads and the target on 2 cores, a second worker adds messages (the worker's batches no longer hold the puts of both
  threads) and no core.
- Sums of up to 4,096 longs take the processor less time than waking a thread, so nobody is woken: the PE that starts last does the sum
  for both within its start, which no later work can hide. There the target is the time to start and wait.
- The rows "a progress thread": each PE has one core, which its work and its progress thread share. Copying and folding are
  work for the processor, so work on the processor hides only the waiting; work elsewhere can hide all of a sum.

`bench/pages/threads.py` names programs and targets."""

SIZES, THREADS, MANY = [4 ** power for power in range(7, 12)], (1, 2, 4, 8), (1, 2, 4, 8)
MESSAGES, FAIRNESS = "Active messages: threads in progress", "Callbacks of each thread in a run of 1050"
STREAMS, LOCK = "Threads against processes, shared memory", "Against a coarse lock"
FAR, ANYWHERE = "Threads against processes, UCX, each side on its half of the cores", "Threads against processes, UCX, anywhere"
MODES, SUBSTRATE = "One thread", "UCX itself"
ACCUMULATE = "Accumulates of uccs.h"
COMPUTING, SUMS = "A progress thread while both PEs compute", [8 ** power for power in range(7)]
BRIEF = 4096  # longs: up to so many the last of two PEs to start a sum does it for both
MEMORY = "Memory and locks of uccs.h"
WORKERS = "Threads on workers, UCX on one node"
STREAM = "Streams and atomics of uccs.h, UCX over TCP"

PUTS = tuple(Beside(f"ucx_put.{threads}.{size}", "ucp_put_bw", size, max(50, min(20000, (1 << 30) // size // threads ** 2)), "GB/s", threads)
             for threads in THREADS[:3] for size in SIZES[::2])
AMS = tuple(Beside(f"ucx_am.{threads}.8", "ucp_am_bw", 8, 100000 // threads ** 2, "M/s", threads) for threads in (1, 2))


def own(key, program, pes=2, args=(), peers=False, beside=()):
    return Run(f"{key}-{pes}", program, pes, args, "free", peers, beside)


RUNS = [own("am", "uccs_am", beside=AMS), own("memory", "uccs_memory"),
        *[own("streams", "uccs_bandwidth", pes, peers=True, beside=PUTS if pes == 2 else ()) for pes in (2, 4, 8, 16)],
        own("computing", "computing"), own("far", "uccs_far"), own("contexts", "contexts", args=("--ucx",)),
        own("one.contexts", "contexts", args=("--ucx", "--one")),
        *[own("sides.ucx", "uccs_bandwidth", pes, ("--shmem", "--ucx", "--sides")) for pes in (2, 4, 8, 16)],
        *[own("ucx", "uccs_bandwidth", pes, ("--shmem", "--ucx")) for pes in (2, 4, 8, 16)]]


def message_rows():
    for threads in MANY[1:]:
        for way in ("injection", "sustained"):
            what = "1050 messages" if way == "injection" else "200,000 messages"
            yield Row(MESSAGES, f"{what}, {threads} threads, against 1", f"am-2/{way}.{threads}", f"am-2/{way}.1", "reference", 0.5, True)
    yield Row(MESSAGES, "1000 messages that lie there, the sender asleep, 2 threads, against 1", "am-2/drain.2", "am-2/drain.1", "reference", 0.9, True)
    for threads in MANY:
        yield Row(MESSAGES, f"200,000 messages, {threads} threads, against a coarse lock", f"am-2/sustained.{threads}",
                  f"am-2/coarse.{threads}", at_least=True)
    for threads in MANY[1:]:
        yield Row(FAIRNESS, f"{threads} threads: deviation between them, over the mean", f"am-2/fairness.{threads}", None, "bound", 0.25)
        yield Row(FAIRNESS, f"{threads} threads: one thread's deviation between runs, over the mean", f"am-2/between.{threads}")
        yield Row(FAIRNESS, f"{threads} threads: fewest", f"am-2/least.{threads}", None, at_least=True)
        yield Row(FAIRNESS, f"{threads} threads: most", f"am-2/most.{threads}")


def stream_rows(section, run, held):
    for way in ("put", "get"):
        for threads in THREADS[1:]:
            for size in SIZES:
                yield Row(section, f"{way} {size_name(size)}, {threads} threads each way, against processes",
                          f"{run}-2/{way}.{threads}.{size}", f"{run}-{2 * threads}/{way}.1.{size}", "reference" if held else None,
                          0.95 if held else None, True)


def lock_rows():
    for size in (8, *SIZES):
        limit = 3.0 if size == 8 else 1.6
        for threads in THREADS[1:]:
            yield Row(LOCK, f"put {size_name(size)}, {threads} threads, one way: they have all cores", f"streams-2/oneway.{threads}.{size}",
                      f"streams-2/oneway_coarse.{threads}.{size}", "reference", limit, True)
    for size in (8, *SIZES):
        yield Row(LOCK, f"put {size_name(size)}, 4 threads, both ways", f"streams-2/put.4.{size}", f"streams-2/coarse.4.{size}",
                  "reference" if size == 8 else None, 3.0 if size == 8 else None, True)


def mode_rows():
    for size in (8, 4096, 262144):
        yield Row(MODES, f"put {size_name(size)}, MULTIPLE against SINGLE", f"streams-2/multiple.{size}",
                  f"streams-2/single.{size}", "reference", round(1 / 1.2, 3), True)
        yield Row(MODES, f"put {size_name(size)}, against memcpy", f"streams-2/multiple.{size}", f"streams-2/memcpy.{size}",
                  at_least=True)


def substrate_rows():
    for threads in THREADS[:3]:
        for size in SIZES[::2]:
            yield Row(SUBSTRATE, f"put {size_name(size)}, {threads} threads, one way, against ucp_put_bw",
                      f"streams-2/oneway.{threads}.{size}", f"streams-2/ucx_put.{threads}.{size}", at_least=True)
    for threads in (1, 2):
        yield Row(SUBSTRATE, f"messages of 8 B, {threads} threads, against ucp_am_bw", f"am-2/sustained.{threads}",
                  f"am-2/ucx_am.{threads}.8", at_least=True)


def computing_rows():
    yield Row(COMPUTING, "message to a PE that computes, and its answer", "computing-2/answer", None, "bound", 50000.0)
    yield Row(COMPUTING, "the same, 99th percentile", "computing-2/answer.p99")
    yield Row(COMPUTING, "the same while the PE waits in the library", "computing-2/answer.waiting")
    for n in SUMS:
        brief = n <= BRIEF
        yield Row(COMPUTING, f"sum of {n} longs, started and waited for", f"computing-2/alone.{n}", None,
                  "bound" if brief else None, 5000.0 if brief else None)
        for where, off in (("on", ""), ("off", "_away")):
            yield Row(COMPUTING, f"sum of {n} longs: left of it beside work {where} the processor", f"computing-2/left{off}.{n}")
        if not brief:
            yield Row(COMPUTING, f"sum of {n} longs: part hidden by work off the processor", f"computing-2/overlap_away.{n}", None, "bound", 0.9, True)
            yield Row(COMPUTING, f"sum of {n} longs: part hidden by work on the processor", f"computing-2/overlap.{n}", None, None, None, True)


def accumulate_rows():
    yield Row(ACCUMULATE, "sum of 1,000 doubles, against a plain loop under one lock", "memory-2/doubles", "memory-2/doubles.plain",
              "reference", 1.25)
    yield Row(ACCUMULATE, "the same, both PEs at once", "memory-2/doubles.contended")
    yield Row(ACCUMULATE, "the same with the old values", "memory-2/doubles.fetched")
    yield Row(ACCUMULATE, "addition to an integer, against the bare instruction", "memory-2/integer", "memory-2/integer.bare")


def memory_rows():
    for mode in ("shared", "exclusive"):
        yield Row(MEMORY, f"a free lock, {mode}: enter and leave, against two atomics", f"memory-2/lock.{mode}", "memory-2/lock.bare", "reference", 3.0)
        yield Row(MEMORY, f"the same by two PEs at once, against one, {mode}", f"memory-2/contended.{mode}", f"memory-2/lock.{mode}")
    for size in (8, 4096):
        yield Row(MEMORY, f"put {size_name(size)} and flush, into dynamic memory, against allocated", f"memory-2/put.{size}.dynamic",
                  f"memory-2/put.{size}.allocated")
    yield Row(MEMORY, "allocate and release 256 MB", "memory-2/allocate")


def far_rows():
    for name, what in (("beside", "8 KB puts"), ("beside_nb", "8 KB non-blocking puts"), ("other_nb", "the same in a stream of its own")):
        yield Row(STREAM, f"put and flush beside a thread with {what}, against alone", f"far-2/{name}", f"far-2/{name}.alone", "reference", 1.3)
        yield Row(STREAM, "the same, 90th percentile", f"far-2/{name}.p90")
        yield Row(STREAM, "the other thread meanwhile", f"far-2/{name}.rate", None, at_least=True)
    yield Row(STREAM, "fetching add, 64 under way, against blocking", "far-2/add.64", "far-2/add.blocking", "reference", 0.2)
    yield Row(STREAM, "add without the old value, flush after 64", "far-2/add.posted")
    for op, what in (("put", "put_nbi, 64 and a quiet"), ("get", "get")):
        for threads in THREADS[1:]:
            yield Row(WORKERS, f"{what}, {threads} threads, shared context, against one worker", f"contexts-2/shared.{op}.{threads}",
                      f"one.contexts-2/shared.{op}.{threads}", "reference", 1.0)
        yield Row(WORKERS, f"{what}, 4 threads, contexts of their own, against shared", f"contexts-2/own.{op}.4", f"contexts-2/shared.{op}.4")


ROWS = [*message_rows(), *stream_rows(STREAMS, "streams", True), *lock_rows(), *mode_rows(), *stream_rows(FAR, "sides.ucx", True),
        *stream_rows(ANYWHERE, "ucx", False), *substrate_rows(), *computing_rows(), *memory_rows(), *accumulate_rows(), *far_rows()]

FIGURES = [Figure("threads.png", "Threads against processes; messages against receiving threads", [
    Panel("4 streams each way (higher is better)", "GB/s", "size of a put or get", SIZES, [
        Series("put, 4 threads", "all", "streams-2/put.4.{}"), Series("put, 4 processes", "all", "streams-8/put.1.{}"),
        Series("get, 4 threads", "ours", "streams-2/get.4.{}"), Series("get, 4 processes", "ours", "streams-8/get.1.{}")],
          [size_name(size) for size in SIZES], log=False),
    Panel("Messages (higher is better)", "million/s", "number of receiving threads", MANY, [
        Series("1050 messages", "ours", "am-2/injection.{}"), Series("200,000 messages", "ours", "am-2/sustained.{}"),
        Series("200,000, coarse lock", "ours", "am-2/coarse.{}")], log=False),
    Panel("A split-phase sum and work beside it (lower is better)", "ns", "longs in the sum", SUMS, [
        Series("the sum alone", "ours", "computing-2/alone.{}"),
        Series("left beside work on the processor", "all", "computing-2/left.{}"),
        Series("left beside work off it", "ours", "computing-2/left_away.{}")])])]

PAGE = Page("threads", "threads.md", "Many threads in one process", TEXT, RUNS, ROWS, FIGURES, ways.openmpi_modes(True), peers=("Open MPI",))
