"""The launcher's tests share: places of programs, a start of oshrun, a look at processes.

A test is a function named test_*; its docstring says what must hold. Files of tests end with
`harness.main(globals())`; `FILE --list [--sanitize=WHICH]` names the tests, `FILE ... NAME` runs one. A file that says
SANITIZED = False has no tests under a sanitizer.
"""
import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

OSHRUN = PE = PRELOAD = BUILD = None
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_", "SLURM_"))}


class Skip(Exception):
    """The test cannot run here."""


class Result:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds
        self.lines, self.errors = out.splitlines(), err.splitlines()

    def __repr__(self):
        return f"status {self.status} after {self.seconds:.2f} s\n--- out ---\n{self.out[:2000]}\n--- err ---\n{self.err[:2000]}"


SOON = 10.0 # "within a second", on a machine with much other work to do


def command(*words):
    return [str(OSHRUN), *map(str, words)]


def may_preload(path, words):
    """The dynamic linker takes no path with a blank or a colon, and oshrun says so: what is preloaded cannot be tried there."""
    if re.search("[ :]", str(path)) and any(re.match("--(check|stats|trace)", str(word)) for word in words):
        raise Skip("a blank or a colon is in the path of the build: nothing can be preloaded from there")


def run(*words, stdin=subprocess.DEVNULL, text_in=None, env=None, timeout=30, shell_status=True, **more):
    """oshrun with these words, to its end."""
    may_preload(OSHRUN, words)
    start = time.monotonic()
    how = {"input": text_in} if text_in is not None else {"stdin": stdin}
    try:
        done = subprocess.run(command(*words), capture_output=True, text=True, errors="replace", env=CLEAN | (env or {}),
                              timeout=timeout, check=False, **how, **more)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"not within {timeout:.0f} s: the end of {' '.join(late.cmd)}, which has written\n{late.stdout}\n{late.stderr}") from None
    status = 128 - done.returncode if done.returncode < 0 and shell_status else done.returncode
    return Result(status, done.stdout, done.stderr, time.monotonic() - start)


def good(*words, **more):
    """oshrun that must succeed and say nothing on standard error."""
    result = run(*words, **more)
    assert result.status == 0 and not result.err, result
    return result


@contextlib.contextmanager
def started(*words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=None, **more):
    """oshrun in the background; whatever happens it is gone at the end."""
    with subprocess.Popen(command(*words), stdin=stdin, stdout=stdout, stderr=stderr, env=CLEAN | (env or {}), **more) as job:
        try:
            yield job
        finally:
            if job.poll() is None:
                job.kill()


def read_lines(job, count):
    """The next lines of a job's output, stripped."""
    lines = [job.stdout.readline().decode().strip() for _ in range(count)]
    assert all(lines), f"output ended after {lines}"
    return lines


def numbers(lines, name):
    return [int(line.split()[1]) for line in lines if line.split()[0] == name]


def children(pid):
    with contextlib.suppress(OSError):
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def only_child(pid, name):
    """The one child of a process, once it has this name, of which the kernel keeps 15 letters."""
    def found():        # a child may end between the list and its name
        with contextlib.suppress(OSError):
            return [child for child in children(pid) if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == name[:15]]

    wait_until(lambda: len(found() or ()) == 1, f"process {pid} has one child, {name}")
    return found()[0]


def reaper_of(job):
    return only_child(job.pid, "lateral-reaper")


def supervisor_of(job):
    return only_child(reaper_of(job), "lateral-supervisor")


def is_alive(pid):
    """Running; a zombie that nobody has reaped yet is dead."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_until(holds, what, seconds=SOON):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.01)


def all_gone(pids, seconds=SOON):
    wait_until(lambda: not any(map(is_alive, pids)), f"processes {[pid for pid in pids if is_alive(pid)]} are gone", seconds)


def one_line(result, pattern, status):
    """Ended with this status, one line on standard error, and it matches."""
    assert result.status == status, result
    assert len(result.errors) == 1 and re.search(pattern, result.errors[0]), result


def needs(program):
    from shutil import which
    if not which(program):
        raise Skip(f"{program} is not installed")
    return program


def temporary():
    return tempfile.TemporaryDirectory(prefix="lateral-launch.")


def sanitized():
    return bool(OPTIONS.sanitize)


def one(name, test):
    signal.alarm(55)        # louder than CTest's limit, and before it
    try:
        test()
    except Skip as why:
        print("skipped:", why)
        sys.exit(77)
    print(name, "holds")


def main(names):
    global OSHRUN, PE, PRELOAD, BUILD, OPTIONS
    tests = {name[5:]: test for name, test in names.items() if name.startswith("test_")}
    if sys.argv[1:2] == ["--list"]:
        if sys.argv[2:] in ([], ["--sanitize="]) or names.get("SANITIZED", True):
            print("\n".join(tests))
        return
    parser = argparse.ArgumentParser()
    for option in ("oshrun", "pe", "preload", "build"):
        parser.add_argument(f"--{option}", type=pathlib.Path)
    parser.add_argument("--sanitize", default="")
    parser.add_argument("name", choices=sorted(tests))
    OPTIONS = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):       # ignored in a shell's background, and so by what starts there
        signal.signal(number, signal.SIG_DFL)
    OSHRUN, PE, PRELOAD, BUILD = OPTIONS.oshrun, OPTIONS.pe, OPTIONS.preload, OPTIONS.build
    one(OPTIONS.name, tests[OPTIONS.name])
