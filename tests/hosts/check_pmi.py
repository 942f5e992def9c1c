"""A launcher of our own that speaks PMI-1 and misbehaves: a PE ends with one line, never with a crash or a hang."""
import base64
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

import harness
from harness import CLEAN, exchange, program


def words_of(line):
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def piece(size, bytes_):
    return f"{size}." + base64.urlsafe_b64encode(b"A" * bytes_).decode().rstrip("=")


class Launcher:
    """Serves one process; what it says of itself is kept by key. `change(key, value)` gives what a get is answered."""

    def __init__(self, size, change=None, silent_after=None, gone_after=None):
        self.size, self.change, self.silent_after, self.gone_after = size, change or (lambda key, value: value), silent_after, gone_after
        self.values, self.heard = {"Lmeeting.0.0": piece(16, 16)}, []      # of a PE 0 that is not there

    def answer(self, line):
        words = words_of(line)
        kind = words.get("cmd")
        if kind == "put":
            self.values[words["key"]] = words["value"]
            return "cmd=put_result rc=0\n"
        if kind == "get":
            value = self.change(words["key"], self.values.get(words["key"]))
            return f"cmd=get_result rc=0 value={value}\n" if value is not None else "cmd=get_result rc=1\n"
        return {"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
                "initack": f"cmd=initack rc=0\ncmd=set size={self.size}\ncmd=set rank=0\ncmd=set debug=0\n",
                "get_my_kvsname": "cmd=my_kvsname kvsname=kvs_test\n", "barrier_in": "cmd=barrier_out\n",
                "get_appnum": "cmd=appnum appnum=0\n", "finalize": "cmd=finalize_ack\n"}.get(kind, "")

    def serve(self, end):
        lines = end.makefile("r")
        for line in lines:
            self.heard.append(words_of(line).get("cmd"))
            if self.heard[-1] == self.silent_after:
                time.sleep(20)
            if self.gone_after == (self.heard[-1], self.heard.count(self.heard[-1])):
                end.shutdown(socket.SHUT_RDWR)
                return
            end.sendall(self.answer(line).encode())

    def run(self, *words, env=None, timeout=15):
        """The process as PE 0, connected by PMI_FD."""
        mine, its = socket.socketpair()
        env = CLEAN | {"PMI_FD": str(its.fileno()), "PMI_RANK": "0", "PMI_SIZE": str(self.size)} | (env or {})
        threading.Thread(target=self.serve, args=(mine,), daemon=True).start()
        start = time.monotonic()
        done = subprocess.run(list(map(str, words)), env=env, pass_fds=[its.fileno()], capture_output=True, text=True,
                              errors="replace", timeout=timeout, check=False)
        its.close()
        print(done.returncode, done.stdout, done.stderr)
        return harness.Result([str(word) for word in words], done, time.monotonic() - start)


def one_line(result, pattern):
    lines = [line for line in result.err.splitlines() if line.startswith("lateral:")]
    assert result.status in (1, 134) and any(re.search(pattern, line) for line in lines), result
    assert result.status == 1 or "Assertion" in result.err, result      # exchange.c asserts that rte_init succeeds
    return lines


def only_line(result, pattern):
    """What follows from a fault is not told as further faults."""
    assert len(one_line(result, pattern)) == 1, result


def test_whole():
    """A launcher that behaves."""
    result = Launcher(1).run(exchange())
    assert result.status == 0 and "pe 0 npes 1" in result.out, result


def test_pieces():
    """Pieces of a value that contradict each other, are missing, or are more than was announced."""
    told = r"PE 1 has not told its node, or the launcher \(PMI\) has changed it"
    for first, second in ((piece(8, 4), piece(100000, 480)), (piece(8, 4), piece(8, 480)), (piece(8, 4), piece(9, 4)), (piece(8, 4), None),
                          (piece(8, 9), None), (piece(2**62, 480), None), (piece(8, 0), None), ("8", None), ("8.!!!", None)):
        def change(key, value, first=first, second=second):
            return {"Lnode.1.0": first, "Lnode.1.1": second}.get(key, value)
        only_line(Launcher(2, change).run(exchange()), told)


def test_silent():
    """A launcher that stops answering is given up after LATERAL_PEER_TIMEOUT seconds."""
    for kind in ("init", "get"):
        result = Launcher(2, silent_after=kind).run(exchange(), env={"LATERAL_PEER_TIMEOUT": "1"})
        only_line(result, r"connection to the launcher \(PMI\) is lost: it has not answered")
        assert result.seconds < 8, result


class Damaging(Launcher):
    """Answers one kind of request with other bytes."""

    def __init__(self, kind, bytes_):
        super().__init__(2)
        self.kind, self.bytes = kind, bytes_

    def answer(self, line):
        return self.bytes if words_of(line).get("cmd") == self.kind else super().answer(line)


def test_damaged():
    """An answer that no further byte can make right is not waited for: a PE says what came and ends at once."""
    no_text = r"the launcher \(PMI\) answers in bytes that are no text"
    for kind, bytes_, told in (("init", "cmd=my_kvsname kvsn", r"'cmd=my_kvsname kvsn' where response_to_init was due; start the program"),
                               ("get_my_kvsname", "cmd=appnum rc=0\n", r"'cmd=appnum rc=0' where my_kvsname was due"),
                               ("put", "rc=0 cmd=get_result rc", r"'rc=0 cmd=get_result rc' where put_result was due"),
                               ("put", "cmd=put_result rc=0 \0\n", no_text), ("get", "cmd=get_\1", no_text), ("get", "\x7f\2\3", no_text),
                               ("barrier_in", "cmd=finalize_ack rc=0", "where barrier_out was due"),
                               ("put", "x" * 5000, "a line is too long")):
        result = Damaging(kind, bytes_).run(exchange(), env={"PMI_RANK": "1"})      # PE 1 puts before it gets
        only_line(result, told)
        assert result.seconds < 5, result


