#!/usr/bin/env python3
"""--debug: PEs that wait for a debugger, and what a debugger sees of a call that waits."""
import os
import pathlib
import pty
import re
import shlex
import subprocess
import time

import harness
from harness import needs, one_line, run, started, temporary

SOURCE = """#include <shmem.h>
static long flag;
int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7);
    else
        shmem_long_p(&flag, 7, 1);
    shmem_finalize();
    return 0;
}
"""


def build(folder):
    """A program with debug information."""
    path = f"{folder}/waits"
    with open(f"{path}.c", "w", encoding="utf-8") as file:
        file.write(SOURCE)
    done = subprocess.run([harness.OSHRUN.parent / "oshcc", "-g", f"{path}.c", "-o", path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise harness.Skip(f"the library is not built here: {done.stderr}")
    return path


def test_attach():
    """The printed line attaches; a breakpoint holds the PE in the call, whose frame has the name of the call and its caller's line."""
    needs("gdb")
    with temporary() as folder, started("-n", 2, "--timeout", 50, "--debug", 1, build(folder)) as job:
        line = job.stderr.readline().decode()
        command = re.fullmatch(r"oshrun: PE 1 waits for a debugger; type in another terminal: (gdb -p \d+ -ex .*)\n", line)
        assert command, line
        steps = ("set breakpoint pending on", "break pshmem_long_wait_until", "continue", "backtrace", "info line 7", "delete", "detach")
        words = [*shlex.split(command[1]), "-nx", "-batch", *(word for step in steps for word in ("-ex", step))]
        seen = subprocess.run(words, capture_output=True, text=True, timeout=45, check=False, stdin=subprocess.DEVNULL)
        if "ptrace: Operation not permitted" in seen.stderr:
            raise harness.Skip("this machine lets no debugger attach")
        assert re.search(r"#0 .*p?shmem_long_wait_until ", seen.stdout), (seen.stdout, seen.stderr)
        assert re.search(r"#1 .* main \(\) at .*waits\.c:7", seen.stdout), (seen.stdout, seen.stderr)
        assert job.wait(20) == 0, job.stderr.read()


def test_panes():
    """In a session of tmux each PE gets a pane with gdb."""
    needs("tmux")
    needs("gdb")
    with temporary() as folder:
        tmux = ["tmux", "-f", "/dev/null", "-S", f"{folder}/socket"]
        job = " ".join(harness.command("-n", 2, "--timeout", 40, "--debug", "all", build(folder)))
        env = {name: value for name, value in os.environ.items() if name != "TMUX"} | {"TERM": "xterm"}
        try:
            subprocess.run([*tmux, "new-session", "-d", "-x", "200", "-y", "50", job], check=True, env=env)
            panes, end = "", time.monotonic() + 20
            while panes.count("gdb") < 2:
                assert time.monotonic() < end, panes
                time.sleep(0.1)
                panes = subprocess.run([*tmux, "list-panes", "-F", "#{pane_start_command}"], capture_output=True, text=True, check=True).stdout
            assert len(re.findall(r"gdb -p \d+ -ex", panes)) == 2 and len(panes.splitlines()) == 3, panes
        finally:
            subprocess.run([*tmux, "kill-server"], check=False)


def test_stand_in_for_panes():
    """In tmux, on a terminal, each PE's gdb gets a pane; where tmux refuses, and elsewhere, the line says what to type."""
    with temporary() as folder:
        path, log = pathlib.Path(folder, "tmux"), pathlib.Path(folder, "log")
        path.write_text(f'#!/bin/sh\necho "$@" >>{log}\nexit $TEST_TMUX\n')
        path.chmod(0o755)
        pane, line = r"oshrun: PE 1 waits for its debugger in a pane of tmux: (gdb -p \d+ .*)", r"oshrun: PE 1 waits for a debugger; type in another terminal: (gdb -p \d+ .*)"
        for session, status, terminal, wanted, calls in (("x,1,0", 0, True, pane, 2), ("x,1,0", 1, True, line, 1), ("", 0, True, line, 0), ("x,1,0", 0, False, line, 0)):
            log.write_text("")
            ours, theirs = pty.openpty() if terminal else os.pipe()
            env = harness.CLEAN | {"PATH": f"{folder}:{os.environ['PATH']}", "TMUX": session, "TEST_TMUX": str(status)}
            with subprocess.Popen(harness.command("-n", 2, "--debug", 1, "/bin/sleep", 30), stdout=subprocess.DEVNULL, stderr=theirs, env=env) as job:
                os.close(theirs)
                said = b""
                while b"\n" not in said:
                    said += os.read(ours, 4096)
                job.terminate()
                job.wait(harness.SOON)
            os.close(ours)
            found = re.match(wanted, said.decode())
            assert found, (session, status, terminal, said)
            words = [f"split-window -d {found[1].strip()}", "select-layout tiled"]
            assert log.read_text().splitlines() == words[:calls], (session, status, terminal, log.read_text())


def test_mistakes():
    """Wrong lists are named; other PEs are not stopped."""
    one_line(run("-n", 2, "--debug", "2", "true"), r"--debug 2: this job has the PEs 0 to 1", 2)
    for text in ("", "x", "1,", "1-0", "-1", "1;2"):
        one_line(run("-n", 2, "--debug", text, "true"), r"--debug.*expected PEs such as 1,3 or 0-2, or all", 2)


if __name__ == "__main__":
    harness.main(globals())
