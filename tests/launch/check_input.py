#!/usr/bin/env python3
"""The command line: what is accepted, and one clear line for each mistake."""
import os
import re
import subprocess

import harness
from harness import good, one_line, run, temporary

# words, exit status, what the line must say
MISTAKES = [
    ("-n 0 {}", 2, r"-n 0: expected a number of PEs from 1 to 65536"),
    ("-n -3 {}", 2, r"-n -3: expected"),
    ("-n abc {}", 2, r"-n abc: expected"),
    ("-n 2x {}", 2, r"-n 2x: expected"),
    ("-n 65537 {}", 2, r"-n 65537: expected"),
    ("-n 99999999999999999999 {}", 2, r"expected a number"),
    ("-n 40000 {} : -n 40000 {}", 2, r"80000 PEs: at most 65536"),
    ("-n= {}", 2, r"-n : expected"),
    ("-n", 2, r"-n needs a value"),
    ("", 2, r"no program given"),
    ("-n 2", 2, r"no program given"),
    ("-n 2 --", 2, r"no program given"),
    ("-n 2 {} :", 2, r"no program given"),
    (": -n 2 {}", 2, r"no program given"),
    ("-n 1 {} : {}", 2, r"-n is missing before"),
    ("--timeout 0 {}", 2, r"--timeout 0: expected a time above 0"),
    ("--timeout -1 {}", 2, r"--timeout -1: expected"),
    ("--timeout soon {}", 2, r"--timeout soon: expected"),
    ("--timeout 5d {}", 2, r"--timeout 5d: expected"),
    ("--timeout 5mm {}", 2, r"--timeout 5mm: expected"),
    ("--deadlock 0 {}", 2, r"--deadlock 0: expected a time above 0"),
    ("--status soon {}", 2, r"--status soon: expected the number of a process"),
    ("--timeout nan {}", 2, r"--timeout nan: expected"),
    ("--bind-to junk {}", 2, r"--bind-to junk: expected core or none"),
    ("-x =1 {}", 2, r"-x =1: expected VAR or VAR=VALUE"),
    ("-x -n 2 {}", 2, r"-x -n: expected VAR"),
    ("-x", 2, r"-x needs a value"),
    ("-x LATERAL_JOB= {}", 2, r"-x LATERAL_JOB=: oshrun itself sets LATERAL_JOB"),
    ("-x LATERAL_JOB {}", 2, r"-x LATERAL_JOB: oshrun itself sets LATERAL_JOB"),
    ("-N 2 -n 3 {}", 2, r"-N 2 -n 3: this job has one node"),
    ("-N none {}", 2, r"-N none: expected a number of PEs"),
    ("--bind-to cores:overload-allowed {}", 2, r"expected core or none"),
    ("--output xml {}", 2, r"--output xml: expected tag"),
    ("--mca btl", 2, r"--mca needs two words"),
    ("--mca=btl {}", 2, r"--mca takes two words"),
    ("--map-by", 2, r"--map-by needs a value"),
    ("--frobnicate {}", 2, r"unknown option --frobnicate"),
    ("-n 2 -frob=3 {}", 2, r"unknown option -frob=3"),
    ("--tag-output=yes {}", 2, r"--tag-output takes no value"),
    ("--host a,,b {}", 2, r"--host a,,b: expected NAME or NAME:SLOTS between commas"),
    ("--host a:0 {}", 2, r"--host a:0: expected NAME or NAME:SLOTS"),
    ("--host -a {}", 2, r"--host -a: expected NAME"),
    ("--host a --hostfile b {}", 2, r"--hostfile: --host has named the hosts already"),
    ("--hostfile /no/such/file {}", 2, r"--hostfile /no/such/file: No such file"),
    ("--hostfile /dev/null {}", 2, r"--hostfile /dev/null: no host in it"),
    ("--host localhost:2 -n 3 {}", 2, r"--host: 3 PEs for 2 slots \(--oversubscribe starts them all the same\)"),
    ("--host localhost:2,localhost -n 2 {} : -n 2 {}", 2, r"--host: 4 PEs for 3 slots"),
    ("--host a:2,b:2 -n 5 {}", 2, r"--host: 5 PEs for 4 slots"),
    ("--host a:65536,b:65536 {}", 2, r"--host: 131072 slots without -n: at most 65536"),
    ("-n 2 nosuchprogram", 127, r"program nosuchprogram not found in PATH"),
    ("-n 2 ./nosuchprogram", 127, r"program ./nosuchprogram not found"),
    ("-n 1 {} : -n 1 /no/such/program", 127, r"program /no/such/program not found"),
    ("-n 2 /etc/passwd", 126, r"cannot execute /etc/passwd: Permission denied"),
    ("-n 2 /usr", 126, r"cannot execute /usr: Is a directory"),
    ("--wdir /no/such/folder -n 2 {}", 2, r"--wdir /no/such/folder: No such file"),
    ("--wdir /usr -n 2 ./nosuchprogram", 127, r"program ./nosuchprogram not found in /usr"),
]


def test_control_bytes():
    """A name with bytes that a terminal obeys is shown without them."""
    for name in ("\x1b[31mred", "two\nlines", "bell\x07", "del\x7f"):
        for words in (("-n", 1, name), (f"--frob{name}",), ("-n", 1, "-x", f"={name}", "true")):
            result = run(*words)
            assert result.status and len(result.errors) == 1 and result.errors[0].isprintable() and "?" in result.err, result
        with temporary() as folder:
            script = f"{folder}/{name}"
            os.symlink("/bin/false", script)
            one_line(run("-n", 1, script), r"exited with status 1$", 1)
    assert "grün" in run("-n", 1, "grün").err


