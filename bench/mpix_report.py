"""Shows the measurements of mpix.py on the terminal, and writes docs/results/mpix.md and its pictures."""
import json

import figures
import mpix_suite as suite
import report
import table

TEXT = """# The figures of "Quo Vadis MPI RMA?"

Written by `./dev bench --mpix --report` on {when} UTC.

{machine}. Kernel {kernel}, {compiler}.
`bench/mpi/paper.c` runs on each MPI, and on it with Lateral's layer preloaded, in turns: {ways}. {rounds} rounds (one of the target
that computes); values are medians, lower is better; a ratio is the median of the rounds' ratios with its quartiles. "best" is the
fastest MPI of the round without the layer; a verdict is that of the worse layer. A dash marks what an MPI does not have.
{noise} The load was {load:.1f} at the start.

The paper (Schuchart et al., EuroMPI 2021) measured over InfiniBand. Here the two hosts are network namespaces of this machine,
joined by a bridge, and the network is the kernel's TCP; {cores} cores serve both hosts and all threads. Rank 0 puts to rank 1,
which waits in MPI_Barrier. In the row of the target that computes, over 30 us on a node means that nothing moves before the
target calls the MPI; a way ends after 3.5 s, if its puts do not end before. Times of threads are those of a thread's operation.
"""
MARKS, COLOURS = ("o-", "s--", "^:", "v-.", "d-"), {"openmpi": "#d98a3d", "openmpi+": "#1f5fbf", "mpich": "#7a9e5f", "mpich+": "#6fa0e8"}


def number(value):
    return f"{value:.3f}" if value is not None and value < 1 else table.number(value)


def titles(document):
    heads = ["question", "unit"]
    for name in document["ways"]:
        heads += [name, "ratio"] if name.endswith("+") else [name]
    return heads + ["target", ""]


def cells(document, line):
    row = [line["question"], "us"]
    for name in document["ways"]:
        row.append(number(line["medians"].get(name)))
        if name.endswith("+"):
            row.append("" if line["against"] == "bound" else table.spread_text(line["ratios"].get(name)))
    return row + [f"<= {line['limit']:g}" if line["limit"] else "", line["verdict"]]


def show(document):
    lines = document["lines"]
    table.write(titles(document), [cells(document, line) for line in lines], [line["section"] for line in lines])
    print(f"\nmedians of {document['rounds']} rounds; {table.summary(lines)}; "
          f"others kept the processors {document['machine']['busy']:.0%} busy at the start")


def ways_of(document, who):
    return [name for name in document["ways"] if who == "all" or name.endswith("+") == (who == "ours")]


def draw_panel(document, figure, where, axes):
    for style, series in zip(MARKS, figure.series):
        for way in ways_of(document, series.who):
            at = [(x, document["values"].get(way, {}).get(f"{where}/{series.key.format(value)}"))
                  for x, value in enumerate(figure.values)]
            at = [(x, value) for x, value in at if value]
            if at:
                axes.plot([x for x, _ in at], [value for _, value in at], style, color=COLOURS[way], markersize=5,
                          label=f"{document['ways'][way]}: {series.words}")
    axes.set_yscale("log")
    axes.set_xticks(range(len(figure.values)), [suite.KINDS.get(value, f"{value}") for value in figure.values])
    axes.set_xlabel(figure.axis)
    figures.finish(axes, f"{figure.title}, {suite.WHERE[where]}", figure.unit)


def draw(document, folder):
    if not figures.there():
        return []
    made = []
    for figure in suite.FIGURES:
        picture, axes = figures.panels(1, len(suite.WHERE), (15, 5))
        for where, cell in zip(suite.WHERE, axes):
            draw_panel(document, figure, where, cell)
        made.append(figures.save(picture, folder, figure.file, figure.title))
    return made


def write(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    about, pictures = document["machine"], draw(document, folder)
    parts = [TEXT.format(when=document["when"], machine=report.machine_text(about), kernel=about["kernel"], cores=about["cores"],
                         compiler=about["compiler"], rounds=document["rounds"], noise=report.noise_text(about), load=about["load"],
                         ways=", ".join(f"{title} (`{name}`)" for name, title in document["ways"].items()))]
    parts += [f"![{title}]({name})\n" for name, title in pictures]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        lines = [line for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + report.write_table(lines, document, lambda line, of: cells(of, line), titles) + "\n")
    parts += ["Not run to the end:\n", *[f"- {document['ways'][way]}: {key}: {why}" for way, key, why in document["failed"]], ""] \
        if document["failed"] else []
    parts.append(f"Targets: {table.summary(document['lines'])}.\n")
    (folder / "mpix.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "mpix.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"mpix_report.py: wrote mpix.md, mpix.json and {len(pictures)} pictures in {folder.name}/")
