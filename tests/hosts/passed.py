#!/usr/bin/env python3
"""Runs a program that prints PASS, for those whose end may hang.

usage: passed.py LIMIT GRACE PROGRAM [ARGUMENTS]    ends it LIMIT seconds after its start, and GRACE seconds after its PASS

Prints what the program prints. Exit status: the program's, or 124 when it was ended.
"""
import os
import signal
import subprocess
import sys
import threading


def main():
    limit, grace = float(sys.argv[1]), float(sys.argv[2])
    late = False
    with subprocess.Popen(sys.argv[3:], stdout=subprocess.PIPE, text=True, start_new_session=True) as program:
        def end():
            nonlocal late
            late = True
            os.killpg(program.pid, signal.SIGTERM)      # a launcher that is asked to end ends its ranks
            try:
                program.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(program.pid, signal.SIGKILL)
        timers = [threading.Timer(limit, end)]
        timers[0].start()
        for line in program.stdout:
            print(line, end="", flush=True)
            if line == "PASS\n":
                timers.append(threading.Timer(grace, end))
                timers[-1].start()
        status = program.wait()
    for timer in timers:
        timer.cancel()
    return 124 if late else status


if __name__ == "__main__":
    sys.exit(main())
