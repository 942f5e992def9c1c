"""One machine: every launcher starts our programs, and PEs learn when it is gone. tests/rte has what rte.h promises under each."""
import ctypes
import os
import pathlib
import signal
import subprocess
import time

import harness
from harness import CLEAN, exchange, good, hydra, mpirun, program, prterun, rows, run, whole_job


def children(launcher):
    """Programs that PEs start are jobs of one PE; that holds for another launcher among them not."""
    result = run(*launcher(2), exchange(), "child")
    assert result.status == 0 and result.out.count("npes 2 ") == 2 and result.out.count("pe 0 npes 1 ") == 2, result
    nested = " ".join(map(str, hydra(2))) + f" '{exchange()}'"
    result = run(*launcher(1), "sh", "-c", f"'{exchange()}' fine && {nested}")
    assert result.status == 0 and result.out.count("npes 2 ") == 2 and result.out.count("npes 1 ") == 1, result


def stat(pid):
    """The state of a process, and its parent."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[:2]
    except OSError:
        return "X", "0"


def orphans(launcher, doing, **env):
    """SIGKILL to their parent while PEs wait for ever, never long, or compute: they end themselves, and say why."""
    words = [str(word) for word in (*launcher(2), program("hosts_faulty"), doing)]
    with subprocess.Popen(words, env=CLEAN | env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as job:
        lines = [job.stdout.readline().split() for _ in range(2)]
        assert all(line[:1] == ["ready"] for line in lines), lines
        pes = [int(line[2]) for line in lines]
        parents = {int(stat(pid)[1]) for pid in pes}
        assert len(parents) == 1, parents
        os.kill(parents.pop(), signal.SIGKILL)
        end = time.monotonic() + 30
        while time.monotonic() < end and (left := [pid for pid in pes if stat(pid)[0] not in "ZX"]):
            time.sleep(0.02)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, f"PEs {left} of {pes} live 30 s after the end of their parent ({doing}, {env})"


def below(pid):
    """All processes below this one."""
    try:
        children = [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
    return children + [one for child in children for one in below(child)]


def killed_in_start(launcher):
    """SIGKILL to the launcher at six moments of the start: nothing of the job is left."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)                  # PR_SET_CHILD_SUBREAPER: orphans become children
    for pause in (0.02, 0.05, 0.08, 0.12, 0.2, 0.4):
        words = [str(word) for word in (*launcher(2), program("hosts_faulty"), "idle")]
        with subprocess.Popen(words, env=CLEAN, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
            time.sleep(pause)
            job.kill()
        end = time.monotonic() + 10
        while (left := [pid for pid in below(os.getpid()) if stat(pid)[0] not in "ZX"]) and time.monotonic() < end:
            time.sleep(0.02)
        names = [pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in left]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, f"{names} live 10 s after {words[0]} was killed {pause} s after its start"


PROGRAMS = ("conform_rma_put_get", "conform_coll_reduce", "conform_team_split_strided", "conform_init_nested",
            "conform_start_pes", "conform_query", "job_counter")


def runs(launcher):
    for name in PROGRAMS:
        good(*launcher(3), program("test_" + name))
    for status, who, doing in ((7, "one", "barrier"), (0, "one", "wait"), (5, "all", "wait")):
        result = run(*launcher(3), program("test_conform_global_exit"), status, who, doing)
        assert result.status == status and "last words of PE" in result.out, result


def test_orphans_mpirun():
    """PEs whose mpirun is gone."""
    for doing in ("wait", "barriers", "idle"):
        orphans(mpirun, doing)


def test_orphans_hydra():
    """PEs whose proxy is gone."""
    for doing in ("wait", "barriers", "idle"):
        orphans(hydra, doing)
    orphans(hydra, "idle", LATERAL_PROGRESS="poll")


rows(globals(), "killed_in_start", killed_in_start, mpirun=mpirun, hydra=hydra)
rows(globals(), "children", children, mpirun=mpirun, hydra=hydra)
rows(globals(), "programs", runs, mpirun=mpirun, prterun=prterun, hydra=hydra)


def test_two_jobs():
    """Two jobs of one launcher at a time do not meet each other."""
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = [pool.submit(run, *hydra(3), exchange()) for _ in range(3)]
        keys = {whole_job(job.result(), 3)[0]["key"] for job in jobs}
    assert len(keys) == 3, keys


def test_crowd():
    """64 PEs that meet at once."""
    found = whole_job(run(*hydra(64), exchange(), timeout=100), 64)
    assert found[0]["nodes"] == 1 and found[0]["busy"] == 1, found[0]


def test_mistakes():
    """What the environment promises and does not keep is told in one line."""
    for env, words in (({"LATERAL_RTE": "junk"}, "LATERAL_RTE=junk is not one of auto"),
                       ({"PMI_FD": "99", "PMI_RANK": "0", "PMI_SIZE": "2"}, "PMI_FD, PMI_PORT.* cannot be reached"),
                       ({"PMI_PORT": "localhost:1", "PMI_ID": "0"}, "PMI_FD, PMI_PORT.* cannot be reached")):
        import re
        result = run(exchange(), env=env)
        assert result.status != 0 and re.search("lateral: .*" + words, result.err), result


def test_chosen():
    """LATERAL_RTE=alone: a job of its own under any launcher."""
    result = run(*hydra(2), exchange(), env={"LATERAL_RTE": "alone"})
    lines = [line for line in result.out.splitlines() if "pe 0 npes 1" in line]
    assert result.status == 0 and len(lines) == 2, result


if __name__ == "__main__":
    harness.main(globals())
