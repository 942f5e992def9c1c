"""One node: the OpenSHMEM functions, requests and counters beside the peers and the machine itself."""
import ways
from figures import Figure, Panel, Series
from rows import Beside, Page, Row, Run, size_name

TEXT = """The reference is the time of the machine itself, measured in the same run: the same access by a one-line function of
another shared library, one hop of a cache line between two cores by plain stores and loads, memcpy
between the same two places, or the start of as many processes that do nothing. In the experiments with requests and counters it is
another way to do the same work. `bench/pages/node.py` lists the reference and
the target of every row. The head of every program in `bench/` describes it. `bench/ways.py` holds the way to
start each peer. A dash marks a row that a peer cannot run, or needs minutes for.
Over several hosts: [hosts.md](hosts.md). Many threads in one process: [threads.md](threads.md). MPI: [mpi.md](mpi.md),
[mpix.md](mpix.md). What looking costs: [looking.md](looking.md). Many nodes: [scale.md](scale.md). Applications: [apps.md](apps.md)."""

SIZES = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
ELEMENT_OPS = ["p", "g", "put1", "get1", "put_quiet", "atomic_add", "atomic_fetch_add", "atomic_compare_swap"]
COLLECTIVES = ["broadcast", "reduce", "fcollect", "alltoall"]
ACCESS, MESSAGE, BANDWIDTH = "One element", "Messages and barriers", "Bandwidth"
START, COLLECTIVE, PROGRAM = "Start and memory", "Collectives", "Programs"
PUT_SIZES = [8, 64, 512, 4096, 32768, 262144, 1048576]
MESSAGE_SIZES = [8, 64, 512, 4096, 32768]
EXCHANGE_SIZES = [8, 128, 2048, 32768]
EXCHANGE_PES, SSCA1_PES, WAVEFRONT_PES = (2, 4, 8), (2, 4), (1, 2, 4, 8)
GRIDS = ["320x3200", "1280x12800"]
MODES = ["blocking", "nbi", "request", "merge", "merged", "block"]
REQUEST, COUNTER, EXPERIMENT = "Requests", "Counters", "Requests and counters in programs"
SPAWN, HOP = (Beside("spawn", "spawn"),), (Beside("hop", "hop"),)


def some(program, counts, **more):
    """Returns the program's runs, those of 2 PEs also with --quick."""
    return [Run(f"{program}-{pes}", program, pes, quick=pes == 2, **more) for pes in counts]


RUNS = [
    Run("latency-2", "latency", 2), Run("bandwidth-2", "bandwidth", 2), Run("barrier-2", "barrier", 2, beside=HOP),
    *[Run(f"barrier-{pes}", "barrier", pes) for pes in (3, 4, 8, 16)], Run("coll-2", "coll", 2), Run("coll-4", "coll", 4), *some("rss", (2, 16)),
    Run("dataflow-2", "dataflow", 2, peers=("openmpi",)),
    *[Run(f"launch-{pes}", "launch", pes, peers=pes < 256, kind="timed", beside=SPAWN, quick=pes < 256) for pes in (2, 16, 256)],
    Run("requests-2", "requests", 2), Run("notify-2", "notify", 2, beside=HOP), *some("exchange", EXCHANGE_PES), *some("ssca1", SSCA1_PES, limit=180),
    *some("wavefront", WAVEFRONT_PES)]


def element_rows():
    for region in ("heap", "global"):
        for op in ELEMENT_OPS:
            key = f"latency-2/{region}.{op}"
            what = {"put1": "put of 1 element", "get1": "get of 1 element", "put_quiet": "put of 1 element and quiet"}.get(op, op)
            limit = None if op == "put_quiet" else 2.0 if op.endswith("1") else 1.5
            yield Row(ACCESS, f"{what}, {region}", key, key + ".floor", limit and "reference", limit)


