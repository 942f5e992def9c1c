#!/usr/bin/env python3
"""Tests ./dev from outside: its help, its error lines, and its list of commands against its code.

usage: check.py ROOT
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()


def dev(*args, cwd=ROOT):
    return subprocess.run([ROOT / "dev", *args], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=60, check=False, env=os.environ | {"LC_ALL": "C"}) # bash warns of a locale that is not there


def one_line(done, status, pattern):
    assert done.returncode == status, (done.args, done.returncode, done.stderr)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and re.search(pattern, lines[0]), (done.args, done.stderr)
    assert not done.stdout, (done.args, done.stdout)


def check_help():
    for way in ([], ["help"], ["--help"]):
        done = dev(*way)
        assert done.returncode == 0 and not done.stderr, (way, done.stderr)
        assert done.stdout.startswith("usage: ./dev COMMAND"), done.stdout
    listed = set(re.findall(r"^  ([a-z]+)\b", done.stdout, re.MULTILINE)) - {"help"}
    script = (ROOT / "dev").read_text(encoding="utf-8")
    written = set(re.findall(r"^cmd_([a-z]+)\(\)", script, re.MULTILINE))
    assert listed == written, f"help and code differ: {listed ^ written}"
    assert {"demo", "test", "coverage", "bench", "install", "lint", "format", "hosts", "bare"} <= listed


def check_mistakes():
    one_line(dev("nonsense"), 2, r"no command 'nonsense'; ./dev help")
    one_line(dev("install"), 2, r"install wants one PREFIX")
    one_line(dev("install", "--bad"), 2, r"PREFIX, not --bad")
    one_line(dev("wheel", "x"), 2, r"wheel takes no argument")
    one_line(dev("release", "x"), 2, r"release takes no argument")
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+\n", dev("version").stdout)
    one_line(dev("docs", "x"), 2, r"docs takes no argument")
    one_line(dev("deb", "x"), 2, r"deb takes no argument")
    one_line(dev("demo", "x"), 2, r"demo takes no argument")
    one_line(dev("test", "--preset"), 2, r"--preset wants a name")
    one_line(dev("test", "--preset", "none"), 2, r"no preset 'none'")
    one_line(dev("bare", "nonsense"), 2, r"bare: demo, test, wheel, debs or setup, not 'nonsense'")
    one_line(dev("nonsense", cwd="/"), 2, r"no command")


# A machine that has no clang until apt-get brings version 17, without what the fuzzer is linked with.
WITHOUT_CLANG = """
set -euo pipefail
say() { echo "$*"; }
fail() { echo "failed: $*"; exit 1; }
. tools/dev/need.sh
id() { echo 0; }
command() { [ "$2" != clang ] || [ -n "${clang_is_here:-}" ] && builtin command "$@"; }
clang() { [ -n "${clang_is_here:-}" ] && [ "$1" = -dumpversion ] && echo 17.0.6; }
apt_lists_absent() { return 1; }
apt() { clang_is_here=1; }
need_fuzz
"""


def check_need_of_clang():
    done = subprocess.run(["bash", "-c", WITHOUT_CLANG], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    installed = re.findall("installing: apt-get install (.*)", done.stdout)
    assert done.returncode == 0 and installed == ["clang", "libclang-rt-17-dev"], (done.returncode, done.stdout, done.stderr)


def main():
    check_help()
    check_need_of_clang()
    check_mistakes()
    print("./dev explains itself and refuses mistakes in one line")


if __name__ == "__main__":
    sys.exit(main())
