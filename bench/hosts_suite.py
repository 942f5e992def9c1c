"""The measurements over hosts, as data: programs, floors, and the rows of the table with their targets.

Keys are as in suite.py. A floor is one test of ucx_perftest, kept as a value of the run beside it. A row with a limit is
a target; a row against "peer" must hold against every peer that ran.
"""
from collections import namedtuple

from suite import COLLECTIVES, Row, size_name

# unit: "ns" half a round trip, "GB/s", or "ns each" of a stream. count: messages of one test.
Floor = namedtuple("Floor", "key test size count unit")
# local: on this one node, with UCX forced. peers: only those; empty: all.
Run = namedtuple("Run", "key program pes floors local peers args", defaults=((), False, (), ()))

MESSAGE_SIZES = [8, 64, 512, 4096, 32768]
STREAM_SIZES = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
PUT_SIZES = [8, 64, 512, 4096, 32768, 262144, 1048576]
EXCHANGE_SIZES = [8, 128, 2048, 32768]
COLUMNS = [1600, 3200, 6400, 12800, 25600]
WAVEFRONT_PES, EXCHANGE_PES, SSCA1_PES, COLLECTIVE_PES = (2, 4, 8), (2, 4), (2, 4), (2, 4)
MB = 1 << 20
MAPPED = ("peer", 1.15)                                    # UCX over shared memory: both sides load and store
YIELDING = ("openmpi.yield",)                              # with more PEs than cores the other one takes minutes

