#!/usr/bin/env python3
"""Lines of src/ and launch/ that the tests ran, from gcov's JSON: coverage.py BUILD_FOLDER

One row per file, the least covered first; the total last. Programs that were killed leave no counts.
"""
import collections
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lines_of(build):
    """{file: {line: times run}} summed over every object that holds the file."""
    counts = collections.defaultdict(collections.Counter)
    data = sorted(build.rglob("*.gcda"))
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(data), 50):
            subprocess.run(["gcov", "--json-format", "--hash-filenames", *map(str, data[start:start + 50])], cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        for path in pathlib.Path(folder).glob("*.gcov.json.gz"):
            report = json.loads(gzip.decompress(path.read_bytes()))
            for file in report["files"]:
                name = os.path.join(report["current_working_directory"], file["file"])
                for line in file["lines"]:
                    counts[os.path.relpath(name, ROOT)][line["line_number"]] += line["count"]
    return counts


def main():
    counts = {name: lines for name, lines in lines_of(pathlib.Path(sys.argv[1]).resolve()).items()
              if name.startswith(("src/", "launch/", "tools/"))}
    if not counts:
        sys.exit("coverage: no counts found: did the tests run?")
    rows = [(sum(map(bool, lines.values())), len(lines), name) for name, lines in counts.items()]
    for run, total, name in sorted(rows, key=lambda row: row[0] / row[1]):
        print(f"{100 * run / total:6.1f} %  {run:5d} of {total:5d}  {name}")
    run, total = (sum(row[i] for row in rows) for i in (0, 1))
    print(f"{100 * run / total:6.1f} %  {run:5d} of {total:5d}  all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
