#!/usr/bin/env python3
"""Measures Lateral, its peers and the floor of the machine in turns, and compares them.

    bench/run.py [--quick] [--only NAME] [--rounds N] [--peer NAME=PREFIX] [--report] ...
    bench/run.py --hosts [--keep] ...                     over two hosts of this machine: hosts.py

Every program of bench/ is plain OpenSHMEM; it is compiled with our oshcc and with that of every peer on the machine.
One round runs every program once with each of them and runs the floors, in changing order, so that a slow
moment of the machine hits all alike. The table shows medians over the rounds, and the median of the ratios
that each round gives, with its quartiles. suite.py holds what is measured and what it is held to.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import machine
import suite

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WITH_FLOOR = {"latency"}                                   # programs linked to the floor library
FLAGS = ["-O2", "-std=gnu17"]
TIMEOUT = 180                                              # seconds for one run of one program


class Progress:
    """One line on a terminal that says what runs; nothing elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.shown = total, 0, sys.stderr.isatty()

    def step(self, what):
        self.done += 1
        if self.shown:
            print(f"\r\033[K[{self.done}/{self.total}] {what}", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def note(text):
    print(f"run.py: {text}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------------ build

def compile_with(compiler, source, output, *more):
    source = HERE / source if (HERE / source).exists() else ROOT / "examples" / source
    command = [compiler, *FLAGS, source, "-o", output, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        note(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")
    return done.returncode == 0


def build_floor(out):
    out.mkdir(parents=True, exist_ok=True)
    built = [compile_with("cc", "floor.c", out / "libbenchfloor.so", "-shared", "-fPIC")]
    built += [compile_with("cc", f"{name}.c", out / name) for name in ("floor_hop", "floor_spawn", "floor_nothing")]
    if not all(built):
        raise SystemExit(1)


def build_programs(implementation, out, floor, runs):
    """Compiles each program; returns those that failed."""
    folder = out / implementation.name
    folder.mkdir(parents=True, exist_ok=True)
    link = ["-L", floor, "-lbenchfloor", f"-Wl,-rpath,{floor}"]
    programs = sorted({run.program for run in runs})
    return [p for p in programs
            if not compile_with(implementation.oshcc, f"{p}.c", folder / p, *(link if p in WITH_FLOOR else []), "-lm")]


# -------------------------------------------------------------------------------------------------- run

def execute(command, env):
    """(standard output, seconds), or (None, why)."""
    start = time.perf_counter()
    try:
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, check=False, timeout=TIMEOUT, env={**os.environ, **env})
    except subprocess.TimeoutExpired:
        return None, f"took more than {TIMEOUT} s"
    seconds = time.perf_counter() - start
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip(" -")]
        return None, f"exit status {done.returncode}: {lines[0] if lines else 'nothing said'}"
    return done.stdout, seconds


def takes_minutes(implementation, run):
    crowded = run.pes > machine.cores() and run.program not in ("launch", "rss")
    return (run.heavy and implementation.name != "lateral") or (implementation.spins and crowded)


def values_of(run, stdout):
    """{key: value} from the JSON that a program printed, or from the RESULT line of an example."""
    document = json.loads(stdout[stdout.index("{"):])
    if "results" in document:
        return {f"{run}/{name}": value for name, (value, _) in document["results"].items()}
    if not document["verified"]:
        raise ValueError("its result is wrong")
    return {f"{run}/{name}": value for name, value in document.items() if isinstance(value, float)}


class Session:
    """Everything that one invocation measures: samples[name of implementation][key] is a list, one item per round."""

    def __init__(self, options, implementations, out):
        self.options, self.out = options, out
        self.implementations = implementations
        self.samples = {i.name: {} for i in implementations}
        self.failed = {}                                   # (implementation, run) -> why
        self.busy = []                                     # by others, before each round

    def keep(self, name, values, round_number):
        for key, value in values.items():
            column = self.samples[name].setdefault(key, [None] * self.options.rounds)
            column[round_number] = value

    def command(self, implementation, run):
        program = self.out / implementation.name / run.program
        quick = ["--quick"] if self.options.quick and run.kind == "program" else []
        return [*implementation.launch, "-n", run.pes, program, *run.args, *quick]

    def run_one(self, implementation, run, round_number):
        if (implementation.name, run.key) in self.failed:
            return
        if takes_minutes(implementation, run) and not self.options.full:
            return
        stdout, result = execute(self.command(implementation, run), implementation.env)
        try:
            if stdout is None:
                raise ValueError(result)
            values = {f"{run.key}/time": result * 1e3} if run.kind == "timed" else values_of(run.key, stdout)
        except (ValueError, KeyError) as why:
            self.failed[(implementation.name, run.key)] = str(why)
            note(f"{implementation.name}: {run.key}: {why}")
            return
        self.keep(implementation.name, values, round_number)

    def run_floor(self, run, round_number):
        """Floors that are programs of their own; kept beside our values, since ratios of a round use both."""
        folder = self.out / "floor"
        if run.kind == "timed":
            stdout, result = execute([folder / "floor_spawn", run.pes, folder / "floor_nothing"], {})
            values = {f"floor/spawn-{run.pes}": result * 1e3} if stdout is not None else {}
        else:
            stdout, result = execute([folder / "floor_hop", *(["--quick"] if self.options.quick else [])], {})
            values = values_of("floor", stdout) if stdout is not None else {}
        if not values:
            note(f"floor of {run.key}: {result}")
        self.keep("lateral", values, round_number)

    def measure(self, runs):
        with_floor = [run for run in runs if run.kind == "timed" or run.program == "pingpong"]
        progress = Progress(self.options.rounds * (len(runs) * len(self.implementations) + len(with_floor)))
        for number in range(self.options.rounds):
            self.busy.append(machine.busy())
            for run in runs:
                turn = number % len(self.implementations)
                for implementation in self.implementations[turn:] + self.implementations[:turn]:
                    progress.step(f"round {number + 1}: {run.key} {implementation.name}")
                    self.run_one(implementation, run, number)
                if run in with_floor:
                    progress.step(f"round {number + 1}: floor of {run.key}")
                    self.run_floor(run, number)
        progress.end()


# ---------------------------------------------------------------------------------------------- compare

def median(values):
    there = [value for value in values or [] if value is not None]
    return statistics.median(there) if there else None


def ratio(ours, theirs):
    """Median and quartiles of the ratios round by round: (q1, median, q3), or None."""
    ratios = sorted(a / b for a, b in zip(ours or [], theirs or []) if a is not None and b)
    if not ratios:
        return None
    if len(ratios) == 1:
        return ratios[0], ratios[0], ratios[0]
    q1, middle, q3 = statistics.quantiles(ratios, n=4, method="inclusive")
    return q1, middle, q3


def verdict(spread, limit, at_least):
    """met or missed by the median; "unsure" is added where the quartiles lie on both sides."""
    if spread is None:
        return "not measured"
    q1, middle, q3 = spread
    good = (lambda x: x >= limit) if at_least else (lambda x: x <= limit)
    word = "met" if good(middle) else "missed"
    return word if good(q1) == good(q3) else word + ", unsure"


def compare(row, samples, peers):
    """One row of the table, as a dictionary that goes into the JSON file and the report."""
    ours = samples["lateral"].get(row.key)
    floor = samples["lateral"].get(row.floor) if row.floor else None
    line = {"section": row.section, "question": row.question, "key": row.key, "ours": median(ours), "floor": median(floor),
            "to_floor": ratio(ours, floor), "peers": {}, "against": row.against, "limit": row.limit,
            "at_least": row.at_least, "verdict": ""}
    for peer in peers:
        theirs = samples[peer.name].get(row.key)
        line["peers"][peer.name] = {"median": median(theirs), "ratio": ratio(ours, theirs)}
    if row.against == "floor":
        line["verdict"] = verdict(line["to_floor"], row.limit, row.at_least)
    elif row.against == "bound":
        line["verdict"] = verdict(ratio(ours, [1.0] * len(ours)) if ours else None, row.limit, row.at_least)
    elif row.against == "peer" and peers:
        ratios = [line["peers"][p.name]["ratio"] for p in peers if line["peers"][p.name]["ratio"]]
        each = [verdict(spread, row.limit, row.at_least) for spread in ratios] or ["not measured"]
        line["verdict"] = max(each, key=lambda v: ("met", "met, unsure", "not measured", "missed, unsure", "missed").index(v))
    return line


# ------------------------------------------------------------------------------------------------- show

def number(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def spread_text(spread):
    if spread is None:
        return "-"
    digits = 2 if spread[1] < 100 else 0
    return "{1:.{d}f} [{0:.{d}f} {2:.{d}f}]".format(*spread, d=digits)


UNITS = {"bandwidth": "GB/s", "launch": "ms", "rss": "MiB", "stencil": "MFlop/s", "isort": "Mkeys/s",
         "ssca1": "ms", "wavefront": "MFlop/s", "am": "Mmsg/s", "streams": "GB/s", "ucx": "GB/s", "fairness": "ratio",
         "between": "ratio", "least": "callbacks", "most": "callbacks"}


def unit_of(line):
    run, name = line["key"].split("/")
    return UNITS.get(name.split(".")[0]) or UNITS.get(run.split("-")[0].rpartition(".")[2], "ns")


def target_text(line):
    if line["limit"] is None:
        return ""
    return f"{'>=' if line['at_least'] else '<='} {line['limit']:g}" + \
        {"floor": " floor", "peer": " peer", "bound": " " + unit_of(line)}[line["against"]]


def cells(line, peers):
    row = [line["question"], unit_of(line), number(line["ours"])]
    for peer in peers:
        row += [number(line["peers"][peer]["median"]), spread_text(line["peers"][peer]["ratio"])]
    return row + [number(line["floor"]), spread_text(line["to_floor"]), target_text(line), line["verdict"]]


def headings(peers):
    row = ["question", "unit", "lateral"]
    for peer in peers:
        row += [peer, f"lateral/{peer}"]
    return row + ["floor", "lateral/floor", "target", ""]


def show(lines, peers):
    table = [headings(peers)] + [cells(line, peers) for line in lines]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    section = None
    for index, row in enumerate(table):
        if index and lines[index - 1]["section"] != section:
            section = lines[index - 1]["section"]
            print(f"\n{section}")
        left = row[0].ljust(widths[0])
        print(left, *[row[i].rjust(widths[i]) for i in range(1, len(row) - 1)], row[-1], sep="  ")


def summary(lines):
    words = [line["verdict"] for line in lines if line["verdict"]]
    counts = {word: words.count(word) for word in dict.fromkeys(words)}
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) or "no targets in this selection"


# ------------------------------------------------------------------------------------------------- main

def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, help="build folder of Lateral (default: build/release, else build/dev)")
    parser.add_argument("--quick", action="store_true", help="2 rounds, short batches, no large jobs")
    parser.add_argument("--full", action="store_true",
                        help="peers also do what takes them minutes: 256 PEs, and more PEs than cores for those that spin")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="runs whose name begins so, e.g. pingpong or coll-2; may be repeated")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX",
                        help="where a peer is installed, or the folder with its oshcc and oshrun")
    parser.add_argument("--no-peers", action="store_true", help="Lateral and the floor alone")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="for programs and JSON files")
    parser.add_argument("--report", action="store_true", help="also write docs/results/")
    parser.add_argument("--from", dest="sources", type=Path, action="append", metavar="JSON",
                        help="measure nothing, show a file from build/bench; may be repeated for parts of one table")
    parser.add_argument("--hosts", action="store_true", help="over two hosts made on this machine, against peers and ucx_perftest")
    parser.add_argument("--threads", action="store_true", help="many threads in one process, against processes and ucx_perftest")
    parser.add_argument("--keep", action="store_true", help="with --hosts: add to what earlier calls with --keep measured")
    parser.add_argument("--smoke", action="store_true", help="does every program run and print what the table needs?")
    options = parser.parse_args()
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds wants 1 or more")
    if options.smoke:
        options.quick, options.no_peers, options.rounds = True, True, 1
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options


