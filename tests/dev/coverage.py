#!/usr/bin/env python3
"""What ./dev reach and the preset coverage rest on: the lines of a program are recorded until it is killed, those that did not run
are told as such, and a line is found again by its text."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/dev"))
import coverage                                                             # noqa: E402
import reach                                                                # noqa: E402

CODE = r'''#include <signal.h>
#include <unistd.h>
int twice(int x)
{
    return 2 * x;
}
int main(int argc, char** argv)
{
    if (argc > 3)
        return twice(argc);
    while (argv[1])
        kill(getpid(), SIGKILL);
    return 0;
}
'''
CC = os.environ.get("CC", "cc")


def line_of(words):
    return next(number for number, line in enumerate(CODE.splitlines(), 1) if words in line)


def build(folder, kind):
    (folder / "bin").mkdir()
    (folder / "seen").mkdir()
    (folder / "code.c").write_text(CODE)
    subprocess.run([CC, "-O2", "-D_GNU_SOURCE", "-c", ROOT / "tools/dev/coverage.c", "-o", folder / "record.o"], check=True)
    subprocess.run([CC, "-O0", "-g", kind, "-fsanitize-coverage=trace-pc", folder / "code.c", folder / "record.o", "-Wl,--build-id",
                    "-o", folder / "bin/program"], check=True)


def ran(folder, *arguments):
    """Runs the program once more; returns its status and which lines all runs so far have run."""
    status = subprocess.run([folder / "bin/program", *arguments], env={"COVERAGE_DIR": str(folder / "seen")}, check=False).returncode
    found = {}
    for name, lines in coverage.lines_of(folder).items():
        if name.endswith("code.c"):
            found = lines
    return status, found


def check_record(kind):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, kind)
        status, lines = ran(folder, "die")
        assert status == -signal.SIGKILL, status
        assert lines[line_of("kill(")], lines
        assert lines[line_of("return twice")] is False and lines[line_of("return 0")] is False, lines
        status, lines = ran(folder)
        assert status == 0 and lines[line_of("return 0")] and not lines[line_of("return twice")], (status, lines)
        status, lines = ran(folder, "1", "2", "3")
        assert status == 8 and lines[line_of("return twice")] and lines[line_of("kill(")], (status, lines)


def check_lines():
    """Line 10 has moved to 12; what lies behind the beginning of a block counts with it, in each module by its own blocks; of what no
    test runs no name comes."""
    known = reach.Reach.__new__(reach.Reach)
    known.tests = ["unit/a", "unit/b"]
    known.text = {"src/x.c": ["w"] * 6 + ["if (x)", "&& w)", "w", "y++;"] + ["w"] * 9 + ["z++;"]}
    known.files = {"src/x.c": [{7: [0], 10: [1], 20: []}, {10: [0, 1]}, {}]}
    assert known.tests_of("src/x.c", 12, "y++;") == {"unit/a", "unit/b"}
    assert known.tests_of("src/x.c", 8, "&& w)") == {"unit/a"}
    assert known.tests_of("src/x.c", 20, "z++;") == {"unit/a", "unit/b"}      # of the other module it is not known
    assert known.tests_of("src/x.c", 2, "w") == known.tests_of("src/new.c", 9, "w") == set()
    assert known.missed("src/x.c") == [(20, "z++;")]


check_record("-pie")
check_record("-no-pie")
check_lines()
print("as it should")
