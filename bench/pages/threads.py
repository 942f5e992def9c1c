"""Many threads of one process against as many processes, active messages with many threads in progress, and a coarse lock round every
call. A row's "reference" is another way to do the same work: fewer threads, processes in place of threads, the lock, ucx_perftest."""
import ways
from figures import Figure, Panel, Series
from rows import Page, Row, Run, size_name

TEXT = """These are the experiments of the paper on a thread-safe UCCS. The number of cores limits them:

- A sender and T receiving threads need T + 1 cores. In every row with more of them the threads share cores; there the target is half of
  one thread's rate.
- A run of 1050 messages lasts 0.12 ms, and a time slice of the kernel some milliseconds. So of more threads than cores those that are running
  handle most of a run, whatever the library does, which 4 and 8 threads show here.
- In the rows "one way" the other process sleeps and the threads have all cores. The coarse lock is a mutex around every call. A thread
  holds it also while `uccs_progress` gives the core to another thread.
- Threads against processes over UCX (TCP): a stream whose ends share a core is faster, because its data stays in that core's cache, so
  each side has its half of the cores. There are as many progress engines as processes: the threads of a process share one.
- Sums of up to 4,096 longs take the processor less time than waking a thread, so nobody is woken: the PE that starts last does the sum
  for both within its start, which no later work can hide. There the target is the time to start and wait.
- The rows "a progress thread": each PE has one core, which its work and its progress thread share. Copying and folding are
  work for the processor, so work on the processor hides only the waiting; work elsewhere can hide all of a sum.

`bench/pages/threads.py` names programs and targets."""

SIZES, THREADS = [4 ** power for power in range(7, 12)], (1, 2, 4, 8)
MESSAGES, FAIRNESS = "Active messages: threads in progress", "Callbacks of each thread in a run of 1050"
STREAMS, LOCK = "Threads against processes, shared memory", "Against a coarse lock"
FAR = "Threads against processes, UCX, each side on its half of the cores"
COMPUTING, SUMS = "A progress thread while both PEs compute", [8 ** power for power in range(7)]
BRIEF = 4096  # longs: up to so many the last of two PEs to start a sum does it for both


def own(key, program, pes=2, args=(), peers=False):
    return Run(f"{key}-{pes}", program, pes, args, "free", peers)


RUNS = [own("am", "uccs_am"),
        *[own("streams", "uccs_bandwidth", pes, peers=True) for pes in (2, 4, 8, 16)],
        own("computing", "computing"),
        *[own("sides.ucx", "uccs_bandwidth", pes, ("--ucx",)) for pes in (2, 4, 8, 16)]]


def message_rows():
    for threads in THREADS[1:]:
        yield Row(MESSAGES, f"1050 messages, {threads} threads, against 1", f"am-2/injection.{threads}", "am-2/injection.1", "reference", 0.5, True)
    for threads in THREADS[1:]:
        yield Row(FAIRNESS, f"{threads} threads: deviation between them, over the mean", f"am-2/fairness.{threads}", None, "bound", 0.25)
        yield Row(FAIRNESS, f"{threads} threads: one thread's deviation between runs, over the mean", f"am-2/between.{threads}")


def stream_rows(section, run):
    for way in ("put", "get"):
        for threads in THREADS[1:]:
            for size in SIZES:
                yield Row(section, f"{way} {size_name(size)}, {threads} threads each way, against processes",
                          f"{run}-2/{way}.{threads}.{size}", f"{run}-{2 * threads}/{way}.1.{size}", "reference", 0.95, True)


def lock_rows():
    for size in (8, *SIZES):
        for threads in THREADS[1:]:
            yield Row(LOCK, f"put {size_name(size)}, {threads} threads, one way: they have all cores", f"streams-2/oneway.{threads}.{size}",
                      f"streams-2/oneway_coarse.{threads}.{size}", "reference", 3.0 if size == 8 else 1.6, True)


def computing_rows():
    yield Row(COMPUTING, "message to a PE that computes, and its answer", "computing-2/answer", None, "bound", 50000.0)
    yield Row(COMPUTING, "the same, 99th percentile", "computing-2/answer.p99")
    for n in SUMS:
        brief = n <= BRIEF
        yield Row(COMPUTING, f"sum of {n} longs, started and waited for", f"computing-2/alone.{n}", None,
                  "bound" if brief else None, 5000.0 if brief else None)
        yield Row(COMPUTING, f"sum of {n} longs: left of it beside work on the processor", f"computing-2/left.{n}", f"computing-2/alone.{n}")
        yield Row(COMPUTING, f"sum of {n} longs: left of it beside work off the processor", f"computing-2/left_away.{n}", f"computing-2/alone.{n}",
                  None if brief else "reference", None if brief else 0.1)


ROWS = [*message_rows(), *stream_rows(STREAMS, "streams"), *lock_rows(), *stream_rows(FAR, "sides.ucx"), *computing_rows()]

FIGURES = [Figure("threads.png", "Threads against processes; messages against receiving threads", [
    Panel("4 streams each way (higher is better)", "GB/s", "size of a put or get", SIZES, [
        Series("put, 4 threads", "all", "streams-2/put.4.{}"), Series("put, 4 processes", "all", "streams-8/put.1.{}"),
        Series("get, 4 threads", "ours", "streams-2/get.4.{}"), Series("get, 4 processes", "ours", "streams-8/get.1.{}")],
          [size_name(size) for size in SIZES], log=False),
    Panel("Messages (higher is better)", "million/s", "number of receiving threads", THREADS, [
        Series("1050 messages", "ours", "am-2/injection.{}")], log=False),
    Panel("A split-phase sum and work beside it (lower is better)", "ns", "longs in the sum", SUMS, [
        Series("the sum alone", "ours", "computing-2/alone.{}"),
        Series("left beside work on the processor", "all", "computing-2/left.{}"),
        Series("left beside work off it", "ours", "computing-2/left_away.{}")])])]

PAGE = Page("threads", "threads.md", "Many threads in one process", TEXT, RUNS, ROWS, FIGURES, ways.openmpi_modes(True), peers=("Open MPI",))
