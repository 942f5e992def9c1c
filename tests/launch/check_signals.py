#!/usr/bin/env python3
"""Signals to oshrun, and the terminal: Ctrl-C, Ctrl-Z, reading from the background."""
import contextlib
import fcntl
import os
import pathlib
import pty
import signal
import subprocess
import termios
import time

import harness
from harness import SOON, all_gone, children, supervisor_of, is_alive, numbers, read_lines, started, state, wait_until


def ready(job, pes):
    """The pids of the PEs once all have said that they run."""
    return numbers(read_lines(job, pes), "pid")


def pending(pid):
    """The signals that have been sent to the process and not taken."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        mask = next(int(line.split()[1], 16) for line in file if line.startswith("ShdPnd:"))
    return {number for number in signal.valid_signals() if mask >> (number - 1) & 1}


def ends_by(number, words=("init", "pid", "sleep:60000"), pes=3):
    with started("-n", pes, harness.PE, *words) as job:
        pids = [supervisor_of(job), *ready(job, pes)]
        job.send_signal(number)
        status = job.wait(SOON)
        all_gone(pids)
        return status, job.stdout.read().decode(), job.stderr.read().decode()


def test_end():
    """SIGINT, SIGTERM, SIGHUP, SIGQUIT end the job with 128 + signal; SIGINT in silence, SIGQUIT with every PE's place."""
    for number, words in ((signal.SIGINT, ""), (signal.SIGTERM, "signal 15 (Terminated)"), (signal.SIGHUP, "signal 1 (Hangup)"),
                          (signal.SIGQUIT, "signal 3 (Quit)")):
        status, _, err = ends_by(number)
        assert status == 128 + number, (number, status)
        assert words in err and err.count("\n") in ((2, 3, 4) if number == signal.SIGQUIT else (len(words) > 0,)), err   # a line for each place


def test_end_stubborn():
    """PEs that ignore SIGTERM are killed after the grace; those that catch it have their say."""
    status, _, _ = ends_by(signal.SIGTERM, ("ignore:15", "pid", "sleep:60000"))
    assert status == 143
    status, out, _ = ends_by(signal.SIGTERM, ("catch:15", "pid", "sleep:60000"))
    assert status == 143 and out.count("caught 15") == 3, out


def test_end_while_starting():
    """SIGTERM while hundreds of PEs are being started."""
    with started("-n", 500, harness.PE, "sleep:60000") as job:
        supervisor = supervisor_of(job)
        time.sleep(0.05)
        pids = children(supervisor)
        job.send_signal(signal.SIGTERM)
        assert job.wait(10) == 143
        all_gone([supervisor, *pids])


def test_end_with_full_pipe():
    """Ctrl-C works although nobody reads the output."""
    with started("-n", 3, harness.PE, "flood") as job:
        assert os.read(job.stdout.fileno(), 1)      # the job is under way
        time.sleep(0.3)
        job.send_signal(signal.SIGINT)
        assert job.wait(5) == 130


def test_user_signals():
    """SIGUSR1 and SIGUSR2 reach every PE once; the job goes on."""
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        with started("-n", 3, harness.PE, f"catch:{number.value}", "pid", "sleep:1000") as job:
            ready(job, 3)
            job.send_signal(number)
            assert job.wait(10) == 0
            assert job.stdout.read().decode().split() == ["caught", str(number.value)] * 3


def test_stop_and_go():
    """SIGTSTP stops oshrun and the PEs, SIGCONT lets them go on."""
    with started("-n", 2, harness.PE, "pid", "sleep:1500", "out:done\\n") as job:
        pids = ready(job, 2)
        job.send_signal(signal.SIGTSTP)
        wait_until(lambda: [state(pid) for pid in (job.pid, *pids)] == ["T"] * 3, "all are stopped")
        job.send_signal(signal.SIGCONT)
        wait_until(lambda: "T" not in [state(pid) for pid in (job.pid, *pids)], "all go on")
        assert job.wait(10) == 0
        assert job.stdout.read().decode().split() == ["done", "done"]


