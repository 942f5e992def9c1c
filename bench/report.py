"""Writes docs/results/ from what run.py measured: README.md with the tables, and pictures where matplotlib is there."""
import json

import experiments
import suite

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
    import run                                             # the table's cells are the runner's
    about, peers = document["machine"], document["peers"]
    parts = [TEXT.format(when=document["when"], machine=machine_text(about), kernel=about["kernel"],
                         compiler=about["compiler"], rounds=document["rounds"],
                         peers=", ".join(peers.values()) or "no peer", noise=noise_text(about))]
    parts += [f"![{title}]({name})\n" for name, title in pictures]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        lines = [line for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + write_table(lines, list(peers), run.cells, run.headings) + "\n")
    parts.append(f"Targets: {run.summary(document['lines'])}.\n")
    (folder / "README.md").write_text("\n".join(parts), encoding="utf-8")


# ---------------------------------------------------------------------------------------------- pictures

OURS, FLOOR, PEERS = "#1f5fbf", "#404040", ["#d98a3d", "#7a9e5f", "#a6719c"]


class Chart:
    """What the pictures share: values by key and a style."""

    def __init__(self, document):
        self.by_key = {line["key"]: line for line in document["lines"]}
        self.peers = document["peers"]

    def ours(self, key):
        line = self.by_key.get(key)
        return line["ours"] if line else None

    def floor(self, key):
        line = self.by_key.get(key)
        return line["floor"] if line else None

    def peer(self, key, name):
        line = self.by_key.get(key)
        return line["peers"][name]["median"] if line else None

    def dots(self, axes, keys, labels, title, unit):
        """A dot for ours and for each peer, a line for the floor; logarithmic, since peers are far off."""
        series = [(title_of, PEERS[i % len(PEERS)], [self.peer(key, name) for key in keys])
                  for i, (name, title_of) in enumerate(self.peers.items())]
        series.append(("Lateral", OURS, [self.ours(key) for key in keys]))
        for name, colour, values in series:
            shown = [(x, value) for x, value in enumerate(values) if value]
            axes.plot([x for x, _ in shown], [value for _, value in shown], "o", color=colour, markersize=8, label=name)
        floors = [(x, self.floor(key)) for x, key in enumerate(keys) if self.floor(key)]
        for index, (x, value) in enumerate(floors):
            axes.hlines(value, x - 0.35, x + 0.35, color=FLOOR, linewidth=1.6, label="floor" if index == 0 else None)
        axes.set_yscale("log")
        axes.set_xticks(range(len(keys)), labels, rotation=30, ha="right")
        finish(axes, title, unit)


def finish(axes, title, unit):
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_ylabel(unit)
    axes.grid(axis="y", color="#d8d8d8", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


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
    try:
        import matplotlib
    except ImportError:
        print("report.py: no pictures without matplotlib; on Debian, apt-get install python3-matplotlib gives it")
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot
    chart, made = Chart(document), []
    panels = [p for p in ((draw_latency, "latency-2"), (draw_messages, "pingpong-2"), (draw_bandwidth, "bandwidth-2"),
                          (draw_collectives, "coll-2")) if has(document, p[1])]
    rows = (len(panels) + 1) // 2
    if panels:
        figure, axes = pyplot.subplots(rows, 2, figsize=(12, 4.2 * rows), squeeze=False)
        for cell, (panel, _) in zip(axes.flat, panels):
            panel(chart, cell)
        for cell in list(axes.flat)[len(panels):]:
            cell.axis("off")
        made.append(save(figure, folder, "peers.png", "Lateral, its peers and the floor of the machine"))
    if has(document, "coll-4"):
        figure, axes = pyplot.subplots(figsize=(9, 4.2))
        draw_collectives(chart, axes, 4)
        made.append(save(figure, folder, "collectives-4.png", "Collectives with 4 PEs"))
    for name, title, fill in experiments.figures(chart):
        figure, axes = pyplot.subplots(1, 2, figsize=(12, 4.2), squeeze=False)
        fill(axes.flat)
        made.append(save(figure, folder, name, title))
    return made


def save(figure, folder, name, title):
    figure.tight_layout()
    figure.savefig(folder / name, dpi=100, metadata={"Software": None})
    return name, title


def write(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    pictures = draw(document, folder)
    write_text(document, folder, pictures)
    figures = {key: value for key, value in document.items() if key != "samples"}
    (folder / "results.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"report.py: wrote {len(pictures)} pictures, README.md and results.json in {folder.name}/")
