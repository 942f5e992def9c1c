"""Makes the Nth call of a kind fail in a job of two PEs, for some N or for each (failing.c): the job ends with success, or with
a line and a status other than 0. It does not crash, hang, or leave a process. That another launcher's own process crashes, or waits
although all PEs have ended, is told, and is no fault of ours (--self tries that both are told apart). mpirun does both now and then
when a PE ends during its start: libpmix's server (4.2) keeps a lock."""
import argparse
import ctypes
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CALLS = ("malloc", "mmap", "ftruncate", "socket", "memfd", "fork", "thread", "copy", "file")
WHO = ("launcher", "pe0", "pe1", "all")
CRASH = re.compile(r"signal (4|6|7|8|11)\b|SIGSEGV|SIGABRT|SIGBUS|Segmentation|Aborted|Assertion|corrupted|free\(\)|dumped")
CRASH_SIGNALS = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
CRASH_STATUS = tuple(-number for number in CRASH_SIGNALS)
# The C library itself ends a process, with a line, that has no memory for a destructor of a thread's variables.
C_LIBRARY_ENDS = r"Fatal glibc error: failed to register TLS destructor: out of memory(.*signal 6 \(Aborted\))?"
SAID = re.compile(r"^(lateral|oshrun|busy|\[\d+\] lateral|.*error while loading shared libraries):?", re.M)
SECONDS = 20


def patience():
    """A machine with many more runnable processes than processors gives each of ours so much less time."""
    return SECONDS * max(1, os.getloadavg()[0] / (4 * os.cpu_count()))


CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_", "SLURM_"))}


def be_parent_of_orphans():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)                  # PR_SET_CHILD_SUBREAPER


