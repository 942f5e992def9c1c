#!/usr/bin/env python3
"""lateral-report: draws a timeline of oshrun --trace as one HTML file that needs no network: who sends how much to whom, where each PE
waits, and the timeline itself. Or writes the timeline as an OTF2 archive, which Vampir and Cube's tools read.

usage: lateral-report [-o FILE] TRACE        FILE: report.html unless given
       lateral-report --otf2 FOLDER TRACE    wants the Python package otf2
"""
import argparse
import html
import json
import os
import sys

MOST_BARS, MOST_ARROWS = 20000, 5000    # of the timeline; a browser is slow with more
MOST_ROWS = 64                          # more PEs are folded into so many groups of neighbours
WITH_NUMBERS = 16                       # groups of the largest matrix that has room for numbers
ROW = 18                                # pixels
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{ color-scheme: light dark; --back: #fff; --text: #222; --line: #ddd; --none: #f4f4f4; --move: #1f5fbf; --wait: #d9822b; --both: #8e5bb5 }}
@media (prefers-color-scheme: dark) {{ :root {{ --back: #16181c; --text: #ddd; --line: #3a3d44; --none: #22252b; --move: #6ea8ff; --wait: #f0a04b; --both: #c79bea }} }}
body {{ font: 15px system-ui, sans-serif; margin: 1.5em auto; padding: 0 1em; max-width: 75em; background: var(--back); color: var(--text) }}
table {{ border-collapse: collapse }} td, th {{ padding: .15em .6em; text-align: right; border: 1px solid var(--line); font-variant-numeric: tabular-nums }}
td.text, th.text {{ text-align: left }} .wide {{ overflow-x: auto }} svg {{ display: block }} svg text {{ font: 11px system-ui, sans-serif; fill: var(--text) }}
h2 {{ margin-top: 1.6em }} .move {{ fill: var(--move) }} .wait {{ fill: var(--wait) }} [data-waits] {{ fill: var(--both) }} .cell {{ fill: var(--move) }} .none {{ fill: var(--none) }}
#names {{ flex: none; width: 7.5em }} #bars {{ flex: 1; min-width: 0; height: 100%; cursor: grab; touch-action: none }} #timeline {{ display: flex }}
#ticks {{ position: relative; height: 1.4em; margin-left: 7.5em }} #ticks span {{ position: absolute; font-size: 12px; transform: translateX(-50%); white-space: nowrap }} .folded {{ cursor: pointer; text-decoration: underline }}
line {{ stroke: var(--text); stroke-width: 1; vector-effect: non-scaling-stroke }} .head {{ stroke-width: 5; stroke-linecap: round }} button {{ font: inherit }}
@media (max-width: 40em) {{ body {{ padding: 0 .5em; font-size: 13px }} td, th {{ padding: .1em .3em }} #names {{ width: 5.5em }} #ticks {{ margin-left: 5.5em }} }}
</style></head><body><h1>{title}</h1>
<p>{about}{pes} PEs, {calls} calls, {seconds:.6f} s. Times are sums over the threads of a PE.</p>
<h2>What each PE did</h2><div class="wide">{summary}</div>
<h2>Waiting, by call and line</h2><div class="wide">{waits}</div>
<h2>Bytes from (row) to (column)</h2><div class="wide" id="matrix">{matrix}</div>
<h2>Timeline</h2><p>Blue: calls that move data; violet: those that wait for an answer; orange: calls that wait. Lines lead from a store to the wait that
it has ended, with a dot there. {dropped} Wheel or two fingers: zoom; drag: move. <button id="in">+</button> <button id="out">&minus;</button>
<button id="all">all</button></p>{timeline}
<script>
"use strict";
const arrows = {arrows}, span = {span}, bars = document.getElementById("bars"), names = document.getElementById("names");
const rows = [...document.querySelectorAll("g[data-row]")], labels = [...names.querySelectorAll("text")], open = new Set();
let from = 0, width = span, height = 0;
function show() {{
    width = Math.min(span, Math.max(width, span * 1e-6)); from = Math.min(span - width, Math.max(from, 0));
    bars.setAttribute("viewBox", `${{from}} 0 ${{width}} ${{height}}`);
    const power = 10 ** Math.floor(Math.log10(width / 6)), step = [1, 2, 5, 10].map(some => some * power).find(some => width / some <= 6), ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= from + width; at += step)
        ticks.push(`<span style="left: ${{(at - from) / width * 100}}%">${{+(at * 1e-3).toPrecision(12)}} ms</span>`);
    document.getElementById("ticks").innerHTML = ticks.join("");
}}
function lay() {{
    const at = [];
    let y = 0;
    rows.forEach((row, i) => {{
        const seen = row.dataset.first !== undefined || open.has(row.dataset.group);
        row.style.display = labels[i].style.display = seen ? "" : "none";
        row.setAttribute("transform", `translate(0 ${{y}})`); labels[i].setAttribute("y", y + 13);
        at[i] = seen ? y + {half} : -1; y += seen ? {row} : 0;
    }});
    height = Math.max(y, 1);
    bars.style.height = names.style.height = height + "px";
    document.getElementById("arrows").innerHTML = arrows.filter(a => at[a[0]] >= 0 && at[a[2]] >= 0)
        .map(a => `<line x1="${{a[1]}}" y1="${{at[a[0]]}}" x2="${{a[3]}}" y2="${{at[a[2]]}}"/><line class="head" x1="${{a[3]}}" y1="${{at[a[2]]}}" x2="${{a[3]}}" y2="${{at[a[2]]}}"/>`).join("");
    show();
}}
function zoom(factor, x = .5) {{ from += width * x * (1 - factor); width *= factor; show(); }}
function across(event) {{ const box = bars.getBoundingClientRect(); return (event.clientX - box.left) / box.width; }}
const fingers = new Map();
bars.addEventListener("wheel", event => {{ event.preventDefault(); zoom(event.deltaY < 0 ? .8 : 1.25, across(event)); }}, {{ passive: false }});
bars.addEventListener("pointerdown", event => {{ fingers.set(event.pointerId, across(event)); bars.setPointerCapture(event.pointerId); }});
bars.addEventListener("pointermove", event => {{
    if (!fingers.has(event.pointerId)) return;
    const x = across(event), before = fingers.get(event.pointerId), other = [...fingers].find(([id]) => id !== event.pointerId);
    fingers.set(event.pointerId, x);
    if (other) zoom(Math.abs(before - other[1]) / Math.max(Math.abs(x - other[1]), .01), other[1]);
    else {{ from -= (x - before) * width; show(); }}
}});
for (const name of ["pointerup", "pointercancel"]) bars.addEventListener(name, event => fingers.delete(event.pointerId));
document.getElementById("in").onclick = () => zoom(.5);
document.getElementById("out").onclick = () => zoom(2);
document.getElementById("all").onclick = () => {{ from = 0; width = span; show(); }};
labels.forEach(label => label.onclick = () => {{ const group = label.dataset.group; if (!open.delete(group)) open.add(group); lay(); }});
lay();
</script></body></html>
"""


def bytes_text(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def table(head, rows, texts=(0,)):
    """Columns whose numbers stand in `texts` are words."""
    def line(tag, cells):
        return "<tr>" + "".join(f"<{tag}{' class=text' if i in texts else ''}>{html.escape(str(cell))}</{tag}>" for i, cell in enumerate(cells)) + "</tr>"
    return "<table>" + line("th", head) + "".join(line("td", row) for row in rows) + "</table>"


class Trace:
    """A timeline: its calls, arrows, lines, and the PEs in groups of neighbours, of one PE each unless there are too many."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
        events = read["traceEvents"]
        self.other = read.get("otherData", {})
        self.calls = [event for event in events if event["ph"] == "X"]
        self.pes = 1 + max((event["pid"] for event in events), default=-1)
        self.hosts = list(dict.fromkeys(event["args"]["host"] for event in events if event["ph"] == "M" and "host" in event["args"]))
        starts = {event["id"]: event for event in events if event["ph"] == "s"}
        self.arrows = [(starts[event["id"]], event) for event in events if event["ph"] == "f" and event["id"] in starts]
        self.size = -(-self.pes // MOST_ROWS) or 1
        self.begin = min((call["ts"] for call in self.calls), default=0)
        self.span = max((call["ts"] + call["dur"] for call in self.calls), default=0) - self.begin

    def line(self, call):
        return self.other.get("places", {}).get(str(call["args"].get("place", 0)), "")

    def waits(self, call):
        return call["cat"] == "wait" or call["args"].get("waits")

    def groups(self):
        """Yields the first PE and the name of each group."""
        for first in range(0, self.pes, self.size):
            last = min(first + self.size, self.pes) - 1
            yield first, f"PE {first}" if first == last else f"PE {first}-{last}"

    def about(self):
        hosts = f"{len(self.hosts)} hosts ({', '.join(self.hosts[:4])}{', and more' if len(self.hosts) > 4 else ''})" if len(self.hosts) > 1 else "".join(self.hosts)
        parts = [self.other.get("program", ""), self.other.get("date", ""), hosts]
        return "".join(f"{html.escape(part)}; " for part in parts if part)


def summary(trace):
    sums = {pe: [0, 0, 0.0] for pe in range(trace.pes)}
    for call in trace.calls:
        mine = sums[call["pid"]]
        if call["cat"] == "move":
            mine[0] += 1
            mine[1] += call["args"]["bytes"]
        if trace.waits(call):
            mine[2] += call["dur"] * 1e-6
    rows = []
    for first, name in trace.groups():
        some = [sums[pe] for pe in range(first, min(first + trace.size, trace.pes))]
        rows.append((name, sum(one[0] for one in some), bytes_text(sum(one[1] for one in some)), f"{max(one[2] for one in some):.6f}"))
    return table(("PE", "operations", "bytes", "waiting (s)" if trace.size == 1 else "longest waiting of a PE (s)"), rows)


def waits(trace):
    sums = {}
    for call in trace.calls:
        if trace.waits(call):
            key = call["name"], trace.line(call)
            times, seconds, most, pe = sums.get(key, (0, 0.0, 0.0, 0))
            longest = (call["dur"], call["pid"]) if call["dur"] > most else (most, pe)
            sums[key] = (times + 1, seconds + call["dur"], *longest)
    rows = sorted(sums.items(), key=lambda item: -item[1][1])
    return table(("call", "times", "seconds", "longest (s)", "of PE", "line"),
                 [(name, times, f"{seconds * 1e-6:.6f}", f"{most * 1e-6:.6f}", pe, line) for (name, line), (times, seconds, most, pe) in rows], (0, 5))


def matrix(trace):
    """A square for each pair of groups, the darker the more bytes, with a scale."""
    sums, names = {}, [name for _, name in trace.groups()]
    for call in trace.calls:
        if call["cat"] == "move":
            pair = call["pid"] // trace.size, call["args"]["pe"] // trace.size
            sums[pair] = sums.get(pair, 0) + call["args"]["bytes"]
    count, most = len(names), max(sums.values(), default=1) or 1
    side, left = (60 if count <= WITH_NUMBERS else 14), 80
    parts = [f'<svg width="{side * count + left + 4}" height="{side * count + 56}" role="img" aria-label="bytes between PEs">']
    for i, name in enumerate(names):
        if count <= WITH_NUMBERS or i % 4 == 0:
            parts.append(f'<text x="{left - 6}" y="{20 + side * (i + .5)}" text-anchor="end">{name}</text>')
            parts.append(f'<text x="{left + side * (i + .5)}" y="12" text-anchor="middle">{name.split()[-1].split("-")[0]}</text>')
    for a, one in enumerate(names):
        for b, other in enumerate(names):
            bytes_, x, y = sums.get((a, b)), left + side * b, 16 + side * a
            shade = 'class="none"' if bytes_ is None else f'class="cell" fill-opacity="{0.1 + 0.6 * bytes_ / most:.2f}"'
            words = "nothing" if bytes_ is None else bytes_text(bytes_)
            parts.append(f'<rect x="{x}" y="{y}" width="{side - 1}" height="{side - 1}" {shade}><title>{one} to {other}: {words}</title></rect>')
            if bytes_ is not None and count <= WITH_NUMBERS:
                parts.append(f'<text x="{x + side / 2}" y="{y + side / 2 + 4}" text-anchor="middle" pointer-events="none">{words}</text>')
    y = 16 + side * count + 8
    for i in range(8):
        parts.append(f'<rect x="{left + 18 * i}" y="{y}" width="18" height="12" class="cell" fill-opacity="{0.1 + 0.6 * (i + .5) / 8:.2f}"/>')
    parts.append(f'<text x="{left}" y="{y + 24}">0 B</text><text x="{left + 144}" y="{y + 24}" text-anchor="middle">{bytes_text(most)}</text></svg>')
    return "".join(parts)


def bar(trace, call):
    words = f'{call["name"]}, {call["dur"]:.3f} us'
    if call["cat"] == "move":
        words += f', {call["args"]["bytes"]} bytes to PE {call["args"]["pe"]}'
    words += f", {trace.line(call)}" if trace.line(call) else ""
    more = ' data-waits="1"' if call["cat"] == "move" and trace.waits(call) else ""
    return (f'<rect class="{call["cat"]}"{more} x="{call["ts"] - trace.begin:.3f}" y="2" width="{max(call["dur"], trace.span * 2e-5):.3f}" height="{ROW - 4}">'
            f"<title>{html.escape(words)}</title></rect>")


def timeline(trace):
    """A row for each thread of each PE; of a group the first PE is shown until a click unfolds it. Returns the drawing, its arrows
    (row, time, row, time), and words about calls that are too many to draw."""
    drawn = sorted(trace.calls, key=lambda call: -call["dur"])[:MOST_BARS]
    rows = {row: [] for row in sorted({(call["pid"], call["tid"]) for call in trace.calls})}
    for call in drawn:
        rows[call["pid"], call["tid"]].append(bar(trace, call))
    names, groups, last, titles = [], [], None, dict(trace.groups())
    for pe, thread in rows:
        first = pe // trace.size * trace.size
        shown = " data-first" if pe == first else ""
        text = "thread" if pe == last else titles.get(pe, f"PE {pe}")
        names.append(f'<text x="98%" text-anchor="end" data-group="{first}"{" class=folded" * (trace.size > 1 and pe == first)}>{text}<title>thread {thread}</title></text>')
        groups.append(f'<g data-row data-group="{first}"{shown}>' + "".join(rows[pe, thread]) + "</g>")
        last = pe
    at = {row: i for i, row in enumerate(rows)}
    arrows = [[at[one["pid"], one["tid"]], round(one["ts"] - trace.begin, 3), at[other["pid"], other["tid"]], round(other["ts"] - trace.begin, 3)]
              for one, other in trace.arrows[:MOST_ARROWS] if (one["pid"], one["tid"]) in at and (other["pid"], other["tid"]) in at]
    words = [f"The {len(trace.calls) - len(drawn)} shortest calls are not drawn."] if len(drawn) < len(trace.calls) else []
    words += ["Click the name of PEs to see each of them."] if trace.size > 1 else []
    drawing = (f'<div id="timeline"><svg id="names">{"".join(names)}</svg><svg id="bars" preserveAspectRatio="none" role="img" '
               f'aria-label="timeline of {trace.pes} PEs">{"".join(groups)}<g id="arrows"></g></svg></div>'
               '<div id="ticks"></div>')
    return drawing, arrows, " ".join(words)


def page(trace, path):
    drawing, arrows, words = timeline(trace)
    title = os.path.basename(trace.other.get("program", "")) or os.path.basename(path)
    return PAGE.format(title=html.escape(title), about=trace.about(), pes=trace.pes, calls=len(trace.calls), seconds=trace.span * 1e-6,
                       summary=summary(trace), waits=waits(trace), matrix=matrix(trace), timeline=drawing, dropped=words,
                       arrows=json.dumps(arrows), span=json.dumps(max(trace.span, 1e-3)), row=ROW, half=ROW // 2)


# ---- OTF2 ----

def nanoseconds(microseconds):
    return round(microseconds * 1000)


def atomic_type(otf2, name):
    kinds = otf2.enums.RmaAtomicType
    fetches = "fetch" in name
    if "compare_swap" in name:
        return kinds.COMPARE_AND_SWAP
    if "swap" in name:
        return kinds.SWAP
    if "_inc" in name:
        return kinds.FETCH_AND_INCREMENT if fetches else kinds.INCREMENT
    return kinds.FETCH_AND_ADD if fetches else kinds.ACCUMULATE


def write_move(otf2, writer, window, call, number):
    """The operation of a call: what it moves, to or from whom."""
    name, peer, size = call["name"], call["args"]["pe"], call["args"]["bytes"]
    at, end = nanoseconds(call["ts"]), nanoseconds(call["ts"] + call["dur"])
    if "atomic" in name:
        gets = size if "fetch" in name.lower() or "swap" in name.lower() else 0
        writer.rma_atomic(at, window, peer, atomic_type(otf2, name), size, gets, number)
    elif "get" in name.lower() or name.endswith("_g"):
        writer.rma_get(at, window, peer, size, number)
    else:
        writer.rma_put(at, window, peer, size, number)
    done = writer.rma_op_complete_non_blocking if "_nb" in name else writer.rma_op_complete_blocking
    done(end, window, number)


def write_thread(otf2, writer, calls, regions, window):
    """Calls of one thread do not nest; rounding must not let two of them overlap."""
    last = 0
    for number, call in enumerate(sorted(calls, key=lambda call: call["ts"])):
        call["ts"] = max(call["ts"], last)
        last = call["ts"] + call["dur"]
        writer.enter(nanoseconds(call["ts"]), regions[call["name"]])
        if call["cat"] == "move":
            write_move(otf2, writer, window, call, number)
        writer.leave(nanoseconds(last), regions[call["name"]])


def window_of(otf2, definitions, firsts):
    """All PEs' symmetric memory as one window; its ranks are the PEs, which stand for their first threads."""
    kinds, shmem = otf2.enums.GroupType, otf2.enums.Paradigm.SHMEM
    definitions.group("PEs", kinds.COMM_LOCATIONS, shmem, members=firsts)
    world = definitions.group("SHMEM_TEAM_WORLD", kinds.COMM_GROUP, shmem, members=firsts)
    return definitions.rma_win("symmetric memory", definitions.comm("SHMEM_TEAM_WORLD", world))


def write_otf2(otf2, folder, calls, pes):
    with otf2.writer.open(folder, timer_resolution=1000000000) as archive:
        definitions = archive.definitions
        root = definitions.system_tree_node("job", class_name="job")
        groups = [definitions.location_group(f"PE {pe}", system_tree_parent=root) for pe in range(pes)]
        kinds = {"wait": otf2.enums.RegionRole.BARRIER, "move": otf2.enums.RegionRole.RMA}
        regions = {name: definitions.region(name, region_role=kinds[cat], paradigm=otf2.enums.Paradigm.SHMEM)
                   for name, cat in sorted({(call["name"], call["cat"]) for call in calls})}
        threads = {}
        for call in calls:
            threads.setdefault((call["pid"], call["tid"]), []).append(call)
        for pe in range(pes):
            if not any(row[0] == pe for row in threads):
                threads[pe, 0] = []
        places = {row: definitions.location(f"thread {row[1]}", group=groups[row[0]]) for row in sorted(threads)}
        window = window_of(otf2, definitions, [places[min(row for row in places if row[0] == pe)] for pe in range(pes)])
        for row, mine in sorted(threads.items()):
            write_thread(otf2, archive.event_writer_from_location(places[row]), mine, regions, window)


def make_otf2(folder, calls, pes):
    try:
        import otf2
    except ImportError:
        print("lateral-report: --otf2 wants the Python package otf2: pip install otf2, or apt install python3-otf2", file=sys.stderr)
        return 1
    try:
        os.mkdir(folder)
    except OSError as why:
        print(f"lateral-report: --otf2 {folder}: {why.strerror}", file=sys.stderr)
        return 1
    write_otf2(otf2, folder, calls, pes)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="lateral-report", description="Draws a timeline of oshrun --trace as one HTML file.")
    parser.add_argument("trace", help="the file that oshrun --trace has written")
    parser.add_argument("-o", "--output", default="report.html", help="the file to write (default: report.html)")
    parser.add_argument("--otf2", metavar="FOLDER", help="write the timeline as an OTF2 archive in a new folder instead")
    options = parser.parse_args()
    try:
        trace = Trace(options.trace)
        if options.otf2:
            return make_otf2(options.otf2, trace.calls, trace.pes)
        text = page(trace, options.trace)
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as why:
        name = getattr(why, "filename", None) or options.trace
        reason = why.strerror if isinstance(why, OSError) else "not a timeline of oshrun --trace"
        print(f"lateral-report: {name}: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