def test_end_while_stopped():
    """A stopped job can be ended."""
    with started("-n", 2, harness.PE, "pid", "sleep:60000") as job:
        pids = ready(job, 2)
        job.send_signal(signal.SIGTSTP)
        wait_until(lambda: [state(pid) for pid in (job.pid, *pids)] == ["T"] * 3, "all are stopped")
        job.send_signal(signal.SIGTERM)
        job.send_signal(signal.SIGCONT)
        assert job.wait(SOON) == 143
        all_gone(pids)


def test_stopped_pe_hears():
    """A PE that is stopped hears that the job ends."""
    result = harness.run("-n", 2, harness.PE, f"catch:{signal.SIGTERM.value}", "@0", "stop", "sleep:60000", "@1", "sleep:300", "exit:3")
    assert result.status == 3 and result.out.split() == ["caught", str(signal.SIGTERM.value)], result


def test_stopped_supervisor_stays_stopped():
    """Only what ends the job wakes a supervisor that somebody has stopped."""
    with started("-n", 1, harness.PE, "ignore:10", "pid", "sleep:60000") as job:
        supervisor, pids = supervisor_of(job), ready(job, 1)
        os.kill(supervisor, signal.SIGSTOP)
        wait_until(lambda: state(supervisor) == "T", "the supervisor is stopped")
        job.send_signal(signal.SIGUSR1)
        wait_until(lambda: signal.SIGUSR1 in pending(supervisor) or state(supervisor) != "T", "the signal waits at the supervisor")
        time.sleep(0.1)
        assert state(supervisor) == "T", f"SIGUSR1 to oshrun woke the supervisor, which is in state {state(supervisor)}"
        job.send_signal(signal.SIGTERM)
        assert job.wait(SOON) == 143
        all_gone(pids)


def test_nohup():
    """Under nohup a hangup does not end the job."""
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with started("-n", 2, harness.PE, "pid", "sleep:400", "out:done\\n", preexec_fn=ignore) as job:
        ready(job, 2)
        job.send_signal(signal.SIGHUP)
        assert job.wait(10) == 0


def describe(session):
    """A line for each process of a session: name, state, where it sleeps in the kernel, signals that wait for it."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            if int(rest.split()[3]) == session:
                yield f"{name} {folder.name} {rest.split()[0]} {(folder / 'wchan').read_text()} {pending(folder.name)}"


class Terminal:
    """A terminal with this process as its other end; jobs run in its foreground like a shell's."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        settings = termios.tcgetattr(self.slave)
        settings[3] &= ~termios.ECHO
        settings[1] &= ~termios.OPOST
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        self.seen = b""
        self.before = b""       # what has been read and matched

    def start(self, *words, foreground=True):
        """A session leader that puts oshrun into a process group of its own, and waits as a shell does."""
        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        script = SHELL.replace("FOREGROUND", str(foreground))
        self.shell = subprocess.Popen([harness.sys.executable, "-c", script, *harness.command(*words)], stdin=self.slave, stdout=self.slave,
                                      stderr=self.slave, preexec_fn=take_terminal, env=harness.CLEAN)
        return self.shell

    def type(self, data):
        os.write(self.master, data)

    def until(self, text, seconds=10):
        """Read what appears until this text does."""
        os.set_blocking(self.master, False)
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, "\n".join([f"no {text!r} in {self.seen!r} after {self.before!r}", *describe(self.shell.pid)])
            with contextlib.suppress(BlockingIOError, OSError):
                self.seen += os.read(self.master, 65536)
            time.sleep(0.005)
        before, _, self.seen = self.seen.partition(text)
        self.before += before + text
        return before

    def close(self):
        os.close(self.master)
        os.close(self.slave)


# What a shell does for one job: a group, the terminal, waiting; "fg" on a line after a stop.
SHELL = r"""
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTSTP, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    if FOREGROUND: os.tcsetpgrp(0, os.getpid())
    for name in ("SIGTTOU", "SIGINT", "SIGTSTP"): signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(pid, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status): break
    os.write(1, b"<stopped>\n")
    os.read(0, 100)
    os.tcsetpgrp(0, pid)
    os.killpg(pid, signal.SIGCONT)
os.write(1, b"<signal %d>\n" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else b"<status %d>\n" % os.WEXITSTATUS(status))
"""


