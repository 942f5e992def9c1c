"""A launcher that speaks PMI-1: starts the PEs of a job, keeps their values, lets them meet, ends them.

run(words, groups, port) starts a PE for each number of `groups`; PEs of one number share memory, since each of several groups has an
IPC namespace of its own. With `port` they call it by PMI_PORT and PMI_ID, else they inherit a connection (PMI_FD).
"""
import contextlib
import ctypes
import os
import selectors
import socket
import subprocess
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWIPC = 0x08000000


def words_of(line):
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


class Spaces:
    """A namespace for each group, where there are several. Raises OSError where none may be made."""

    def __init__(self, groups):
        home, self.fds = os.open("/proc/self/ns/ipc", os.O_RDONLY), {}
        for group in sorted(set(groups)) if len(set(groups)) > 1 else ():
            if LIBC.unshare(CLONE_NEWIPC) != 0:
                raise OSError(ctypes.get_errno(), "unshare")
            self.fds[group] = os.open("/proc/self/ns/ipc", os.O_RDONLY)
        LIBC.setns(home, CLONE_NEWIPC)                          # refused in a user namespace, and of no importance then
        os.close(home)

    def enter(self, group):
        assert not self.fds or LIBC.setns(self.fds[group], CLONE_NEWIPC) == 0


class Server:
    def __init__(self, size):
        self.size, self.values, self.waiting, self.left, self.status, self.pes = size, {}, [], set(), None, []
        self.watch = selectors.DefaultSelector()

    def add(self, end, rank):
        self.watch.register(end, selectors.EVENT_READ, [rank, b""])

    def end_job(self, status):
        if self.status is None:
            self.status = status
        for pe in self.pes:
            with contextlib.suppress(OSError):
                pe.kill()

    def hear(self, end, peer):
        data = end.recv(65536)
        peer[1] += data
        *lines, peer[1] = peer[1].split(b"\n")
        if end.family == socket.AF_UNIX:
            del lines[1:]                                       # Slurm's server takes what it reads at once for one request
        for line in lines:
            self.answer(end, peer, words_of(line.decode()))
        if not data:
            self.watch.unregister(end)
            end.close()

    def answer(self, end, peer, words):
        kind, rank = words["cmd"], peer[0]
        if kind == "initack":                                   # by PMI_PORT: who calls
            peer[0] = int(words["pmiid"])
            end.sendall(f"cmd=initack rc=0\ncmd=set size={self.size}\ncmd=set rank={peer[0]}\ncmd=set debug=0\n".encode())
        elif kind == "put":
            self.values[words["key"]] = words["value"]
            end.sendall(b"cmd=put_result rc=0\n")
        elif kind == "get":
            value = self.values.get(words["key"])
            end.sendall((f"cmd=get_result rc=0 value={value}\n" if value is not None else "cmd=get_result rc=1\n").encode())
        elif kind == "barrier_in":
            self.waiting.append(end)
            if len(self.waiting) == self.size:
                for one in self.waiting:
                    one.sendall(b"cmd=barrier_out rc=0\n")
                self.waiting.clear()
        elif kind == "abort":
            self.end_job(int(words["exitcode"]))
        elif kind == "finalize":
            self.left.add(rank)
            end.sendall(b"cmd=finalize_ack\n")
        else:
            end.sendall({"init": b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n", "get_appnum": b"cmd=appnum appnum=0\n",
                         "get_my_kvsname": b"cmd=my_kvsname kvsname=kvs_%d_%d\n" % (os.getpid(), id(self))}[kind])

    def look(self):
        """A PE that ends badly, or without a word, ends the job."""
        for rank, pe in enumerate(self.pes):
            status = pe.poll()
            if status and self.status is None:
                self.end_job(status if status > 0 else 128 - status)

    def serve(self, door):
        while any(pe.poll() is None for pe in self.pes):
            for key, _ in self.watch.select(0.02):
                if key.fileobj is door:
                    self.add(door.accept()[0], None)
                else:
                    with contextlib.suppress(OSError):
                        self.hear(key.fileobj, key.data)
            self.look()
        self.look()


def run(words, groups, port=False, env=None, timeout=60):
    """Returns what subprocess.run does: output, errors, and the status of the job."""
    server, spaces = Server(len(groups)), Spaces(groups)
    door = socket.create_server(("127.0.0.1", 0))
    if port:
        server.watch.register(door, selectors.EVENT_READ)
    out, texts = [], [[], []]
    for rank, group in enumerate(groups):
        mine, its = socket.socketpair()
        how = {"PMI_PORT": f"127.0.0.1:{door.getsockname()[1]}", "PMI_ID": str(rank)} if port else \
            {"SLURM_STEP_ID": "0", "PMI_FD": str(its.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(len(groups))}
        if not port:
            server.add(mine, rank)
        pe = subprocess.Popen(words, env=env | how, pass_fds=[] if port else [its.fileno()], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace", preexec_fn=lambda g=group: spaces.enter(g))
        its.close()
        server.pes.append(pe)
        for stream, text in zip((pe.stdout, pe.stderr), texts):
            out.append(threading.Thread(target=lambda s=stream, t=text: t.extend(s), daemon=True))
            out[-1].start()
    late = threading.Timer(timeout, server.end_job, [124])
    late.start()
    server.serve(door)
    late.cancel()
    for thread in out:
        thread.join(5)
    return subprocess.CompletedProcess(words, server.status or 0, *("".join(text) for text in texts))
