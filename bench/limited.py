"""Runs a parallel program that may never end: an MPI may hang in MPI_Finalize, or wait for a target that never answers.

The limit is on silence. A program that prints each result as it has it loses those after the one that hangs, and no others.
What the launcher has started ends with it, also in sessions of its own."""
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

PATIENCE = 2                                               # seconds for a launcher to end its ranks by itself

# status: of the launcher; None: it was ended after `limit` seconds of silence.
Ended = namedtuple("Ended", "stdout stderr status seconds")


def parents():
    """Returns {process: (its parent, when it started)} of this machine."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found[int(path.parent.name)] = int(words[1]), words[19]
    return found


def descendants(root):
    """Returns {process: when it started} of `root` and of all below it."""
    known = parents()
    found = {root: known[root][1]} if root in known else {}
    grown = bool(found)
    while grown:
        more = {pid: began for pid, (parent, began) in known.items() if parent in found and pid not in found}
        found.update(more)
        grown = bool(more)
    return found


def kill(processes):
    known = parents()
    for pid, began in processes.items():
        if pid in known and known[pid][1] == began:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def end(process):
    """Ends a launcher and all that it has started."""
    below = descendants(process.pid)
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        below.update(descendants(process.pid))
    kill(below)
    process.wait()


def drain(pipe, parts):
    """Reads what is there. Returns whether more may come."""
    while True:
        try:
            part = os.read(pipe.fileno(), 65536)
        except BlockingIOError:
            return True
        if not part:
            return False
        parts.append(part)


def follow(process, parts, limit):
    """Reads until the launcher has ended. Returns False after `limit` seconds of silence. Left processes may keep the pipes
    open, so their end says nothing."""
    gone = os.pidfd_open(process.pid)
    with selectors.DefaultSelector() as events:
        events.register(gone, selectors.EVENT_READ, None)
        for pipe in parts:
            os.set_blocking(pipe.fileno(), False)
            events.register(pipe, selectors.EVENT_READ, pipe)
        try:
            while ready := events.select(limit):
                for key, _ in ready:
                    if key.data and not drain(key.data, parts[key.data]):
                        events.unregister(key.data)
                if any(key.data is None for key, _ in ready):
                    return True
            return False
        finally:
            os.close(gone)


def end_on_signals():
    """Makes SIGTERM end this script as Ctrl-C does: with the program that runs."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def run(command, env, limit):
    start = time.perf_counter()
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          start_new_session=True, env={**os.environ, **env}) as process:
        parts = {process.stdout: [], process.stderr: []}
        try:
            ended = follow(process, parts, limit)
        except BaseException:                              # a signal for this script
            end(process)
            raise
        seconds = time.perf_counter() - start
        status = process.wait() if ended else end(process)
        for pipe, seen in parts.items():
            drain(pipe, seen)
    texts = [b"".join(seen).decode(errors="replace") for seen in parts.values()]
    return Ended(*texts, status, seconds)
