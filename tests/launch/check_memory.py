#!/usr/bin/env python3
"""Memory that runs out under a limit of a cgroup. Making a cgroup needs rights that most users lack: then a test is skipped.
tests/trust/memory.c has the other machines."""
import contextlib
import os
import pathlib

import harness
from harness import Skip, one_line, run, started, wait_until

HOG = "import os, sys\nif os.environ['LATERAL_PE'] == '1':\n    kept = [bytearray(1 << 20) for _ in range(1000)]\nelse:\n    sys.stdin.read()"


def parent_group():
    """The folder of this process's memory cgroup, and the name of the file with its limit."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        for top, limit, ours in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory" in names.split(",")),
                                 ("/sys/fs/cgroup", "memory.max", names == "")):
            if ours and pathlib.Path(top, "cgroup.procs").exists():
                folder = pathlib.Path(top, path.lstrip("/"))
                return folder if folder.is_dir() else pathlib.Path(top), limit
    raise Skip("no memory cgroup here")


@contextlib.contextmanager
def group_with(megabytes):
    above, limit = parent_group()
    group = above / f"lateral-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as why:
        raise Skip(f"no cgroup can be made in {above}: {why}") from why
    try:
        try:
            (group / limit).write_text(str(megabytes << 20))
        except OSError as why:
            raise Skip(f"no limit for a cgroup of ours: {why}") from why
        yield group
    finally:
        wait_until(lambda: not (group / "cgroup.procs").read_text(), "the cgroup is empty", 5)
        group.rmdir()


def join(group):
    return lambda: (group / "cgroup.procs").write_text(str(os.getpid()))


def test_named():
    """The line names PE, what it held and the limit; the launcher lives to say so. The same under a wrapper script."""
    python = __import__("sys").executable
    with group_with(96) as group:
        for words in ([python, "-c", HOG], ["sh", "-c", f"{python} -c '{HOG.replace(chr(39), chr(34))}'; exit $?"]):
            result = run("-n", 3, "--stdin", "none", *words, preexec_fn=join(group))
            lines = [line for line in result.errors if line.startswith("oshrun: ")]
            assert result.status == 137 and len(lines) == 1, result
            result.errors = lines
            one_line(result, rf"^oshrun: memory ran out: the kernel killed PE 1 \(pid \d+, \S+\), which held \d+ MB; the cgroup /\S*"
                             rf"{group.name} may hold 96 MB \(memory\.", 137)


def score(pid):
    return int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())


def test_pes_go_first():
    """The kernel prefers a PE to the launcher's processes, however little it holds; a score of the user's own is kept."""
    for own in (0, 300, 900):
        with started("-n", 2, "sh", "-c", "cat /proc/self/oom_score_adj; exec sleep 100",
                     preexec_fn=lambda own=own: pathlib.Path("/proc/self/oom_score_adj").write_text(str(own))) as job:
            assert harness.read_lines(job, 2) == [str(min(1000, own + 200))] * 2
            assert [score(pid) for pid in (job.pid, harness.reaper_of(job), harness.supervisor_of(job))] == [own] * 3


def test_killed_by_hand():
    """SIGKILL alone is no word on memory."""
    with group_with(96) as group:
        result = run("-n", 2, harness.PE, "@1", "kill:9", "@0", "sleep:60000", preexec_fn=join(group))
        one_line(result, r"PE 1 .* was killed by signal 9", 137)


harness.main(globals())
