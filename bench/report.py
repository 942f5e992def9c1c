"""Writes docs/results/ from run.py's measurements: README.md with the tables, and pictures if matplotlib is there."""
import json

import experiments
import suite
import table
from figures import FLOOR, OURS, PEERS, Chart, finish, panels, save, there

TEXT = """# Results

Written by `./dev bench --report` on {when} UTC.

{machine}. Kernel {kernel}, {compiler}.
{rounds} rounds; each runs Lateral, {peers} and the floors in turns. Values are medians over the rounds; a
ratio is the median of the ratios of the rounds, with its quartiles in brackets. {noise}

The floor is the time of the machine itself, measured in the same run: the same access by a one-line function of
another shared library, one hop of a cache line between two cores by plain stores and loads, memcpy
between the same two places, or the start of as many processes that do nothing. `bench/suite.py` lists the floor and
the target of every row. The head of every program in `bench/` describes it. `bench/machine.py` holds the way to
start each peer. A dash marks a row that a peer cannot run, or needs minutes for (`--full` waits for it).
Over several hosts: [hosts.md](hosts.md). Many threads in one process: [threads.md](threads.md).
"""


def escape(text):
    return text.replace("|", "\\|")


def write_table(lines, peers, cells, headings):
    titles = headings(peers)
    rows = ["| " + " | ".join(titles) + " |", "|---" + "|---:" * (len(titles) - 2) + "|---|"]
    rows += ["| " + " | ".join(escape(cell) for cell in cells(line, peers)) + " |" for line in lines]
    return "\n".join(rows)


def machine_text(about):
    return f"{about['processor']}, {about['cores']} cores{', a virtual machine' if about['virtual'] else ''}"


def noise_text(about):
    if about["busy"] > 0.1:
        return f"Others kept the processors {about['busy']:.0%} busy meanwhile, so take the figures as a first impression."
    return "The machine had nothing else to do."


def write_text(document, folder, pictures):
    about, peers = document["machine"], document["peers"]
    parts = [TEXT.format(when=document["when"], machine=machine_text(about), kernel=about["kernel"],
                         compiler=about["compiler"], rounds=document["rounds"],
                         peers=", ".join(peers.values()) or "no peer", noise=noise_text(about))]
    parts += [f"![{title}]({name})\n" for name, title in pictures]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        lines = [line for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + write_table(lines, list(peers), table.cells, table.headings) + "\n")
    parts.append(f"Targets: {table.summary(document['lines'])}.\n")
    (folder / "README.md").write_text("\n".join(parts), encoding="utf-8")


# ---------------------------------------------------------------------------------------------- pictures

def draw_latency(chart, axes):
    keys = [f"latency-2/{region}.{op}" for region in ("heap", "global") for op in ("p", "g", "put1", "atomic_fetch_add")]
    labels = [key.split("/")[1].replace("atomic_", "").replace(".", "\n") for key in keys]
    chart.dots(axes, keys, labels, "One element, to another PE (lower is better)", "ns")


def draw_messages(chart, axes):
    keys = ["pingpong-2/p", "pingpong-2/put_inc", "pingpong-2/put_signal", "barrier-2/barrier_all", "barrier-4/barrier_all",
            "barrier-16/barrier_all"]
    labels = ["p", "put, fence,\ninc", "put_signal", "barrier\n2 PEs", "barrier\n4 PEs", "barrier\n16 PEs"]
    chart.dots(axes, keys, labels, "Half round trip, barrier (lower is better)", "ns")


def draw_bandwidth(chart, axes):
    keys = [f"bandwidth-2/put.{size}" for size in suite.SIZES]
    axes.plot(suite.SIZES, [chart.floor(key) for key in keys], color=FLOOR, linestyle="--", label="memcpy")
    for i, (name, title) in enumerate(chart.peers.items()):
        axes.plot(suite.SIZES, [chart.peer(key, name) for key in keys], color=PEERS[i % len(PEERS)], marker="s", label=title)
    axes.plot(suite.SIZES, [chart.ours(key) for key in keys], color=OURS, marker="o", label="Lateral")
    axes.set_xscale("log", base=2)
    axes.set_xticks(suite.SIZES, [suite.size_name(size) for size in suite.SIZES], rotation=30, ha="right")
    axes.set_ylim(bottom=0)
    finish(axes, "put bandwidth (higher is better)", "GB/s")


def draw_collectives(chart, axes, pes=2):
    sizes = [(8, "8 B"), (64 << 10, "64 KiB"), (4 << 20, "4 MiB")]
    keys = [f"coll-{pes}/{name}.{size}" for name in suite.COLLECTIVES for size, _ in sizes]
    labels = [f"{name} {text}" for name in suite.COLLECTIVES for _, text in sizes]
    chart.dots(axes, keys, labels, f"Collectives, {pes} PEs (lower is better)", "ns")


def has(document, prefix):
    return any(line["key"].startswith(prefix) and line["ours"] is not None for line in document["lines"])


def draw(document, folder):
    """Returns [(file name, title)]; empty without matplotlib."""
    if not there():
        return []
    chart, made = Chart(document), []
    drawers = [p for p in ((draw_latency, "latency-2"), (draw_messages, "pingpong-2"), (draw_bandwidth, "bandwidth-2"),
                           (draw_collectives, "coll-2")) if has(document, p[1])]
    rows = (len(drawers) + 1) // 2
    if drawers:
        figure, axes = panels(rows, 2, (12, 4.2 * rows))
        for cell, (drawer, _) in zip(axes, drawers):
            drawer(chart, cell)
        for cell in axes[len(drawers):]:
            cell.axis("off")
        made.append(save(figure, folder, "peers.png", "Lateral, its peers and the floor of the machine"))
    if has(document, "coll-4"):
        figure, axes = panels(1, 1, (9, 4.2))
        draw_collectives(chart, axes[0], 4)
        made.append(save(figure, folder, "collectives-4.png", "Collectives with 4 PEs"))
    for name, title, fill in experiments.figures(chart):
        figure, axes = panels(1, 2, (12, 4.2))
        fill(axes)
        made.append(save(figure, folder, name, title))
    return made


def write(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    pictures = draw(document, folder)
    write_text(document, folder, pictures)
    figures = {key: value for key, value in document.items() if key != "samples"}
    (folder / "results.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"report.py: wrote {len(pictures)} pictures, README.md and results.json in {folder.name}/")
