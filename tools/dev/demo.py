#!/usr/bin/env python3
"""./dev demo, after the build: compiles two programs of examples/ with the project's own oshcc and runs them with its oshrun on every
core (at least 2 PEs). Each prints its rate, and whether its result is right.

usage: demo.py [--prefix PREFIX]     PREFIX: an installation, instead of the build; programs then go to ./demo
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(sys.argv[2]).resolve() if sys.argv[1:2] == ["--prefix"] and len(sys.argv) == 3 else None
BIN = PREFIX / "bin" if PREFIX else ROOT / "build" / "release" / "bin"
OUT = pathlib.Path.cwd() / "demo" if PREFIX else ROOT / "build" / "demo"
SOURCES = PREFIX / "share" / "lateral" / "examples" if PREFIX else ROOT / "examples"
PROGRAMS = {"stencil": ["200", "12800", "1280"], "isort": ["24"]}


def run(*command):
    words = [str(word) for word in command]
    print("$", " ".join(os.path.relpath(word) if word.startswith("/") else word for word in words), flush=True)
    if subprocess.run(words, check=False).returncode:
        sys.exit(f"demo: {words[0]} failed")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for name, arguments in PROGRAMS.items():
        run(BIN / "oshcc", "-O3", SOURCES / f"{name}.c", "-o", OUT / name)
        run(BIN / "oshrun", "-n", max(2, len(os.sched_getaffinity(0))), OUT / name, *arguments)


main()