def message_rows():
    for way, what, limit in (("p", "p", None), ("inc.near", "put + fence + atomic_inc", 1.3), ("put_signal.near", "put_signal", 1.3)):
        yield Row(MESSAGE, f"{what}, half round trip in one cache line", f"notify-2/{way}", "notify-2/hop", "reference" if limit else None, limit)
    yield Row(MESSAGE, "barrier_all, 2 PEs", "barrier-2/barrier_all", "barrier-2/hop", "reference", 1.5)
    for pes in (3, 4, 8, 16):
        yield Row(MESSAGE, f"barrier_all, {pes} PEs", f"barrier-{pes}/barrier_all", None, "peer", 1.0)


def bandwidth_rows():
    for size in SIZES:
        yield Row(BANDWIDTH, f"put {size_name(size)}", f"bandwidth-2/put.{size}", f"bandwidth-2/memcpy.{size}", "reference", 0.95, True)
    for size in SIZES:
        yield Row(BANDWIDTH, f"get {size_name(size)}", f"bandwidth-2/get.{size}", f"bandwidth-2/memcpy.from.{size}", at_least=True)


def start_rows():
    for pes in (2, 16, 256):
        yield Row(START, f"launch to exit, {pes} PEs", f"launch-{pes}/time", f"launch-{pes}/spawn", "reference", 1.6 if pes == 256 else 2.0)
    for pes in (2, 16):
        yield Row(START, f"resident memory per PE after init, {pes} PEs", f"rss-{pes}/after_init", None, "bound", 4.0)


def collective_rows():
    for pes in (2, 4):
        for name in COLLECTIVES:
            for size in (8, 64 << 10, 4 << 20):
                key = f"coll-{pes}/{name}.{size}"
                yield Row(COLLECTIVE, f"{name} {size_name(size)}, {pes} PEs", key, key + ".floor" if size > 8 else None, "peer", 1.0)
                if size == 4 << 20:      # 0.8 of the speed of memcpy is 1.25 of its time
                    yield Row(COLLECTIVE, f"{name} {size_name(size)}, {pes} PEs, against memcpy", key, key + ".floor", "reference", 1.25)


def program_rows():
    yield Row(PROGRAM, "dataflow runtime (Open MPI: on MPI's messages), tasks of one PE", "dataflow-2/tasks", None, "peer", 1.0, True)
    yield Row(PROGRAM, "the same, from a task to the next one on the other PE", "dataflow-2/hop", None, "peer", 1.0)


def request_rows():
    for size in PUT_SIZES:
        yield Row(REQUEST, f"a request for each put, merged into one, {size_name(size)}, against nbi puts", f"requests-2/merge.{size}",
                  f"requests-2/nbi.{size}")
    for size in PUT_SIZES:
        yield Row(REQUEST, f"put and wait for its request, {size_name(size)}, against put and quiet",
                  f"requests-2/request.each.{size}", f"requests-2/put.each.{size}", "reference", 1.1)
    for way, what in (("nbi", "nbi puts"), ("merged", "puts with one request"), ("request", "a request for each put")):
        for size in PUT_SIZES:
            yield Row(REQUEST, f"{what}, {size_name(size)}, against blocking puts", f"requests-2/{way}.{size}", f"requests-2/put.{size}",
                      "reference", 1.1)
    for size in PUT_SIZES:
        yield Row(REQUEST, f"blocking puts, {size_name(size)}", f"requests-2/put.{size}")


