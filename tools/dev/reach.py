#!/usr/bin/env python3
"""./dev reach: tells which tests run a line of src/ or launch/, and which lines no test runs.

usage: reach.py [--renew] [FILE[:LINE] ...]

  FILE:LINE   the tests that run this line
  FILE        the lines of the file that no test runs; without any: those of src and launch
  --renew     run every test again, by itself, in the copy of the tree that ./dev mutants uses (a quarter of an hour)

A test counts for a line when it runs the basic block of the line: as tools/dev/coverage.c records it, whether the process ended by
itself or was killed. A process with an environment of its own leaves no record, and addr2line takes some lines of headers for lines of
the file that includes them: look twice at what no test seems to run. What is known lies in build/mutants/reach.json; ./dev mutants
tries the tests of a fault's line first.
"""
import argparse
import collections
import functools
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import coverage                                                            # noqa: E402
from mutants_tree import HOME, ROOT, TREE, Build, copy_tree, fail, in_cage, say         # noqa: E402

FILE = HOME / "reach.json"
FEW = 40                                                                   # tests whose records lie in /tmp at once
LIMIT = 120                                                                # seconds; a build that records is slower


def measure():
    """Runs every test with a record of its own and writes down which lines each one ran."""
    HOME.mkdir(parents=True, exist_ok=True)
    copy_tree()
    say("building a copy of the tree in build/mutants/tree, as coverage")
    build = Build("coverage")
    tests = sorted(build.tests.values(), key=lambda test: test["name"])
    ran = collections.defaultdict(lambda: collections.defaultdict(list))   # of each module: which tests ran an offset
    seconds = {}
    for first in range(0, len(tests), FEW):
        say(f"test {first} of {len(tests)}")
        with tempfile.TemporaryDirectory(prefix="reach.") as folder:
            record = {test["name"]: pathlib.Path(folder, str(number)) for number, test in enumerate(tests[first:first + FEW], first)}
            for path in record.values():
                path.mkdir()
            plan = [{**test, "limit": LIMIT, "env": {**test["env"], "COVERAGE_DIR": str(record[test["name"]])}} for test in tests[first:first + FEW]]
            seconds.update((result["test"], result["seconds"]) for result in in_cage(plan, stop=False))
            for path in record.values():
                for name, offsets in coverage.seen(path).items():
                    for offset in offsets:
                        ran[name][offset].append(int(path.name))
    files = by_line(build.folder, ran)
    text = {file: [line.strip() for line in (TREE / file).read_text(encoding="utf-8").splitlines()] for file in files}
    FILE.write_text(json.dumps({"tests": [test["name"] for test in tests], "seconds": seconds, "files": files, "text": text}))


def by_line(folder, ran):
    """{file: [{line: tests} of each module]}, of all lines where a basic block begins. A compiler begins blocks elsewhere in each module
    that holds the file, so one's lines say nothing of another's."""
    files, length = collections.defaultdict(list), functools.cache(lambda file: len((TREE / file).read_text(encoding="utf-8").splitlines()))
    for name, path in coverage.modules(folder).items():
        offsets = coverage.sites(path) if path.parent.name in ("lib", "bin") else sorted(ran.get(name, ()))
        lines = collections.defaultdict(lambda: collections.defaultdict(set))
        for (file, line), offset in zip(coverage.places(path, offsets, TREE), offsets):
            if file.startswith(("src/", "launch/")) and 0 < line <= length(file):    # addr2line takes some lines of headers for the file's
                lines[file][line].update(ran.get(name, {}).get(offset, ()))
        for file, tests in lines.items():
            files[file].append({line: sorted(tests[line]) for line in sorted(tests)})
    return files


class Reach:
    """What was measured; it is measured now, if it has never been. A line is looked for by its text, so that it is found wherever it
    lies by now."""

    def __init__(self):
        if not FILE.exists():
            measure()
        told = json.loads(FILE.read_text())
        self.tests, self.seconds, self.text = told["tests"], told["seconds"], told["text"]
        self.files = {file: [{int(line): tests for line, tests in lines.items()} for lines in modules] for file, modules in told["files"].items()}

    def tests_of(self, path, line, text):
        """Names of the tests that run a line: its basic block, or where none begins, the one before it."""
        was = self.text.get(path, ())
        at = min((number for number, words in enumerate(was, 1) if words == text), key=lambda number: abs(number - line), default=line)
        found = set()
        for lines in self.files.get(path, ()):
            before = max((number for number in lines if number <= at), default=None)
            found.update(lines.get(before, ()))
        return {self.tests[number] for number in found}

    def missed(self, path):
        lines = set().union(*self.files[path])
        return [(line, self.text[path][line - 1]) for line in sorted(lines) if not any(module.get(line) for module in self.files[path])]


def main():
    parser = argparse.ArgumentParser(prog="./dev reach", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", metavar="FILE[:LINE]")
    parser.add_argument("--renew", action="store_true")
    options = parser.parse_args()
    if options.renew:
        measure()
    reach = Reach()
    for place in options.places or sorted(reach.files):
        path, _, line = place.partition(":")
        if path not in reach.files:
            fail(f"nothing is known of {path}; ./dev reach --renew looks again")
        if line:
            text = (ROOT / path).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
            print("\n".join(sorted(reach.tests_of(path, int(line), text))))
        else:
            print("".join(f"{path}:{number}: {text}\n" for number, text in reach.missed(path)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
