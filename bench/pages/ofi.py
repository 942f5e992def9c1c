"""Two PEs over providers of libfabric on one node, beside Sandia OpenSHMEM on the same libfabric, and our own TCP."""
import ways
from rows import Page, Row, Run, size_name

TEXT = """Each PE counts as a node of its own, so all goes over libfabric's providers `tcp` (`tcp;ofi_rxm`) and `shm`. No adapter is behind
either; they show what the software costs. Sandia OpenSHMEM (the row's peer, `--peer sos=PREFIX`) uses the same libfabric, built with
`--enable-ofi-manual-progress --enable-manual-progress --enable-hard-polling --enable-ofi-mr=basic`, as these two providers want. Over `tcp` it
injects a put of 8 bytes, which that provider calls complete when it has left, while Lateral's quiet waits until it is in place. That
provider writes a byte to a socket pair at each receipt and reads it before the next look, so round trips stay above 1.3 of our own TCP. Where a queue has
a descriptor to sleep on, as Lateral's has and Sandia's counters have not, it also keeps its sockets in an epoll, which takes 2.5 us of a round trip of 14.
Over `shm` a get is a copy by the kernel. Lateral's puts are complete when they are in place (`FI_DELIVERY_COMPLETE`), for which the provider goes
through the target; Sandia injects those of 8 bytes. Lateral's fetching atomics are two messages, atomic to those of the target's node;
Sandia's are the provider's. `lateral.tcp` is Lateral over its own TCP: over libfabric's it should take at most 1.3 of that."""

ELEMENTS = (("p", "heap.p"), ("g", "heap.g"), ("atomic_add", "heap.atomic_add"), ("atomic_fetch_add", "heap.atomic_fetch_add"),
            ("atomic_compare_swap", "heap.atomic_compare_swap"))
SIZES = (8, 4096, 32768, 1 << 20)


def runs_over(provider):
    peers = True if provider == "tcp" else ("sos",)
    return [Run(f"{provider}.{name}-2", program, 2, args, provider, peers, limit=60)
            for name, program, *args in (*((name, name) for name in ("latency", "requests", "notify", "barrier", "bandwidth")),
                                         ("threads", "uccs_bandwidth", "--brief"))]


def questions(provider):
    """Returns (question, key, at_least) of each row."""
    rows = [(name, f"latency-2/{key}", False) for name, key in ELEMENTS]
    rows += [(f"put and quiet, {size_name(size)}", f"requests-2/put.each.{size}", False) for size in SIZES]
    rows += [(f"nbi put, window of 64, {size_name(size)}", f"requests-2/nbi.{size}", False) for size in SIZES]
    rows += [(f"put with signal, half a round trip, {size_name(size)}", f"notify-2/put_signal.{size}", False) for size in SIZES[:3]]
    rows += [("barrier_all", "barrier-2/barrier_all", False)]
    rows += [(f"bandwidth of {way}, {size_name(size)}", f"bandwidth-2/{way}.{size}", True) for way in ("put", "get") for size in (4096, 1 << 20)]
    rows += [("8-byte puts of 4 threads", "threads-2/oneway.4.8", True)]
    return [(question, f"{provider}.{key}", at_least) for question, key, at_least in rows]


ROWS = [*[Row(f"Provider {provider}", question, key, None, "sos", 1.0, at_least)
          for provider in ("tcp", "shm") for question, key, at_least in questions(provider)],
        *[Row("Provider tcp, against our own TCP", question, key, None, "lateral.tcp", round(1 / 1.3, 2) if at_least else 1.3, at_least)
          for question, key, at_least in questions("tcp")]]

README = {"ofi": ("2 PEs over libfabric's providers", [("lateral", "Lateral"), ("sos", ""), ("lateral.tcp", "Lateral over its own TCP")], [
    (f"{provider}: {question}", [f"{provider}.{key}" for key in keys]) for provider in ("tcp", "shm") for question, keys in (
        ("g, fetching add", ["latency-2/heap.g", "latency-2/heap.atomic_fetch_add"]), ("put and quiet, 8 B, 4 KiB", ["requests-2/put.each.8", "requests-2/put.each.4096"]),
        ("nbi put of 4 KiB, in a window of 64", ["requests-2/nbi.4096"]), ("put with signal of 8 B, half a round trip", ["notify-2/put_signal.8"]),
        ("barrier", ["barrier-2/barrier_all"]), ("put of 1 MiB", ["bandwidth-2/put.1048576"]))])}
PAGE = Page("ofi", "ofi.md", "Over libfabric", TEXT, [*runs_over("tcp"), *runs_over("shm")], ROWS, [], ways.over_libfabric, README, peers=("Sandia OpenSHMEM",))
