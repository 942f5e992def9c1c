#!/usr/bin/env python3
"""Runs one test program the way the comment at its head says.

CMake calls it twice: `run.py --list FILE` at configure time prints one line per test, and CTest
calls `run.py [--case=NAME] [--pes=N --oshrun=PATH] FILE PROGRAM` for each of them. The keys are
described in cmake/LateralTests.cmake. A test that only has to succeed is exec'ed, so that nothing
stands between CTest and the job; one that has to fail is watched from here.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys

KEYS = {"pes", "args", "env", "oshrun", "fails", "status", "prints", "timeout", "labels", "flags", "skip", "needs",
        "serial", "cores", "patience"}
MANY = {"env", "labels", "flags", "skip", "needs", "oshrun"}      # repeated lines add up
LINE = re.compile(r"^\s*(?://|/?\*|!)?\s*([a-z]+):(?:\s+(.*?))?\s*(?:\*/)?\s*$")
SHORT_PES = {"2", "4"}                                     # of the PE counts of a test, those of the short run
HEAD_LINES = 150                                         # a file with many cases has a long head


def read_head(path):
    """The keys of every case: {case name: {key: text}}; the nameless case holds the defaults."""
    cases = {"": {}}
    current = cases[""]
    with open(path, encoding="utf-8") as file:
        for _, line in zip(range(HEAD_LINES), file):
            if re.match(r"\s*#\s*include", line):
                break
            match = LINE.match(line)
            if not match:
                continue
            key, text = match.group(1), match.group(2) or ""
            if key == "case":
                current = cases.setdefault(text, {})
            elif key in KEYS:
                current[key] = current[key] + " " + text if key in MANY and key in current else text
    return cases


def settle(cases, name):
    """The keys of one case over the defaults of its file."""
    if name not in cases:
        sys.exit(f"run.py: no case {name!r} in this file")
    keys = dict(cases[""])
    for key, text in cases[name].items() if name else ():
        keys[key] = keys[key] + " " + text if key in MANY and key in keys else text
    return keys


def list_tests(options):
    for file in filter(None, [options.file, options.program, *options.more]):
        print("=" + file)
        list_file(options, file)


def list_file(options, file):
    cases = read_head(file)
    for name in [name for name in cases if name] or [""]:
        keys = settle(cases, name)
        if options.preset in keys.get("skip", "").split() or (options.network and "ucx" in keys.get("needs", "").split()):
            continue
        pes = keys.get("pes", "1 2 4 7").replace(",", " ").split() if options.jobs else [""]
        if options.jobs and options.only_pes:
            kept = [count for count in pes if count in options.only_pes.split()]
            pes = kept or pes[:1]
        short = SHORT_PES.intersection(pes) or set(pes)
        if options.preset == "asan-ubsan":
            short = short & {"2"} or short
        for count in dict.fromkeys(pes):
            labels = keys.get("labels", "").split() + ([] if count in short else ["more"])
            print(name, count, keys.get("timeout", "60"), str("serial" in keys).upper(), ",".join(labels),
                  ",".join(keys.get("flags", "").split()), keys.get("cores", count), sep="|")


def command_line(options, keys):
    emulator = shlex.split(options.emulator)
    program = emulator + [options.program] + shlex.split(keys.get("args", ""))
    if not options.pes:
        os.environ.setdefault("CHECK_LIMIT", "50")    # tests/within.h
        return program
    limit = options.limit
    stop = ["--timeout", limit] if limit and limit != "0" else []
    if stop:
        os.environ.setdefault("CHECK_LIMIT", str(max(1, int(limit) - 1)))   # tests/within.h
    return emulator + [options.oshrun, "-n", options.pes] + stop + shlex.split(keys.get("oshrun", "")) + program


def patient(command, keys):
    """Where a time limit is to show what PEs wait for, a busy machine may not have started them in time: then with more time."""
    wrong = watch(command, keys)
    for times in map(int, keys.get("patience", "").split()):
        if not wrong:
            break
        at = len(command) - 1 - command[::-1].index("--timeout") + 1     # the last one holds
        print(f"run.py: again with {times} times the time", file=sys.stderr)
        wrong = watch([*command[:at], str(times * float(command[at])), *command[at + 1:]], keys)
    return wrong


def quiet_layout():
    """Thread sanitizer wants the memory layout without randomness; children inherit it."""
    import ctypes
    ctypes.CDLL(None).personality(0x0040000)             # refused in some containers: then try as it is


def watch(command, keys):
    """Run to the end, show everything, and compare with what the file promises."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, check=False)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    wrong = []
    if "status" in keys and status != int(keys["status"]):
        wrong.append(f"exit status {status}, expected {keys['status']}")
    elif "status" not in keys and ("fails" in keys) != (status != 0):
        wrong.append(f"exit status {status}, expected {'another' if 'fails' in keys else '0'}")
    for key, text in (("fails", done.stderr), ("prints", done.stdout)):
        if key in keys and not re.search(keys[key], text, re.MULTILINE):
            wrong.append(f"no match for /{keys[key]}/ in what it wrote")
    for line in wrong:
        print("run.py:", line, file=sys.stderr)
    return 1 if wrong else 0


