"""Compiles the programs of bench/, runs one of them once, and reads its output. Used by node.py, hosts.py and threads.py."""
import json
import subprocess
import sys
from pathlib import Path

import limited
import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WITH_FLOOR = {"latency"}                                   # programs linked to the floor library
FLAGS = ["-O2", "-std=gnu17"]
TIMEOUT = 180                                              # seconds for one run of one program, or between its results


class Progress:
    """Shows the current run on one line of a terminal. Prints nothing when there is no terminal."""

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

def find_build(options):
    for build in [options.build] if options.build else [ROOT / "build" / "release", ROOT / "build" / "dev"]:
        if (build / "bin" / "oshcc").exists():
            return build.resolve()
    raise SystemExit("run.py: no Lateral is built here; run ./dev build, or name its build folder by --build")


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
    """Compiles each program. Returns those that failed."""
    folder = out / implementation.name
    folder.mkdir(parents=True, exist_ok=True)
    link = ["-L", floor, "-lbenchfloor", f"-Wl,-rpath,{floor}"]
    programs = sorted({run.program for run in runs})
    return [p for p in programs
            if not compile_with(implementation.oshcc, f"{p}.c", folder / p, *(link if p in WITH_FLOOR else []), "-lm")]


# -------------------------------------------------------------------------------------------------- run

def why_of(ended, limit):
    """Returns why a program has not ended well, or None."""
    if ended.status is None:
        return f"did not end: {limit} s without a result"
    lines = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip(" -")]
    return f"exit status {ended.status}: {lines[0] if lines else 'nothing said'}" if ended.status else None


def execute(command, env, limit=None):
    """Returns (standard output, seconds), or (None, why)."""
    ended = limited.run(command, env, limit or TIMEOUT)
    why = why_of(ended, limit or TIMEOUT)
    return (None, why) if why else (ended.stdout, ended.seconds)


def results(run, command, env, limit):
    """Returns ({key: value}, None), or what a program has measured that then hung or failed, and why."""
    ended = limited.run(command, env, limit)
    text, why = ended.stdout.rstrip(), why_of(ended, limit)
    if "{" not in text or "]" not in text:
        return {}, why or "it printed no result"
    if not text.endswith("}}"):
        text, why = text[:text.rindex("]") + 1] + "}}", why or "it stopped among its results"
    return values_of(run, text), why


def takes_minutes(implementation, run):
    crowded = run.pes > machine.cores() and run.program not in ("launch", "rss")
    return (run.heavy and not implementation.title.startswith("Lateral")) or (implementation.spins and crowded)


def values_of(run, stdout):
    """Returns {key: value} from the JSON that a program printed, or from the RESULT line of an example."""
    document = json.loads(stdout[stdout.index("{"):])
    if "results" in document:
        return {f"{run}/{name}": value for name, (value, _) in document["results"].items()}
    if not document["verified"]:
        raise ValueError("its result is wrong")
    return {f"{run}/{name}": value for name, value in document.items() if isinstance(value, float)}


def smoke(document):
    missing = [line["key"] for line in document["lines"] if line["ours"] is None]
    for key in missing:
        note(f"no value for {key}")
    return 1 if missing or document["failed"] else 0
