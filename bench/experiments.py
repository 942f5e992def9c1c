"""The experiments of the papers behind requests and counters, as data: runs, rows and pictures. suite.py and report.py
read them. Here a row's "floor" is another way to do the same work, measured in the same run."""

PUT_SIZES = [8, 64, 512, 4096, 32768, 262144, 1048576]
MESSAGE_SIZES = [8, 64, 512, 4096, 32768]
EXCHANGE_SIZES = [8, 128, 2048, 32768]
EXCHANGE_PES, SSCA1_PES, WAVEFRONT_PES = (2, 4, 8), (2, 4), (1, 2, 4, 8)
GRIDS = ["320x3200", "1280x12800"]
MODES = ["blocking", "nbi", "request", "merge", "merged", "block", "ranges"]
REQUEST, COUNTER, PROGRAM = "Requests", "Counters", "Requests and counters in programs"


def runs(run):
    made = [run("requests-2", "requests", 2), run("notify-2", "notify", 2)]
    made += [run(f"exchange-{pes}", "exchange", pes, quick=pes == 2) for pes in EXCHANGE_PES]
    made += [run(f"ssca1-{pes}", "ssca1", pes, quick=pes == 2) for pes in SSCA1_PES]
    return made + [run(f"wavefront-{pes}", "wavefront", pes, quick=pes == 2) for pes in WAVEFRONT_PES]


def request_rows(row, size_name):
    for size in PUT_SIZES:
        base = f"requests-2/nbi.{size}"
        for way, what in (("request", "a request for each put"), ("merged", "puts with one request"),
                          ("merge", "a request for each put, merged into one"),
                          ("request.new", "a new request for each put"),
                          ("merge.new", "a new request for each put, merged into a new one")):
            goal = way in ("request", "merged")
            yield row(REQUEST, f"{what}, {size_name(size)}, against nbi puts", f"requests-2/{way}.{size}", base,
                      "floor" if goal else None, 1.5 if goal else None)
    for size in PUT_SIZES:
        yield row(REQUEST, f"put and wait for its request, {size_name(size)}, against put and quiet",
                  f"requests-2/request.each.{size}", f"requests-2/put.each.{size}")
    yield row(REQUEST, "test of a complete merged request", "requests-2/test")


def counter_rows(row, size_name):
    for size in PUT_SIZES[:5]:
        yield row(COUNTER, f"counting put, {size_name(size)}, against put, fence, atomic", f"requests-2/put_ct.{size}",
                  f"requests-2/put_inc.{size}", "floor", 1.1)
    yield row(COUNTER, "message and count, half round trip, against a hop", "notify-2/ct.8", "notify-2/hop", "floor", 1.3)
    for way, what in (("ct", "counting put"), ("put_signal_add", "put_signal that adds")):
        yield row(COUNTER, f"half round trip, {what}, 8 B, against put_signal that sets", f"notify-2/{way}.8",
                  "notify-2/put_signal.8", "floor", 1.15)
    for size in MESSAGE_SIZES:
        yield row(COUNTER, f"half round trip, {size_name(size)}, against put, fence, flag", f"notify-2/ct.{size}",
                  f"notify-2/inc.{size}", "floor", 1.0)
    for pes in EXCHANGE_PES:
        for size in EXCHANGE_SIZES:
            yield row(COUNTER, f"all-to-all {size_name(size)}, {pes} PEs, against flags", f"exchange-{pes}/ct.{size}",
                      f"exchange-{pes}/flags.{size}")


def program_rows(row):
    limits = {"merged": 1 / 0.9, "block": 1 / 1.5, "ranges": 1 / 1.5}
    for pes in SSCA1_PES:
        for mode in MODES[1:]:
            limit = limits.get(mode)
            yield row(PROGRAM, f"SSCA#1 kernel 1, {mode}, {pes} PEs, against blocking", f"ssca1-{pes}/k1.{mode}",
                      f"ssca1-{pes}/k1.blocking", "floor" if limit else None, limit)
        yield row(PROGRAM, f"SSCA#1 kernel 2, {pes} PEs, merged against blocking", f"ssca1-{pes}/k2.merged",
                  f"ssca1-{pes}/k2.blocking")
    for pes in WAVEFRONT_PES:
        for grid in GRIDS:
            yield row(PROGRAM, f"wavefront {grid}, {pes} PEs, counters against flags", f"wavefront-{pes}/ct.{grid}",
                      f"wavefront-{pes}/flags.{grid}", "floor" if pes > 1 else None, 1.0 if pes > 1 else None, True)


def shown_rows(row, size_name):
    """Yields rows for ways that the pictures show and that have no target."""
    for size in PUT_SIZES:
        yield row(REQUEST, f"nbi puts, {size_name(size)}", f"requests-2/nbi.{size}")
        yield row(REQUEST, f"blocking puts, {size_name(size)}", f"requests-2/put.{size}")
    for way, what in (("inc", "put, fence, flag"), ("put_signal", "put_signal"), ("put_signal_add", "put_signal that adds"),
                      ("store", "plain stores")):
        for size in MESSAGE_SIZES:
            yield row(COUNTER, f"half round trip, {what}, {size_name(size)}", f"notify-2/{way}.{size}")
    for pes in EXCHANGE_PES:
        for way in ("barrier", "flags"):
            for size in EXCHANGE_SIZES:
                yield row(COUNTER, f"all-to-all by {way}, {size_name(size)}, {pes} PEs", f"exchange-{pes}/{way}.{size}")
    for pes in SSCA1_PES:
        yield row(PROGRAM, f"SSCA#1 kernel 1, blocking, {pes} PEs", f"ssca1-{pes}/k1.blocking")
    for pes in WAVEFRONT_PES:
        for way in ("flags", "put_signal"):
            for grid in GRIDS:
                yield row(PROGRAM, f"wavefront {grid} by {way}, {pes} PEs", f"wavefront-{pes}/{way}.{grid}",
                          None, None, None, True)


