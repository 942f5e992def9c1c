#!/usr/bin/env python3
"""Counts the instructions of hot operations and holds them to the counts below: `./dev bench --guard [--only NAME]`.

Time depends on the machine and its moment; instructions do not, so this is a test (CTest label callgrind), and it names each operation
that takes more than it is allowed. A count is what valgrind sees of one call of bench/opcount.c or bench/mpi/opcount.c, less
the loop around it: call, work and return in the thread that calls, and no other thread's. Exit status 77: valgrind is not installed.
"""
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import runner
import ways

MANY, TRIES = 1000, 12


def allowed(count):
    """Returns how many instructions may be counted: other compilers need a few more."""
    return max(count * 1.15, count + 2)


# Instructions of one operation on x86-64 at -O2 with gcc 12. Write a smaller count when the code gets better, a larger one only for a
# reason. Near: one PE without a launcher; the path to another PE on the node is the same.
NEAR = {
    "p": 20, "p.global": 25, "g": 19, "g.global": 24, "put1": 26, "put1.global": 31, "get1": 25, "get1.global": 30,
    "atomic_inc": 18, "atomic_inc.global": 23, "atomic_fetch_add": 22, "atomic_fetch_add.global": 27,
    "put_signal": 63, "put_signal.global": 73, "fence": 8, "quiet": 9, "wait_until": 36, "ctx_p": 32,
    "put1_nbe": 33, "get1_nbe": 33, "request_test": 9, "put1_ct": 53, "ct_wait": 49}
# Two PEs on a core each, PE 0 under valgrind, so that PE 1 waits for it. A try in which PE 0 waits counts its turns too.
TOGETHER = {"barrier": 166}
# Two PEs on pretended nodes, over TCP. What a message may need is taken before it is issued, so that a call without memory can say so.
FAR = {"p": 653, "put_nbi": 649, "put1_nbe": 750, "put1_ct": 1050, "atomic_inc": 920}
# Put and flush on an allocated window, with the layer.
WINDOW = {"put": 137}


def counted(front, program, operation, env):
    """Returns the instructions of one operation, by the line that valgrind prints at its end."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured"]
    of_pe_0 = ["sh", "-c", '[ "${LATERAL_PE:-0}" = 0 ] || shift 4; exec "$@"', "sh"] if front and "oshrun" in str(front[0]) else []
    command = [str(word) for word in [*front, *of_pe_0, *valgrind, program, operation, MANY]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
                          env={**os.environ, "SHMEM_SYMMETRIC_SIZE": "16M", **ways.AS_ROOT, **env})
    match = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode or not match:
        sys.exit(f"guard.py: {' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return int(match.group(1)) / MANY


def programs(build):
    """Yields (name of a row, its count, front, program, operation, env), after compiling the program."""
    folder, oshrun = build / "bench" / "guard", build / "bin" / "oshrun"
    program = folder / "opcount"
    if not runner.compile_with(build / "bin" / "oshcc", "opcount.c", program):
        sys.exit(1)
    for section, counts, front, env in (("", NEAR, [], {}), ("", TOGETHER, [oshrun, "-q", "--bind-to", "core", "-n", 2], {}),
                                        ("far.", FAR, [oshrun, "-q", "-n", 2], {"LATERAL_NODE_SIZE": "1"})):
        for name, count in counts.items():
            yield section + name, count, front, program, name, env
    for mpi in ("openmpi", "mpich"):
        mpicc, target = shutil.which(f"mpicc.{mpi}"), folder / f"opcount.{mpi}"
        if mpicc and (build / "lib" / f"liblateral-mpi-{mpi}.so").exists() and runner.compile_with(mpicc, "mpi/opcount.c", target):
            for name, count in WINDOW.items():
                yield f"{mpi}.window_{name}", count, [build / "bin" / "lateral-mpi", f"--mpi={mpi}"], target, name, {}


def main(build, only=()):
    if not shutil.which("valgrind"):
        print("guard.py: valgrind is not installed; skipped")
        return 77
    over, loops, holds = [], {}, platform.machine() == "x86_64"
    for name, count, front, program, operation, env in programs(build):
        if only and not any(name.startswith(each) for each in only):
            continue
        loops[program] = loops.get(program) or counted(front if "mpi" in str(front) else [], program, "loop", env)
        for _ in range(TRIES if name in TOGETHER else 1):
            found = counted(front, program, operation, env) - loops[program]
            if found <= allowed(count):
                break
        wrong = holds and found > allowed(count)
        over += [name] if wrong else []
        print(f"{name:26} {found:7.1f} instructions, {count} in guard.py{'   OVER' if wrong else ''}", flush=True)
    if over:
        print(f"guard.py: more instructions than bench/guard.py allows: {', '.join(over)}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(runner.find_build(Path(sys.argv[1]) if sys.argv[1:] else None)))
