#!/usr/bin/env python3
"""The ends of jobs: the PE that the line names, the status, the time, and that no process stays."""
import contextlib
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import time

import harness
from harness import SOON, all_gone, good, supervisor_of, is_alive, numbers, one_line, read_lines, run, started, wait_until

NAMED = r"^oshrun: PE %d \(pid \d+, .*launch_pe\) "


def ends(words, pattern, status):
    """The job of five PEs, four of which would stay for a minute, ends soon and in one line."""
    result = run("-n", 5, harness.PE, *words, "@*", "sleep:60000")
    one_line(result, pattern, status)
    assert result.seconds < SOON, result
    return result


def test_killed():
    """A PE that dies of a signal: PE, pid, program and signal are named; 128 + signal."""
    core = r"( \(.*|, core dumped)?"
    ends(["init", "@3", "kill:11"], NAMED % 3 + r"was killed by signal 11 \(Segmentation fault" + core, 139)
    ends(["@2", "kill:9"], NAMED % 2 + r"was killed by signal 9 \(Killed\)$", 137)
    ends(["init", "final", "@1", "kill:6"], NAMED % 1 + r"was killed by signal 6 \(Aborted", 134)


def test_pid_is_right():
    """The pid of the line is the PE's."""
    result = run("-n", 2, harness.PE, "@1", "pid", "kill:9", "@0", "sleep:60000")
    assert f"(pid {result.out.split()[1]}," in result.err, result


def test_exits_early():
    """A PE that exits with a status other than 0 before finalize ends the job with that status."""
    ends(["init", "@4", "exit:7"], NAMED % 4 + r"exited with status 7$", 7)
    ends(["@0", "exit:3"], NAMED % 0 + r"exited with status 3$", 3)


def test_leaves_without_finalize():
    """Exit status 0, but the others would wait."""
    ends(["init", "@2", "exit:0"], NAMED % 2 + r"exited without shmem_finalize", 1)
    result = run("-n", 1, harness.PE, "init")
    one_line(result, NAMED % 0 + r"exited without shmem_finalize", 1)


def test_leaves_without_init():
    """A PE never uses the library while others do: before, after, or waiting in init."""
    gone = r"^oshrun: PE 1 \(.*launch_pe\) exited without shmem_init"
    ends(["@1", "sleep:200", "exit:0", "@*", "init"], gone, 1)
    ends(["@1", "exit:0", "@*", "sleep:300", "init"], gone, 1)
    ends(["@1", "exit:0", "@*", "sleep:100", "arrive"], gone, 1)


def test_plain_programs():
    """Programs that know nothing of the library just run."""
    assert len(good("-n", 4, "hostname").lines) == 4
    result = good("-n", 3, harness.PE, "@1", "sleep:500", "@*", "out:x\\n")
    assert result.lines == ["x"] * 3
    good("-n", 3, harness.PE, "init", "final")


def test_after_finalize():
    """A status other than 0 after finalize is remembered, and the others go on."""
    result = run("-n", 3, harness.PE, "init", "final", "@1", "exit:5", "@*", "sleep:300", "out:done\\n")
    one_line(result, NAMED % 1 + r"exited with status 5$", 5)
    assert result.lines == ["done", "done"], result


def test_first_failure_counts():
    """The first PE that fails gives the status; what follows from it is not reported."""
    result = run("-n", 3, harness.PE, "init", "catch:15", "@1", "exit:9", "@*", "sleep:30", "exit:4")
    assert result.status in (9, 4) and len(result.errors) == 1, result
    result = run("-n", 3, harness.PE, "init", "final", "@1", "exit:9", "@2", "sleep:300", "exit:4")
    assert result.status == 9 and len(result.errors) == 2, result


def test_global_exit():
    """shmem_global_exit ends all in silence with its status."""
    for status in (0, 7):
        result = run("-n", 4, harness.PE, "init", "@2", f"global:{status}", "@*", "sleep:60000")
        assert result.status == status and not result.err and result.seconds < SOON, result


def test_abort():
    """A PE that has printed its error: one short line, its status."""
    result = run("-n", 4, harness.PE, "init", "@2", "err:lateral: PE 2: wrong\\n", "abort:1", "@*", "sleep:60000")
    assert result.errors == ["lateral: PE 2: wrong", "oshrun: job ended by PE 2"] and result.status == 1, result
    assert result.seconds < SOON, result


