"""Seed 001's experiments over uccs.h, as data: runs and rows. suite.py takes them in. What a row's "floor" names is
another way of doing the same: fewer threads, or processes in place of threads in a run of the same round."""

MESSAGES, STREAMS = "Active messages with threads", "Threads against processes"
SIZES = [16384, 262144, 4194304]


def runs(run):
    made = [run("uccs_am-2", "uccs_am", 2), run("uccs_bandwidth-2", "uccs_bandwidth", 2)]
    return made + [run(f"uccs_bandwidth-{pes}", "uccs_bandwidth", pes, quick=False) for pes in (4, 8)]


def message_rows(row):
    base = "uccs_am-2/"
    for threads in (1, 2, 4, 8):
        limit = {1: None, 2: 0.5, 4: 0.5, 8: 0.5}[threads]
        yield row(MESSAGES, f"1050 messages, {threads} threads, against 1", f"{base}injection.{threads}", base + "injection.1",
                  "floor" if limit else None, limit, True)
        yield row(MESSAGES, f"many messages, {threads} threads, against 1", f"{base}sustained.{threads}", base + "sustained.1",
                  None, None, True)
        yield row(MESSAGES, f"many messages, {threads} threads, against a coarse lock", f"{base}sustained.{threads}",
                  f"{base}coarse.{threads}", None, None, True)
        yield row(MESSAGES, f"callbacks per thread, {threads} threads: deviation over mean", f"{base}fairness.{threads}")


def stream_rows(row, size_name):
    base = "uccs_bandwidth-2/"
    for way in ("put", "get"):
        for threads in (2, 4):
            for size in SIZES:
                yield row(STREAMS, f"{way} {size_name(size)}, {threads} threads each way, against processes",
                          f"{base}{way}.{threads}.{size}", f"uccs_bandwidth-{2 * threads}/{way}.1.{size}", "floor", 0.95, True)
    for size in (8, *SIZES):
        yield row(STREAMS, f"put {size_name(size)}, 4 threads, against a coarse lock", f"{base}put.4.{size}",
                  f"{base}coarse.4.{size}", "floor", 3.0 if size == 8 else 1.6, True)
    for size in (8, 4096, 262144):
        yield row(STREAMS, f"put {size_name(size)}, one thread, MULTIPLE against SINGLE", f"{base}multiple.{size}",
                  f"{base}single.{size}", "floor", 1 / 1.2, True)
        yield row(STREAMS, f"put {size_name(size)}, one thread, against memcpy", f"{base}multiple.{size}",
                  f"{base}memcpy.{size}", "floor", 1 / 1.5, True)


def rows(row, size_name):
    return [*message_rows(row), *stream_rows(row, size_name)]
