#!/usr/bin/env python3
"""Runs every mistake of mistakes.c with oshrun --check and looks for the line that names it.

    run.py OSHRUN MISTAKES [PATTERN ...]
"""
import fnmatch
import re
import subprocess
import sys

LIMIT = 60


def look(oshrun, program, name, line):
    """What is wrong with one run, or nothing."""
    try:
        done = subprocess.run([oshrun, "-n", "2", "--check", program, name], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"{name}: not within {LIMIT:.0f} s: the job ends")
    if not line:
        return "" if done.returncode == 0 else f"{name}: failed without a mistake\n{done.stderr}"
    found = re.findall(rf"^lateral: (?:PE \d+: )?{line}", done.stderr, re.MULTILINE)
    if " warning: " in line:
        once = len(found) == 2 and done.returncode == 0
        return "" if once else f"{name}: expected /{line}/ once from each PE and status 0, got {done.returncode} and\n{done.stderr}"
    if done.returncode == 0:
        return f"{name}: not noticed"
    return "" if found else f"{name}: expected /{line}/, got\n{done.stderr}"


def main():
    oshrun, program, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    if re.search("[ :]", oshrun):
        print("skipped: a blank or a colon is in the path of the build: the dynamic linker preloads nothing from there")
        return 77
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    cases = [line.split("\t") for line in listed]
    cases = [case for case in cases if not wanted or any(fnmatch.fnmatch(case[0], one) for one in wanted)]
    assert cases, f"no mistake is like {wanted}"
    wrong = [text for name, line in cases for text in [look(oshrun, program, name, line)] if text]
    print("\n".join(wrong) or f"{len(cases)} cases, each as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
