#!/usr/bin/env python3
"""Who waits for whom, and where: asked from outside, with Ctrl-\\, at the time limit and in a deadlock."""
import os
import pathlib
import re
import signal
import socket
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
    with socket.socket(socket.AF_UNIX) as squatter, socket.socket(socket.AF_UNIX) as filler:     # it never accepts
        squatter.bind(f"\0lateral-watch-{os.getpid()}")
        squatter.listen(0)
        filler.connect(squatter.getsockname())
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


SLEEPS = r"""
#include <poll.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile char sink;
static void __attribute__((noinline)) deep(int depth)    /* leaves return addresses of its own on the stack */
{
    char some[300];
    memset(some, depth, sizeof some);
    sink = some[depth];
    if (depth)
        deep(depth - 1);
    sink = some[3];
}
int main(int argc, char **argv)
{
    int ends[2];
    char text[8];
    (void)argc;
    shmem_init();
    deep(30);
    if (shmem_my_pe() == 1 && pipe(ends) == 0)
        switch (argv[1][0]) {
        case 's': sleep(60); break;                                  /* s */
        case 'p': poll(0, 0, 60000); break;                          /* p */
        case 'r': sink = (char)read(ends[0], text, sizeof text); break; /* r */
        case 'f': sink = !fgets(text, sizeof text, fdopen(ends[0], "r")); break; /* f */
        case 'y': sink = (char)system("exec sleep 60"); break;       /* y */
        }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
"""

LOCKS = r"""
#include <shmem.h>
#include <string.h>
static long one, two;
int main(int argc, char **argv)
{
    int me;
    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    if (!strcmp(argv[1], "itself") && me == 0) {
        shmem_set_lock(&one);
        shmem_set_lock(&one); /* itself */
    }
    if (!strcmp(argv[1], "each")) {
        shmem_set_lock(me ? &one : &two);
        shmem_barrier_all();
        shmem_set_lock(me ? &two : &one); /* each */
    }
    if (!strcmp(argv[1], "left") && me == 0)
        shmem_set_lock(&one);
    if (!strcmp(argv[1], "left")) {
        shmem_sync_all();
        if (me == 1)
            shmem_set_lock(&one); /* left */
    }
    if (!strcmp(argv[1], "own") && me == 0)
        shmem_long_wait_until_any(&one, 1, NULL, SHMEM_CMP_EQ, 1); /* own */
    shmem_finalize();
    return 0;
}
"""


def compiled(folder, source, name, *options):
    """A program of this text, and the number of the line that ends with each comment."""
    path = pathlib.Path(folder, f"{name}.c")
    path.write_text(source)
    subprocess.run([harness.BUILD / "bin" / "oshcc", "-g", *options, path, "-o", f"{folder}/{name}"], check=True)
    return f"{folder}/{name}", {match[1]: number for number, line in enumerate(source.splitlines(), 1)
                                for match in [re.search(r"/\* (\w+) \*/$", line)] if match}


def test_sleeping():
    """A PE that sleeps or reads is shown at the program's line, however the program is built."""
    if harness.sanitized():
        raise harness.Skip("the sanitizer stands between program and libc")
    with harness.temporary() as folder:
        for options in (["-O2"], ["-O0", "-fno-omit-frame-pointer"], ["-static", "-O1"]):
            program, lines = compiled(folder, SLEEPS, "sleeps", *options)
            for way in "sprfy" if len(options) == 1 else "sr":
                result = harness.run("-n", 2, "--timeout", 1.5, program, way)
                called = "" if way == "y" else ", in [a-z_]+"             # what system() does has no name in libc
                wanted = rf"  PE 1 +is in no wait that lasts +sleeps\.c:{lines[way]}{called}\n"
                assert result.status == 124 and re.search(wanted, result.err), (options, way, result)


def test_other_tools():
    """Source lines come from eu-addr2line or llvm-symbolizer where there is no addr2line."""
    with harness.temporary() as folder:
        program, _ = compiled(folder, SLEEPS, "sleeps")
        for tool in ("eu-addr2line", "llvm-symbolizer"):
            path = pathlib.Path(folder, tool)
            path.write_text("#!/bin/sh\necho /some/where/said.c:77\n")
            path.chmod(0o755)
            result = harness.run("-n", 2, "--timeout", 1.5, program, "s", env={"PATH": folder})
            assert result.status == 124 and "said.c:77" in result.err, result
            path.unlink()


def test_locks():
    """Locks that nobody will clear: the table and the verdict of --deadlock say who waits for whom, also for itself."""
    with harness.temporary() as folder:
        program, lines = compiled(folder, LOCKS, "locks")
        verdicts = {"itself": "PE 0 waits for itself: it holds the lock", "each": "PE 0 waits for PE 1; PE 1 waits for PE 0",
                    "left": "PE 0 waits for PE 1; PE 1 waits for PE 0", "own": "PE 0 waits for a store that no PE is making"}
        for what, verdict in verdicts.items():
            result = harness.run("-n", 2, "--deadlock", 1, program, what)
            assert result.status == 1 and "deadlock for " in result.err, (what, result)
            assert verdict in result.err and re.search(rf"locks\.c:{lines[what]}\n", result.err), (what, result)
        result = harness.run("-n", 1, "--deadlock", 1, program, "own")
        assert result.status == 1 and verdicts["own"] in result.err and "_any(one == 1, is 0)" in result.err, result


if __name__ == "__main__":
    harness.main(globals())
