"""The measurements of ./dev bench --mpix, their targets and pictures, as data: the figures of "Quo Vadis MPI RMA?" (Schuchart et
al., EuroMPI 2021). mpix.py runs bench/mpi/paper.c, whose names the keys have: WHERE/FIGURE.KIND.NUMBER."""
from collections import namedtuple

# One start of paper.c: the figure, and how often in a measurement at most.
Run = namedtuple("Run", "figure rounds")
# against: another key of the same way, "best" KEY (the fastest MPI alone) or "bound"; limit: at most, of the ratio.
Row = namedtuple("Row", "section question key against limit")
# who: "mpis" (each MPI alone), "ours" (each layer) or "all".
Series = namedtuple("Series", "who words key")
Figure = namedtuple("Figure", "file title unit axis values series")

RUNS = [Run("windows", 2), Run("order", 2), Run("scope", 2), Run("busy", 1)]
WHERE = {"node": "shared memory", "hosts": "two hosts"}
SIZES, ORDERED_SIZES, SCOPE_SIZES = (8, 64, 512, 4096, 16384, 65536), (8, 64, 512, 4096, 16384), (8, 512, 4096, 65536)
THREADS = (1, 2, 4, 8, 16, 32)
KINDS = {"allocate": "allocated", "dynamic": "dynamic", "handle": "memory handle"}

FIGURES = [
    Figure("mpix-4.png", "Figure 4: put and flush", "us", "bytes", SIZES,
           [Series("all", "allocated", "windows.allocate.{}"), Series("all", "dynamic", "windows.dynamic.{}")]),
    Figure("mpix-5.png", "Figure 5: 100,000 puts of a byte, the target computes for 3 s", "us", "window", tuple(KINDS),
           [Series("all", "put and flush", "busy.{}")]),
    Figure("mpix-8.png", "Figure 8: put and flush of 1 and 32 threads", "us", "bytes", SCOPE_SIZES,
           [Series("mpis", "1 thread", "process.1.{}"), Series("mpis", "32 threads", "process.32.{}"),
            Series("ours", "1 thread, thread scope", "thread.1.{}"), Series("ours", "32, process scope", "process.32.{}"),
            Series("ours", "32, thread scope", "thread.32.{}")]),
    Figure("mpix-9.png", "Figure 9: put and flush of 8 bytes", "us", "threads", THREADS,
           [Series("mpis", "flush", "process.{}.8"), Series("ours", "process scope", "process.{}.8"),
            Series("ours", "thread scope", "thread.{}.8")]),
    Figure("mpix-10.png", "Figure 10: puts with flushes, without, and in order without", "us", "bytes", ORDERED_SIZES,
           [Series("all", "flush", "order.flush.{}"), Series("all", "none", "order.none.{}"),
            Series("ours", "ordered", "order.ordered.{}")]),
    Figure("mpix-11.png", "Figure 11: put and flush of 32 threads, process scope", "us", "bytes", SCOPE_SIZES,
           [Series("all", "unordered", "process.32.{}"), Series("ours", "ordered", "ordered.32.{}")]),
    Figure("mpix-12.png", "Figure 12: windows of memory handles", "us", "bytes", SIZES,
           [Series("mpis", "dynamic", "windows.dynamic.{}"), Series("ours", "allocated", "windows.allocate.{}"),
            Series("ours", "memory handle", "windows.handle.{}"), Series("ours", "with making and freeing", "windows.made.{}")]),
]


def rows():
    for where, words in WHERE.items():
        section = f"Memory handles, {words}"
        for size in SIZES:
            yield Row(section, f"put of {size} B, to that on an allocated window", f"{where}/windows.handle.{size}",
                      f"{where}/windows.allocate.{size}", 1.05)
        for size in SIZES:
            yield Row(section, f"dynamic window, {size} B, to the best MPI's", f"{where}/windows.dynamic.{size}",
                      f"best {where}/windows.dynamic.{size}", None)
        yield Row(section, "window from handle, put of 8 B, free, to the best MPI's put on a dynamic window",
                  f"{where}/windows.made.8", f"best {where}/windows.dynamic.8", 1.0)
        section = f"The target computes for 3 s, {words}"
        for kind, name in KINDS.items():
            yield Row(section, f"{name}: put of 1 B, flush", f"{where}/busy.{kind}", "bound", 30.0 if where == "node" else None)
        section = f"Threads, {words}"
        for threads in THREADS:
            yield Row(section, f"{threads} threads, thread scope, to the best MPI's flush", f"{where}/thread.{threads}.8",
                      f"best {where}/process.{threads}.8", 0.1 if threads == 32 else None)
        for threads in THREADS:
            yield Row(section, f"{threads} threads, process scope", f"{where}/process.{threads}.8",
                      f"best {where}/process.{threads}.8", None)
        section = f"Order, {words}"
        for size in ORDERED_SIZES:
            yield Row(section, f"ordered put of {size} B, to an unordered one", f"{where}/order.ordered.{size}",
                      f"{where}/order.none.{size}", 1.2)
        for size in ORDERED_SIZES:
            yield Row(section, f"ordered put of {size} B, to put and flush", f"{where}/order.ordered.{size}",
                      f"{where}/order.flush.{size}", 0.2 if where == "hosts" and size == 8 else None)


ROWS = list(rows())