def counter_rows():
    for size in PUT_SIZES[:5]:
        yield Row(COUNTER, f"counting put, {size_name(size)}, against put, fence, atomic", f"requests-2/put_ct.{size}",
                  f"requests-2/put_inc.{size}", "reference", 1.1)
    for size in PUT_SIZES:
        yield Row(COUNTER, f"counting get, {size_name(size)}, against get", f"requests-2/get_ct.{size}", f"requests-2/get.{size}")
    yield Row(COUNTER, "message and count, half round trip, against a hop", "notify-2/ct.8", "notify-2/hop", "reference", 1.3)
    for way, what in (("ct", "counting put"), ("put_signal_add", "put_signal that adds")):
        yield Row(COUNTER, f"half round trip, {what}, 8 B, against put_signal that sets", f"notify-2/{way}.8",
                  "notify-2/put_signal.8", "reference", 1.1)
    for size in MESSAGE_SIZES:
        yield Row(COUNTER, f"half round trip, {size_name(size)}, against put, fence, flag", f"notify-2/ct.{size}",
                  f"notify-2/inc.{size}", "reference", 1.0)
    for pes in EXCHANGE_PES:
        for size in EXCHANGE_SIZES:
            yield Row(COUNTER, f"all-to-all {size_name(size)}, {pes} PEs, against flags", f"exchange-{pes}/ct.{size}",
                      f"exchange-{pes}/flags.{size}", "reference", 1.0)
    for way, what in (("inc", "put, fence, flag"), ("put_signal", "put_signal"), ("put_signal_add", "put_signal that adds")):
        for size in MESSAGE_SIZES:
            yield Row(COUNTER, f"half round trip, {what}, {size_name(size)}", f"notify-2/{way}.{size}")
    for pes in EXCHANGE_PES:
        for way in ("barrier", "flags"):
            for size in EXCHANGE_SIZES:
                yield Row(COUNTER, f"all-to-all by {way}, {size_name(size)}, {pes} PEs", f"exchange-{pes}/{way}.{size}")


def experiment_rows():
    limits = {"merged": 1 / 0.9, "block": 1 / 1.5}
    for pes in SSCA1_PES:
        for mode in MODES[1:]:
            yield Row(EXPERIMENT, f"SSCA#1 kernel 1, {mode}, {pes} PEs, against blocking", f"ssca1-{pes}/k1.{mode}",
                      f"ssca1-{pes}/k1.blocking", "reference" if mode in limits else None, limits.get(mode))
        yield Row(EXPERIMENT, f"SSCA#1 kernel 1, blocking, {pes} PEs", f"ssca1-{pes}/k1.blocking")
    for pes in WAVEFRONT_PES:
        for grid in GRIDS:
            yield Row(EXPERIMENT, f"wavefront {grid}, {pes} PEs, counters against flags", f"wavefront-{pes}/ct.{grid}",
                      f"wavefront-{pes}/flags.{grid}", "reference" if pes > 1 else None, 1.0 if pes > 1 else None, True)
        for way in ("flags", "put_signal"):
            for grid in GRIDS:
                yield Row(EXPERIMENT, f"wavefront {grid} by {way}, {pes} PEs", f"wavefront-{pes}/{way}.{grid}", at_least=True)


ROWS = [*element_rows(), *message_rows(), *bandwidth_rows(), *start_rows(), *collective_rows(), *program_rows(), *request_rows(),
        *counter_rows(), *experiment_rows()]

# ---------------------------------------------------------------------------------------------- pictures

SIZE_NAMES, PUT_NAMES = [size_name(size) for size in SIZES], [size_name(size) for size in PUT_SIZES]
ELEMENTS = [f"{region}.{op}" for region in ("heap", "global") for op in ("p", "g", "put1", "atomic_fetch_add")]
MESSAGES = {"notify-2/p": "p", "notify-2/inc.near": "put, fence, inc", "notify-2/put_signal.near": "put_signal",
            **{f"barrier-{pes}/barrier_all": f"barrier, {pes} PEs" for pes in (2, 4, 16)}}
COLL_SIZES = [(8, "8 B"), (64 << 10, "64 KiB"), (4 << 20, "4 MiB")]


def collectives(pes):
    points = {f"coll-{pes}/{name}.{size}": f"{name} {text}" for name in COLLECTIVES for size, text in COLL_SIZES}
    return Panel(f"Collectives, {pes} PEs (lower is better)", "ns", "collective and size of a PE's part", list(points),
                 [Series("", "all", "{}"), Series("memcpy", "reference", "{}.floor")], list(points.values()), joined=False)


def shared(title, unit, axis, points, labels, key, own, peers, log=True):
    """A panel of Lateral's ways to do something, and of the peers' one."""
    return Panel(title, unit, axis, points, [*[Series(words, "ours", key.replace("WAY", way)) for way, words in own],
                                             Series(peers[1], "plain", key.replace("WAY", peers[0]))], labels, log)


