"""Writes docs/results/hosts.md and its pictures from the measurements of hosts.py. The pictures are figures 3 to 6 of the
paper behind counting puts, with the bandwidth of one stream and SSCA#1 beside them."""
import json

import figures
import hosts_suite as suite
import report
import table
from experiments import COLOURS
from suite import size_name

TEXT = """# Over several hosts

Written by `./dev bench --hosts --report` on {when} UTC.

{machine}. Kernel {kernel}, {compiler}.
Two hosts are network namespaces of this one machine, joined by a bridge (`tools/dev/hosts.py`). So the network is the
kernel's TCP, and both hosts share the machine's {cores} cores: sending a byte takes processor time that a real host would
have for itself. Between the hosts Lateral uses its own module for TCP; {peers} (ranks of one host share
memory) run over UCX and TCP, and so does ucx_perftest on the same two hosts, the floor. {rounds} rounds, all in turns; values are medians over the rounds, a ratio is
the median of the rounds' ratios with its quartiles. Rounds that others disturbed are left out. {noise}

A peer without counting puts, requests or put_signal runs what a program would use instead: put, fence and atomic, or nbi
and quiet. `bench/hosts_suite.py` lists programs, floors and targets.

The targets of SSCA#1 compare merged requests with the best blocking run of all and with nbi and quiet of the *peers*, as the
paper does. Lateral's own nbi and quiet takes as long as its merged requests: both start all operations of a step before they
wait. The modes `block` and `ranges` show more: they use requests for 64 cells at a time and counters in place of barriers,
and take a small part of the time of the other modes.

"UCX on one node" shows what a job pays there that forces UCX. Jobs do not do so by themselves: PEs of a node share
memory, and the rows of the other page are theirs. A peer's heap is memory that UCX has allocated, so its puts and gets
are copies by the origin. Lateral maps the memory of such PEs, too ([one-sided on the wire](../internals/onesided.md)).
"""


class Chart(figures.Chart):
    """A value may be in several rows; the first has the floor of ucx_perftest."""

    def __init__(self, document):
        super().__init__(document)
        self.by_key = {line["key"]: line for line in reversed(document["lines"])}


def draw(document, folder):
    if not figures.there():
        return []
    made = []
    for name, title, panels in FIGURES:
        panels = [panel for panel in panels if any(line["key"].startswith(panel[1]) for line in document["lines"])]
        if not panels:
            continue
        figure, axes = figures.panels(1, len(panels), (6 * len(panels), 4.2))
        for cell, (panel, _) in zip(axes, panels):
            panel(Chart(document), cell)
        made.append(figures.save(figure, folder, name, title))
    return made


def series(chart, axes, points, ours, peers, floors=()):
    """Draws lines over `points`: ours and floors as (label, colour, key of a point), peers as (label, key of a point)."""
    drawn = [(label, colour, [chart.ours(key(p)) for p in points], "o-") for label, colour, key in ours]
    yielding = [(name, title) for name, title in chart.peers.items() if name in suite.YIELDING]
    drawn += [(f"{title}: {label}", colour, [chart.peer(key(p), name) for p in points], "s--")
              for name, title in yielding for label, colour, key in peers]
    drawn += [(label, COLOURS["floor"], [chart.floor(key(p)) for p in points], ":") for label, key in floors]
    for label, colour, values, style in drawn:
        at = [(x, value) for x, value in enumerate(values) if value]
        if at:
            axes.plot([x for x, _ in at], [value for _, value in at], style, color=colour, label=label, markersize=4)


def dress(axes, labels, title, unit, log=False):
    axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    figures.finish(axes, title, unit)


def draw_messages(chart, axes):
    key = lambda way: lambda size: f"notify-2/{way}.{size}"
    series(chart, axes, suite.MESSAGE_SIZES,
           [("counting put", COLOURS["ours"], key("ct")), ("put_signal", COLOURS["other"], key("put_signal")),
            ("put, fence, inc", COLOURS["base"], key("inc"))],
           [("put, fence, inc", COLOURS["peer"], key("inc"))], [("ucx_perftest, active message", key("ct"))])
    dress(axes, [size_name(s) for s in suite.MESSAGE_SIZES], "Half a round trip, 2 PEs (lower is better)", "ns", log=True)


def draw_alltoall(chart, axes):
    """Draws the rate of the messages of one node, which has half of the 4 PEs. As in the paper, those within it count too."""
    class Rates:
        peers = chart.peers

        def ours(self, key):
            return rate(key, chart.ours(key))

        def peer(self, key, name):
            return rate(key, chart.peer(key, name))

    def rate(key, nanoseconds):
        return 2 * 4 * int(key.rsplit(".", 1)[1]) / nanoseconds * 1e3 if nanoseconds else None

    key = lambda way: lambda size: f"exchange-4/{way}.{size}"
    series(Rates(), axes, suite.EXCHANGE_SIZES,
           [("counters", COLOURS["ours"], key("ct")), ("flags", COLOURS["other"], key("flags")),
            ("barrier", COLOURS["base"], key("barrier"))], [("flags", COLOURS["peer"], key("flags"))])
    dress(axes, [size_name(s) for s in suite.EXCHANGE_SIZES], "All-to-all, 4 PEs on 2 hosts (higher is better)",
          "MB/s of a host", log=True)