def test_quiet():
    """--quiet: the status alone tells."""
    for word, status in (("kill:9", 137), ("exit:3", 3), ("abort:2", 2)):
        result = run("-q", "-n", 2, harness.PE, "init", "@1", word, "@0", "sleep:60000")
        assert result.status == status and not result.err, result


def test_timeout():
    """--timeout: where the PEs are, and status 124; a job that is faster is not touched. Units of time."""
    for limit in ("0.5", "0.5s", "0.00833334m"):
        result = run("-n", 3, "--timeout", limit, harness.PE, "sleep:60000")
        first, *rows = result.errors
        assert result.status == 124 and re.match(r"oshrun: time limit of 0.5 s reached \(--timeout\); where the PEs are:", first), result
        pes = [re.match(r"  PE ([0-2,-]+) +has not called shmem_init or uccs_init", row)[1] for row in rows]
        assert pes == ["0-2"] or sorted(",".join(pes).replace("-", ",")) == sorted("0,1,2"), result  # a busy machine stops in several places
        assert 0.5 <= result.seconds < 0.5 + SOON, result
    assert good("-n", 2, "--timeout", 50, harness.PE, "sleep:50").seconds < 20


def test_stubborn():
    """PEs that ignore SIGTERM, or are stopped, are killed after a short grace."""
    result = ends(["ignore:15", "init", "@1", "sleep:300", "kill:9"], NAMED % 1 + "was killed", 137)
    assert result.seconds > 0.5, result
    ends(["init", "@1", "sleep:300", "kill:9", "@*", "stop"], NAMED % 1 + "was killed", 137)


def test_last_words():
    """PEs may still write when they are asked to end."""
    result = run("-n", 2, harness.PE, "catch:15", "init", "@1", "sleep:300", "exit:3", "@0", "sleep:60000")
    assert "caught 15" in result.out, result


def test_strays():
    """Processes that PEs leave behind end with the job, however deep they are and whatever they keep open."""
    start = time.monotonic()
    result = good("-n", 2, harness.PE, "child", "deep", "sleep:100")
    pids = numbers(result.lines, "child") + numbers(result.lines, "deep")
    assert len(pids) >= 4 and time.monotonic() - start < SOON + 1, result
    all_gone(pids)


def snapshot():
    """What a job could leave: names in the usual places, but for the folders of tests that run beside this one."""
    names = set()
    for folder in ("/dev/shm", "/tmp", "/var/tmp", "/run"):
        if os.path.isdir(folder):
            names |= {os.path.join(folder, name) for name in os.listdir(folder) if ("lateral" in name or "oshrun" in name) and
                      not re.fullmatch(r"lateral-[a-z_]+[-.]\w{6,8}", name)}
    return names


def family(job, pes, words=()):
    """A running job with grandchildren: the pids of supervisor, PEs, children, orphans."""
    lines = read_lines(job, 3 * pes)
    supervisor = supervisor_of(job)
    return supervisor, [supervisor] + [pid for name in ("pid", "child", "deep") for pid in numbers(lines, name)]


FAMILY = ["init", "pid", "child", "deep", "sleep:60000"]


def test_oshrun_killed():
    """kill -9 of oshrun takes the supervisor, the PEs, their children and orphans with it, soon."""
    before = snapshot()
    with started("-n", 3, harness.PE, *FAMILY) as job:
        _, pids = family(job, 3)
        assert len(pids) == 10 and all(map(is_alive, pids)), pids
        job.kill()
        all_gone(pids)
    assert snapshot() <= before


def test_oshrun_killed_by_name():
    """The supervisor is not hit by a kill by oshrun's name: its name and command line differ."""
    with started("-n", 2, harness.PE, *FAMILY) as job:
        supervisor, pids = family(job, 2)
        assert pathlib.Path(f"/proc/{supervisor}/comm").read_text() == "lateral-supervi\n"
        line = pathlib.Path(f"/proc/{supervisor}/cmdline").read_bytes()
        assert b"oshrun" not in line and line.startswith(b"lateral-supervisor"), line
        assert b"oshrun" in pathlib.Path(f"/proc/{job.pid}/cmdline").read_bytes()
        job.kill()
        all_gone(pids)


def test_killed_while_starting():
    """kill -9 of oshrun while hundreds of PEs are being started."""
    for pause in (0.02, 0.08):
        with started("-n", 400, harness.PE, "sleep:60000") as job:
            supervisor = supervisor_of(job)
            time.sleep(pause)
            pids = harness.children(supervisor)
            job.kill()
            all_gone([supervisor, *pids])