def find_build(options):
    for build in [options.build] if options.build else [ROOT / "build" / "release", ROOT / "build" / "dev"]:
        if (build / "bin" / "oshcc").exists():
            return build.resolve()
    raise SystemExit("run.py: no Lateral is built here; run ./dev build, or name its build folder by --build")


def choose_runs(options):
    runs = [run for run in suite.RUNS if run.quick or not options.quick]
    chosen = [run for run in runs if not options.only or any(run.key.startswith(name) for name in options.only)]
    if not chosen:
        raise SystemExit(f"run.py: nothing is called {' or '.join(options.only)}; there are: "
                         + " ".join(run.key for run in runs))
    return chosen


def wanted_rows(runs):
    keys = {run.key for run in runs} | ({"floor"} if any(run.program == "pingpong" for run in runs) else set())
    return [row for row in suite.ROWS if row.key.split("/")[0] in keys]


def measure(options):
    """Builds, measures, compares; returns the document that is saved."""
    out, runs = options.out.resolve(), choose_runs(options)
    about = machine.describe()
    ours = machine.lateral(find_build(options))
    peers = [] if options.no_peers else machine.find_peers(ours.oshcc.parent, options.peer)
    if not peers and not options.no_peers:
        note("no peer here; on Debian, apt-get install libopenmpi-dev gives one")
    build_floor(out / "floor")
    session = Session(options, [ours, *peers], out)
    for implementation in session.implementations:
        for program in build_programs(implementation, out, out / "floor", runs):
            session.failed.update({(implementation.name, run.key): "does not compile" for run in runs if run.program == program})
    session.measure(runs)
    about["busy"] = statistics.median(session.busy)
    lines = [compare(row, session.samples, peers) for row in wanted_rows(runs)]
    return {"when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "machine": about, "rounds": options.rounds,
            "quick": options.quick, "peers": {p.name: p.title for p in peers}, "lines": lines,
            "failed": [[name, run, why] for (name, run), why in session.failed.items()], "samples": session.samples}


