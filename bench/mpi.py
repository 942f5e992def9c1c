"""Measures MPI's one-sided functions with and without Lateral's layer: `./dev bench --mpi`.

In every round each program of bench/mpi/ runs once with each MPI alone, and once with the layer preloaded, in changing order.
Open MPI runs allocated windows also with its component osc/sm, which it does not choose by itself. mpi_suite.py lists the
measurements; --report writes docs/results/mpi.md and its pictures. A run waits some seconds for a calm machine. An MPI that hangs loses
the measurements from there on, and is not asked for them again.
"""
import json
import os
import shutil
import subprocess
import time
from collections import namedtuple
from pathlib import Path

import machine
import mpi_hosts
import mpi_report
import mpi_suite as suite
import runner
import table

PATIENCE, CALM = 1, 0.25                                    # seconds to wait for others to keep less than this share busy
ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# ours: the layer is preloaded. only: the runs that it is there for, by the start of their keys.
Way = namedtuple("Way", "name mpi title mpicc launch ours only", defaults=(("",),))


def version(mpi, mpirun):
    words = machine.text_of([mpirun, "--version"]).split()
    found = next((word for word in words if word[:1].isdigit() and "." in word), "")
    return f"{ {'openmpi': 'Open MPI', 'mpich': 'MPICH'}[mpi]} {found}".strip()


def find(build):
    """Returns the ways to run: each MPI that has a layer, without it and with it."""
    ways = []
    for mpi in ("openmpi", "mpich"):
        mpicc, mpirun = shutil.which(f"mpicc.{mpi}"), shutil.which(f"mpirun.{mpi}")
        if not mpicc or not mpirun or not (build / "lib" / f"liblateral-mpi-{mpi}.so").exists():
            continue
        title = version(mpi, mpirun)
        ways += [Way(mpi, mpi, title, mpicc, [mpirun], False), Way(f"{mpi}+", mpi, f"Lateral on {title}", mpicc, [mpirun], True)]
        if mpi == "openmpi":
            ways.append(Way("openmpi.sm", mpi, f"{title}, osc/sm", mpicc, [mpirun, "--mca", "osc", "sm"], False,
                            ("allocate-", "swap-", "meet-", "threads-", "creation-", "stencil-", "table-")))
    if not ways:
        raise SystemExit("run.py: no MPI with a layer is here (Debian: libopenmpi-dev, libmpich-dev); build after installing one")
    return ways


def command(way, run, programs, build):
    tool = [build / "bin" / "lateral-mpi"] if way.ours else []
    program = [*tool, programs / way.mpi / run.program, *run.args]
    if run.hosts:
        return mpi_hosts.made([*way.launch, *mpi_hosts.options(way.mpi), "-n", run.ranks, *program])
    if way.mpi == "openmpi":
        bind = ["--oversubscribe", "--bind-to", "core:overload-allowed" if run.bind else "none"]
    else:
        bind = ["-bind-to", "core"] if run.bind else []
    return [*way.launch, *bind, "-n", run.ranks, *program]


def build_programs(ways, runs, folder):
    for way in {way.mpi: way for way in ways}.values():
        (folder / way.mpi).mkdir(parents=True, exist_ok=True)
        for program in sorted({run.program for run in runs}):
            if not runner.compile_with(way.mpicc, Path("mpi") / f"{program}.c", folder / way.mpi / program, "-pthread", "-lm"):
                raise SystemExit(1)


def calm():
    """Waits for a calm machine, but not for ever. Returns the share that others keep busy."""
    end = time.monotonic() + PATIENCE
    while (busy := machine.busy()) > CALM and time.monotonic() < end:
        time.sleep(0.3)
    return busy


