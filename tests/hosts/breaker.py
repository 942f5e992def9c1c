"""On the launch node of hosts: starts a job, breaks something while it runs, and tells how it ended. Nothing is judged here.

usage: breaker.py OSHRUN PROGRAM PES "MODE" ACTION... [-- ACTION...]

    down LINK | up LINK      vI is the end of host hI's link at the bridge
    sleep SECONDS
    signal NAME PE|hI        a PE, or all of a host
    daemon hI [NAME]         SIGKILL to the launcher's daemon there, by a part of its command line; without it, to all processes there
    launcher                 SIGKILL to what oshrun has become
    again                    waits for the end; then another job must go through
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

LIMIT = 40          # for a job that should have ended
LEFT = 15           # for PEs that nobody ends but themselves


def processes():
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as file:
                yield int(name), file.read().replace("\0", " "), os.readlink(f"/proc/{name}/ns/net")
        except OSError:
            continue


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Job:
    def __init__(self, oshrun, program, pes, mode):
        self.lines, self.pids, self.hosts = [], {}, {}
        self.ready, self.wanted = threading.Event(), pes
        words = [oshrun, "--hostfile", os.environ["TEST_HOSTFILE"], "-n", str(pes), program, *mode.split()]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if not self.ready.wait(30):
            self.process.kill()
            raise SystemExit(f"the job does not start: {self.lines}")

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["ready"]:
                self.pids[int(words[1])], self.hosts[int(words[1])] = int(words[2]), words[3]
                if len(self.pids) == self.wanted:
                    self.ready.set()
            else:
                self.lines.append(line.rstrip())

    def end(self):
        start = time.monotonic()
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            status = None
        seconds = time.monotonic() - start
        while any(map(alive, self.pids.values())) and time.monotonic() < start + seconds + LEFT:
            time.sleep(0.05)
        left = [pe for pe, pid in self.pids.items() if alive(pid)]
        self.reader.join(LEFT)      # the last lines may not be read yet
        return {"status": status, "seconds": seconds, "gone": time.monotonic() - start, "left": left, "lines": self.lines}


def of_host(job, host):
    return [pid for pe, pid in job.pids.items() if job.hosts[pe] == host]


def act(job, words):
    what, *rest = words
    if what in ("down", "up"):
        subprocess.run(["ip", "link", "set", rest[0], what], check=True)
    elif what == "sleep":
        time.sleep(float(rest[0]))
    elif what == "signal":
        for pid in [job.pids[int(rest[1])]] if rest[1].isdigit() else of_host(job, rest[1]):
            with contextlib.suppress(ProcessLookupError):   # the launcher kills the others of a host when it sees the first one's end
                os.kill(pid, getattr(signal, "SIG" + rest[0]))
    elif what == "daemon":
        place = os.readlink(f"/proc/{of_host(job, rest[0])[0]}/ns/net")
        found = [pid for pid, line, where in processes() if where == place and
                 (rest[1] in line and pid not in job.pids.values() if rest[1:] else "sleep" not in line)]
        for how, pid in [(how, pid) for how in (signal.SIGSTOP, signal.SIGKILL) for pid in found]:   # all end at once
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)
    elif what == "launcher":
        job.process.kill()
    else:
        raise SystemExit(f"breaker: {what}?")


def actions(words):
    one = []
    for word in [*words, "--"]:
        if word != "--":
            one.append(word)
        elif one:
            yield one
            one = []


def main(oshrun, program, pes, mode, *words):
    job, results = Job(oshrun, program, int(pes), mode), []
    for action in actions(words):
        if action == ["again"]:
            results.append(job.end())
            job = Job(oshrun, program, int(pes), "rounds 2")
        else:
            act(job, action)
    results.append(job.end())
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
