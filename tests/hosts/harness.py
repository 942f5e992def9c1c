"""Shared by the tests of launchers and hosts.

A test is a function named test_*; its docstring says what must hold. Files of tests end with
`harness.main(globals())`; `FILE --list` names the tests, `FILE --build=DIR NAME` runs one.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTS = ROOT / "tools/dev/hosts.py"
BUILD = None
DROPPED = ("LATERAL_", "SHMEM_", "SLURM_", "PMIX_", "PMI_", "OMPI_", "PRTE_")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
CLEAN |= {f"{who}_ALLOW_RUN_AS_ROOT{more}": "1" for who in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}
LINE = re.compile(r"pe (\d+) npes (\d+) node (\d+) nodes (\d+) index (\d+) size (\d+) busy (\d) key (\w+) host (\S+)")


class Skip(Exception):
    """The test cannot run here."""


class Result:
    def __init__(self, words, done, seconds):
        self.words, self.out, self.err, self.seconds = words, done.stdout, done.stderr, seconds
        self.status = done.returncode if done.returncode >= 0 else 128 - done.returncode

    def __repr__(self):
        return (f"status {self.status} after {self.seconds:.2f} s of {' '.join(self.words)}\n"
                f"--- out ---\n{self.out[-3000:]}\n--- err ---\n{self.err[-3000:]}")


def run(*words, env=None, timeout=60):
    words = [str(word) for word in words]
    print("+", " ".join(words), flush=True)
    start = time.monotonic()
    done = finish(words, CLEAN | (env or {}), timeout)
    return Result(words, done, time.monotonic() - start)


def finish(words, env, timeout):
    """Runs a command to its end. One that has none in time is ended, by which launchers end their processes, and is an error."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          env=env) as job:
        try:
            out, err = job.communicate(timeout=timeout)
            return subprocess.CompletedProcess(words, job.returncode, out, err)
        except subprocess.TimeoutExpired:
            job.terminate()
        try:
            out, err = job.communicate(timeout=3)
        except subprocess.TimeoutExpired as late:
            job.kill()
            out, err = late.stdout, late.stderr
        raise AssertionError(f"not within {timeout:.0f} s: the end of {' '.join(words)}, which has written\n{out}\n{err}")


def good(*words, **more):
    result = run(*words, **more)
    assert result.status == 0, result
    return result


def oshrun():
    return BUILD / "bin/oshrun"


def program(name):
    path = BUILD / "tests" / name
    if not path.exists():
        raise Skip(f"{name} is not built here")
    return path


def exchange():
    return program("hosts_exchange")


def needs(tool):
    path = shutil.which(tool)
    if not path:
        raise Skip(f"{tool} is not installed")
    return path


def needs_pmix():
    if not (BUILD / "lib/liblateral-pmix.so").exists():
        raise Skip("built without pmix.h (Debian: libpmix-dev)")


# What starts N copies of a program on this machine, by launcher.
def mpirun(pes):
    if "Open MPI" not in run(needs("mpirun"), "--version").out:
        raise Skip("mpirun is not Open MPI's")
    needs_pmix()
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", pes]


def prterun(pes):
    path = os.path.realpath(needs("prterun"))
    needs_pmix()
    return ["prterun", "--prefix", path.removesuffix("/bin/prterun"), "--map-by", "slot:OVERSUBSCRIBE", "--bind-to",
            "none", "-n", pes]


def hydra(pes):
    return [needs("mpiexec.hydra"), "-n", pes]


def ours(pes):
    return [oshrun(), "-n", pes]


def records(result):
    """What the PEs of exchange.c say, by PE; each says it once and they agree on the job."""
    found = {}
    for text in result.out.splitlines():
        match = LINE.fullmatch(text)
        if match:
            *numbers, key, host = match.groups()
            names = ("pe", "npes", "node", "nodes", "index", "size", "busy")
            record = dict(zip(names, map(int, numbers)), key=key, host=host)
            assert record["pe"] not in found, result
            found[record["pe"]] = record
    for name in ("npes", "nodes", "key"):
        assert len({record[name] for record in found.values()}) <= 1, result
    return found