def test_mistakes():
    """Each mistake: its exit status, one line, and no program is started."""
    with temporary() as folder:
        mark = f"{folder}/started"
        for text, status, pattern in MISTAKES:
            words = [word for part in text.split() for word in (["touch", mark] if part == "{}" else [part])]
            print("+", " ".join(words))
            result = run(*words)
            one_line(result, pattern, status)
            assert result.err.startswith("oshrun: "), result
            assert not result.out, result
            assert (status == 2 and "see oshrun --help" in result.err) or status > 2 or "--wdir" in result.err, result
            assert not os.path.exists(mark), f"{text}: a program was started"


def test_hint():
    """A program of this folder without ./ in front gets a hint."""
    with temporary() as folder:
        os.symlink(harness.PE, f"{folder}/mine")
        one_line(run("-n", 2, "mine", cwd=folder), r"mine not found in PATH \(did you mean \./mine\?\)", 127)


def test_help_and_version():
    """--help has examples, --version the version; both succeed on standard output, with one dash too."""
    for word in ("--help", "-help", "-h"):
        text = good(word).out
        assert "Examples:" in text and "oshrun -n 4" in text and "--timeout" in text and "Exit status" in text, text
        assert max(map(len, text.splitlines())) <= 100
    for word in ("--version", "-V"):
        assert re.fullmatch(r"oshrun \(Lateral\) \d+\.\d+\.\d+\n", good(word).out)
    full = subprocess.run([harness.OSHRUN, "--help"], stdout=open("/dev/full", "w"), check=False)
    assert full.returncode == 1


def test_spellings():
    """-n, -np, --np, --n=, one dash or two; options after the program are the program's."""
    for words in (["-n", 3], ["-np", 3], ["--np", 3], ["--n=3"], ["-np=3"], ["--oversubscribe", "--allow-run-as-root", "-n", 3],
                  ["-n", 5, "-n", 3], ["-n", 3, "--"], ["-n", 3, "-bind-to", "none"]):
        assert good(*words, "echo", "-n", "0", "x").out.count("x") == 3, words
    with temporary() as folder:
        os.symlink(harness.PE, f"{folder}/-odd")
        result = good("-n", 2, "--wdir", folder, "--", f"{folder}/-odd", "out:odd\\n")
        assert result.lines == ["odd", "odd"], result


def test_other_launchers():
    """Lines written for other launchers: -N, and tuning and placing that change nothing."""
    for line in ("-N 3", "-npernode 3", "--ntasks=3", "-n 3 -N 4", "-n 3 --mca btl self,vader -mca spml ucx",
                 "-np 3 --map-by ppr:2:socket:PE=2 --rank-by core --bind-to core:overload-allowed", "--bind-to socket -n 3",
                 "-n 3 --mpi=pmix --cpu-bind=cores --report-bindings --prtemca a b -v"):
        assert good(*line.split(), "echo", "x").lines == ["x"] * 3, line
    assert sorted(good("-N", 1, "echo", "a", ":", "-N", 2, "echo", "b").lines) == ["a", "b", "b"]
    for line in ("-l", "--label", "--output tag", "--output=tag"):
        assert good("-n", 1, *line.split(), "echo", "x").lines == good("-n", 1, "--tag-output", "echo", "x").lines, line


def test_slots():
    """Numbers of slots give the number of PEs, and limit it unless --oversubscribe is given."""
    for line, pes in (("--host localhost:3", 3), ("--host localhost:2,127.0.0.1", 3), ("--host localhost:4 -n 3", 3),
                      ("--host localhost:2 --oversubscribe -n 3", 3), ("--host localhost -n 3", 3)):
        assert good(*line.split(), "echo", "x").lines == ["x"] * pes, line
    alone = {"PATH": "/no/such/folder", "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2"}
    for tasks in ("4294967297", "0", "-1", "many"):
        one_line(run("/bin/true", env=alone | {"SLURM_NTASKS": tasks}), f"SLURM_NTASKS={tasks}: expected a number of PEs", 2)


def test_handed_over():
    """What becomes of options when another launcher takes over: a stand-in for mpirun shows its words."""
    with temporary() as folder:
        stand_in = f"{folder}/mpirun"
        with open(stand_in, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nif [ "$1" = --version ]; then echo "mpirun (Open MPI) 4.1.4"; else echo "$@"; fi\n')
        os.chmod(stand_in, 0o755)
        for options in (["--allow-run-as-root"], []):
            shown = run("-q", *options, "--host", "a:2,b:2", "-n", 4, "program", env={"LATERAL_LAUNCHER": stand_in})
            assert shown.status == 0 and "--host a:2,b:2" in shown.out, shown
            assert ("--allow-run-as-root" in shown.out.split()) == bool(options), shown
        twice = run("-q", "--host", "a:2,b:2,a", "-n", 5, "program", env={"LATERAL_LAUNCHER": stand_in})
        assert "--host a:3,b:2 " in twice.out, twice           # a host that is named twice


def test_default_count():
    """Without -n: as many PEs as this process may use processors."""
    allowed = len(os.sched_getaffinity(0))
    assert good("echo", "x").lines == ["x"] * allowed
    first = min(os.sched_getaffinity(0))
    result = good("echo", "x", preexec_fn=lambda: os.sched_setaffinity(0, {first}))
    assert result.lines == ["x"]


if __name__ == "__main__":
    harness.main(globals())
