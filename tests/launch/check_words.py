#!/usr/bin/env python3
"""What hands know from other launchers: -n2, -f, files of output, times, standard input; and misspelt words."""
import os
import pathlib
import re
import subprocess

import harness
from harness import good, one_line, run, started, temporary

STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "


def test_number():
    """-n2 and -N2 are -n 2 and -N 2; other words that begin so are no numbers."""
    for line in ("-n3", "-np3", "-N3", "-n7 -n3"):
        assert good(*line.split(), "echo", "x").lines == ["x"] * 3, line
    one_line(run("-n0", "true"), r"-n 0: expected a number of PEs", 2)
    one_line(run("-n3x", "true"), r"-n 3x: expected a number of PEs", 2)
    one_line(run("--n3", "true"), r"unknown option --n3", 2)
    one_line(run("-x3", "true"), r"unknown option -x3", 2)


def test_hostfile():
    """-f names a file of hosts, as for mpiexec.hydra."""
    with temporary() as folder:
        path = pathlib.Path(folder, "hosts")
        path.write_text("localhost:3\n")
        assert good("-f", path, "echo", "x").lines == ["x"] * 3


def test_misspelt_options():
    """A line about an unknown option names the one that is spelt nearly so, and none where none is."""
    for word, meant in (("--timout", "timeout"), ("--tag-ouput", "tag-output"), ("-bind_to", "bind-to"), ("--hotsfile", "hostfile"),
                        ("--versoin", "version"), ("--timeot=3", "timeout"), ("--quite", "quiet")):
        result = run(word, "true")
        one_line(result, rf"unknown option {re.escape(word)}; did you mean --{meant}\? \(see oshrun --help\)", 2)
    for word in ("--frobnicate", "-z", "--nn", "--abc"):
        assert "did you mean" not in run(word, "true").err, word


def test_misspelt_variables():
    """A variable spelt nearly like one of Lateral is named, wherever it is set; the job goes on. -q keeps it quiet."""
    hint = r"oshrun: no variable is named SHMEM_SYMETRIC_SIZE, so it has no effect; did you mean SHMEM_SYMMETRIC_SIZE\?"
    wrong = {"SHMEM_SYMETRIC_SIZE": "1g"}
    one_line(run("-n", 2, "true", env=wrong), hint, 0)
    one_line(run("-n", 2, "-x", "SHMEM_SYMETRIC_SIZE=1g", "true"), hint, 0)
    one_line(run("-n", 2, "-x", "SHMEM_SYMETRIC_SIZE", "true", env=wrong), hint, 0)
    good("-q", "-n", 2, "true", env=wrong)
    good("-n", 2, "true", env={"SHMEM_SYMMETRIC_SIZE": "1g", "LATERAL_LANES": "7", "SHMEM_BARRIER_ALGORITHM": "tree"})


def test_timestamps():
    """--timestamp-output puts the time in front of each line, in front of the PE's tag."""
    result = run("-n", 2, "--timestamp-output", harness.PE, "out:a\\nb\\n", "err:e\\n")
    assert len(result.lines) == 4 and all(re.fullmatch(STAMP + "[ab]", line) for line in result.lines), result
    assert all(re.fullmatch(STAMP + "e", line) for line in result.errors), result
    assert re.fullmatch(STAMP + r"\[0\] x\n", good("-n", 1, "--timestamp-output", "--tag-output", "echo", "x").out)
    assert re.fullmatch(STAMP + r"x\n", good("-n", 1, "--output", "timestamp", "echo", "x").out)