def rows(row, size_name):
    made = [*request_rows(row, size_name), *counter_rows(row, size_name), *program_rows(row), *shown_rows(row, size_name)]
    order = [REQUEST, COUNTER, PROGRAM]
    return sorted(made, key=lambda one: order.index(one.section))


# ---------------------------------------------------------------------------------------------- pictures

COLOURS = {"ours": "#1f5fbf", "other": "#7a9e5f", "base": "#a6719c", "floor": "#404040", "peer": "#d98a3d"}
PEERS = ["#d98a3d", "#b5524a", "#8c8c3d"]


def lines(chart, axes, points, series, title, unit, log=True):
    """Draws lines. series: (label, colour, key by point, how). Draws the peers' values beside the first series."""
    labels = [str(point) for point in points]
    first = series[0]
    drawn = [(label, colour, [chart.ours(key(p)) for p in points], "o-") for label, colour, key in series]
    drawn += [(f"{title_of}, {first[0]} or what stands for it", PEERS[i % len(PEERS)],
               [chart.peer(first[2](p), name) for p in points], "s--") for i, (name, title_of) in enumerate(chart.peers.items())]
    for label, colour, values, style in drawn:
        at = [(x, value) for x, value in enumerate(values) if value]
        if at:
            axes.plot([x for x, _ in at], [value for _, value in at], style, color=colour, label=label, markersize=4)
    axes.set_xticks(range(len(points)), labels, rotation=30, ha="right")
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_ylabel(unit)
    axes.grid(axis="y", color="#d8d8d8", linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def draw_requests(chart, axes):
    key = lambda way: lambda size: f"requests-2/{way}.{size}"
    lines(chart, axes[0], PUT_SIZES, [("merged request", COLOURS["ours"], key("merged")),
                                      ("request per put", COLOURS["other"], key("request")),
                                      ("nbi and quiet", COLOURS["base"], key("nbi")),
                                      ("blocking", COLOURS["floor"], key("put"))],
          "A put in a window of 64 (lower is better)", "ns per put")
    lines(chart, axes[1], PUT_SIZES, [("put and wait for its request", COLOURS["ours"], key("request.each")),
                                      ("counting put", COLOURS["other"], key("put_ct"))],
          "A put and its completion; a put and its count", "ns per put")


def draw_notify(chart, axes):
    key = lambda way: lambda size: f"notify-2/{way}.{size}"
    lines(chart, axes[0], MESSAGE_SIZES, [("counting put", COLOURS["ours"], key("ct")),
                                          ("put_signal", COLOURS["other"], key("put_signal")),
                                          ("put, fence, flag", COLOURS["base"], key("inc"))],
          "Ping-pong, half a round trip (lower is better)", "ns")
    key = lambda way: lambda size: f"exchange-4/{way}.{size}"
    lines(chart, axes[1], EXCHANGE_SIZES, [("counters", COLOURS["ours"], key("ct")),
                                           ("flags", COLOURS["other"], key("flags")),
                                           ("barrier", COLOURS["base"], key("barrier"))],
          "All-to-all, 4 PEs (lower is better)", "ns")


def draw_wavefront(chart, axes):
    for axis, grid in zip(axes, reversed(GRIDS)):
        key = lambda way, grid=grid: lambda pes: f"wavefront-{pes}/{way}.{grid}"
        lines(chart, axis, WAVEFRONT_PES, [("counters", COLOURS["ours"], key("ct")),
                                           ("put_signal", COLOURS["other"], key("put_signal")),
                                           ("flags", COLOURS["base"], key("flags"))],
              f"Wavefront {grid} against PEs (higher is better)", "MFlop/s", log=False)


def draw_ssca1(chart, axes):
    for axis, pes in zip(axes, SSCA1_PES):
        values = [chart.ours(f"ssca1-{pes}/k1.{mode}") or 0 for mode in MODES]
        axis.bar(range(len(MODES)), values, 0.7, color=[COLOURS["base"]] * 2 + [COLOURS["other"]] + [COLOURS["ours"]] * 3)
        axis.set_xticks(range(len(MODES)), MODES)
        axis.set_title(f"SSCA#1 kernel 1, {pes} PEs (lower is better)", fontsize=11, loc="left")
        axis.set_ylabel("ms")
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)


FIGURES = [("requests.png", "Requests, one and merged", draw_requests, "requests-2/merged.8"),
           ("notify.png", "Telling the receiver", draw_notify, "notify-2/ct.8"),
           ("wavefront.png", "The pipelined stencil", draw_wavefront, "wavefront-2/ct.1280x12800"),
           ("ssca1.png", "SSCA#1", draw_ssca1, "ssca1-2/k1.merged")]


def figures(chart):
    """Returns (file name, title, function that fills two axes) for each picture with measured values."""
    return [(name, title, lambda axes, draw=draw: draw(chart, list(axes))) for name, title, draw, key in FIGURES if chart.ours(key)]
