#!/usr/bin/env python3
"""Measures the cost of a job's start, from 2 PEs up, under each installed launcher.

usage: startup.py --build DIR [--most PES] [--hosts N] [--count]     prints a table in Markdown

With --hosts the PEs are spread over N hosts of ./dev hosts. The columns show the slowest PE's time until it knows its
node and the job, until all PEs have told an address of 300 bytes, and for the first question to a far PE. The last one
shows the whole run with the launcher's own time. With --hosts and --count, under mpiexec.hydra, the columns count a PE's
messages to the launcher and to other PEs, mean and most, until init returns and in one barrier after it
(startup_count.c).
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROOT_ALLOWED = {f"{who}_ALLOW_RUN_AS_ROOT{more}": "1" for who in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}


def command(options, launcher, pes, program):
    if options.hosts:
        slots = -(-pes // options.hosts)
        inner = 'exec "$0" -q --hostfile $TEST_HOSTFILE "$@"'
        return [sys.executable, "-B", str(ROOT / "tools/dev/hosts.py"), str(options.hosts), "--slots", str(slots), "--",
                "sh", "-c", inner, str(options.build / "bin/oshrun"), "-n", str(pes), *program]
    if launcher == "oshrun":
        return [str(options.build / "bin/oshrun"), "-n", str(pes), *program]
    if launcher == "mpirun":
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(pes), *program]
    return [launcher, "-n", str(pes), *program]


def measure(options, launcher, pes):
    """Returns the slowest PE's steps and the whole, in ms: the best of three runs, because others may use the machine."""
    runs, program = [], [str(options.build / "tests/hosts_exchange"), "times"]
    for _ in range(3):
        begin = time.monotonic()
        done = subprocess.run(command(options, launcher, pes, program), capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env=os.environ | ROOT_ALLOWED | {"LATERAL_LAUNCHER": launcher})
        whole = (time.monotonic() - begin) * 1e3
        steps = [list(map(float, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("times ")]
        if done.returncode or len(steps) != pes:
            print(f"startup.py: {launcher} with {pes} PEs failed ({done.returncode})\n{done.stderr[-500:]}", file=sys.stderr)
            return None
        runs.append([max(column) for column in zip(*steps)] + [whole])
    return min(runs, key=lambda run: run[-1])


COUNTING = """#include <shmem.h>
int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    if (argc > 1)
        shmem_barrier_all();
    shmem_finalize();
}
"""


def compile_counting(options, folder):
    """Compiles and returns the program to start and the library that counts."""
    source, program, counter = (pathlib.Path(folder, name) for name in ("start.c", "start", "count.so"))
    source.write_text(COUNTING, encoding="ascii")
    subprocess.run([str(options.build / "bin/oshcc"), "-O2", "-o", program, source], check=True)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", counter, ROOT / "bench/startup_count.c", "-ldl"], check=True)
    return program, counter


def count(options, pes, program, counter, barrier):
    line = command(options, "mpiexec.hydra", pes, [str(program), *barrier])
    done = subprocess.run(line, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env=os.environ | {"LATERAL_LAUNCHER": "mpiexec.hydra", "LD_PRELOAD": str(counter)})
    counts = [list(map(int, row.split()[1:])) for row in done.stdout.splitlines() if row.startswith("count ")]
    if done.returncode or len(counts) != pes:
        sys.exit(f"startup.py: {pes} PEs failed ({done.returncode})\n{done.stderr[-500:]}")
    return " | ".join(f"{sum(column) / pes:.1f} ({max(column)})" for column in zip(*counts))


def show_counts(options):
    print("| PEs | | to the launcher | bytes to it | bytes from it | connections | messages to PEs | bytes to them |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.build) as folder:
        made = compile_counting(options, folder)
        for what, barrier in (("start", []), ("start and barrier", ["barrier"])):
            print(f"| {options.most} | {what} | {count(options, options.most, *made, barrier)} |", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--most", type=int, default=512)
    parser.add_argument("--hosts", type=int, default=0)
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if options.count:
        return show_counts(options)
    launchers = [name for name in ("oshrun", "mpirun", "mpiexec.hydra") if name == "oshrun" or shutil.which(name)]
    launchers = launchers[bool(options.hosts):]
    print("| launcher | PEs | join ms | tell ms | ask ms | whole run ms |\n|---|---|---|---|---|---|")
    for launcher in launchers:
        pes = max(2, options.hosts)
        while pes <= options.most:
            steps = measure(options, launcher, pes)
            if steps:
                print(f"| {launcher} | {pes} | " + " | ".join(f"{step:.2f}" for step in steps) + " |", flush=True)
            pes *= 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
