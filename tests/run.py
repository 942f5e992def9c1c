#!/usr/bin/env python3
"""Runs one test program the way the comment at its head says.

CMake calls it twice: `run.py --list FILE` at configure time prints one line per test, and CTest
calls `run.py [--case=NAME] [--pes=N --oshrun=PATH] FILE PROGRAM` for each of them. The keys are
described in cmake/LateralTests.cmake. A test that only has to succeed is exec'ed, so that nothing
stands between CTest and the job; one that has to fail is watched from here.

A run starts a thousand times: what few tests need of Python's library is imported where they need it.
"""
import os
import sys

KEYS = {"pes", "args", "env", "oshrun", "fails", "status", "prints", "timeout", "labels", "flags", "skip", "needs",
        "serial", "cores", "patience"}
MANY = {"env", "labels", "flags", "skip", "needs", "oshrun"}      # repeated lines add up
SHORT_PES = {"2", "4"}                                     # of the PE counts of a test, those of the short run
HEAD_LINES = 150                                         # a file with many cases has a long head


def read_head(path):
    """The keys of every case: {case name: {key: text}}; the nameless case holds the defaults."""
    cases = {"": {}}
    current = cases[""]
    with open(path, encoding="utf-8") as file:
        for _, line in zip(range(HEAD_LINES), file):
            words = line.strip()
            if words.startswith("#") and words[1:].lstrip().startswith("include"):
                break
            key, colon, text = words.removesuffix("*/").lstrip("/*!").strip().partition(":")
            if not colon or text[:1].strip():
                continue
            text = text.strip()
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


def list_tests(options, files):
    for file in files:
        print("=" + file)
        list_file(options, file)


def list_file(options, file):
    cases = read_head(file)
    for name in [name for name in cases if name] or [""]:
        keys = settle(cases, name)
        if options["preset"] in keys.get("skip", "").split() or (options["network"] and "ucx" in keys.get("needs", "").split()):
            continue
        pes = keys.get("pes", "1 2 4 7").replace(",", " ").split() if options["jobs"] == "TRUE" else [""]
        if options["jobs"] == "TRUE" and options["only-pes"]:
            kept = [count for count in pes if count in options["only-pes"].split()]
            pes = kept or pes[:1]
        short = SHORT_PES.intersection(pes) or set(pes)
        if options["preset"] == "asan-ubsan":
            short = short & {"2"} or short
        for count in dict.fromkeys(pes):
            labels = keys.get("labels", "").split() + ([] if count in short else ["more"])
            print(name, count, keys.get("timeout", "60"), str("serial" in keys).upper(), ",".join(labels),
                  ",".join(keys.get("flags", "").split()), keys.get("cores", count), sep="|")


def split(text):
    """The words of a line of the shell; most lines have no quotes."""
    if not set(text) & set("'\"\\"):
        return text.split()
    import shlex
    return shlex.split(text)


def command_line(options, keys, program):
    program = [*split(options["emulator"]), program, *split(keys.get("args", ""))]
    if not options["pes"]:
        os.environ.setdefault("CHECK_LIMIT", "50")    # tests/within.h
        return program
    limit = options["limit"]
    stop = ["--timeout", limit] if limit and limit != "0" else []
    if stop:
        os.environ.setdefault("CHECK_LIMIT", str(max(1, int(limit) - 1)))   # tests/within.h
    return [*split(options["emulator"]), options["oshrun"], "-n", options["pes"], *stop, *split(keys.get("oshrun", "")), *program]


def patient(options, command, keys):
    """Where a time limit is to show what PEs wait for, a busy machine may not have started them in time: then with more time."""
    wrong = watch(command, keys)
    more = " 27" if options["emulator"] else ""
    for times in map(int, (keys["patience"] + more).split() if "patience" in keys else ()):
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
    import re
    (end, out), err = os.pipe(), os.memfd_create("err")
    ends = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=ends, setsigdef=(13, 25))   # SIGPIPE, SIGXFSZ, which Python ignores
    os.close(out)
    with open(end, errors="replace", encoding="utf-8") as file:
        written = {"prints": file.read()}                # until no process of the job has it open
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    status = status if status >= 0 else 128 - status
    with open(err, errors="replace", encoding="utf-8") as file:
        file.seek(0)
        written["fails"] = file.read()
    sys.stdout.write(written["prints"])
    sys.stderr.write(written["fails"])
    wrong = []
    if "status" in keys and status != int(keys["status"]):
        wrong.append(f"exit status {status}, expected {keys['status']}")
    elif "status" not in keys and ("fails" in keys) != (status != 0):
        wrong.append(f"exit status {status}, expected {'another' if 'fails' in keys else '0'}")
    for key, text in written.items():
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
    shares = shares or over == "ofi" and os.environ.get("FI_PROVIDER") == "shm"
    if shares and free_memory() < 16 << 20:
        return "/dev/shm is full, where UCX and libfabric keep what processes share"
    if options["emulator"] and "--deadlock" in keys.get("oshrun", ""):
        return "an emulator's own threads and system calls hide those of the program"
    preloads = any(f"--{tool}" in keys.get("oshrun", "") for tool in ("check", "stats", "trace"))
    if preloads and set(options["oshrun"]) & set(" :"):
        return "a blank or a colon is in the path of the build: the dynamic linker preloads nothing from there"
    return ""


def free_memory():
    try:
        shm = os.statvfs("/dev/shm")
        return shm.f_bavail * shm.f_frsize
    except OSError:
        return 0


def run(options, file, program):
    keys = settle(read_head(file), options["case"])
    for item in split(keys.get("env", "")):
        name, _, value = item.partition("=")
        os.environ[name] = value
    if options["network"]:
        go_over(options["network"])
    if options["sanitize"] == "thread":
        quiet_layout()
    command = command_line(options, keys, program)
    why = is_refused(options, keys)
    if why:
        print("skipped:", why)
        return 77
    print("+", *command, flush=True)
    if {"fails", "status", "prints"} & keys.keys():
        return patient(options, command, keys)
    os.execvp(command[0], command)


def read_options(words):
    """--NAME=VALUE and --NAME, as CMake gives them, then FILE, PROGRAM, or with --list more files."""
    options = {"preset": "", "only-pes": "", "jobs": "", "case": "", "pes": "", "oshrun": "oshrun", "limit": "", "emulator": "",
               "sanitize": "", "network": "", "list": ""}
    while words and words[0].startswith("--"):
        name, _, value = words.pop(0)[2:].partition("=")
        if name not in options:
            sys.exit(f"run.py: no option --{name}\n{__doc__}")
        options[name] = value
    return options, words


def main():
    options, words = read_options(sys.argv[1:])
    if "--list" in sys.argv[1:2]:
        return list_tests(options, words)
    if len(words) != 2:
        sys.exit(__doc__)
    return run(options, *words)


if __name__ == "__main__":
    sys.exit(main())