def whole_job(result, pes):
    """All PEs were there and ended well; their records."""
    assert result.status == 0, result
    found = records(result)
    assert sorted(found) == list(range(pes)) and all(record["npes"] == pes for record in found.values()), result
    return found


def one_account(result, trace, pes):
    """LATERAL_STATS and LATERAL_TRACE of counted.c on several hosts: one table of all PEs, and one timeline by one clock."""
    assert result.status == 0 and re.findall(r"^what (\d+) PEs did$", result.err, re.M) == [str(pes)], result
    rows = re.findall(r"^ +(\d+) +13 +3\.9 KiB", result.err, re.M)
    assert rows == [str(pe) for pe in range(pes)], result
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    barriers = [event for event in events if event["name"] == "shmem_barrier_all"]
    error = 100000          # microseconds, of clocks that are 10,000 s apart
    assert sorted(event["pid"] for event in barriers) == list(range(pes)), barriers
    assert max(e["ts"] for e in barriers) <= min(e["ts"] + e["dur"] for e in barriers) + error, f"nobody leaves before all have come: {barriers}"


def needs_hosts():
    done = subprocess.run([sys.executable, "-B", HOSTS, "--check"], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done


def on_hosts(count, *words, slots=2, env=None, timeout=60):
    """A command on the launch node of new hosts."""
    return run(sys.executable, "-B", HOSTS, count, "--slots", slots, "--", *words, env=env, timeout=timeout)


def on_slurm(count, script, env=None, timeout=100):
    """Shell lines on the launch node of a new Slurm cluster; $0 is exchange.c's program, $1 oshrun."""
    return on_hosts(count, sys.executable, "-B", ROOT / "tools/dev/slurm.py", "--", "sh", "-c", script, exchange(),
                    oshrun(), env=env, timeout=timeout)


def asking(start, pes, verdict):
    """Shell lines: a job in the background, of process $p; when all PEs are there its launcher gets SIGUSR1 until a report has this verdict."""
    return f'{start} >/tmp/out 2>/tmp/told & p=$!; until [ "$(grep -c ready /tmp/out)" = {pes} ]; do sleep 0.1; done; ' \
           f'ask() {{ until grep -q "$1" /tmp/told; do kill -USR1 $p || break; sleep 1; done; }}; ask "{verdict}"; '


LAST = "tac /tmp/told | sed '/where the [0-9]* PEs are:/q' | tac >&2; "     # the last report; earlier ones may have come before the waits


def needs_slurm(plugin=None):
    needs_hosts()
    if plugin == "pmix":
        needs_pmix()
    done = subprocess.run([sys.executable, "-B", ROOT / "tools/dev/slurm.py", "--check"], capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())


def rows(names, name, test, **launchers):
    """Adds a test NAME_LAUNCHER for each launcher, which gets what is given for it: a value, or a tuple of some."""
    for launcher, given in launchers.items():
        names[f"test_{name}_{launcher}"] = functools.partial(test, *(given if isinstance(given, tuple) else (given,)))


def bounded(seconds):
    """Ends the test after so many seconds, and tells where it was. What the end needs gets some more seconds."""
    def late(_, frame):
        print(f"not within {seconds} s:", flush=True)
        traceback.print_stack(frame)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(3)
        raise AssertionError(f"not within {seconds} s")
    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)


def main(names):
    global BUILD
    tests = {name[5:]: test for name, test in names.items() if name.startswith("test_")}
    if sys.argv[1:] == ["--list"]:
        print("\n".join(tests))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("name", choices=sorted(tests))
    options = parser.parse_args()
    BUILD = options.build
    bounded(112)   # louder than CTest's limit, and before it
    try:
        tests[options.name]()
    except Skip as why:
        print("skipped:", why)
        sys.exit(77)
    print(options.name, "holds")
