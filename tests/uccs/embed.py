#!/usr/bin/env python3
"""Starts processes that have no launcher, each with its rank, and judges how they end.

    embed.py PROGRAM WAY     WAY: run, owner_ends, leave (rank 1 leaves early), ended (by its owner), back (taken back), hosts (rank 2 in namespaces of its own)
"""
import os
import shutil
import subprocess
import sys
import tempfile

RANKS = 3


def alone():
    """A command that puts a program into an IPC namespace of its own, or None."""
    for options in (["-i"], ["-r", "-i"]):
        command = ["unshare", *options]
        if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    return None


def start(program, way, folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PMI", "LATERAL_JOB"))}
    if way != "back":
        environment.update(PMI_FD="93", PMI_RANK="0", PMI_SIZE="7", PMIX_NAMESPACE="nobody", PMIX_RANK="0", UCX_TLS="tcp,self")
    before = alone() if way == "hosts" else []
    if before is None:
        sys.exit(77)
    for rank in range(1 if way == "back" else RANKS):
        command = (before if rank == 2 else []) + [program, folder, str(rank), str(RANKS), way]
        yield subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finish(processes, limit):
    """What the processes have written when all of them have ended."""
    try:
        return [process.communicate(timeout=limit) for process in processes]
    except subprocess.TimeoutExpired:
        for process in processes:
            process.kill()
        sys.exit(f"not within {limit:.0f} s: all ranks end, which have written {[process.communicate() for process in processes]}")


def main():
    program, way = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        processes = list(start(program, way, folder))
        texts = finish(processes, 50)
    out, err = ("".join(text[i] for text in texts) for i in (0, 1))
    print(out, err, sep="", end="")
    codes = [process.returncode for process in processes]
    if way == "leave":
        assert "ABORT 5" in out and "PE 1: left with exit status 5" in err, "the environment did not learn of it"
        assert not any(code == 0 for code in codes), codes
    elif way == "back":
        assert codes == [0] and out == "PASS\n" and not err, codes
    elif way == "ended":
        assert codes == [0] * RANKS and not out and not err, codes
    else:
        assert codes == [0] * RANKS and out == "PASS\n" and not err, codes


main()
