"""Measures the figures of the paper behind mpix_rma.h: `./dev bench --mpix`.

bench/mpi/paper.c runs with each MPI alone, and with Lateral's layer preloaded, in changing order, on this node and over two
hosts of this machine (tools/dev/hosts.py). mpix_suite.py lists the measurements; --report writes docs/results/mpix.md and a picture
for each figure. With --only node or --only hosts one place is measured; --only WHERE/FIGURE one start.
"""
import json
import os
import subprocess
import sys
import time

import machine
import mpi
import mpi_hosts
import mpix_report
import mpix_suite as suite
import runner
import table

ROUNDS = 2
LIMIT = 20                                                 # seconds for one measurement
WITHIN = "LATERAL_HOSTFILE"                                # set on the launch node of the hosts


def find_ways(build):
    return [way for way in mpi.find(build) if way.name != "openmpi.sm"]


def command(way, run, programs, build, options):
    """Returns words and variables. Ranks are not bound: threads would share a core with them."""
    tool = [build / "bin" / "lateral-mpi"] if way.ours else []
    env = dict(mpi.ENV)
    if WITHIN in os.environ:
        where = mpi_hosts.options(way.mpi)
    else:
        where = ["--oversubscribe", "--bind-to", "none"] if way.mpi == "openmpi" else []
    return [*way.launch, *where, "-n", 2, *tool, programs / way.mpi / "paper", run.figure, *(["--quick"] if options.quick else [])], env


def measure(options, ways, runs, where, build, programs):
    """Returns samples[way][key], a list with an item for each round, and [way, key, why] of what did not run to its end."""
    samples, failed = {way.name: {} for way in ways}, []
    progress = runner.Progress(options.rounds * len(runs))
    for number in range(options.rounds):
        for run in runs:
            progress.step(f"round {number + 1}: {where}/{run.figure}")
            turn = number % len(ways)
            for way in ways[turn:] + ways[:turn]:
                if number >= run.rounds or any(each[:2] == [way.name, f"{where}/{run.figure}"] for each in failed):
                    continue
                values, why = runner.results(where, *command(way, run, programs, build, options), LIMIT)
                if why:
                    failed.append([way.name, f"{where}/{run.figure}", why])
                    runner.note(f"{way.title}: {where}/{run.figure}: {why}")
                for key, value in values.items():
                    samples[way.name].setdefault(key, [None] * options.rounds)[number] = value
    progress.end()
    return samples, failed


def chosen(options, where):
    return [run for run in suite.RUNS if not options.only or any(f"{where}/{run.figure}".startswith(name) for name in options.only)]


def build_programs(ways, folder):
    for way in {way.mpi: way for way in ways}.values():
        (folder / way.mpi).mkdir(parents=True, exist_ok=True)
        if not runner.compile_with(way.mpicc, "mpi/paper.c", folder / way.mpi / "paper", "-pthread", "-ldl"):
            raise SystemExit(1)


def over_hosts(options, argv, path):
    """Runs this script again on the launch node of two hosts. Returns what it measured, or nothing."""
    path.unlink(missing_ok=True)
    words = mpi_hosts.made([sys.executable, "-B", runner.HERE / "run.py", *argv])
    done = subprocess.run([str(word) for word in words], check=False)
    if done.returncode or not path.exists():
        runner.note("nothing is measured over hosts here (tools/dev/hosts.py --check says why)")
        return {}, []
    return json.loads(path.read_text(encoding="utf-8"))


def compare(row, ways, samples):
    """Returns a line of the table: medians, and the ratio of each layer with the verdict on the worse."""
    line = {**row._asdict(), "medians": {way.name: table.median(samples[way.name].get(row.key)) for way in ways}, "ratios": {}}
    plain = [way.name for way in ways if not way.ours]
    for way in ways:
        mine = samples[way.name].get(row.key)
        if not way.ours or not mine:
            continue
        if row.against == "bound":
            other = [1.0] * len(mine)
        elif row.against.startswith("best "):
            other = mpi.best_of(samples, plain, row.against[5:])
        else:
            other = samples[way.name].get(row.against)
        line["ratios"][way.name] = table.ratio(mine, other)
    words = ("met", "met, unsure", "not measured", "missed, unsure", "missed")
    each = [table.verdict(spread, row.limit, False) for spread in line["ratios"].values()] if row.limit else []
    line["verdict"] = max(each, key=words.index) if each else ""
    return line


def run_all(options, argv):
    build, out = runner.find_build(options), options.out.resolve()
    ways, programs, load = find_ways(build), out / "mpix", os.getloadavg()[0]
    there = out / "mpix-hosts.json"
    if WITHIN in os.environ:
        there.write_text(json.dumps(measure(options, ways, chosen(options, "hosts"), "hosts", build, programs)), encoding="utf-8")
        return None
    build_programs(ways, programs)
    busy = machine.busy()
    samples, failed = measure(options, ways, chosen(options, "node"), "node", build, programs)
    if chosen(options, "hosts"):
        more, also = over_hosts(options, argv, there)
        failed += also
        for name, of in more.items():
            samples[name].update(of)
    lines = [compare(row, ways, samples) for row in suite.ROWS]
    return {"when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "machine": {**machine.describe(), "busy": busy, "load": load},
            "rounds": options.rounds, "ways": {way.name: way.title for way in ways}, "failed": failed,
            "lines": [line for line in lines if any(value is not None for value in line["medians"].values())],
            "values": {name: {key: table.median(values) for key, values in of.items()} for name, of in samples.items()}}


def main(options, argv):
    if options.sources:
        document = json.loads(options.sources[-1].read_text(encoding="utf-8"))
    else:
        document = run_all(options, argv)
        if document is None:
            return 0
        path = options.out.resolve() / f"mpix-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.json"
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"run.py: saved {os.path.relpath(path)}")
    mpix_report.show(document)
    if options.report:
        mpix_report.write(document, runner.ROOT / "docs" / "results")
    return 1 if any(way.endswith("+") for way, _, _ in document["failed"]) or not document["lines"] else 0