def test_files():
    """--output-filename: each PE's two streams in their order in a file of its own, made anew; oshrun prints nothing."""
    with temporary() as folder:
        for option in (["--output-filename", "a/b/log"], ["--output", "file=a/b/log"]):
            words = [word for i in range(50) for word in (f"out:o{i}\\n", f"err:e{i}\\n")]
            result = good("-n", 12, *option, harness.PE, *words, cwd=folder)
            assert not result.out, result
            files = sorted(os.listdir(f"{folder}/a/b"))
            assert files == [f"log.{pe:02}" for pe in range(12)], files
            for name in files:
                text = pathlib.Path(folder, "a/b", name).read_text(encoding="utf-8")
                assert text.split() == [f"{stream}{i}" for i in range(50) for stream in "oe"], (name, text)
        assert not good("-n", 1, "--output-filename", "one", "echo", "x", cwd=folder).out
        assert pathlib.Path(folder, "one.0").read_text(encoding="utf-8") == "x\n"
        pathlib.Path(folder, "file").write_text("")
        one_line(run("-n", 2, "--output-filename", "file/log", "true", cwd=folder), r"--output-filename.*file.*(Not a directory|File exists)", 1)
        os.mkdir(f"{folder}/log.1")
        result = run("-n", 2, "--output-filename", "log", "true", cwd=folder)
        assert result.status == 1 and "--output-filename: log.1: Is a directory" in result.err, result
    one_line(run("--output-filename", "folder/", "true"), r"expected the name of a file", 2)
    one_line(run("--output-filename", "a", "--timestamp-output", "true"), r"with --output-filename none does", 2)


def test_input_of_one():
    """--stdin N gives it to PE N alone, none to nobody."""
    for pe in (0, 2):
        result = good("-n", 3, "--tag-output", "--stdin", pe, "cat", text_in="a\nb\n")
        assert result.lines == [f"[{pe}] a", f"[{pe}] b"], result
    assert not good("-n", 3, "--stdin", "none", "cat", text_in="a\n").out
    one_line(run("-n", 3, "--stdin", 3, "cat"), r"--stdin 3: this job has the PEs 0 to 2", 2)
    for word in ("some", "-1", "1x", "", "4294967296"):
        one_line(run("-n", 3, "--stdin", word, "cat"), r"expected the number of a PE, all or none", 2)


def test_input_of_all():
    """--stdin all gives every PE all of it: from a pipe, more than pipes hold, from a file, and from /dev/null."""
    text = "".join(f"line {i} {'x' * (i % 100)}\n" for i in range(20000))
    with temporary() as folder:
        path = pathlib.Path(folder, "in")
        path.write_text("skipped\n" + text)
        for pes in (1, 3):
            sums = good("-n", pes, "--stdin", "all", "cksum", text_in=text).lines
            wanted = subprocess.run(["cksum"], input=text, capture_output=True, text=True, check=True).stdout.strip()
            assert sums == [wanted] * pes, sums
            with path.open("rb", buffering=0) as file:
                file.read(len("skipped\n"))
                assert good("-n", pes, "--stdin", "all", "cksum", stdin=file).lines == [wanted] * pes
        assert good("-n", 3, "--stdin", "all", "wc", "-c").lines == ["0"] * 3


def test_input_paces():
    """A PE that reads nothing, or has ended, does not keep lines that are there from the others, nor the job from its end."""
    with started("-n", 3, "--stdin", "all", "sh", "-c", 'case $LATERAL_JOB in *:1:*) exit 0 ;; esac; read -r line; echo "got $line"',
                 stdin=subprocess.PIPE) as job:
        job.stdin.write(b"hello\n")
        job.stdin.flush()
        assert job.stdout.readline() == job.stdout.readline() == b"got hello\n"
        assert job.wait(20) == 0


