#!/usr/bin/env python3
"""What --check, --stats, --trace and --check=race cost: the table of docs/guide/debugging.md.

    looking.py --bin DIR [--rounds N] [--chrt]     DIR has oshcc and oshrun; --chrt: at a priority above all others (root)

Rounds go through all ways in turn; printed are the median and the spread (least, most) of each number in nanoseconds.
"""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

WAYS = {"nothing switched on": ("plain", []), "--check": ("plain", ["--check"]), "--stats": ("plain", ["--stats"]),
        "--trace": ("plain", ["--trace", "t.json"]), "compiled with --race, run without": ("race", []), "--check=race": ("race", ["--check=race"])}
COLUMNS = ("a shmem_long_p", "a put of 512 bytes", "a load or store of symmetric memory", "of other memory")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chrt", action="store_true")
    options = parser.parse_args()
    front = ["timeout", "60", *(["chrt", "-f", "40"] if options.chrt else [])]
    found = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for program, flags in (("plain", []), ("race", ["--race"])):
            subprocess.run([options.bin / "oshcc", *flags, "-O2", pathlib.Path(__file__).with_suffix(".c"), "-o", f"{folder}/{program}"], check=True)
        for _ in range(options.rounds):
            for way, (program, flags) in WAYS.items():
                done = subprocess.run([*front, options.bin / "oshrun", "-n", "2", *flags, f"{folder}/{program}"], cwd=folder, check=True,
                                      capture_output=True, text=True)
                found[way].append([float(word) for word in done.stdout.split()])
    for way, rows in found.items():
        print(way)
        for column, values in zip(COLUMNS, zip(*rows)):
            print(f"    {column:<38} {statistics.median(values):9.2f}  ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
