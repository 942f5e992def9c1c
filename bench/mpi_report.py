"""Shows the measurements of mpi.py on the terminal, and writes docs/results/mpi.md and its pictures."""
import json

import figures
import mpi_suite as suite
import report
import table

TEXT = """# MPI's one-sided functions

Written by `./dev bench --mpi --report` on {when} UTC.

{machine}. Kernel {kernel}, {compiler}.
The same programs (`bench/mpi`) run on each MPI, and on it with Lateral's layer preloaded, in turns: {ways}. {rounds} rounds; values
are medians over the rounds, lower is better; a ratio is the median of the rounds' ratios with its quartiles. "best" is the
fastest MPI of the round without the layer; a verdict is that of the worse layer. A dash marks what an MPI cannot run.
{noise} The load was {load:.1f} at the start.

Rank 0 issues the operations, and rank 1 waits in MPI_Barrier; each completes before the next one begins. `bench/mpi_suite.py` lists
programs and targets.
"""
COLOURS = {"openmpi": "#d98a3d", "openmpi.sm": "#e0b989", "openmpi+": "#1f5fbf", "mpich": "#7a9e5f", "mpich+": "#6fa0e8"}
GROUPS = [("mpi-operations.png", "One operation and its flush", "us", (suite.ALLOCATED, suite.CREATED, suite.DYNAMIC), "best"),
          ("mpi-meet.png", "Synchronisation", "us", (suite.MEET,), "best"),
          ("mpi-threads.png", "Threads: time per operation of all", "us", (suite.THREADS,), "best"),
          ("mpi-hosts.png", suite.HOSTS, "us", (suite.HOSTS,), "best"),
          ("mpi-busy.png", suite.BUSY, "us", (suite.BUSY,), "bound"),
          ("mpi-creation.png", "Making and freeing a window: us, and bytes of a rank", "us or bytes", (suite.CREATION,), "best"),
          ("mpi-programs.png", "Programs: time to solution", "s", (suite.PROGRAM,), "best")]


def unit_of(line):
    name = line["key"].split("/")[1]
    return "B" if name == "memory" else "s" if line["section"] == suite.PROGRAM else "us"


def number(value):
    return f"{value:.3f}" if value is not None and value < 1 else table.number(value)


def target_of(line):
    if line["limit"] is None:
        return ""
    return f"<= {line['limit']:g}" + {"bound": " us", "best": " best", "mpich": " MPICH"}.get(line["against"], " own")


def titles(document):
    heads = ["question", "unit"]
    for name in document["ways"]:
        heads.append(name)
        if name.endswith("+"):
            heads.append("ratio")
    return heads + ["target", ""]


def cells(document, line):
    row = [line["question"], unit_of(line)]
    for name in document["ways"]:
        row.append(number(line["medians"].get(name)))
        if name.endswith("+"):
            bound = line["against"] == "bound"
            row.append("" if bound else table.spread_text(line["ratios"].get(name)))
    return row + [target_of(line), line["verdict"]]


def show(document):
    lines = document["lines"]
    table.write(titles(document), [cells(document, line) for line in lines], [line["section"] for line in lines])
    print(f"\nmedians of {document['rounds']} rounds; ratio: Lateral to the best MPI, or what the target names; "
          f"{table.summary(lines)}; others kept the processors {document['machine']['busy']:.0%} busy (median)")


def draw(document, folder):
    if not figures.there():
        return []
    made = []
    for name, title, unit, sections, against in GROUPS:
        lines = [line for line in document["lines"] if line["section"] in sections and line["against"] == against]
        if not lines:
            continue
        figure, axes = figures.panels(1, 1, (max(6, 1.1 * len(lines)), 4.6))
        for way, of in document["ways"].items():
            at = [(x, line["medians"].get(way)) for x, line in enumerate(lines)]
            at = [(x, value) for x, value in at if value]
            axes[0].plot([x for x, _ in at], [value for _, value in at], "o", color=COLOURS[way], markersize=8, label=of)
        axes[0].set_yscale("log")
        axes[0].set_xticks(range(len(lines)), [line["question"] for line in lines], rotation=30, ha="right", fontsize=8)
        figures.finish(axes[0], title + " (lower is better)", unit)
        made.append(figures.save(figure, folder, name, title))
    return made


def write(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    about, pictures = document["machine"], draw(document, folder)
    parts = [TEXT.format(when=document["when"], machine=report.machine_text(about), kernel=about["kernel"],
                         compiler=about["compiler"], rounds=document["rounds"], noise=report.noise_text(about), load=about["load"],
                         ways=", ".join(f"{title} (`{name}`)" for name, title in document["ways"].items()))]
    parts += [f"![{title}]({name})\n" for name, title in pictures]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        lines = [line for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + report.write_table(lines, document, lambda line, of: cells(of, line), titles) + "\n")
    parts += ["Not run to the end:\n", *[f"- {document['ways'][way]}: {key}: {why}" for way, key, why in document["failed"]], ""] \
        if document["failed"] else []
    parts.append(f"Targets: {table.summary(document['lines'])}.\n")
    (folder / "mpi.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "mpi.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"mpi_report.py: wrote mpi.md, mpi.json and {len(pictures)} pictures in {folder.name}/")
