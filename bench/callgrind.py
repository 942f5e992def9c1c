#!/usr/bin/env python3
"""Counts the instructions of hot operations and holds them to the budgets below.

    bench/callgrind.py [--build build/release] [--only OP] [--show]

Time depends on the machine and its moment; instructions do not, so this is a test (CTest label callgrind). A count is
(run of 3000 - run of 1000) / 2000 of bench/opcount.c under valgrind, less the loop itself. It covers call, work and
return. The program runs as one PE without a launcher; the path to another PE on the node is the same. Exit status 77:
valgrind is not installed.
"""
import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEW, MANY = 1000, 3000

# Instructions that one operation may take at -O2 on x86-64. A budget is the count with gcc 12 at the time, and about a
# seventh more for other compilers. Lower a budget when the code gets better; raise it only for a reason.
BUDGETS = {
    "p": 25, "p.global": 31,
    "g": 24, "g.global": 30,
    "put1": 32, "put1.global": 38,
    "get1": 32, "get1.global": 38,
    "atomic_inc": 23, "atomic_inc.global": 29,
    "atomic_fetch_add": 28, "atomic_fetch_add.global": 33,
    "put_signal": 75, "put_signal.global": 86,
    "fence": 9, "quiet": 10,
    "wait_until": 43,
    "ctx_p": 39,
    "put1_nbe": 37, "get1_nbe": 36, "request_test": 11, "put1_ct": 64, "ct_wait": 56,
}


def instructions(program, operation, count):
    """Returns all instructions of a run, from the line that valgrind prints at its end."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, operation, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "SHMEM_SYMMETRIC_SIZE": "16M"})
    match = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode or not match:
        sys.exit(f"callgrind.py: {' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return int(match.group(1))


def per_operation(program, operation):
    return (instructions(program, operation, MANY) - instructions(program, operation, FEW)) / (MANY - FEW)


def build(options):
    """Compiles opcount.c with the oshcc of the build folder."""
    program = options.build / "bench" / "opcount"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([options.build / "bin" / "oshcc", "-O2", "-std=gnu17", HERE / "opcount.c", "-o", program], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "release", help="build folder of the library")
    parser.add_argument("--only", help="one operation")
    parser.add_argument("--show", action="store_true", help="show the counts, judge nothing")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("callgrind.py: valgrind is not installed; skipped")
        return 77
    program = build(options)
    loop = per_operation(program, "loop")
    budgets_hold = platform.machine() == "x86_64" and not options.show
    over = 0
    for operation, budget in BUDGETS.items():
        if options.only and operation != options.only:
            continue
        count = per_operation(program, operation) - loop
        wrong = budgets_hold and count > budget
        over += wrong
        print(f"{operation:26} {count:7.1f} instructions, budget {budget:3}{'   OVER' if wrong else ''}", flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