def test_cut():
    """The beginning of a right answer, behind which the launcher is silent, is waited for as long as the launcher may be silent."""
    result = Damaging("put", "cmd=put_result r").run(exchange(), env={"PMI_RANK": "1", "LATERAL_PEER_TIMEOUT": "3"})
    only_line(result, "it has not answered for as long as LATERAL_PEER_TIMEOUT says")
    assert 3 <= result.seconds < 8, result


def test_name_too_long():
    """A PMI_ID that no request can hold."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        env = CLEAN | {"PMI_PORT": f"127.0.0.1:{door.getsockname()[1]}", "PMI_ID": "7" * 5000}
        done = subprocess.run([str(exchange())], env=env, capture_output=True, text=True, timeout=15, check=False)
        print(done.stderr)
        assert "PMI_FD, PMI_PORT) but cannot be reached: Message too long" in done.stderr, done
        end = door.accept()[0]
        assert end.recv(100000) == b"", "part of a request was sent"


def meeting_points():
    return {line.split()[-1] for line in pathlib.Path("/proc/net/unix").read_text().splitlines() if "@lateral-" in line}


class Listing(Launcher):
    """Notes the names of sockets that come until its PE waits in a barrier; other jobs of the machine may add theirs."""

    def __init__(self):
        super().__init__(1)
        self.before, self.names = meeting_points(), set()

    def answer(self, line):
        if words_of(line).get("cmd") == "barrier_in":
            self.names = meeting_points() - self.before
        return super().answer(line)


def test_names():
    """Nobody can know where the PEs of a job meet before they do: jobs of one name at the launcher meet at names of their own."""
    first = Listing()
    assert first.run(exchange()).status == 0
    second = Listing()
    assert second.run(exchange()).status == 0
    assert first.names and second.names and not first.names & second.names, (first.names, second.names)


UNDER_SLURM = {"SLURM_STEP_ID": "0"}


def test_guest():
    """An MPI that starts later speaks to the launcher through this library, which alone greets it and takes leave."""
    launcher = Launcher(1)
    result = launcher.run(program("hosts_guest"), "init pmi_version=1", "get_appnum", "barrier_in", "finalize", env=UNDER_SLURM)
    assert result.status == 0 and result.out.splitlines() == ["cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0", "cmd=appnum appnum=0",
                                                              "cmd=barrier_out rc=0", "cmd=finalize_ack rc=0"], result
    assert launcher.heard.count("init") == launcher.heard.count("get_appnum") == launcher.heard.count("finalize") == 1, launcher.heard


def test_guest_loses_launcher():
    """The launcher goes away while such an MPI waits for an answer or for a barrier: the MPI sees the end, too, and there is one line."""
    for asked, times in (("get_appnum", 1), ("barrier_in", 2)):    # the library's own start has one barrier
        result = Launcher(1, gone_after=(asked, times)).run(program("hosts_guest"), "init", asked, env=UNDER_SLURM)
        assert result.status == 0 and result.out.splitlines()[1:] == ["end"], result
        assert result.err.splitlines() == ["lateral: PE 0: the connection to the launcher (PMI) is lost: it was closed"], result


def test_guest_not_answered():
    """A launcher that has been silent for too long once is asked nothing more, and not waited for again."""
    result = Launcher(1, silent_after="get_appnum").run(program("hosts_guest"), "init", "get_appnum", env=UNDER_SLURM | {"LATERAL_PEER_TIMEOUT": "4"})
    assert result.out.splitlines()[1:] == ["end"] and result.err.count("lateral:") == 1, result
    assert 4 <= result.seconds < 7, result


class Leaving(Launcher):
    """Is gone a moment after the process has started."""

    def answer(self, line):
        if words_of(line).get("cmd") == "barrier_in":
            threading.Timer(1, self.end.shutdown, [socket.SHUT_RDWR]).start()
        return super().answer(line)

    def serve(self, end):
        self.end = end
        super().serve(end)


def test_descriptor_0():
    """The connection has descriptor 0, as where standard input was closed: a PE that computes notices that the launcher is gone."""
    mine, its = socket.socketpair()
    threading.Thread(target=Leaving(1).serve, args=(mine,), daemon=True).start()
    with subprocess.Popen([str(program("hosts_faulty")), "idle"], env=CLEAN | {"PMI_FD": "0", "PMI_RANK": "0", "PMI_SIZE": "1"}, stdin=its,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as pe:
        try:
            err = pe.communicate(timeout=10)[1]
        except subprocess.TimeoutExpired as late:
            pe.kill()
            raise AssertionError("the PE has not noticed within 10 s that its launcher is gone") from late
    print(err)
    assert pe.returncode == 1 and "the launcher is gone: the PEs of this host end" in err, err


def test_no_map():
    """Whichever mapping of the node's memory fails: a line and an orderly end."""
    failed = 0
    for which in range(1, 8):
        env = {"LD_PRELOAD": str(harness.program("libhosts_nomap.so")), "NO_MAP": str(which)}
        result = Launcher(2, lambda key, value: value or piece(1, 4)).run(exchange(), env=env)
        assert result.status in (0, 1) or "Assertion" in result.err, result
        failed += "Cannot allocate memory" in result.err
    assert failed >= 4, failed


if __name__ == "__main__":
    harness.main(globals())