def left_over():
    """Processes of a job that is over. Those that are about to go get a moment."""
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    for _ in range(300):
        pids = [int(word) for word in children.read_text().split()]
        for pid in pids:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
        if not pids:
            return []
        signal.sigtimedwait([], 0.01)
    names = []
    for pid in pids:
        names.append(pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
        os.kill(pid, signal.SIGKILL)
    return names


LAUNCHERS = {"oshrun": [], "mpirun": ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"], "hydra": ["mpiexec.hydra", "-n", "2"]}
ROOT_TOO = {f"OMPI_ALLOW_RUN_AS_ROOT{more}": "1" for more in ("", "_CONFIRM")}


def needs_launcher(name):
    """Exits when this machine does not have it."""
    if name == "oshrun":
        return
    path = shutil.which(LAUNCHERS[name][0])
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, env=CLEAN | ROOT_TOO).stdout if path else ""
    if not path or (name == "mpirun" and "Open MPI" not in said):
        print(f"skipped: no {LAUNCHERS[name][0]}" + (" of Open MPI" if name == "mpirun" else ""))
        sys.exit(77)


class Sweep:
    def __init__(self, options):
        self.launcher = options.launcher
        self.command = [*(LAUNCHERS[self.launcher] or [options.oshrun, "-n", "2"]), options.program]
        self.preload, self.verbose, self.wrong = options.preload, options.verbose, []
        self.runs = self.failed = self.theirs = 0
        self.hit = tempfile.NamedTemporaryFile(prefix="failing")

    def run(self, call, who, at, more=False, env=None):
        """Returns False when no process made so many calls."""
        self.hit.truncate(0)
        how = {"FAIL_CALL": call, "FAIL_WHO": who, "FAIL_AT": str(at), "FAIL_HIT": self.hit.name, "LD_PRELOAD": self.preload}
        how |= ({"FAIL_MORE": "1"} if more else {}) | (env or {})
        command = self.command
        if self.launcher != "oshrun":                        # whose own processes are not ours to try
            words = [f"{name}={value}" for name, value in (how | {"FAIL_OURS": "1"}).items()]
            command, how = [*command[:-1], "env", *words, command[-1]], ROOT_TOO
        ended = self.finish(command, CLEAN | how)
        hit = pathlib.Path(self.hit.name).read_text().split()
        self.judge(f"{call} {at}{' and all later' if more else ''} of {who} ({' '.join(hit) or 'not reached'})", *ended)
        return bool(hit)

    def finish(self, command, env, meddle=None):
        """The job's status ("hung" if it has none in time, "hung alone" if its PEs have ended), the launcher's pid, and what was written."""
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", env=env) as job:
            if meddle:
                meddle(job.pid)
            try:
                out, err = job.communicate(timeout=patience())
                return job.returncode, job.pid, out, err
            except subprocess.TimeoutExpired as hung:
                status = "hung" if any(map(is_alive, descendants(job.pid))) else "hung alone"
                job.kill()
                return status, job.pid, (hung.stdout or b"").decode(), (hung.stderr or b"").decode()

    def judge(self, what, status, launcher, out, err):
        left = left_over()
        hung = isinstance(status, str)
        theirs = self.launcher != "oshrun" and (status == "hung alone" or status in CRASH_STATUS)
        err = re.sub(rf"^\[[^\]\n]*:0*{launcher}\] .*\n?", "", err, flags=re.M) if theirs else err
        err = re.sub(C_LIBRARY_ENDS, "busy: no memory", err, flags=re.S)
        status = 1 if "busy: no memory" in err and status == 134 else status
        crashed = (status in CRASH_STATUS and not theirs) or (not hung and status - 128 in CRASH_SIGNALS) or CRASH.search(err) or \
            (self.launcher == "hydra" and (status in CRASH_SIGNALS or CRASH.search(out)))
        words = [("hung" if hung and not theirs else ""), ("crashed" if crashed else ""),
                 (f"left {left}" if left else ""), ("said nothing" if status and not theirs and not SAID.search(err) else ""),
                 ("claims success" if status == 0 and out.split() != ["fine", "fine"] else "")]
        words = [word for word in words if word]
        told = words + ([f"{self.launcher} itself {'hung' if hung else 'crashed'}"] if theirs else [])
        if told or self.verbose:
            print(f"{what}: status {status}: {', '.join(told) or 'as it should'}\n    {err.strip()[:600]}", flush=True)
        self.runs, self.failed, self.theirs = self.runs + 1, self.failed + (status != 0), self.theirs + theirs
        if words:
            self.wrong.append(what)


NODES = {"LATERAL_NODE_SIZE": "1", "LATERAL_TRANSPORTS": "tcp"}


def sample(sweep, rng, count):
    """Some calls of each kind, more where there are more."""
    whose = WHO if sweep.launcher == "oshrun" else WHO[1:]
    kinds = ({}, {"LATERAL_PROGRESS": "thread"}, NODES) if sweep.launcher == "oshrun" else ({}, {"LATERAL_PROGRESS": "thread"})
    ends = {"malloc": 24, "mmap": 12, "socket": 4, "ftruncate": 4, "memfd": 2, "fork": 3, "thread": 2, "copy": 3, "file": 24}
    for i in range(count):
        call = CALLS[i % len(CALLS)] if i % 3 else "malloc"
        sweep.run(call, rng.choice(whose), rng.randint(1, ends[call]), more=rng.random() < 0.2, env=rng.choice(kinds))


def everything(sweep):
    whose = WHO if sweep.launcher == "oshrun" else WHO[1:]
    for call in CALLS:
        for who in whose[:-1]:
            at = 1
            while sweep.run(call, who, at):
                at += 1
        for who in whose:
            at = 1
            while sweep.run(call, who, at, more=True) and at < 40:
                at += 1
    for call in CALLS if sweep.launcher == "oshrun" else ():
        for more in (False, True):
            at = 1
            while sweep.run(call, "pe0", at, more, NODES) and (at < 40 or not more):
                at += 1


def answers(sweep, seed):
    """Every third malloc of a PE whose peer is on another node: what waits to be sent, and what has to be answered, lies in such memory."""
    at = 1 + seed % 3
    while sweep.run("malloc", "pe0", at, env=NODES):
        at += 3


def descendants(pid):
    try:
        children = [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return children + [below for child in children for below in descendants(child)]


def is_alive(pid):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def try_self(sweep):
    """Lets a PE crash, which must be seen, then the launcher, which must count only if it is ours. Both PEs have started by then: a
    process that dies while it calls mpirun leaves a lock of libpmix's server (4.2) held, and mpirun then waits for ever at its end."""
    def crash(pe):
        def meddle(launcher):
            end, pes = time.monotonic() + patience(), []
            while len(pes) < 2:
                assert time.monotonic() < end, f"{pes} of two PEs have started in {SECONDS} s"
                time.sleep(0.01)
                pes = [pid for pid in descendants(launcher) if name_of(pid) == "busy for ever"]
            os.kill(pes[0] if pe else launcher, signal.SIGSEGV)
        return meddle
    for pe in (True, False):
        before = len(sweep.wrong), sweep.theirs
        ended = sweep.finish([*sweep.command, "for ever"], CLEAN | ROOT_TOO, crash(pe))
        sweep.judge("a PE crashes" if pe else "the launcher crashes", *ended)
        assert isinstance(ended[0], int), f"{sweep.launcher} has not ended the job in {SECONDS} s"
        counted, theirs = len(sweep.wrong) - before[0], sweep.theirs - before[1]
        ours = pe or sweep.launcher == "oshrun"
        if (counted, theirs) != (ours, not ours):
            sys.exit(f"{'a PE' if pe else sweep.launcher} crashed: counted {counted} times as ours, {theirs} times as the launcher's")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oshrun", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--preload", required=True)
    parser.add_argument("--launcher", choices=LAUNCHERS, default="oshrun")
    parser.add_argument("--all", action="store_true", help="each N")
    parser.add_argument("--far", action="store_true", help="every third N of malloc, over a network")
    parser.add_argument("--count", type=int, default=40, help="runs of a sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", nargs=3, metavar=("CALL", "WHO", "N"), help="this run alone")
    parser.add_argument("--self", action="store_true", help="try whether crashes of PEs and of the launcher are told apart")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    needs_launcher(options.launcher)
    be_parent_of_orphans()
    sweep = Sweep(options)
    if options.self:
        try_self(sweep)
        return
    if options.one:
        sweep.run(options.one[0], options.one[1], int(options.one[2]))
    elif options.all:
        everything(sweep)
    elif options.far:
        answers(sweep, options.seed)
    else:
        sample(sweep, random.Random(options.seed), options.count)
    theirs = f"; {options.launcher} itself crashed or hung {sweep.theirs} times" if sweep.theirs else ""
    print(f"{sweep.runs} runs, {sweep.failed} ended with a failure, {len(sweep.wrong)} wrongly{theirs}")
    sys.exit(1 if sweep.wrong else 0)


if __name__ == "__main__":
    main()
