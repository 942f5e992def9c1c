"""Over two hosts of this machine (tools/dev/hosts.py), or of a cluster.

ucx_perftest runs beside on the same two hosts. It is the reference: the time of UCX alone for the same bytes.
"""
import ways
from figures import Figure, Panel, Series
from pages.node import COLLECTIVES, EXCHANGE_SIZES, MESSAGE_SIZES, MODES, PUT_SIZES
from pages.node import SIZES as STREAM_SIZES
from rows import Beside, Page, Row, Run, size_name

TEXT = """Two hosts are network namespaces of this one machine, joined by a bridge (`tools/dev/hosts.py`). So the network is the
kernel's TCP, and both hosts share the machine's cores: sending a byte takes processor time that a real host would
have for itself. Between the hosts Lateral uses its own module for TCP; Open MPI (ranks of one host share
memory) runs over UCX and TCP, and so does ucx_perftest on the same two hosts, the reference where no other is
named. Rounds that others disturbed are left out.

A peer without counting puts, requests or put_signal runs what a program would use instead: put, fence and atomic, or nbi
and quiet. `bench/pages/hosts.py` lists programs, references and targets.

The targets of SSCA#1 compare merged requests with the best blocking run of all and with nbi and quiet of the *peers*, as the
paper does. Lateral's own nbi and quiet takes as long as its merged requests: both start all operations of a step before they
wait. The mode `block` shows more: it uses requests for 64 cells at a time and counters in place of barriers,
and takes a small part of the time of the other modes. There the peers use nbi and quiet for 64 cells, and flags in place of barriers."""

CLUSTER_TEXT = """The reference is ucx_perftest on the same two hosts. Each library chose its network; `lateral-info --doctor` tells Lateral's.
Where the column of messages alone is equal to Lateral's, the network does not put and get by itself, or the operation is a message on every
network (docs/guide/networks.md)."""

COLUMNS = [1600, 3200, 6400, 12800, 25600]
WAVEFRONT_PES, PES, CROWDED = (2, 4, 8), (2, 4), (4, 8)
MB = 1 << 20
YIELDING = ("openmpi.yield",)                              # with more PEs than cores the other one takes minutes

