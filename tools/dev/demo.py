#!/usr/bin/env python3
"""./dev demo, after the build: compiles two programs of examples/ with the project's own oshcc, runs
them with its oshrun on every core (at least 2 PEs), and prints what they reached.

usage: demo.py [--prefix PREFIX]     PREFIX: an installation, instead of the build; programs then go to ./demo
"""
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(sys.argv[2]).resolve() if sys.argv[1:2] == ["--prefix"] and len(sys.argv) == 3 else None
BIN = PREFIX / "bin" if PREFIX else ROOT / "build" / "release" / "bin"
OUT = pathlib.Path.cwd() / "demo" if PREFIX else ROOT / "build" / "demo"
SOURCES = PREFIX / "share" / "lateral" / "examples" if PREFIX else ROOT / "examples"

# program, arguments, what it is, and its rate: key of its result and unit
PROGRAMS = [
    ("stencil", ["200", "12800", "1280"], "pipelined stencil, 12800 x 1280 points", "mflops", "MFlop/s"),
    ("isort", ["24"], "integer sort, 2^24 keys", "mkeys_per_s", "Mkeys/s"),
]


def compile_program(name):
    OUT.mkdir(parents=True, exist_ok=True)
    command = [str(BIN / "oshcc"), "-O3", str(SOURCES / f"{name}.c"), "-o", str(OUT / name)]
    print("$", " ".join(os.path.relpath(word, ROOT) if word.startswith("/") else word for word in command), flush=True)
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"demo: oshcc could not compile {name}.c")


def follow(stream):
    """Show the program's `progress:` lines while it works: in place on a terminal, else one a line."""
    terminal = sys.stdout.isatty()
    shown = 0
    for line in stream:
        text = line.rstrip("\n")
        if not text.startswith("progress: "):
            print(text, file=sys.stderr, flush=True)
        elif terminal:
            text = "    " + text.removeprefix("progress: ")
            print("\r" + text.ljust(shown), end="", flush=True)
            shown = len(text)
        else:
            print("    " + text.removeprefix("progress: "), flush=True)
    if shown:
        print("\r" + " " * shown + "\r", end="", flush=True)


def run_program(name, arguments, pes):
    command = [str(BIN / "oshrun"), "-n", str(pes), str(OUT / name), *arguments, "--json", "--progress"]
    print(f"$ oshrun -n {pes} {name} {' '.join(arguments)}", flush=True)
    begin = time.monotonic()
    with open(OUT / f"{name}.out", "w+", encoding="utf-8") as output:
        with subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True, errors="replace") as job:
            follow(job.stderr)
        output.seek(0)
        lines = output.read().splitlines()
    result = next((json.loads(line[7:]) for line in lines if line.startswith("RESULT ")), None)
    for line in lines:
        if not line.startswith("RESULT "):
            print("    " + line)
    if job.returncode or result is None or result.get("verified") is not True:
        sys.exit(f"demo: {name} went wrong (exit status {job.returncode}, "
                 f"{'not verified' if result else 'no result'})")
    return result, time.monotonic() - begin


def main():
    pes = max(2, len(os.sched_getaffinity(0)))
    for name, *_ in PROGRAMS:
        compile_program(name)
    rows = []
    for name, arguments, words, key, unit in PROGRAMS:
        result, seconds = run_program(name, arguments, pes)
        rows.append((words, str(pes), f"{result[key]:,.1f} {unit}", "yes", f"{seconds:.1f} s"))
    head = ("program", "PEs", "rate", "verified", "time")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print()
    for row in [head, tuple("-" * width for width in widths), *rows]:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())
    shown = OUT if PREFIX else "build/demo"
    print(f"\nThe programs lie in {shown}; again: {BIN if PREFIX else 'build/release/bin'}/oshrun -n {pes} {shown}/isort 24")
    return 0


if __name__ == "__main__":
    sys.exit(main())