def measure(options, ways, runs, programs, build):
    samples, busy, failed = {way.name: {} for way in ways}, [], {}
    progress = runner.Progress(options.rounds * len(runs))
    for number in range(options.rounds):
        for run in runs:
            progress.step(f"round {number + 1}: {run.key}")
            turn = number % len(ways)
            for way in ways[turn:] + ways[:turn]:
                if number >= run.rounds or not run.key.startswith(way.only) or (way.name, run.key) in failed:
                    continue
                busy.append(0 if options.smoke else calm())
                values, why = runner.results(run.key, command(way, run, programs, build), ENV, run.limit)
                if why:
                    failed[way.name, run.key] = why
                    runner.note(f"{way.title}: {run.key}: {why}")
                for key, value in values.items():
                    samples[way.name].setdefault(key, [None] * options.rounds)[number] = value
    progress.end()
    return samples, sorted(busy)[len(busy) // 2], failed


def best_of(samples, names, key):
    """Returns the smallest value of these ways, round by round."""
    rounds = [[value for value in each if value is not None] for each in zip(*[samples[n][key] for n in names if key in samples[n]])]
    return [min(each) if each else None for each in rounds]


def compare(row, ways, samples):
    """Returns one line of the table: medians, ratios of the layer to what it is held against, and the verdict on the worse."""
    plain = [way.name for way in ways if not way.ours]
    line = {"section": row.section, "question": row.question, "key": row.key, "against": row.against, "limit": row.limit,
            "medians": {way.name: table.median(samples[way.name].get(row.key)) for way in ways}, "ratios": {}}
    for way in ways:
        mine = samples[way.name].get(row.key)
        if not way.ours or not mine:
            continue
        if row.against == "bound":
            other = [1.0] * len(mine)
        elif row.against == "best":
            other = best_of(samples, plain, row.key)
        else:
            other = samples.get(row.against, {}).get(row.key) or samples[way.name].get(row.against)
        line["ratios"][way.name] = table.ratio(mine, other)
    words = ("met", "met, unsure", "not measured", "missed, unsure", "missed")
    each = [table.verdict(spread, row.limit, False) for spread in line["ratios"].values()] if row.limit else []
    line["verdict"] = max(each, key=words.index) if each else ""
    return line


def join(sources):
    """Returns one document of several that measured parts of the table."""
    parts = [json.loads(path.read_text(encoding="utf-8")) for path in sources]
    whole = max(parts, key=lambda part: part["when"])
    lines = {(line["key"], line["question"]): line for part in parts for line in part["lines"]}
    whole["lines"] = [lines[row.key, row.question] for row in suite.ROWS if (row.key, row.question) in lines]
    whole["failed"] = [each for part in parts for each in part["failed"]]
    for name in ("busy", "load"):
        whole["machine"][name] = max(part["machine"][name] for part in parts)
    whole["rounds"] = min(part["rounds"] for part in parts)
    return whole


def chosen(options):
    runs = [run for run in suite.RUNS if not options.only or any(run.key.startswith(name) for name in options.only)]
    if any(run.hosts for run in runs) and not mpi_hosts.are_here():
        runner.note("nothing is measured over hosts here (tools/dev/hosts.py --check says why)")
        runs = [run for run in runs if not run.hosts]
    return runs


def run_all(options):
    build, folder = runner.find_build(options), options.out.resolve() / "mpi"
    runs = chosen(options)
    ways = find(build)
    build_programs(ways, runs, folder)
    load = os.getloadavg()[0]
    samples, busy, failed = measure(options, ways, runs, folder, build)
    measured = {run.key for run in runs}
    lines = [compare(row, ways, samples) for row in suite.ROWS if row.key.split("/")[0] in measured]
    return {"when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "machine": {**machine.describe(), "busy": busy, "load": load},
            "rounds": options.rounds, "ways": {way.name: way.title for way in ways}, "lines": lines,
            "failed": [[*key, why] for key, why in failed.items()]}


def main(options):
    document = join(options.sources) if options.sources else run_all(options)
    if not options.sources:
        path = options.out.resolve() / f"mpi-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.json"
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"run.py: saved {os.path.relpath(path)}")
    mpi_report.show(document)
    if options.report:
        mpi_report.write(document, runner.ROOT / "docs" / "results")
    if options.smoke and any(value is None for line in document["lines"] for way, value in line["medians"].items() if way.endswith("+")):
        return 1
    return 1 if any(way.endswith("+") for way, _, _ in document["failed"]) else 0