LATENCIES = tuple(Floor(f"am_lat.{size}", "ucp_am_lat", size, 10000 if size < 4096 else 3000, "ns") for size in MESSAGE_SIZES)
TAG_LATENCY = (Floor("tag_lat.8", "tag_lat", 8, 10000, "ns"),)
TAG_STREAMS = tuple(Floor(f"tag_bw.{size}", "tag_bw", size, max(20, min(5000, (64 << 20) // size)), "GB/s")
                    for size in STREAM_SIZES)
PUT_STREAM = (Floor(f"put_bw.{MB}", "ucp_put_bw", MB, 50, "GB/s"), Floor(f"am_bw.{MB}", "ucp_am_bw", MB, 100, "GB/s"))
RATES = tuple(Floor(f"am_rate.{size}", "ucp_am_bw", size, 50000 if size < 4096 else 5000 if size < 65536 else 200, "ns each")
              for size in PUT_SIZES)

RUNS = [
    Run("notify-2", "notify", 2, LATENCIES + TAG_LATENCY),
    Run("latency-2", "latency", 2, LATENCIES[:1]),
    Run("barrier-2", "barrier", 2, LATENCIES[:1]),
    Run("barrier-4", "barrier", 4),
    Run("barrier-8", "barrier", 8, peers=YIELDING),
    Run("bandwidth-2", "bandwidth", 2, TAG_STREAMS + PUT_STREAM),
    Run("requests-2", "requests", 2, RATES),
    *[Run(f"coll-{pes}", "coll", pes, peers=() if pes == 2 else YIELDING, args=("--all",)) for pes in COLLECTIVE_PES],
    *[Run(f"exchange-{pes}", "exchange", pes, peers=() if pes == 2 else YIELDING) for pes in EXCHANGE_PES],
    *[Run(f"ssca1-{pes}", "ssca1", pes, peers=() if pes == 2 else YIELDING, args=("14", "--quick")) for pes in SSCA1_PES],
    *[Run(f"wavefront-{pes}", "wavefront", pes, peers=() if pes == 2 else YIELDING) for pes in WAVEFRONT_PES],
    *[Run(f"wide{columns}.wavefront-4", "wavefront", 4, peers=YIELDING, args=("1280", str(columns))) for columns in COLUMNS],
    Run("shm.notify-2", "notify", 2, LATENCIES, True),
    Run("shm.latency-2", "latency", 2, LATENCIES[:1], True),
    Run("shm.barrier-2", "barrier", 2, LATENCIES[:1], True),
    Run("shm.bandwidth-2", "bandwidth", 2, TAG_STREAMS + PUT_STREAM, True),
    Run("shm.requests-2", "requests", 2, RATES, True),
]

MODES = ["blocking", "nbi", "request", "merge", "merged", "block", "ranges"]
PEER_MODES = ["blocking", "nbi"]


def least(values):
    there = [value for value in values if value is not None]
    return min(there) if there else None


def derive(run, values):
    """Adds values that rows need and no program prints: the best blocking mode of all, the peers' best nbi, a round trip."""
    ours = values.setdefault("lateral", {})
    if run.program == "ssca1":
        peers = [name for name in values if name != "lateral"]
        made = {"best_blocking": least([values[name].get(f"{run.key}/k1.blocking") for name in values]),
                "peers_nbi": least([values[name].get(f"{run.key}/k1.nbi") for name in peers])}
        ours.update({f"{run.key}/{name}": value for name, value in made.items() if value is not None})
    if f"{run.key}/am_lat.8" in ours:
        ours[f"{run.key}/round_trip"] = 2 * ours[f"{run.key}/am_lat.8"]


def message_rows(section, prefix):
    run = f"{prefix}notify-2"
    yield Row(section, "counting put 8 B, half round trip; peer: put, fence, inc", f"{run}/ct.8", f"{run}/am_lat.8", "peer",
              1.0 if prefix else 0.5)
    yield Row(section, "the same, against UCX's active message", f"{run}/ct.8", f"{run}/am_lat.8", "floor", 1.15)
    yield Row(section, "the same, against our own put, fence, inc", f"{run}/ct.8", f"{run}/inc.8")
    held, ahead = (MAPPED, ("peer", 1.0)) if prefix else ((), ())
    for size in MESSAGE_SIZES[1:]:
        yield Row(section, f"counting put {size_name(size)}", f"{run}/ct.{size}", f"{run}/am_lat.{size}", *ahead)
    for size in MESSAGE_SIZES:
        yield Row(section, f"put, fence, inc {size_name(size)}", f"{run}/inc.{size}", f"{run}/am_lat.{size}", *held)
        yield Row(section, f"put_signal {size_name(size)}", f"{run}/put_signal.{size}", f"{run}/am_lat.{size}")
    run = f"{prefix}latency-2"
    for op in ("p", "put1", "atomic_add", "atomic_set"):
        yield Row(section, f"{op}, many and a quiet", f"{run}/heap.{op}", f"{run}/am_lat.8", *held)
    for op in ("g", "get1", "atomic_fetch", "atomic_fetch_add", "atomic_swap", "atomic_compare_swap"):
        yield Row(section, f"{op}; floor: a round trip of UCX's messages", f"{run}/heap.{op}", f"{run}/round_trip", *held)
    run = f"{prefix}barrier-2"
    yield Row(section, "barrier_all, 2 PEs", f"{run}/barrier_all", f"{run}/am_lat.8", *held)


def barrier_rows(section):
    for pes, limit in ((4, 1.0), (8, None)):
        yield Row(section, f"barrier_all, {pes} PEs on 2 hosts", f"barrier-{pes}/barrier_all", None, "peer" if limit else None, limit)
        yield Row(section, f"sync_all, {pes} PEs on 2 hosts", f"barrier-{pes}/sync_all")


def stream_rows(section, prefix):
    run = f"{prefix}bandwidth-2"
    for way in ("put", "get"):
        for size in STREAM_SIZES:
            held = size == MB and not prefix
            target = ("floor", 0.85) if held else ("peer", 0.87) if prefix else (None, None)
            yield Row(section, f"{way} {size_name(size)}; floor: tag bandwidth", f"{run}/{way}.{size}", f"{run}/tag_bw.{size}",
                      *target, True)
            if held:
                yield Row(section, f"{way} {size_name(size)}, against the peer", f"{run}/{way}.{size}", None, "peer", 2.0, True)
    yield Row(section, "UCX's own put 1 MiB, 50 of them; floor: tag bandwidth", f"{run}/put_bw.{MB}", f"{run}/tag_bw.{MB}", at_least=True)


def rate_rows(section, prefix):
    run = f"{prefix}requests-2"
    held = MAPPED if prefix else ()
    for way, what in (("nbi", "put_nbi, 64 and a quiet"), ("put", "put, 64 and a quiet"), ("put_ct", "counting put"),
                      ("put_inc", "put, fence, inc"), ("merged", "put_nbe, one request for 64"), ("request", "put_nbe, 64 requests"),
                      ("merge.new", "put_nbe, 64 new requests, merged into a new one")):
        for size in PUT_SIZES if way in ("nbi", "merged") else PUT_SIZES[:4]:
            yield Row(section, f"{what}, {size_name(size)}", f"{run}/{way}.{size}", f"{run}/am_rate.{size}", *held)
    for way, what in (("put.each", "put and quiet"), ("request.each", "put_nbe and wait")):
        for size in PUT_SIZES[:4]:
            yield Row(section, f"{what}, {size_name(size)}", f"{run}/{way}.{size}", None, *held)


def collective_rows(section):
    for pes in COLLECTIVE_PES:
        for name in ("barrier", "sync"):
            yield Row(section, f"{name}, {pes} PEs", f"coll-{pes}/{name}", None, "peer", 1.0)
        for name in [*COLLECTIVES, "collect", "alltoalls"]:
            for size in (8, 64 << 10, 4 << 20)[:2 if name == "alltoalls" else 3]:
                yield Row(section, f"{name} {size_name(size)}, {pes} PEs", f"coll-{pes}/{name}.{size}", None, "peer", 1.0)


def exchange_rows(section):
    for pes in EXCHANGE_PES:
        for size in EXCHANGE_SIZES:
            key = f"exchange-{pes}/ct.{size}"
            for way in ("flags", "barrier"):
                yield Row(section, f"all-to-all {size_name(size)}, {pes} PEs, counters against {way}", key,
                          f"exchange-{pes}/{way}.{size}", "floor", 1.0)
        for way in ("flags", "barrier"):
            for size in EXCHANGE_SIZES:
                yield Row(section, f"all-to-all {size_name(size)}, {pes} PEs, {way}", f"exchange-{pes}/{way}.{size}")


def wavefront_rows(section):
    runs = [(f"wavefront-{pes}", grid, pes) for pes in WAVEFRONT_PES for grid in ("320x3200", "1280x12800")]
    runs += [(f"wide{columns}.wavefront-4", f"1280x{columns}", 4) for columns in COLUMNS]
    for run, grid, pes in runs:
        yield Row(section, f"stencil {grid}, {pes} PEs, counters against flags", f"{run}/ct.{grid}", f"{run}/flags.{grid}",
                  "floor", 1.0, True)
        yield Row(section, f"stencil {grid}, {pes} PEs, flags", f"{run}/flags.{grid}", at_least=True)
        yield Row(section, f"stencil {grid}, {pes} PEs, put_signal", f"{run}/put_signal.{grid}", at_least=True)


def ssca1_rows(section):
    for pes in SSCA1_PES:
        run = f"ssca1-{pes}"                               # 49 and 74 % faster: 1 / 1.49, 1 / 1.74 of the time
        yield Row(section, f"merged, {pes} PEs, against the best blocking of all", f"{run}/k1.merged", f"{run}/best_blocking",
                  "floor", 0.671)
        yield Row(section, f"merged, {pes} PEs, against the peers' nbi and quiet", f"{run}/k1.merged", f"{run}/peers_nbi",
                  "floor", 0.575)
        for mode in ("merge", "merged"):
            yield Row(section, f"{mode}, {pes} PEs, against our own nbi and quiet", f"{run}/k1.{mode}", f"{run}/k1.nbi")
        for mode in MODES:
            yield Row(section, f"{mode}, {pes} PEs, against our blocking", f"{run}/k1.{mode}", f"{run}/k1.blocking")


NETWORK, STREAM, RATE = "Two hosts: messages", "Two hosts: bandwidth", "Two hosts: many puts"
COLLECTIVE = "Two hosts: collectives"
ALLTOALL, STENCIL, SSCA1 = "Two hosts: all-to-all", "Two hosts: pipelined stencil", "Two hosts: SSCA#1 kernel 1"
SHM, SHM_STREAM, SHM_RATE = "UCX on one node: messages", "UCX on one node: bandwidth", "UCX on one node: many puts"

ROWS = [*message_rows(NETWORK, ""), *barrier_rows(NETWORK), *stream_rows(STREAM, ""), *rate_rows(RATE, ""), *collective_rows(COLLECTIVE),
        *exchange_rows(ALLTOALL), *wavefront_rows(STENCIL), *ssca1_rows(SSCA1),
        *message_rows(SHM, "shm."), *stream_rows(SHM_STREAM, "shm."), *rate_rows(SHM_RATE, "shm.")]
