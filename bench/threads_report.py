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
  cost of many threads at the receiver alone: the messages have arrived already, and 2 threads have 2 cores. Their handlers
  only count, each thread on a line of its own (on a common line the adds cost a quarter more). One thread then takes
  a message every 25 ns, and two hand the ring's head to each other for every message, which takes longer between
  two cores. So 0.9 is missed (0.6 to 0.75). Taking many messages at once would mend it, but then messages would wait behind a
  handler that waits. Handlers that do something let both threads gain.
- In the rows "both ways" one thread of each process fills the cores, so a coarse lock leaves no core idle and costs less
  than in a process with more cores. In the rows "one way" the other process sleeps and the threads have all cores;
  these rows have the target.
- The coarse lock is a mutex around every call. A thread holds it also while `uccs_progress` gives the core to another
  thread. This causes most of its loss in messages with more threads.

- Threads against processes over UCX (TCP): a stream whose ends share a core runs at up to 6.4 GB/s with 256 KiB, because the
  data stays in that core's cache, and at 3.5 to 4 GB/s between two cores. Left alone, the kernel places pairs of processes
  on one core; it cannot do so with 2 processes whose threads share a connection. So the target is in the rows where each side
  has its half of the cores: the same work on the same cores. The rows "anywhere" show what the kernel makes of it. There are
  as many progress engines as processes: the threads of a process share one, and their peers are served by one. Puts by 4
  threads on one core queue for the lock of that one, and on a loaded machine reach 0.5 to 0.65 of the processes' rate.
- A put and flush beside a thread with 8 KB puts: three threads work, two of PE 0 and one of its target, and each PE has its half of
  the cores. Left alone, the kernel may place the thread that streams on the target's core, and the target then waits for time
  slices: 1.3 to 6 times as long as alone, by turns.
- Lanes: with 2 threads and the target on {cores} cores, a second lane adds messages (the lane's batches no longer hold the puts of
  both threads) and no core, so one lane is as fast.
- Sums of up to 4,096 longs: they take the processor less time than waking a thread, so nobody is woken. The PE that starts
  last does the sum for both within its start, which no later work can hide. There the target is the time to start
  and wait: less than waking a thread takes. The target for the hidden part holds from 32,768 longs on. What is left
  beside work off the processor has the noise of a sleep, about a microsecond.
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