FIGURES = [
    Figure("peers.png", "Lateral, its peers and the machine itself", [
        Panel("One element, to another PE (lower is better)", "ns", "operation", ELEMENTS,
              [Series("", "all", "latency-2/{}"), Series("one-line function of another library", "reference", "latency-2/{}.floor")],
              [text.replace("atomic_", "").replace(".", ": ") for text in ELEMENTS], joined=False),
        Panel("Half round trip, barrier (lower is better)", "ns", "operation", list(MESSAGES), [Series("", "all", "{}")],
              list(MESSAGES.values()), joined=False),
        Panel("put bandwidth (higher is better)", "GB/s", "size of a put", SIZES,
              [Series("", "all", "bandwidth-2/put.{}"), Series("memcpy", "reference", "bandwidth-2/memcpy.{}")], SIZE_NAMES, log=False),
        collectives(2)]),
    Figure("collectives-4.png", "Collectives with 4 PEs", [collectives(4)]),
    Figure("requests.png", "Requests, one and merged", [
        shared("A put in a window of 64 (lower is better)", "ns", "size of a put", PUT_SIZES, PUT_NAMES, "requests-2/WAY.{}",
               [("merged", "merged request"), ("request", "request per put"), ("nbi", "nbi and quiet"), ("put", "blocking")], ("nbi", "nbi and quiet")),
        shared("A put and its completion; a put and its count (lower is better)", "ns", "size of a put", PUT_SIZES, PUT_NAMES, "requests-2/WAY.{}",
               [("request.each", "put and wait for its request"), ("put_ct", "counting put")], ("put.each", "put and quiet"))]),
    Figure("notify.png", "Telling the receiver", [
        shared("Ping-pong, half a round trip (lower is better)", "ns", "size (bytes)", MESSAGE_SIZES, None, "notify-2/WAY.{}",
               [("ct", "counting put"), ("put_signal", "put_signal"), ("inc", "put, fence, flag")], ("inc", "put, fence, flag")),
        shared("All-to-all, 4 PEs (lower is better)", "ns", "size to each PE (bytes)", EXCHANGE_SIZES, None, "exchange-4/WAY.{}",
               [("ct", "counters"), ("flags", "flags"), ("barrier", "barrier")], ("flags", "flags"))]),
    Figure("wavefront.png", "The pipelined stencil", [
        shared(f"Wavefront {grid} (higher is better)", "MFlop/s", "number of PEs", WAVEFRONT_PES, None, f"wavefront-{{}}/WAY.{grid}",
               [("ct", "counters"), ("put_signal", "put_signal"), ("flags", "flags")], ("flags", "flags"), False) for grid in reversed(GRIDS)]),
    Figure("ssca1.png", "SSCA#1", [
        Panel(f"SSCA#1 kernel 1, {pes} PEs (lower is better)", "ms", "way to complete", MODES, [Series("", "all", f"ssca1-{pes}/k1.{{}}")],
              joined=False) for pes in SSCA1_PES])]

README = {"node": ("2 PEs on 2 cores", [("lateral", "Lateral"), ("openmpi", ""), ("sos", ""), ("reference", "the machine")], [
    ("8-byte put to the heap", ["latency-2/heap.p"]), ("8-byte put to a global variable", ["latency-2/global.p"]),
    ("atomic fetch-add", ["latency-2/heap.atomic_fetch_add"]), ("barrier (the machine: one hop)", ["barrier-2/barrier_all"]),
    ("barrier, 16 PEs on the 2 cores", ["barrier-16/barrier_all"]),
    ("broadcast, sum, allgather of 4 MiB", [f"coll-2/{name}.4194304" for name in ("broadcast", "reduce", "fcollect")]),
    ("start and end of 16 PEs (the machine: processes that do nothing)", ["launch-16/time"]),
    ("memory per PE after init", ["rss-2/after_init"])])}

PAGE = Page("node", "README.md", "Results", TEXT, RUNS, ROWS, FIGURES, ways.every, README, peers=("Open MPI", "Sandia OpenSHMEM"))
