#!/usr/bin/env python3
"""Runs programs of this folder under seeds. A seed draws all: the number of PEs, the nodes, the networks and how they delay, the ways
of collectives, and what the program does. A run that fails prints the command that repeats it.

    seeds.py OSHRUN PROGRAM... [--seed N] [--count N] [--minutes N]
"""
import argparse
import os
import random
import subprocess
import sys
import time

WAYS = {"broadcast": "gather rail pull", "collect": "gather pull", "fcollect": "gather rail pull",
        "alltoall": "gather rail pull", "alltoalls": "gather rail pull", "reduce": "gather rail pull", "scan": "gather pull"}


def draw(seed):
    """Returns the number of PEs and the environment of a seed."""
    chance = random.Random(seed)
    pes = chance.randint(2, 6)
    settings = {"SEED": str(seed)}
    nodes = ["1", "1", "2", "0,1", "0,1,1"] + (["0,0,1,2"] if pes > 2 else [])      # a node's number is below that of PEs
    settings["LATERAL_NODE_SIZE"] = chance.choice(nodes)
    hold, steps = chance.choice([0, 10, 50, 90]), chance.choice([5, 20, 200])
    fault = f"fault,seed={seed},hold={hold},steps={steps}:"
    hold, words = chance.choice([0, 30, 80]), chance.choice([0, 8, 12])
    sim = f"sim,seed={seed},hold={hold},order={chance.randint(0, 1)},words={words}:"
    settings["LATERAL_TRANSPORTS"] = chance.choice(["", fault, fault, sim, sim + fault]) + "tcp"
    settings["LATERAL_PROGRESS"] = chance.choice(["auto", "thread"])
    settings["LATERAL_WIRE"] = chance.choice(["auto", "messages"])
    if chance.randint(0, 1):
        settings["LATERAL_LANES"] = str(chance.randint(1, 3))
    settings["LATERAL_COLL"] = ",".join(f"{operation}:{chance.choice(ways.split())}" for operation, ways in WAYS.items()
                                        if chance.randint(0, 2) == 0)
    return pes, settings


def passes(oshrun, program, seed, limit):
    pes, settings = draw(seed)
    command = [oshrun, "-n", str(pes), "--timeout", str(limit), program]
    done = subprocess.run(command, env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace", check=False)
    if done.returncode == 0 and "PASS" in done.stdout:
        return True
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    print(done.stdout, f"FAILS with seed {seed}, status {done.returncode}. It repeats with", sep="\n")
    print("   ", words, *command, flush=True)
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("oshrun")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--limit", type=int, default=60)
    options = parser.parse_args()
    end = time.monotonic() + options.minutes * 60
    seed = options.seed
    while time.monotonic() < end or seed < options.seed + options.count:
        for program in options.programs:
            if not passes(options.oshrun, program, seed, options.limit):
                return 1
        seed += 1
    print(f"{len(options.programs)} programs under {seed - options.seed} seeds from {options.seed}")
    return 0


sys.exit(main())