def test_handed_over():
    """What other launchers call these options, and which they do not have: a stand-in shows its words."""
    tell = 'if [ "$1" = --version ]; then echo "{}"; else echo "$@"; fi'
    with temporary() as folder:
        stand_ins = {"mpirun.openmpi": "mpirun.openmpi (OpenRTE) 4.1.4", "mpirun": "mpirun (Open MPI) 4.1.4", "prterun": "prterun (PRRTE) 3.0", "mpiexec.hydra": "HYDRA build details:"}
        for name, version in stand_ins.items():
            path = pathlib.Path(folder, name)
            path.write_text("#!/bin/sh\n" + tell.format(version) + "\n")
            path.chmod(0o755)

        def shown(name, *options, pes=4):
            return run("-q", *options, "--host", "a:2,b:2", "-n", pes, "program", env={"LATERAL_LAUNCHER": f"{folder}/{name}"})
        for name, options, words in (("mpirun", ["--output-filename", "log"], "--output-filename log"),
                                     ("mpirun.openmpi", ["--stdin", 1], "--stdin 1"),
                                     ("mpirun", ["--timestamp-output"], "--timestamp-output"),
                                     ("mpirun", ["--stdin", 1], "--stdin 1"),
                                     ("prterun", ["--output-filename", "log"], "--output file=log"),
                                     ("prterun", ["--timestamp-output"], "--output=timestamp"),
                                     ("prterun", ["--stdin", "all"], "--stdin all"),
                                     ("mpiexec.hydra", ["--output-filename", "log"], "-outfile-pattern=log.%r")):
            result = shown(name, *options)
            assert result.status == 0 and f" {words} " in f" {result.out} ", (name, options, result)
        for name, pes, words, other in (("mpirun", 4, "--bind-to none --quiet --host a:2,b:2", "--oversubscribe"),
                                        ("mpirun", 5, "--bind-to none --oversubscribe --quiet --host", "--map-by"),
                                        ("prterun", 4, "--bind-to none --map-by slot --host a:2,b:2", "--oversubscribe"),
                                        ("prterun", 5, "--bind-to none --map-by slot:OVERSUBSCRIBE --host", "--oversubscribe")):
            result = shown(name, "--oversubscribe", pes=pes)
            assert f" {words} " in f" {result.out} " and other not in result.out, (name, pes, result)
        for options in (["--timestamp-output"], ["--stdin", "none"]):
            one_line(shown("mpiexec.hydra", *options), rf"{options[0]}: mpiexec\.hydra has no such option", 2)


def test_place():
    """LATERAL_PE and LATERAL_NPES tell wrappers which PE they are, whatever oshrun was given."""
    result = good("-n", 2, "sh", "-c", 'echo "$LATERAL_PE of $LATERAL_NPES"', ":", "-n", 1, "sh", "-c", 'echo "$LATERAL_PE of $LATERAL_NPES"',
                  env={"LATERAL_PE": "7", "LATERAL_NPES": "9"})
    assert sorted(result.lines) == ["0 of 3", "1 of 3", "2 of 3"], result


def test_stacks():
    """--get-stack-traces prints the stacks of the PEs at the time limit, equal ones once; without a tool one line says so."""
    harness.needs("gdb")
    program = harness.BUILD / "tests" / "test_job_stuck"
    if not program.exists():
        raise harness.Skip("tests/job is not built")
    result = run("-n", 4, "--timeout", 2, "--get-stack-traces", program, "value", timeout=60)
    assert result.status == 124, result
    if "neither gdb nor eu-stack is here, or it may not look at them" in result.err:
        raise harness.Skip("gdb may not look at processes here")
    assert re.search(r"^stack of PE 1:\n(    .*\n)*    #\d+ main at .*stuck\.c:\d+$", result.err, re.M), result
    waiting = re.findall(r"^stack of PEs? ([\d,]+):\n(?:    .*\n)*?    #\d+ \w*shmem_barrier_all", result.err, re.M)
    assert sorted(",".join(waiting).split(",")) == ["0", "2", "3"], result      # in a wait a PE yields or sleeps; equal stacks once
    result = run("-n", 2, "--timeout", 2, "--get-stack-traces", "/bin/sleep", "30", timeout=60)
    assert re.search(r"^stack of PEs 0,1:\n    #0 ", result.err, re.M), result
    result = run("-n", 2, "--timeout", 1, "--get-stack-traces", "/bin/sleep", "30", env={"PATH": "/nowhere"})
    assert "no stacks of 2 PEs: neither gdb nor eu-stack is here" in result.err, result


if __name__ == "__main__":
    harness.main(globals())
