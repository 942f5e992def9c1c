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

MOST_BARS = 20000      # of the timeline; a browser is slow with more
MOST_MATRIX = 64       # PEs
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
body {{ font: 15px system-ui, sans-serif; margin: 1.5em; max-width: 75em; color: #222 }}
table {{ border-collapse: collapse }} td, th {{ padding: .15em .6em; text-align: right; border: 1px solid #ddd; font-variant-numeric: tabular-nums }}
td.text, th.text {{ text-align: left }} .wide {{ overflow-x: auto }} svg {{ display: block }} h2 {{ margin-top: 1.6em }}
.move {{ fill: #1f5fbf }} .wait {{ fill: #d9822b }} svg text {{ font: 11px system-ui, sans-serif }}
</style></head><body><h1>{title}</h1>
<p>{pes} PEs, {calls} calls, {seconds:.6f} s. Times of waiting are sums over the threads of a PE.</p>
<h2>What each PE did</h2><div class="wide">{summary}</div>
<h2>Waiting, by call</h2><div class="wide">{waits}</div>
<h2>Bytes from (row) to (column)</h2><div class="wide" id="matrix">{matrix}</div>
<h2>Timeline</h2><p>Blue: calls that move data; orange: calls that may wait. {dropped}</p><div class="wide" id="timeline">{timeline}</div>
</body></html>
"""


def bytes_text(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def table(head, rows, texts=1):
    """The first `texts` columns are words."""
    def line(tag, cells):
        return "<tr>" + "".join(f"<{tag}{' class=text' if i < texts else ''}>{html.escape(str(cell))}</{tag}>" for i, cell in enumerate(cells)) + "</tr>"
    return "<table>" + line("th", head) + "".join(line("td", row) for row in rows) + "</table>"


def read_trace(path):
    """The calls of a trace, and the number of PEs."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    calls = [event for event in events if event["ph"] == "X"]
    return calls, 1 + max((event["pid"] for event in events), default=-1)


def summary(calls, pes):
    rows = []
    for pe in range(pes):
        mine = [call for call in calls if call["pid"] == pe]
        moves = [call for call in mine if call["cat"] == "move"]
        waited = sum(call["dur"] for call in mine if call["cat"] == "wait") * 1e-6
        rows.append((f"PE {pe}", len(moves), bytes_text(sum(call["args"]["bytes"] for call in moves)), f"{waited:.6f}"))
    return table(("PE", "operations", "bytes", "waiting (s)"), rows)


def waits(calls):
    sums = {}
    for call in calls:
        if call["cat"] == "wait":
            times, seconds, most, pe = sums.get(call["name"], (0, 0.0, 0.0, 0))
            longest = (call["dur"], call["pid"]) if call["dur"] > most else (most, pe)
            sums[call["name"]] = (times + 1, seconds + call["dur"], *longest)
    rows = sorted(sums.items(), key=lambda item: -item[1][1])
    return table(("call", "times", "seconds", "longest (s)", "of PE"),
                 [(name, times, f"{seconds * 1e-6:.6f}", f"{most * 1e-6:.6f}", pe) for name, (times, seconds, most, pe) in rows])


def matrix(calls, pes):
    """A square for each pair, the darker the more bytes."""
    sums = {}
    for call in calls:
        if call["cat"] == "move":
            pair = (call["pid"], call["args"]["pe"])
            sums[pair] = sums.get(pair, 0) + call["args"]["bytes"]
    if pes > MOST_MATRIX:
        largest = sorted(sums.items(), key=lambda item: -item[1])[:50]
        return table(("from", "to", "bytes"), [(f"PE {a}", f"PE {b}", bytes_text(count)) for (a, b), count in largest], 2)
    most, side = max(sums.values(), default=1) or 1, max(8, min(36, 640 // max(pes, 1)))
    parts = [f'<svg width="{side * pes + 44}" height="{side * pes + 24}" role="img" aria-label="bytes between PEs">']
    for pe in range(pes):
        if side >= 14 or pe % 8 == 0:
            parts.append(f'<text x="{40 + side * (pe + .5)}" y="12" text-anchor="middle">{pe}</text>')
            parts.append(f'<text x="34" y="{20 + side * (pe + .6)}" text-anchor="end">{pe}</text>')
    for a in range(pes):
        for b in range(pes):
            count = sums.get((a, b))
            shade = f"rgba(31,95,191,{0.15 + 0.85 * count / most:.2f})" if count is not None else "#f4f4f4"
            words = f"PE {a} to PE {b}: {bytes_text(count)}" if count is not None else f"PE {a} to PE {b}: nothing"
            parts.append(f'<rect x="{40 + side * b}" y="{16 + side * a}" width="{side - 1}" height="{side - 1}" fill="{shade}">'
                         f"<title>{words}</title></rect>")
    return "".join(parts) + "</svg>"


def timeline(calls, pes):
    """A row for each thread of each PE. Returns the drawing, and words about calls that are too many to draw."""
    rows, width, height = sorted({(call["pid"], call["tid"]) for call in calls}), 1100, 18
    if not rows:
        return "", ""
    start, end = min(call["ts"] for call in calls), max(call["ts"] + call["dur"] for call in calls)
    scale, at = width / max(end - start, 1e-9), {row: i for i, row in enumerate(rows)}
    drawn = sorted(calls, key=lambda call: -call["dur"])[:MOST_BARS]
    parts = [f'<svg width="{width + 70}" height="{height * len(rows) + 24}" role="img" aria-label="timeline of {pes} PEs">']
    for (pe, thread), i in at.items():
        name = f"PE {pe}" if i == 0 or rows[i - 1][0] != pe else "thread"
        parts.append(f'<text x="58" y="{height * i + 13}" text-anchor="end">{name}<title>thread {thread}</title></text>')
    for call in drawn:
        x, y = 64 + (call["ts"] - start) * scale, height * at[(call["pid"], call["tid"])] + 2
        words = f'{call["name"]}, {call["dur"]:.3f} us'
        if call["cat"] == "move":
            words += f', {call["args"]["bytes"]} bytes to PE {call["args"]["pe"]}'
        parts.append(f'<rect class="{call["cat"]}" x="{x:.2f}" y="{y}" width="{max(call["dur"] * scale, .4):.2f}" height="{height - 4}">'
                     f"<title>{html.escape(words)}</title></rect>")
    for tick in range(6):
        parts.append(f'<text x="{64 + width * tick / 5}" y="{height * len(rows) + 16}" text-anchor="middle">'
                     f"{(end - start) * tick / 5 * 1e-3:.3f} ms</text>")
    left = len(calls) - len(drawn)
    return "".join(parts) + "</svg>", f"The {left} shortest calls are not drawn." if left else ""


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
        calls, pes = read_trace(options.trace)
        if options.otf2:
            return make_otf2(options.otf2, calls, pes)
        drawing, dropped = timeline(calls, pes)
        seconds = (max(c["ts"] + c["dur"] for c in calls) - min(c["ts"] for c in calls)) * 1e-6 if calls else 0
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(PAGE.format(title=html.escape(options.trace), pes=pes, calls=len(calls), seconds=seconds, summary=summary(calls, pes),
                                   waits=waits(calls), matrix=matrix(calls, pes), timeline=drawing, dropped=dropped))
    except (OSError, ValueError, KeyError, TypeError) as why:
        name = getattr(why, "filename", None) or options.trace
        reason = why.strerror if isinstance(why, OSError) else "not a timeline of oshrun --trace"
        print(f"lateral-report: {name}: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