def go_over(network):
    """Another network in place of UCX. Unlike another, UCX on one node is between all PEs."""
    chosen = os.environ.get("LATERAL_TRANSPORTS", "").split(":")
    if chosen == ["ucx"]:
        os.environ.setdefault("LATERAL_NODE_SIZE", "1")
    if chosen[-1] == "ucx":
        os.environ["LATERAL_TRANSPORTS"] = ":".join(chosen[:-1] + [network])


def is_refused(options, keys):
    """Why this machine or checkout cannot run the test; empty: it can."""
    carriers = set(filter(None, os.environ.get("LATERAL_UCX_TLS", os.environ.get("UCX_TLS", "")).split(",")))
    over = os.environ.get("LATERAL_TRANSPORTS", "auto").split(":")[-1]
    shares = carriers - {"tcp", "self"} if over == "auto" else over == "ucx" and (not carriers or carriers - {"tcp", "self"})
    if shares and (not os.path.isdir("/dev/shm") or shutil.disk_usage("/dev/shm").free < 16 << 20):
        return "/dev/shm is full, where UCX keeps what processes share"
    if re.search("[ :]", options.oshrun) and re.search("--(check|stats|trace)", keys.get("oshrun", "")):
        return "a blank or a colon is in the path of the build: the dynamic linker preloads nothing from there"
    return ""


def run(options):
    keys = settle(read_head(options.file), options.case)
    for item in shlex.split(keys.get("env", "")):
        name, _, value = item.partition("=")
        os.environ[name] = value
    if options.network:
        go_over(options.network)
    if options.sanitize == "thread":
        quiet_layout()
    command = command_line(options, keys)
    why = is_refused(options, keys)
    if why:
        print("skipped:", why)
        return 77
    print("+", shlex.join(command), flush=True)
    if {"fails", "status", "prints"} & keys.keys():
        return patient(command, keys)
    os.execvp(command[0], command)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the tests of FILE and MORE, each after a line =FILE")
    parser.add_argument("--preset", default="")
    parser.add_argument("--only-pes", default="")
    parser.add_argument("--jobs", type=lambda text: text == "TRUE", default=False)
    parser.add_argument("--case", default="")
    parser.add_argument("--pes", default="")
    parser.add_argument("--oshrun", default="oshrun")
    parser.add_argument("--limit", default="", help="seconds after which oshrun tells where the PEs are, and ends them")
    parser.add_argument("--emulator", default="")
    parser.add_argument("--sanitize", default="")
    parser.add_argument("--network", default="", help="transport in place of ucx: the build has none, or the test runs over both")
    parser.add_argument("file")
    parser.add_argument("program", nargs="?")
    parser.add_argument("more", nargs="*", help="with --list: more files, from PROGRAM on")
    options = parser.parse_args()
    return list_tests(options) if options.list else run(options)


if __name__ == "__main__":
    sys.exit(main())