def test_supervisor_killed():
    """kill -9 of the supervisor: the PEs die with it, oshrun sweeps up the rest and says so."""
    with started("-n", 3, harness.PE, *FAMILY) as job:
        supervisor, pids = family(job, 3)
        os.kill(supervisor, signal.SIGKILL)
        assert job.wait(SOON) == 137
        assert re.search(rb"supervisor was killed by signal 9", job.stderr.read())
        all_gone(pids)


def test_oshrun_killed_while_stopped():
    """kill -9 of oshrun while the whole job is stopped."""
    with started("-n", 2, harness.PE, *FAMILY) as job:
        _, pids = family(job, 2)
        job.send_signal(signal.SIGTSTP)
        wait_until(lambda: all(harness.state(pid) == "T" for pid in (job.pid, *pids[1:3])), "oshrun and PEs are stopped")
        job.kill()
        all_gone(pids)


def test_all_killed_at_once():
    """kill -9 of oshrun and a PE together."""
    with started("-n", 3, harness.PE, *FAMILY) as job:
        _, pids = family(job, 3)
        os.kill(pids[2], signal.SIGKILL)
        job.kill()
        all_gone(pids)


def kill_all(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):       # the first one's end may have ended the second
            os.kill(pid, signal.SIGKILL)


def two_killed(choose):
    """Two of oshrun, reaper and supervisor die at once: PEs go with all that they have started, also those of wrapper scripts."""
    wrapped = ["sh", "-c", '"$@" & wait', "sh", harness.PE]
    for program in ([harness.PE], wrapped):
        with started("-n", 3, *program, *FAMILY) as job:
            supervisor, pids = family(job, 3)
            kill_all(*choose(job.pid, harness.reaper_of(job), supervisor))
            all_gone(pids)


def test_oshrun_and_supervisor_killed():
    """kill -9 of oshrun and supervisor together."""
    two_killed(lambda oshrun, reaper, supervisor: (oshrun, supervisor))


def test_oshrun_and_reaper_killed():
    """kill -9 of oshrun and reaper together."""
    two_killed(lambda oshrun, reaper, supervisor: (oshrun, reaper))


def test_oshrun_killed_after_reaper():
    """kill -9 of the reaper, and of oshrun as soon as the supervisor has ended for it: what PEs have started has gone before the supervisor."""
    for _ in range(3):
        with started("-n", 3, harness.PE, *FAMILY) as job:
            supervisor, pids = family(job, 3)
            end = os.pidfd_open(supervisor)
            os.kill(harness.reaper_of(job), signal.SIGKILL)
            assert select.select([end], [], [], SOON)[0], "the supervisor has ended"
            job.kill()
            os.close(end)
            all_gone(pids)


def test_supervisor_and_reaper_killed():
    """kill -9 of supervisor and reaper together."""
    two_killed(lambda oshrun, reaper, supervisor: (reaper, supervisor))


def test_reaper_killed():
    """kill -9 of the reaper alone: the job ends, and oshrun says so."""
    with started("-n", 3, harness.PE, *FAMILY) as job:
        supervisor, pids = family(job, 3)
        os.kill(harness.reaper_of(job), signal.SIGKILL)
        assert job.wait(SOON) == 137
        assert re.search(rb"supervisor was killed by signal 9", job.stderr.read())
        all_gone(pids)


def test_stopped_supervisor():
    """A stopped supervisor: kill -9 of oshrun ends the job all the same, and so does SIGTERM."""
    for word in (signal.SIGKILL, signal.SIGTERM):
        with started("-n", 3, harness.PE, *FAMILY) as job:
            supervisor, pids = family(job, 3)
            os.kill(supervisor, signal.SIGSTOP)
            job.send_signal(word)
            all_gone(pids)
            assert job.wait(SOON) in (-9, 143), job.returncode


def test_stopped_reaper():
    """A stopped reaper: kill -9 of the supervisor ends the job all the same."""
    with started("-n", 3, harness.PE, *FAMILY) as job:
        supervisor, pids = family(job, 3)
        os.kill(harness.reaper_of(job), signal.SIGSTOP)
        os.kill(supervisor, signal.SIGKILL)
        assert job.wait(SOON) == 137
        all_gone(pids)


def test_stopped_launcher():
    """Keeper and supervisor are stopped, or the reaper is and the supervisor is killed: the death of oshrun wakes who is left."""
    for word in (signal.SIGSTOP, signal.SIGKILL):
        with started("-n", 3, harness.PE, *FAMILY) as job:
            supervisor, pids = family(job, 3)
            reaper = harness.reaper_of(job)
            os.kill(reaper, signal.SIGSTOP)
            os.kill(supervisor, word)
            job.kill()
            all_gone([*pids, reaper, supervisor])


