"""Writes docs/results/threads.md and its picture from the measurements of threads.py."""
import json

import figures
import hosts_report
import report
import table
import threads_suite as suite
from experiments import COLOURS

TEXT = """# Many threads in one process

Written by `./dev bench --threads --report` on {when} UTC.

{machine}. Kernel {kernel}, {compiler}.
{rounds} rounds, all in turns; values are medians over the rounds, a ratio is the median of the rounds' ratios with its
quartiles. {noise} Peers run the same program over putmem and getmem ({peers}).

These are the experiments of the paper on a thread-safe UCCS. {cores} cores limit them:

- A sender and T receiving threads need T + 1 cores. {cores} cores suffice for T = 1. In every row with more receiving
  threads the threads share cores; there the target is half of one thread's rate. The rows "the sender asleep" show the
  cost of many threads at the receiver alone: the messages have arrived already, and 2 threads have 2 cores. Threads that
  were on one core before still give it away there for some turns; without turns the ratio was 0.9, and one thread
  found all messages.
- In the rows "both ways" one thread of each process fills the cores, so a coarse lock leaves no core idle and costs less
  than in a process with more cores. In the rows "one way" the other process sleeps and the threads have all cores;
  these rows have the target.
- The coarse lock is a mutex around every call. A thread holds it also while `uccs_progress` gives the core to another
  thread. This causes most of its loss in messages with more threads.

- The rows "a progress thread": each PE has one core, which its work and its progress thread share. Copying and folding are
  work for the processor, so work on the processor hides only the waiting; work elsewhere can hide all of a sum.

`bench/threads_suite.py` names programs and targets.
"""


def line(axes, values, label, colour, style="o-"):
    at = [(x, value) for x, value in enumerate(values) if value]
    if at:
        axes.plot([x for x, _ in at], [value for _, value in at], style, color=colour, label=label, markersize=4)


def draw_streams(values, peers, axes):
    ours = values["lateral"]
    for way, threads, processes in (("put", "o-", "o:"), ("get", "^-", "^:")):
        line(axes, [ours.get(f"streams-2/{way}.4.{size}") for size in suite.SIZES], f"{way}, 4 threads", COLOURS["ours"], threads)
        line(axes, [ours.get(f"streams-8/{way}.1.{size}") for size in suite.SIZES], f"{way}, 4 processes", COLOURS["base"], processes)
    for name, title in peers.items():
        for run, threads, label, style in (("streams-2", 4, "threads", "s-"), ("streams-8", 1, "processes", "s:")):
            line(axes, [values[name].get(f"{run}/put.{threads}.{size}") for size in suite.SIZES], f"{title}: put, 4 {label}",
                 COLOURS["peer"], style)
    hosts_report.dress(axes, [suite.size_name(size) for size in suite.SIZES], "4 streams each way (higher is better)", "GB/s")


def draw_messages(values, _peers, axes):
    for way, label, colour in (("injection", "1050 messages", COLOURS["ours"]), ("sustained", "200,000 messages", COLOURS["other"]),
                               ("coarse", "200,000, coarse lock", COLOURS["base"])):
        line(axes, [values["lateral"].get(f"am-2/{way}.{threads}") for threads in suite.MANY], label, colour)
    hosts_report.dress(axes, [str(threads) for threads in suite.MANY],
                       "Messages against receiving threads (higher is better)", "million a second")


def draw_overlap(values, _peers, axes):
    for way, label, colour in (("overlap_away", "work off the processor", COLOURS["ours"]),
                               ("overlap", "work on the processor", COLOURS["other"])):
        at = [(x, values["lateral"].get(f"computing-2/{way}.{n}")) for x, n in enumerate(suite.SUMS)]
        at = [(x, value) for x, value in at if value is not None]
        axes.plot([x for x, _ in at], [value for _, value in at], "o-", color=colour, label=label, markersize=4)
    hosts_report.dress(axes, [suite.size_name(8 * n) for n in suite.SUMS],
                       "Part of a split-phase sum that work hides (higher is better)", "part")


def draw(document, folder):
    if not figures.there():
        return []
    figure, axes = figures.panels(1, 3, (18, 4.2))
    for cell, panel in zip(axes, (draw_streams, draw_messages, draw_overlap)):
        panel(document["values"], document["peers"], cell)
    return [figures.save(figure, folder, "threads.png", "Threads against processes; messages against receiving threads")]


def write(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    about, pictures = document["machine"], draw(document, folder)
    parts = [TEXT.format(when=document["when"], machine=report.machine_text(about), kernel=about["kernel"],
                         compiler=about["compiler"], cores=about["cores"], rounds=document["rounds"],
                         peers=" and ".join(document["peers"].values()) or "no peer here", noise=report.noise_text(about))]
    parts += [f"![{title}]({name})\n" for name, title in pictures]
    for section in dict.fromkeys(line["section"] for line in document["lines"]):
        lines = [line for line in document["lines"] if line["section"] == section]
        parts.append(f"## {section}\n\n" + report.write_table(lines, list(document["peers"]), table.cells, table.headings) + "\n")
    parts.append(f"Targets: {table.summary(document['lines'])}.\n")
    (folder / "threads.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "threads.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"threads_report.py: wrote threads.md, threads.json and {len(pictures)} pictures in {folder.name}/")