@contextlib.contextmanager
def in_terminal(*words, **more):
    terminal = Terminal()
    shell = terminal.start(*words, **more)
    try:
        yield terminal
        shell.wait(10)
    finally:
        shell.kill()
        shell.wait()
        terminal.close()


def test_terminal_interrupt():
    """Ctrl-C: everything ends, no word from oshrun, and the shell sees a death by SIGINT."""
    for words in (("init", "out:ready\\n", "sleep:60000"), ("ignore:2", "init", "out:ready\\n", "sleep:60000")):
        with in_terminal("-n", 2, harness.PE, *words) as terminal:
            terminal.until(b"ready\nready\n")
            terminal.type(b"\x03")
            assert b"oshrun" not in terminal.until(b"<signal 2>")


def test_terminal_stop():
    """Ctrl-Z stops the whole job, fg continues it."""
    with in_terminal("-n", 2, harness.PE, "out:ready\\n", "sleep:500", "out:done\\n") as terminal:
        terminal.until(b"ready\nready\n")
        terminal.type(b"\x1a")
        terminal.until(b"<stopped>")
        terminal.type(b"\n")
        terminal.until(b"<status 0>")


def test_terminal_input():
    """PE 0 reads the terminal; with one PE it also writes to it directly."""
    for pes in (1, 2):
        with in_terminal("-n", pes, harness.PE, "@0", "out:name? ", "read") as terminal:
            terminal.until(b"name? ")
            terminal.type(b"me\n")
            terminal.until(b"me\n")
            terminal.type(b"\x04")
            terminal.until(b"<status 0>")


def test_terminal_background_read():
    """PE 0 reads while the job is in the background: the shell sees the job stop; fg lets it read."""
    with in_terminal("-n", 2, harness.PE, "@0", "read", foreground=False) as terminal:
        terminal.until(b"<stopped>")
        terminal.type(b"\n")
        time.sleep(0.1)
        terminal.type(b"text\n")
        terminal.until(b"text\n")
        terminal.type(b"\x04")
        terminal.until(b"<status 0>")


def test_terminal_debugger():
    """A debugger in the terminal: Ctrl-C stops its program, not the job; it goes on and ends."""
    harness.needs("gdb")
    for others in ([], [":", "-n", 1, harness.PE, "init", "await:0", "sleep:100", "final"]):
        with in_terminal("-n", 1, "-x", "TERM=dumb", "gdb", "-q", "-nx", "-ex", "set confirm off", "-ex", "set debuginfod enabled off",
                         "--args", harness.PE, "init", "out:ready\\n", "sleep:2000", "final", "exit:3", *others) as terminal:
            terminal.until(b"(gdb) ")
            terminal.type(b"run\n")
            terminal.until(b"\nready")      # not the word in gdb's own line "Starting program"
            terminal.type(b"\x03")
            terminal.until(b"SIGINT")
            terminal.until(b"(gdb) ")
            terminal.type(b"continue\n")
            terminal.until(b"exited with code 03")
            terminal.until(b"(gdb) ")
            terminal.type(b"quit\n")
            terminal.until(b"<status 0>")


def test_terminal_unread():
    """Nobody reads the terminal: the job can still be ended."""
    terminal = Terminal()
    shell = terminal.start("-n", 2, "--timeout", 1, harness.PE, "flood")
    try:
        wait_until(lambda: harness.children(shell.pid), "oshrun runs")
        wait_until(lambda: not harness.children(shell.pid), "oshrun ends at its time limit while its terminal is full",
                   harness.SOON)
        terminal.until(b"<status 124>")
        shell.wait(10)
    finally:
        shell.kill()
        shell.wait()
        terminal.close()


def test_terminal_hangup():
    """The terminal goes away: so does the job."""
    terminal = Terminal()
    shell = terminal.start("-n", 2, harness.PE, "pid", "out:ready\\n", "sleep:60000")
    lines = terminal.until(b"ready\n").decode() + terminal.until(b"ready\n").decode()
    pids = numbers([line for line in lines.splitlines() if line], "pid")
    assert len(pids) == 2 and all(map(is_alive, pids))
    shell.kill()
    shell.wait()
    terminal.close()
    all_gone(pids)


if __name__ == "__main__":
    harness.main(globals())