def test_stopped_supervisor_alone():
    """The supervisor is stopped, oshrun and reaper are killed at once: the reaper's death wakes the supervisor."""
    with started("-n", 3, harness.PE, *FAMILY) as job:
        supervisor, pids = family(job, 3)
        reaper = harness.reaper_of(job)
        for pid, word in ((supervisor, signal.SIGSTOP), (job.pid, signal.SIGSTOP), (reaper, signal.SIGKILL), (job.pid, signal.SIGKILL)):
            os.kill(pid, word)
        all_gone([*pids, reaper, supervisor])


def test_three_killed():
    """kill -9 of oshrun, reaper and supervisor at once, PEs under wrapper scripts: no PE stays (base/process.h)."""
    with started("-n", 3, "sh", "-c", '"$@" & wait', "sh", harness.PE, "init", "pid", "sleep:60000") as job:
        pids = numbers(read_lines(job, 3), "pid")
        reaper, supervisor = harness.reaper_of(job), supervisor_of(job)
        os.kill(reaper, signal.SIGSTOP)
        kill_all(supervisor, job.pid, reaper)
        all_gone([*pids, supervisor, reaper])


def test_without_proc():
    """Where /proc is missing, or shows other numbers, oshrun and supervisor killed together leave nothing either."""
    for hide in ("mount -t tmpfs none /proc", "mount -t tmpfs none /proc && mkdir /proc/self /proc/1 /proc/2"):
        words = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m", "sh", "-c", hide + ' && echo hidden && exec "$@"', "sh"]
        words += harness.command("-n", 3, "sh", "-c", '"$@" & wait', "sh", harness.PE, *FAMILY)
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=harness.CLEAN) as job:
            if job.stdout.readline() != b"hidden\n":
                raise harness.Skip("no namespace of its own for mounts")
            supervisor, pids = family(job, 3)
            kill_all(job.pid, supervisor)
            all_gone(pids)


def test_pe_killed_from_outside():
    """kill -9 of a PE: the others and all grandchildren go, oshrun reports."""
    with started("-n", 3, harness.PE, *FAMILY) as job:
        _, pids = family(job, 3)
        os.kill(pids[2], signal.SIGKILL)
        assert job.wait(SOON) == 137
        assert f"(pid {pids[2]}," in job.stderr.read().decode()
        all_gone(pids)


def test_children_of_a_script():
    """Background processes of a script that execs oshrun are not the job's: they stay."""
    script = f'sleep 60 >/dev/null & echo $!; exec "{harness.OSHRUN}" -n 2 "{harness.PE}" init final'
    done = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=False, timeout=20, env=harness.CLEAN)
    pid = int(done.stdout)
    assert done.returncode == 0 and is_alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_start_fails_midway():
    """No process can be started any more: one line, and the PEs that run are ended."""
    import resource

    def limited():
        resource.setrlimit(resource.RLIMIT_NPROC, (200, 200))
        if os.geteuid() == 0:       # the limit does not hold for root
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    with harness.temporary() as folder:
        os.chmod(folder, 0o755)
        for program in (harness.OSHRUN, harness.PE):
            shutil.copy(program, folder)
        try:
            done = subprocess.run([f"{folder}/oshrun", "-n", "300", f"{folder}/launch_pe", "sleep:60000"], preexec_fn=limited, timeout=30,
                                  capture_output=True, text=True, check=False, env=harness.CLEAN, cwd="/")
        except subprocess.SubprocessError as why:       # root of a user namespace with no user but itself
            raise harness.Skip("this root cannot become another user") from why
    words = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("profiling:"))
    one_line(harness.Result(done.returncode, done.stdout, words, 0), r"cannot start PE \d+ .*limit of processes", 1)


def test_idle():
    """A waiting job costs no processor time: there is no polling."""
    def used(pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def switches(pid):
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.MULTILINE)[1])

    with started("-n", 4, harness.PE, "init", "pid", "sleep:60000") as job:
        supervisor = supervisor_of(job)
        read_lines(job, 4)
        wait_until(lambda: harness.state(supervisor) == "S", "the supervisor sleeps")
        time.sleep(0.3)
        before = [(used(pid), switches(pid)) for pid in (supervisor, job.pid)]
        time.sleep(1)
        after = [(used(pid), switches(pid)) for pid in (supervisor, job.pid)]
    assert before == after, (before, after)


if __name__ == "__main__":
    harness.main(globals())
