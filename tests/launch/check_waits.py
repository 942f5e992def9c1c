#!/usr/bin/env python3
"""Who waits for whom: asked from outside and with Ctrl-\\."""
import os
import pathlib
import re
import signal
import subprocess
import time

import harness
from harness import CLEAN, started

STUCK = re.compile(r"""  PE 0,2,3  shmem_barrier_all \(3 of 4 have come\) +[0-9.]+ s  stuck\.c:\d+
  PE 1      shmem_long_wait_until\(flag == 7, is 3\) +[0-9.]+ s  stuck\.c:\d+
PEs 0,2,3 wait for PE 1; PE 1 waits for a store that no PE is making
""")


def program():
    path = harness.BUILD / "tests" / "test_job_stuck"
    if not path.exists():
        raise harness.Skip("tests/job is not built")
    return path


def status(pid, env=None):
    done = subprocess.run([harness.OSHRUN, "--status", str(pid)], capture_output=True, text=True, env=CLEAN | (env or {}), timeout=60, check=False)
    return done.returncode, done.stderr


def checked():
    """The environment in which glibc checks every block that is given back; elsewhere it changes nothing."""
    found = list(pathlib.Path("/lib").glob("*/libc_malloc_debug.so.0"))
    return {"LD_PRELOAD": str(found[0]), "GLIBC_TUNABLES": "glibc.malloc.check=3"} if found and not harness.sanitized() else {}


def await_stuck(pid):
    """Asks until all PEs have waited for some time; a loaded machine starts them late."""
    end = time.monotonic() + 40
    while time.monotonic() < end:
        code, text = status(pid)
        if STUCK.search(text):
            return code, text
        time.sleep(0.2)
    raise AssertionError(text)


def test_status():
    """--status PID tells where the PEs are, again and again, and the job goes on; for a process that is no job, a line."""
    with started("-n", 4, program(), "value") as job:
        for _ in range(2):
            code, text = await_stuck(job.pid)
            assert code == 0 and text.startswith(f"oshrun: where the 4 PEs of job {job.pid} are:\n"), text
        code, text = status(job.pid, checked())
        assert code == 0 and STUCK.search(text), f"with blocks checked: {code}, {text}"
        assert job.poll() is None
        os.kill(job.pid, signal.SIGTERM)
        assert job.wait(20) == 128 + signal.SIGTERM
    code, text = status(os.getpid())
    assert code == 1 and text == f"oshrun: --status {os.getpid()}: no job of this version of Lateral, or it belongs to another user\n"


def test_quit():
    """Ctrl-\\ ends the job and tells where the PEs were."""
    with started("-n", 4, program(), "value") as job:
        await_stuck(job.pid)
        os.kill(job.pid, signal.SIGQUIT)
        assert job.wait(20) == 128 + signal.SIGQUIT
        text = job.stderr.read().decode()
    assert STUCK.search(text) and "job ended by signal 3" in text, text


def test_no_tool():
    """Without a tool that knows source lines the report names the function."""
    wanted = r"shmem_long_wait_until\(flag == 7, is 3\) +[0-9.]+ s  main \+ 0x[0-9a-f]+ \(test_job_stuck\)"
    with started("-n", 4, program(), "value") as job:
        end = time.monotonic() + 40
        text = ""
        while not re.search(wanted, text) and time.monotonic() < end:
            done = subprocess.run([harness.OSHRUN, "--status", str(job.pid)], capture_output=True, text=True,
                                  env=CLEAN | {"PATH": "/nowhere"}, timeout=60, check=False)
            text = done.stderr
        assert re.search(wanted, text), text


if __name__ == "__main__":
    harness.main(globals())