def draw_stencil(chart, axes, points, labels, key_of, title):
    key = lambda way: lambda point: key_of(way, point)
    series(chart, axes, points, [("counters", COLOURS["ours"], key("ct")), ("put_signal", COLOURS["other"], key("put_signal")),
                                 ("flags", COLOURS["base"], key("flags"))], [("flags", COLOURS["peer"], key("flags"))])
    dress(axes, labels, title, "MFlop/s")


def draw_scaling(chart, axes):
    draw_stencil(chart, axes, suite.WAVEFRONT_PES, [str(pes) for pes in suite.WAVEFRONT_PES],
                 lambda way, pes: f"wavefront-{pes}/{way}.1280x12800", "Stencil 1280 x 12800 against PEs (higher is better)")


def draw_sizes(chart, axes):
    draw_stencil(chart, axes, suite.COLUMNS, [f"1280 x {columns}" for columns in suite.COLUMNS],
                 lambda way, columns: f"wide{columns}.wavefront-4/{way}.1280x{columns}",
                 "Stencil, 4 PEs on 2 hosts, against its size (higher is better)")


def draw_stream(chart, axes):
    key = lambda way: lambda size: f"bandwidth-2/{way}.{size}"
    series(chart, axes, suite.STREAM_SIZES, [("put", COLOURS["ours"], key("put")), ("get", COLOURS["other"], key("get"))],
           [("put", COLOURS["peer"], key("put"))], [("ucx_perftest, tag", key("put"))])
    dress(axes, [size_name(s) for s in suite.STREAM_SIZES], "Bandwidth, 2 PEs (higher is better)", "GB/s")


def draw_puts(chart, axes):
    key = lambda way: lambda size: f"requests-2/{way}.{size}"
    series(chart, axes, suite.PUT_SIZES, [("put_nbe, one request", COLOURS["ours"], key("merged")),
                                          ("put_nbi", COLOURS["other"], key("nbi")), ("put", COLOURS["base"], key("put"))],
           [("put_nbi", COLOURS["peer"], key("nbi"))], [("ucx_perftest, active messages", key("nbi"))])
    dress(axes, [size_name(s) for s in suite.PUT_SIZES], "A put in a window of 64 (lower is better)", "ns", log=True)


def draw_ssca1(chart, axes, pes=2):
    at = 0
    for title, colour, modes, value in [("Lateral", COLOURS["ours"], suite.MODES, chart.ours)] + [
            (title, COLOURS["peer"], suite.PEER_MODES, lambda key, name=name: chart.peer(key, name))
            for name, title in list(chart.peers.items())[:1]]:
        values = [value(f"ssca1-{pes}/k1.{mode}") or 0 for mode in modes]
        axes.bar(range(at, at + len(modes)), values, 0.7, color=colour, label=title)
        at += len(modes)
    dress(axes, (suite.MODES + suite.PEER_MODES)[:at], f"SSCA#1 kernel 1, {pes} PEs (lower is better)", "ms")


FIGURES = [("hosts-messages.png", "Over hosts: telling the receiver, and all-to-all",
            [(draw_messages, "notify-2"), (draw_alltoall, "exchange-4")]),
           ("hosts-stencil.png", "Over hosts: the pipelined stencil", [(draw_scaling, "wavefront-"), (draw_sizes, "wide")]),
           ("hosts-stream.png", "Over hosts: bandwidth and many puts", [(draw_stream, "bandwidth-2"), (draw_puts, "requests-2")]),
           ("hosts-ssca1.png", "Over hosts: SSCA#1", [(draw_ssca1, "ssca1-2")])]


def write(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    pictures, about, peers = draw(document, folder), document["machine"], document["peers"]
    parts = [TEXT.format(when=document["when"], machine=report.machine_text(about), kernel=about["kernel"],
                         cores=about["cores"], compiler=about["compiler"], rounds=document["rounds"],
                         peers=" and ".join(peers.values()) or "no peer", noise=report.noise_text(about))]
    parts += [f"![{title}]({name})\n" for name, title in pictures]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        lines = [line for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + report.write_table(lines, list(peers), table.cells, table.headings) + "\n")
    parts.append(f"Targets: {table.summary(document['lines'])}.\n")
    (folder / "hosts.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "hosts.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"hosts_report.py: wrote {len(pictures)} pictures, hosts.md and hosts.json in {folder.name}/")