LATENCIES = tuple(Beside(f"am_lat.{size}", "ucp_am_lat", size, 10000 if size < 4096 else 3000, "ns") for size in MESSAGE_SIZES)
TAG_STREAMS = tuple(Beside(f"tag_bw.{size}", "tag_bw", size, max(20, min(5000, (64 << 20) // size)), "GB/s") for size in STREAM_SIZES)
RATES = tuple(Beside(f"am_rate.{size}", "ucp_am_bw", size, 50000 if size < 4096 else 5000 if size < 65536 else 200, "ns each")
              for size in PUT_SIZES)


def over(program, pes, beside=(), args=(), name=None):
    return Run(f"{name or program}-{pes}", program, pes, args, "hosts", True if pes == 2 else YIELDING, beside, limit=180 if program == "ssca1" else 90)


RUNS = [
    over("notify", 2, LATENCIES), over("bandwidth", 2, TAG_STREAMS), over("requests", 2, RATES),
    *[run for program in ("latency", "barrier") for run in (over(program, 2, LATENCIES[:1]), over(program, 4)._replace(peers=True), over(program, 8))],
    *[over("coll", pes) for pes in PES], *[over("exchange", pes) for pes in PES],
    *[over("ssca1", pes, args=("14", "--quick")) for pes in PES], *[over("wavefront", pes) for pes in WAVEFRONT_PES],
    *[over("wavefront", 4, args=("1280", str(columns)), name=f"wide{columns}.wavefront") for columns in COLUMNS]]


def derive(run, values):
    """Adds values that rows need and no program prints: the best blocking mode of all, the peers' best nbi, a round trip."""
    ours = values.setdefault("lateral", {})
    if run.program == "ssca1":
        for name, mode, of in (("best_blocking", "blocking", list(values)), ("peers_nbi", "nbi", [each for each in values if each != "lateral"])):
            there = [values[way][f"{run.key}/k1.{mode}"] for way in of if f"{run.key}/k1.{mode}" in values[way]]
            ours.update({f"{run.key}/{name}": min(there)} if there else {})
    if f"{run.key}/am_lat.8" in ours:
        ours[f"{run.key}/round_trip"] = 2 * ours[f"{run.key}/am_lat.8"]


def message_rows():
    section, run = "Two hosts: messages", "notify-2"
    yield Row(section, "counting put 8 B, half round trip; peer: put, fence, inc", f"{run}/ct.8", f"{run}/am_lat.8", "peer", 0.5)
    yield Row(section, "the same, against UCX's active message", f"{run}/ct.8", f"{run}/am_lat.8", "reference", 1.15)
    for size in MESSAGE_SIZES[1:]:
        yield Row(section, f"counting put {size_name(size)}", f"{run}/ct.{size}", f"{run}/am_lat.{size}")
    for size in MESSAGE_SIZES:
        yield Row(section, f"put, fence, inc {size_name(size)}", f"{run}/inc.{size}", f"{run}/am_lat.{size}")
        yield Row(section, f"put_signal {size_name(size)}", f"{run}/put_signal.{size}", f"{run}/am_lat.{size}")
    for op in ("p", "put1", "atomic_add"):
        yield Row(section, f"{op}, many and a quiet", f"latency-2/heap.{op}", "latency-2/am_lat.8")
    for op in ("g", "get1", "atomic_fetch_add", "atomic_compare_swap"):
        yield Row(section, f"{op}; reference: a round trip of UCX's messages", f"latency-2/heap.{op}", "latency-2/round_trip")
    yield Row(section, "barrier_all, 2 PEs", "barrier-2/barrier_all", "barrier-2/am_lat.8")


def crowded_rows():
    section = "Two hosts: more PEs than cores"
    for pes in CROWDED:
        yield Row(section, f"barrier_all, {pes} PEs", f"barrier-{pes}/barrier_all", None, "peer", 1.0)
        for op, what in (("g", "g"), ("get1", "get"), ("put_quiet", "put and quiet"), ("atomic_fetch_add", "fetching add")):
            yield Row(section, f"{what} while the others wait in a barrier, {pes} PEs", f"latency-{pes}/heap.{op}", None, "peer", 1.0)


def stream_rows():
    section, run = "Two hosts: bandwidth", "bandwidth-2"
    for way in ("put", "get"):
        for size in STREAM_SIZES:
            target = ("reference", 0.85) if size == MB else ()
            yield Row(section, f"{way} {size_name(size)}; reference: tag bandwidth", f"{run}/{way}.{size}", f"{run}/tag_bw.{size}", *target, at_least=True)
        yield Row(section, f"{way} {size_name(MB)}, against the peer", f"{run}/{way}.{MB}", None, "peer", 2.0, True)


def rate_rows():
    section, run = "Two hosts: many puts", "requests-2"
    for way, what in (("nbi", "put_nbi, 64 and a quiet"), ("put", "put, 64 and a quiet"), ("put_ct", "counting put"),
                      ("put_inc", "put, fence, inc"), ("merged", "put_nbe, one request for 64"), ("request", "put_nbe, 64 requests")):
        for size in PUT_SIZES if way in ("nbi", "merged") else PUT_SIZES[:4]:
            yield Row(section, f"{what}, {size_name(size)}", f"{run}/{way}.{size}", f"{run}/am_rate.{size}")
    for way, what in (("put.each", "put and quiet"), ("request.each", "put_nbe and wait")):
        for size in PUT_SIZES[:4]:
            yield Row(section, f"{what}, {size_name(size)}", f"{run}/{way}.{size}")


def collective_rows():
    for pes in PES:
        for name in [*COLLECTIVES, "collect"]:
            for size in (8, 64 << 10, 4 << 20):
                yield Row("Two hosts: collectives", f"{name} {size_name(size)}, {pes} PEs", f"coll-{pes}/{name}.{size}", None, "peer", 1.0)


def exchange_rows():
    section = "Two hosts: all-to-all"
    for pes in PES:
        for size in EXCHANGE_SIZES:
            for way in ("flags", "barrier"):
                yield Row(section, f"all-to-all {size_name(size)}, {pes} PEs, counters against {way}", f"exchange-{pes}/ct.{size}",
                          f"exchange-{pes}/{way}.{size}", "reference", 1.0)
        for way in ("flags", "barrier"):
            for size in EXCHANGE_SIZES:
                yield Row(section, f"all-to-all {size_name(size)}, {pes} PEs, {way}", f"exchange-{pes}/{way}.{size}")


def wavefront_rows():
    section = "Two hosts: pipelined stencil"
    runs = [(f"wavefront-{pes}", grid, pes) for pes in WAVEFRONT_PES for grid in ("320x3200", "1280x12800")]
    runs += [(f"wide{columns}.wavefront-4", f"1280x{columns}", 4) for columns in COLUMNS]
    for run, grid, pes in runs:
        yield Row(section, f"stencil {grid}, {pes} PEs, counters against flags", f"{run}/ct.{grid}", f"{run}/flags.{grid}", "reference", 1.0, True)
        for way in ("flags", "put_signal"):
            yield Row(section, f"stencil {grid}, {pes} PEs, {way}", f"{run}/{way}.{grid}", at_least=True)


def ssca1_rows():
    section = "Two hosts: SSCA#1 kernel 1"
    for pes in PES:
        run = f"ssca1-{pes}"                               # 49 and 74 % faster: 1 / 1.49, 1 / 1.74 of the time
        yield Row(section, f"merged, {pes} PEs, against the best blocking of all", f"{run}/k1.merged", f"{run}/best_blocking", "reference", 0.671)
        yield Row(section, f"merged, {pes} PEs, against the peers' nbi and quiet", f"{run}/k1.merged", f"{run}/peers_nbi", "reference", 0.575)
        for mode in MODES:
            yield Row(section, f"{mode}, {pes} PEs, against our blocking", f"{run}/k1.{mode}", f"{run}/k1.blocking")


ROWS = [*message_rows(), *crowded_rows(), *stream_rows(), *rate_rows(), *collective_rows(), *exchange_rows(), *wavefront_rows(), *ssca1_rows()]


# ---------------------------------------------------------------------------------------------- pictures

def panel(title, unit, axis, points, key, own, peers, beside=None, log=True, **more):
    """A panel of Lateral's ways (name and words), the yielding peer's and ucx_perftest's (key and words)."""
    series = [Series(words, "ours", key.replace("WAY", way)) for way, words in own]
    series += [Series(peers[1], "openmpi.yield", key.replace("WAY", peers[0]))] + ([Series(beside[1], "reference", beside[0])] if beside else [])
    return Panel(title, unit, axis, points, series, log=log, **more)


TOLD = [("ct", "counting put"), ("put_signal", "put_signal"), ("inc", "put, fence, inc")]
STENCIL = [("ct", "counters"), ("put_signal", "put_signal"), ("flags", "flags")]
FIGURES = [
    Figure("hosts-messages.png", "Over hosts: telling the receiver, and all-to-all", [
        panel("Half a round trip, 2 PEs (lower is better)", "ns", "size (bytes)", MESSAGE_SIZES, "notify-2/WAY.{}", TOLD, ("inc", "put, fence, inc"),
              ("notify-2/am_lat.{}", "ucx_perftest, active message")),
        panel("All-to-all, 4 PEs on 2 hosts (lower is better)", "ns", "size to each PE (bytes)", EXCHANGE_SIZES, "exchange-4/WAY.{}",
              [("ct", "counters"), ("flags", "flags"), ("barrier", "barrier")], ("flags", "flags"))]),
    Figure("hosts-stencil.png", "Over hosts: the pipelined stencil", [
        panel("Stencil 1280 x 12800 (higher is better)", "MFlop/s", "number of PEs", WAVEFRONT_PES, "wavefront-{}/WAY.1280x12800", STENCIL,
              ("flags", "flags"), log=False),
        panel("Stencil 1280 x N, 4 PEs on 2 hosts (higher is better)", "MFlop/s", "columns N", COLUMNS, "wide{0}.wavefront-4/WAY.1280x{0}", STENCIL,
              ("flags", "flags"), log=False)]),
    Figure("hosts-stream.png", "Over hosts: bandwidth and many puts", [
        panel("Bandwidth, 2 PEs (higher is better)", "GB/s", "size of a put or get", STREAM_SIZES, "bandwidth-2/WAY.{}", [("put", "put"), ("get", "get")],
              ("put", "put"), ("bandwidth-2/tag_bw.{}", "ucx_perftest, tag"), False, labels=[size_name(size) for size in STREAM_SIZES]),
        panel("A put in a window of 64 (lower is better)", "ns", "size of a put", PUT_SIZES, "requests-2/WAY.{}",
              [("merged", "put_nbe, one request"), ("nbi", "put_nbi"), ("put", "put")], ("nbi", "put_nbi"),
              ("requests-2/am_rate.{}", "ucx_perftest, active messages"), labels=[size_name(size) for size in PUT_SIZES])]),
    Figure("hosts-ssca1.png", "Over hosts: SSCA#1", [
        Panel("SSCA#1 kernel 1, 2 PEs (lower is better)", "ms", "way to complete", MODES, [Series("", "all", "ssca1-2/k1.{}")], log=False, joined=False)])]

README = {"hosts": ("2 hosts of one 2-core machine", [("lateral", "Lateral"), ("openmpi", ""), ("openmpi.yield", ""), ("reference", "ucx_perftest")], [
    ("message and its arrival, 8 B, half a round trip (Lateral: counting put)", ["notify-2/ct.8"]),
    ("the same by put, fence, atomic", ["notify-2/inc.8"]),
    ("nbi put of 8 B, in a window of 64", ["requests-2/nbi.8"]), ("put of 8 B and its quiet", ["requests-2/put.each.8"]),
    ("put of 1 MiB", ["bandwidth-2/put.1048576"]), ("get of 4 KiB", ["bandwidth-2/get.4096"]),
    ("get of one element: g, get", ["latency-2/heap.g", "latency-2/heap.get1"]), ("fetching add", ["latency-2/heap.atomic_fetch_add"]),
    ("barrier, 2 and 4 PEs", ["barrier-2/barrier_all", "barrier-4/barrier_all"], "no reference"),
    ("4 PEs on the 2 cores: g, put and quiet, fetching add", [f"latency-4/heap.{op}" for op in ("g", "put_quiet", "atomic_fetch_add")], "no reference"), ("sum of 64 KiB, 2 PEs", ["coll-2/reduce.65536"]),
    ("SSCA#1: blocking, nbi", ["ssca1-2/k1.blocking", "ssca1-2/k1.nbi"], "no reference"),
    ("SSCA#1: merged requests; 64 cells at a time, without barriers", ["ssca1-2/k1.merged", "ssca1-2/k1.block"], "no reference")])}

PAGE = Page("hosts", "hosts.md", "Over several hosts", TEXT, RUNS, ROWS, FIGURES, ways.openmpi_modes(False, True), README, derive,
            peers=("Open MPI",))
# The targets are those of other machines.
CLUSTER = PAGE._replace(name="cluster", file="cluster.md", title="On a cluster", text=CLUSTER_TEXT, figures=[], readme={}, ways=ways.on_cluster,
                        rows=[row._replace(against=None, limit=None) for row in ROWS])
