"""What rte.h promises, under every launcher. contract.c asserts it; each launcher is a row of LAUNCHERS.

A launcher is a function that runs `contract WORDS` with PEs of these groups to its end: PEs of one group share memory, and a group is a
node where the launcher can have several (`nodes`) on this machine.
"""
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))

import harness                                      # noqa: E402
import pmi                                          # noqa: E402
from harness import CLEAN, Result, Skip, hydra, mpirun, ours, program, prterun, run, whole_job      # noqa: E402


def contract():
    return program("rte_contract")


def alone(groups, words, env):
    return run(contract(), *words, env=env)


def started(launcher):
    """One that starts N copies of a program on this machine."""
    return lambda groups, words, env: run(*launcher(len(groups)), contract(), *words, env=env)


def embedded(groups, words, env):
    return run(contract(), "embed", ",".join(map(str, groups)), *words, env=env)


def scripted(port):
    def start(groups, words, env):
        command = [str(word) for word in (contract(), *words)]
        print("+ PMI-1", "by port" if port else "by descriptor", groups, *command, flush=True)
        begin = time.monotonic()
        done = pmi.run(command, groups, port, CLEAN | (env or {}))
        return Result(command, done, time.monotonic() - begin)
    return start


class Launcher:
    """most: PEs at most. nodes: each group of PEs is a node. times: its fences over several nodes keep limits of time."""

    def __init__(self, start, most=7, nodes=False, times=True):
        self.start, self.most, self.nodes, self.times = start, most, nodes, times

    def run(self, groups, *words, env=None):
        if max(groups) and not self.nodes:
            raise Skip("this launcher has one node here")
        return self.start(groups, words, env)

    def layouts(self):
        """Groups of PEs: one node, then several in a row, PEs dealt out in turn, and a node for each PE."""
        several = [[0, 0, 1], [0, 1, 0, 1], [0, 1, 2], [0, 1, 1, 0, 2]] if self.nodes and may_have_nodes() else []
        return [[0] * pes for pes in (1, 2, self.most) if pes <= self.most] + several


LAUNCHERS = {"alone": Launcher(alone, most=1), "oshrun": Launcher(started(ours)), "embedded": Launcher(embedded, nodes=True, times=False),
             "pmi_fd": Launcher(scripted(False), nodes=True), "pmi_port": Launcher(scripted(True), nodes=True),
             "hydra": Launcher(started(hydra), most=3), "mpirun": Launcher(started(mpirun), most=3),
             "prterun": Launcher(started(prterun), most=3)}


def may_have_nodes():
    done = subprocess.run(["unshare", "--ipc", "true"], capture_output=True, text=True, check=False) if harness.shutil.which("unshare") else None
    if not done or done.returncode:
        print("one node alone:", done.stderr.strip() if done else "unshare is not installed (Debian: util-linux)")
    return done is not None and done.returncode == 0


def expected(groups):
    """Number of the node, size, index of each PE: nodes in the order of their lowest PEs."""
    order = list(dict.fromkeys(groups))
    return [(order.index(group), groups.count(group), groups[:pe].count(group)) for pe, group in enumerate(groups)]


def lines_of(result, pe, words=""):
    return re.findall(rf"^lateral: PE {pe}: .*{words}.*$", result.err, re.MULTILINE)


def holds(launcher):
    """Number and place of each PE, values, barriers, threads, children, a second life; each refusal is told in one line."""
    for groups in launcher.layouts():
        result = launcher.run(groups)
        for pe, record in whole_job(result, len(groups)).items():
            assert (record["node"], record["size"], record["index"]) == expected(groups)[pe], (groups, record)
            assert record["nodes"] == len(set(groups)), (groups, record)
            assert len(lines_of(result, pe)) == 4, result


def ends(launcher):
    """The job ends at once with the status of the PE that aborts, dies or leaves, and of the one that claims the end."""
    for groups in ([[0]] if launcher.most == 1 else [[0, 0, 0]] + ([[0, 0, 1]] if len(launcher.layouts()) > 3 else [])):
        last = len(groups) - 1
        cases = [("abort", last, 7), ("kill", 0, None), ("claim", None, 5)] + ([("leave", last, None)] if last else [])
        for how, pe, status in cases:
            result = launcher.run(groups, how, *([] if pe is None else [pe]))
            assert result.status == status if status else result.status != 0, result
            assert result.seconds < 20, result
        if last:
            assert re.search(rf"PE {last}\b.*shmem_finalize", result.err), result


def misses(launcher):
    """A PE that does not come to a barrier with a limit of time: no PE passes."""
    if launcher.most == 1:
        raise Skip("one PE misses nobody")
    for groups in [[0, 0, 0]] + ([[0, 1, 1]] if launcher.times and len(launcher.layouts()) > 3 else []):
        result = launcher.run(groups, "late", 1)
        assert result.status == 9 and result.seconds < 20, result


def lacks(launcher):
    """A value that a PE of another node has not told: one line, and the caller ends the job as it likes."""
    if len(launcher.layouts()) <= 3:
        raise Skip("this launcher has one node here")
    result = launcher.run([0, 1], "missing")
    assert result.status == 7 and (len(lines_of(result, 0)) == 5 or len(lines_of(result, 1)) == 5), result


CALLS = {"malloc": 60, "mmap": 12, "ftruncate": 3, "memfd": 2, "socket": 4, "file": 14, "thread": 3}


def refuses(launcher):
    """Calls of the system that fail, one after another: the job ends well, or with a line and a status, and nobody waits for ever."""
    failing = program("librte_failing.so")
    if re.search("[ :]", str(failing)):
        raise Skip("a blank or a colon is in the path of the build: nothing can be preloaded from there")
    groups = [0] if launcher.most == 1 else [0, 0]
    told = 0
    for call, most in CALLS.items():
        for at in range(1, most + 1, 1 if most < 20 else 7):
            env = {"LD_PRELOAD": str(failing), "FAIL_CALL": call, "FAIL_AT": str(at), "FAIL_WHO": "all", "FAIL_OURS": "1"}
            result = launcher.run(groups, "refused", env=env)
            assert result.seconds < 25 and -result.status not in (signal.SIGSEGV, signal.SIGABRT), result
            assert "Assertion" not in result.err and result.status < 128, result
            assert result.status == 0 or result.err.strip() or call == "malloc", result
            told += result.status != 0
    assert told, "no call has failed"


def test_bare():
    """Alone, under oshrun and under a PMI server no library of PMIx or UCX is loaded."""
    for launcher, groups in (("alone", [0]), ("oshrun", [0, 0]), ("pmi_fd", [0, 0])):
        whole_job(LAUNCHERS[launcher].run(groups, "bare"), len(groups))


PARTS = {"holds": (holds, LAUNCHERS), "ends": (ends, LAUNCHERS), "misses": (misses, [name for name in LAUNCHERS if name != "alone"]),
         "lacks": (lacks, ["embedded", "pmi_fd"]), "refuses": (refuses, ["alone", "oshrun", "embedded", "pmi_fd"])}
for part, (check, names) in PARTS.items():
    for name in names:
        globals()[f"test_{part}_{name}"] = lambda check=check, name=name: check(LAUNCHERS[name])


if __name__ == "__main__":
    harness.main(globals())
