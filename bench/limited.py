"""Runs a parallel program that may never end: an MPI may hang in MPI_Finalize, or wait for a target that never answers.

The limit is on silence. A program that prints each result as it has it loses those after the one that hangs, and no others.
What the launcher has started ends with it, also in sessions of its own."""
import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

PATIENCE = 2                                               # seconds for a launcher to end its ranks by itself
LOOK = 1                                                   # seconds between looks at what the program has said

# status: of the launcher; None: it was ended after `limit` seconds of silence.
Ended = namedtuple("Ended", "stdout stderr status seconds")


def descendants(pid):
    """Yields the processes below this one."""
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = path.read_text(encoding="ascii").split()
        except OSError:                                    # it has just ended
            continue
        for child in map(int, children):
            yield child
            yield from descendants(child)


def end(process):
    """Ends a launcher and all that it has started."""
    held = {}

    def hold():
        for pid in descendants(process.pid):
            with contextlib.suppress(ProcessLookupError):
                held[pid] = held.get(pid) or os.pidfd_open(pid)
    hold()
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        hold()
        process.kill()
    for handle in held.values():
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)
    process.wait()


def await_end(process, files, limit):
    """Returns whether the launcher has ended by itself. Processes that it has left say nothing of its end."""
    said, at = 0, time.monotonic()
    gone = os.pidfd_open(process.pid)
    try:
        while not select.select([gone], [], [], min(LOOK, limit / 2))[0]:
            now = sum(os.fstat(file.fileno()).st_size for file in files)
            if now != said:
                said, at = now, time.monotonic()
            elif time.monotonic() - at >= limit:
                return False
        return True
    finally:
        os.close(gone)


def end_on_signals():
    """Makes SIGTERM end this script as Ctrl-C does: with the program that runs."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def run(command, env, limit):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        with subprocess.Popen([str(part) for part in command], stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True,
                              env={**os.environ, **env}) as process:
            try:
                ended = await_end(process, (out, err), limit)
            except BaseException:                          # a signal for this script
                end(process)
                raise
            seconds = time.perf_counter() - start
            status = process.wait() if ended else end(process)
        texts = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace") for file in (out, err)]
    return Ended(*texts, status, seconds)
