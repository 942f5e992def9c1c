"""The figures of "Quo Vadis MPI RMA?" (Schuchart et al., EuroMPI 2021). bench/mpi/paper.c measures them."""
import ways
from figures import Figure, Panel, Series
from pages.mpi import LAYERS
from rows import Page, Row, Run

TEXT = """`bench/mpi/paper.c` runs on each MPI, and on it with Lateral's layer preloaded; lower is better. "best" is the
fastest MPI of the round without the layer; a verdict is that of the worse layer. A dash marks what an MPI does not have.

The paper (Schuchart et al., EuroMPI 2021) measured over InfiniBand. Here the two hosts are network namespaces of this machine,
joined by a bridge, and the network is the kernel's TCP; the machine's cores serve both hosts and all threads. Rank 0 puts to rank 1,
which waits in MPI_Barrier. In the row of the target that computes, over 30 us on a node means that nothing moves before the
target calls the MPI; a way ends after 3.5 s, if its puts do not end before. Times of threads are those of a thread's operation."""

PLACES = {"node": "shared memory", "hosts": "two hosts"}
SIZES, ORDERED_SIZES, SCOPE_SIZES = (8, 64, 512, 4096, 16384, 65536), (8, 64, 512, 4096, 16384), (8, 512, 4096, 65536)
THREADS = (1, 2, 4, 8, 16, 32)
KINDS = {"allocate": "allocated", "dynamic": "dynamic", "handle": "memory handle"}

# Ranks are not bound: threads would share a core with them.
RUNS = [Run(f"{where}/{figure}", "mpi/paper", 2, (figure,), "free" if where == "node" else "hosts", limit=20, rounds=2)
        for where in PLACES for figure in ("windows", "order", "scope", "busy")]


def rows():
    for where, words in PLACES.items():
        made = lambda section, question, name, *held, where=where, words=words: \
            Row(f"{section}, {words}", question, f"{where}/{name}", held[0] and f"{where}/{held[0]}", *held[1:])
        for size in SIZES:
            yield made("Memory handles", f"put of {size} B, to that on an allocated window", f"windows/windows.handle.{size}",
                       f"windows/windows.allocate.{size}", "reference", 1.05)
        for size in SIZES:
            yield made("Memory handles", f"dynamic window, {size} B, to the best MPI's", f"windows/windows.dynamic.{size}", None, "best")
        yield made("Memory handles", "window from handle, put of 8 B, free, to the best MPI's put on a dynamic window",
                   "windows/windows.made.8", "windows/windows.dynamic.8", "best", 1.0)
        for kind, name in KINDS.items():
            yield made("The target computes for 3 s", f"{name}: put of 1 B, flush", f"busy/busy.{kind}", None, "bound",
                       30.0 if where == "node" else None)
        for threads in THREADS:
            yield made("Threads", f"{threads} threads, thread scope, to the best MPI's flush", f"scope/thread.{threads}.8",
                       f"scope/process.{threads}.8", "best", 0.1 if threads == 32 else None)
        for threads in THREADS:
            yield made("Threads", f"{threads} threads, process scope", f"scope/process.{threads}.8", None, "best")
        for size in ORDERED_SIZES:
            yield made("Order", f"ordered put of {size} B, to an unordered one", f"order/order.ordered.{size}", f"order/order.none.{size}",
                       "reference", 1.2)
        for size in ORDERED_SIZES:
            yield made("Order", f"ordered put of {size} B, to put and flush", f"order/order.ordered.{size}", f"order/order.flush.{size}",
                       "reference", 0.2 if where == "hosts" and size == 8 else None)


ROWS = list(rows())


def figure(number, title, axis, points, *series, labels=None, joined=True):
    """A picture with a panel for each place; series: words, who, key."""
    return Figure(f"mpix-{number}.png", f"Figure {number}: {title}", [
        Panel(f"{words} (lower is better)", "us", axis, points, [Series(of, who, f"{where}/{key}") for of, who, key in series], labels, joined=joined)
        for where, words in PLACES.items()])


FIGURES = [
    figure(4, "put and flush", "size (bytes)", SIZES, ("allocated", "all", "windows/windows.allocate.{}"), ("dynamic", "all", "windows/windows.dynamic.{}")),
    figure(5, "100,000 puts of a byte, the target computes for 3 s", "window", tuple(KINDS), ("", "all", "busy/busy.{}"), labels=list(KINDS.values()), joined=False),
    figure(8, "put and flush of 1 and 32 threads", "size (bytes)", SCOPE_SIZES, ("1 thread", "plain", "scope/process.1.{}"),
           ("32 threads", "plain", "scope/process.32.{}"), ("1 thread, thread scope", "ours", "scope/thread.1.{}"),
           ("32, process scope", "ours", "scope/process.32.{}"), ("32, thread scope", "ours", "scope/thread.32.{}")),
    figure(9, "put and flush of 8 bytes", "number of threads", THREADS, ("flush", "plain", "scope/process.{}.8"),
           ("process scope", "ours", "scope/process.{}.8"), ("thread scope", "ours", "scope/thread.{}.8")),
    figure(10, "puts with flushes, without, and in order without", "size (bytes)", ORDERED_SIZES, ("flush", "all", "order/order.flush.{}"),
           ("none", "all", "order/order.none.{}"), ("ordered", "ours", "order/order.ordered.{}")),
    figure(11, "put and flush of 32 threads, process scope", "size (bytes)", SCOPE_SIZES, ("unordered", "all", "scope/process.32.{}"),
           ("ordered", "ours", "scope/ordered.32.{}")),
    figure(12, "windows of memory handles", "size (bytes)", SIZES, ("dynamic", "plain", "windows/windows.dynamic.{}"),
           ("allocated", "ours", "windows/windows.allocate.{}"), ("memory handle", "ours", "windows/windows.handle.{}"),
           ("with making and freeing", "ours", "windows/windows.made.{}"))]

README = {"mpix": ("2 hosts over TCP", LAYERS, [
    ("dynamic window: put of 8 B, 16 KiB, flush", ["hosts/windows/windows.dynamic.8", "hosts/windows/windows.dynamic.16384"]),
    ("32 threads, put of 8 B and flush, process scope", ["hosts/scope/process.32.8"]), ("the same, thread scope", ["hosts/scope/thread.32.8"])])}

PAGE = Page("mpix", "mpix.md", 'The figures of "Quo Vadis MPI RMA?"', TEXT, RUNS, ROWS, FIGURES, ways.mpis(shared=False), README, each=False, peers=ways.ALL_MPIS)
