"""The measurements of ./dev bench and their targets, as data. run.py explains the method.

A value has a key RUN/NAME: RUN is a program at a number of PEs ("barrier-4"), NAME what the program's JSON calls
it. A row of the table names our value, the value to compare it with, and the bound on their ratio.
"""
from collections import namedtuple

import experiments

# kind: "program" prints JSON; "example" is from examples/ and prints a RESULT line; "timed" is timed by the runner, from launch to exit, against as many processes that do nothing.
# quick: also with --quick. heavy: peers take minutes for it and get it with --full alone.
Run = namedtuple("Run", "key program pes kind quick heavy args", defaults=("program", True, False, ()))

RUNS = [
    Run("latency-2", "latency", 2),
    Run("fetch_add-2", "fetch_add", 2),
    Run("pingpong-2", "pingpong", 2),
    Run("bandwidth-2", "bandwidth", 2),
    Run("barrier-2", "barrier", 2),
    Run("barrier-4", "barrier", 4),
    Run("barrier-8", "barrier", 8),
    Run("barrier-16", "barrier", 16),
    Run("coll-2", "coll", 2),
    Run("coll-4", "coll", 4),
    Run("rss-2", "rss", 2),
    Run("rss-16", "rss", 16, quick=False),
    Run("stencil-2", "stencil", 2, "example", args=("100", "12800", "1280", "--json")),
    Run("isort-2", "isort", 2, "example", args=("24", "--json")),
    Run("launch-2", "launch", 2, "timed"),
    Run("launch-16", "launch", 16, "timed"),
    Run("launch-256", "launch", 256, "timed", quick=False, heavy=True),
]

# against: "floor" (another value of our own run, or of a floor program), "peer" (the same value of every peer),
# "bound" (a number), or None (shown, held to nothing). limit: at most, or at least when `at_least`.
Row = namedtuple("Row", "section question key floor against limit at_least", defaults=(None, None, None, False))

SIZES = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
ELEMENT_OPS = ["p", "g", "put1", "get1", "atomic_add", "atomic_fetch_add", "atomic_swap", "atomic_compare_swap",
               "atomic_set", "atomic_fetch"]
COLLECTIVES = ["broadcast", "reduce", "fcollect", "alltoall"]
ACCESS, MESSAGE, BANDWIDTH = "One element", "Messages and barriers", "Bandwidth"
START, COLLECTIVE, PROGRAM = "Start and memory", "Collectives", "Programs"


def size_name(size):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def element_rows():
    for region in ("heap", "global"):
        for op in ELEMENT_OPS:
            key = f"latency-2/{region}.{op}"
            limit = 2.0 if op.endswith("1") else 1.5
            what = {"put1": "put of 1 element", "get1": "get of 1 element"}.get(op, op)
            yield Row(ACCESS, f"{what}, {region}", key, key + ".floor", "floor", limit)
    yield Row(ACCESS, "fetch_add, against the bare instruction", "fetch_add-2/fetch_add", "fetch_add-2/bare", "floor", 1.2)
    yield Row(ACCESS, "fetch_add, 2 PEs contend", "fetch_add-2/fetch_add.contended")


def message_rows():
    hop = "pingpong-2/hop"
    yield Row(MESSAGE, "p, half round trip", "pingpong-2/p", hop)
    yield Row(MESSAGE, "put + fence + atomic_inc, half round trip", "pingpong-2/put_inc", hop, "floor", 1.3)
    yield Row(MESSAGE, "the same, flag in another cache line", "pingpong-2/put_inc.apart", hop)
    yield Row(MESSAGE, "put_signal, half round trip", "pingpong-2/put_signal", hop, "floor", 1.3)
    signal = "pingpong-2/put_signal.apart"
    yield Row(MESSAGE, "put_signal, signal in another cache line", signal, "pingpong-2/store.apart")
    yield Row(MESSAGE, "the same that adds, against the one that sets", "pingpong-2/put_signal_add.apart", signal, "floor", 1.15)
    yield Row(MESSAGE, "counting put, half round trip, against put_signal that sets", "pingpong-2/ct.apart", signal, "floor", 1.15)
    yield Row(MESSAGE, "plain stores to two cache lines, half round trip", "pingpong-2/store.apart")
    yield Row(MESSAGE, "barrier_all, 2 PEs", "barrier-2/barrier_all", "barrier-2/hop", "floor", 1.5)
    for pes in (4, 8, 16):
        yield Row(MESSAGE, f"barrier_all, {pes} PEs", f"barrier-{pes}/barrier_all")
    yield Row(MESSAGE, "one cache-line hop, program without a library", "floor/hop")
    yield Row(MESSAGE, "the same, both write one line", "floor/hop.line")


def bandwidth_rows():
    for size in SIZES:
        yield Row(BANDWIDTH, f"put {size_name(size)}", f"bandwidth-2/put.{size}", f"bandwidth-2/memcpy.{size}",
                  "floor", 0.95, True)
    for size in SIZES:
        yield Row(BANDWIDTH, f"get {size_name(size)}", f"bandwidth-2/get.{size}", f"bandwidth-2/memcpy.from.{size}",
                  None, None, True)


def start_rows():
    for pes in (2, 16, 256):
        yield Row(START, f"launch to exit, {pes} PEs", f"launch-{pes}/time", f"floor/spawn-{pes}", "floor", 2.0)
    for pes in (2, 16):
        yield Row(START, f"resident memory per PE after init, {pes} PEs", f"rss-{pes}/after_init", None, "bound", 4.0)


def collective_rows():
    for pes in (2, 4):
        for name in ("barrier", "sync"):
            yield Row(COLLECTIVE, f"{name}, {pes} PEs", f"coll-{pes}/{name}", None, "peer", 1.0)
        for name in COLLECTIVES:
            for size in (8, 64 << 10, 4 << 20):
                key = f"coll-{pes}/{name}.{size}"
                yield Row(COLLECTIVE, f"{name} {size_name(size)}, {pes} PEs", key,
                          key + ".floor" if size > 8 else None, "peer", 1.0)
                if size == 4 << 20:      # 0.8 of the speed of memcpy is 1.25 of its time
                    yield Row(COLLECTIVE, f"{name} {size_name(size)}, {pes} PEs, against memcpy", key, key + ".floor",
                              "floor", 1.25)


def program_rows():
    yield Row(PROGRAM, "pipelined stencil 12800 x 1280, 2 PEs", "stencil-2/mflops", at_least=True)
    yield Row(PROGRAM, "sort of 2^24 keys, 2 PEs", "isort-2/mkeys_per_s", at_least=True)


RUNS += experiments.runs(Run)
ROWS = [*element_rows(), *message_rows(), *bandwidth_rows(), *start_rows(), *collective_rows(), *program_rows(),
        *experiments.rows(Row, size_name)]
