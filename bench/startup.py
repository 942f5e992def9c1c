#!/usr/bin/env python3
"""What the start of a job costs, from 2 PEs up, under each launcher that is here.

usage: startup.py --build DIR [--most PES] [--hosts N]     prints a table in Markdown

With --hosts the PEs are spread over N hosts of ./dev hosts. The columns are the slowest PE's: until it knows
its node and the job, until all have told an address of 300 bytes, and the first question to a far PE; then
the whole run, with what the launcher itself needs.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROOT_ALLOWED = {f"{who}_ALLOW_RUN_AS_ROOT{more}": "1" for who in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}


def command(options, launcher, pes):
    program = [str(options.build / "tests/hosts_exchange"), "times"]
    if options.hosts:
        slots = -(-pes // options.hosts)
        inner = 'exec "$0" -q --hostfile $LATERAL_HOSTFILE "$@"'
        return [sys.executable, "-B", str(ROOT / "tools/dev/hosts.py"), str(options.hosts), "--slots", str(slots), "--",
                "sh", "-c", inner, str(options.build / "bin/oshrun"), "-n", str(pes), *program]
    if launcher == "oshrun":
        return [str(options.build / "bin/oshrun"), "-n", str(pes), *program]
    if launcher == "mpirun":
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(pes), *program]
    return [launcher, "-n", str(pes), *program]


def measure(options, launcher, pes):
    """The slowest PE's steps and the whole, in ms; the best of three runs, since others may use the machine."""
    runs = []
    for _ in range(3):
        begin = time.monotonic()
        done = subprocess.run(command(options, launcher, pes), capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env=os.environ | ROOT_ALLOWED | {"LATERAL_LAUNCHER": launcher})
        whole = (time.monotonic() - begin) * 1e3
        steps = [list(map(float, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("times ")]
        if done.returncode or len(steps) != pes:
            print(f"startup.py: {launcher} with {pes} PEs failed ({done.returncode})\n{done.stderr[-500:]}", file=sys.stderr)
            return None
        runs.append([max(column) for column in zip(*steps)] + [whole])
    return min(runs, key=lambda run: run[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--most", type=int, default=512)
    parser.add_argument("--hosts", type=int, default=0)
    options = parser.parse_args()
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