def save(document, out):
    path = out / time.strftime("bench-%Y%m%d-%H%M%S.json")
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path


def join(parts):
    """One document of several that measured different runs on one machine with the same peers."""
    whole, alike = dict(parts[0]), ("peers", "rounds", "quick")
    if any(part[what] != whole[what] for part in parts for what in alike):
        raise SystemExit("run.py: these files differ in peers, rounds or --quick, so they are no parts of one table")
    lines = {line["key"] + line["question"]: line for part in parts for line in part["lines"]}
    whole["lines"] = [lines[row.key + row.question] for row in suite.ROWS if row.key + row.question in lines]
    whole["failed"] = [failed for part in parts for failed in part["failed"]]
    whole["machine"] = {**whole["machine"], "busy": max(part["machine"]["busy"] for part in parts)}
    whole["samples"] = {name: {key: value for part in parts for key, value in part["samples"][name].items()}
                        for name in whole["samples"]}
    return whole


def smoke(document):
    missing = [line["key"] for line in document["lines"] if line["ours"] is None]
    for key in missing:
        note(f"no value for {key}")
    return 1 if missing or document["failed"] else 0


def main():
    options = parse()
    if options.hosts:
        import hosts                                       # it takes what it shares with us from here
        return hosts.main(options, sys.argv[1:])
    if options.threads:
        import threads                                     # the same
        return threads.main(options)
    if options.sources:
        document = join([json.loads(source.read_text(encoding="utf-8")) for source in options.sources])
    else:
        document = measure(options)
        print(f"run.py: saved {os.path.relpath(save(document, options.out.resolve()))}")
    if options.smoke:
        return smoke(document)
    show(document["lines"], list(document["peers"]))
    print(f"\nmedians of {document['rounds']} rounds; ratios: median [quartiles] over rounds; {summary(document['lines'])}")
    if document["machine"]["busy"] > 0.1:
        note(f"others kept the processors {document['machine']['busy']:.0%} busy meanwhile: these figures are unreliable")
    if options.report:
        import report                                      # only here: it may need matplotlib
        report.write(document, ROOT / "docs" / "results")
    return 1 if any(name == "lateral" for name, _, _ in document["failed"]) else 0


if __name__ == "__main__":
    sys.exit(main())
