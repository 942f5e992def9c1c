"""Jobs of several hosts that hang: the whole job's picture, at limits of time, in deadlocks, at signals and from outside, under
oshrun's hand-over and in the user's own line; and how PEs that die are told."""
import os
import pathlib
import platform
import re
import signal
import subprocess
import time

import harness
from harness import CLEAN, LAST, ROOT, asking, hydra, mpirun, needs_hosts, on_hosts, oshrun, program, rows, run

SOURCE = (ROOT / "tests/hosts/hang.c").read_text(encoding="utf-8").splitlines()
# Before Linux 6.15, how a process ended is told to its parent alone, and to others only while it waits for that.
NEW = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (6, 15)
KILLED = r"killed (by signal 9 \(Killed\)" + (")" if NEW else r"|\(signal 9\?\))")
VERDICT = "PEs 0,2,3 wait for PE 1; PE 1 waits for a store that no PE is making"


def line(word):
    """The place of a call in hang.c, which a comment names."""
    return rf"hang\.c:{next(i for i, text in enumerate(SOURCE, 1) if f'/* {word} */' in text)}"


def row(pes, what, where):
    return rf"^  PE {pes} +{what} .*{line(where)}$"


ONE = (row("0,2,3", r"shmem_barrier_all \(3 of 4 have come\)", "end"), row("1", r"shmem_long_wait_until\(flag == 7, is 0\)", "one"), f"^{VERDICT}$")


def own(name, *words, env):
    """The user's own line on two hosts."""
    passed = [word for key in env for word in ("-x", key)]
    starts = {"mpirun": ["mpirun", "--bind-to", "none", *passed, "--hostfile", "$TEST_HOSTFILE"],
              "hydra": ["mpiexec.hydra", "-hosts", "h1:2,h2:2"]}
    needs_hosts()
    mpirun(1) if name == "mpirun" else hydra(1)
    return on_hosts(2, "sh", "-c", " ".join([*starts[name], "-n", "4", str(program("hosts_hang")), *words]), env=env)


def handed(name, *words, env=None):
    """oshrun hands over to this launcher."""
    needs_hosts()
    mpirun(1) if name == "mpirun" else hydra(1)
    start = 'exec "$0" --hostfile $TEST_HOSTFILE -n 4 "$@"'
    launcher = "mpirun" if name == "mpirun" else "mpiexec.hydra"
    return on_hosts(2, "sh", "-c", start, oshrun(), *words, env={"LATERAL_LAUNCHER": launcher} | (env or {}))


def tells(result, status, title, *lines):
    """The title once, then these rows, and the status."""
    assert result.status == status and len(re.findall(title, result.err)) == 1, result
    for wanted in lines:
        assert re.search(wanted, result.err, re.M), f"{wanted}\n{result}"


def test_limit_mpirun(name="mpirun"):
    """LATERAL_TIMEOUT in the user's own line, and --timeout of oshrun."""
    tells(own(name, "one", env={"LATERAL_TIMEOUT": "3s"}), 124, r"lateral: time limit of 3 s reached \(LATERAL_TIMEOUT\); where the PEs are:", *ONE)
    tells(handed(name, "--timeout", 5, program("hosts_hang"), "one"), 124, r"oshrun: time limit of 5 s reached \(--timeout\); where the PEs are:", *ONE)


def test_limit_hydra():
    """The same by Hydra."""
    test_limit_mpirun("hydra")


def test_kinds():
    """A lock, a PE that computes, one that is stopped, some in finalize: each is told as what it is."""
    limit = {"LATERAL_TIMEOUT": "3"}
    title = r"lateral: time limit of 3 s reached"
    tells(own("hydra", "locked", env=limit), 124, title, row("1", r"shmem_set_lock \(waits for PE 0\)", "locked"),
          row("0", r"shmem_long_wait_until\(flag == 7, is 0\)", "holder"), row("2,3", r"shmem_barrier_all \(2 of 4 have come\)", "end"))
    tells(own("hydra", "computes", env=limit), 124, title, r"^  PE 2 +is in no wait that lasts +hang\.c:\d+$", "^PEs 0,1,3 wait for PE 2$")
    tells(own("hydra", "leaves", env=limit), 124, title, row("0,2,3", r"shmem_finalize \(3 of 4 have come\)", "leaves"), "^PEs 0,2,3 wait for PE 1;")
    tells(own("mpirun", "stops", env=limit), 124, title, r"^  PE 3 +is stopped by a signal +hang\.c:\d+, in \w+$", "^PEs 0-2 wait for PE 3$")


def test_stacks():
    """--get-stack-traces of PEs on all hosts: equal stacks once, the frames of the program with their lines."""
    harness.needs("gdb")
    result = handed("mpirun", "--get-stack-traces", "--timeout", 6, program("hosts_hang"), "one")
    tells(result, 124, r"oshrun: time limit of 6 s reached", *ONE, r"^stack of PE 1:$", rf"^    #\d+ one at .*{line('one')}$", rf"^    #\d+ main at .*{line('end')}$")
    told = [int(pe) for text in re.findall(r"^stack of PEs? ([\d,]+):$", result.err, re.M) for pe in text.split(",")]
    assert sorted(told) == [0, 1, 2, 3], result


def test_deadlock_mpirun(name="mpirun"):
    """No PE of any host can go on: the job ends by itself."""
    rows = (row("0-3", r"shmem_long_wait_until\(flag == 7, is 0\)", "all"), "^PEs 0-3 wait for a store that no PE is making$")
    tells(own(name, "all", env={"LATERAL_DEADLOCK": "2"}), 1, r"lateral: deadlock for [0-9.]+ s \(LATERAL_DEADLOCK\): no PE will ever go on", *rows)
    tells(handed(name, "--deadlock", 2, program("hosts_hang"), "all"), 1, r"oshrun: deadlock for [0-9.]+ s \(--deadlock\): no PE will ever go on", *rows)


def test_deadlock_hydra():
    """The same by Hydra."""
    test_deadlock_mpirun("hydra")


def test_no_deadlock():
    """A PE of another host that computes may end the others' waits."""
    result = own("hydra", "computes", env={"LATERAL_DEADLOCK": "1", "LATERAL_TIMEOUT": "6"})
    tells(result, 124, r"lateral: time limit of 6 s reached", "^PEs 0,1,3 wait for PE 2$")
    assert "deadlock" not in result.err, result


def test_signal_mpirun(name="mpirun"):
    """SIGUSR1, which mpirun passes on: the report, and the job goes on; then it is ended."""
    starts = {"mpirun": "mpirun --bind-to none -x LATERAL_TIMEOUT --hostfile $TEST_HOSTFILE", "hydra": "mpiexec.hydra -hosts h1:2,h2:2"}
    needs_hosts()
    mpirun(1) if name == "mpirun" else hydra(1)
    script = asking(f"{starts[name]} -n 4 {program('hosts_hang')} one", 4, "^PEs 0,2,3") + LAST + "kill -TERM $p; wait $p"
    result = on_hosts(2, "sh", "-c", script, env={"LATERAL_TIMEOUT": "0"})
    assert result.status != 0, result
    tells(result, result.status, r"lateral: where the 4 PEs are:", *ONE)


def test_signal_hydra():
    """SIGUSR1, which Hydra passes on."""
    test_signal_mpirun("hydra")


def tree(*words):
    """Twelve hosts, one PE each: the watchers of the last three talk to that of h2, whose processes `of` finds."""
    needs_hosts()
    hydra(1)
    start = f"mpiexec.hydra -hosts {','.join(f'h{i}:1' for i in range(1, 13))} -n 12 {program('hosts_hang')} all"
    of = 'of() { for i in $(pgrep "$@"); do [ $(readlink /proc/$i/ns/uts) = $ns ] && echo $i; done; }; '
    script = asking(start, 12, "^PEs 0-11 wait") + 'ns=$(ssh h2 readlink /proc/self/ns/uts); ' + of + " ".join(words) + LAST + "kill -TERM $p; wait $p"
    return on_hosts(12, "sh", "-c", script, oshrun(), slots=1, env={"LATERAL_TIMEOUT": "0"})


def test_tree():
    """Watchers pass on reports and requests of --status."""
    result = tree('ssh h11 "$0" --status $(sed -n "s/ready 10 //p" /tmp/out) 2>&1;')
    wanted = row("0-11", r"shmem_long_wait_until\(flag == 7, is 0\)", "all")
    assert re.search(wanted, result.out, re.M) and re.search(wanted, result.err, re.M), result
    assert result.out.splitlines()[-1] == "PEs 0-11 wait for a store that no PE is making", result


def test_tree_dies():
    """And deaths. Hydra ends the other PEs by the same signal, and its own output with them; mpirun does not."""
    needs_hosts()
    mpirun(1)
    script = '"$0" --hostfile $TEST_HOSTFILE -n 12 "$1" all >/tmp/out & p=$!; until [ "$(grep -c ready /tmp/out)" = 12 ]; do sleep 0.1; done; ' \
             'kill -KILL $(sed -n "s/ready 10 //p" /tmp/out); wait $p'
    result = on_hosts(12, "sh", "-c", script, oshrun(), program("hosts_hang"), slots=1, env={"LATERAL_LAUNCHER": "mpirun"})
    tells(result, 137, rf"oshrun: PE 10 \(pid \d+, hosts_hang\) on host h11 was {KILLED}")


def test_tree_loses():
    """A watcher in the middle that is killed, and a host in the middle that is stopped: it alone is silent."""
    for end in ("kill -KILL $(of -f lateral-watch);", "kill -STOP $(of -f lateral-watch) $(of -x hosts_hang);"):
        result = tree(end, 'ask "^  PE 0,2-11 ";')
        assert re.search(row("0,2-11", r"shmem_long_wait_until\(flag == 7, is 0\)", "all"), result.err, re.M), result
        assert re.search("^  PE 1 +host h2 is silent", result.err, re.M) and result.err.count("silent") == 1, result


def test_status_and_quit():
    """oshrun --status of oshrun in front of a launcher tells all, and the job goes on; SIGQUIT tells it and ends the job."""
    script = '"$0" --hostfile $TEST_HOSTFILE -n 4 "$1" one & p=$!; for i in $(seq 80); do sleep 0.5; "$0" --status $p 2>/tmp/told; ' \
             'if grep -q "^PEs 0,2,3" /tmp/told; then break; fi; done; cat /tmp/told >&2; kill -QUIT $p; wait $p'
    needs_hosts()
    mpirun(1)
    result = on_hosts(2, "sh", "-c", script, oshrun(), program("hosts_hang"), env={"LATERAL_LAUNCHER": "mpirun"})
    assert result.status == 128 + signal.SIGQUIT, result
    assert re.search(r"oshrun: where the PEs of job \d+ are:", result.err) and "oshrun: job ended by signal 3 (Quit); where the PEs are:" in result.err, result
    assert all(len(re.findall(wanted, result.err, re.M)) == 2 for wanted in ONE), result


def test_dies_mpirun():
    """A PE that SIGKILL ends: one line with PE, host and signal; 137 comes out."""
    wanted = rf"PE 3 \(pid \d+, hosts_hang\) on host h2 was {KILLED}"
    for result in (own("mpirun", "dies", env={"LATERAL_TIMEOUT": "60"}), handed("mpirun", program("hosts_hang"), "dies")):
        tells(result, 137, wanted)
        assert "is lost" not in result.err, result
    plain = own("mpirun", "dies", env={})
    assert plain.status == 137 and re.search(r"signal 9 \(Killed\)", plain.err), plain


def test_dies_hydra():
    """The same under oshrun by Hydra, whose own status is another; Hydra may end the other PE of the host by the same signal."""
    tells(handed("hydra", program("hosts_hang"), "dies"), 137, rf"oshrun: PE [23] \(.*hosts_hang\) on host h2 was {KILLED}")


def crashes(launcher):
    """A crash on another host is told with its source line, and not the end of those that the launcher ends for it; Hydra has a status of its own."""
    result, own_line = handed(launcher, program("hosts_hang"), "crashes"), own(launcher, "crashes", env={"LATERAL_TIMEOUT": "0"})
    for told, status in ((result, 128 + signal.SIGSEGV), (own_line, 128 + signal.SIGSEGV if launcher == "mpirun" else own_line.status)):
        tells(told, status, r"PE 2 \(pid \d+, hosts_hang\) on host h2 was killed by signal 11",
              r"^  PE 2 died of signal 11 \(Segmentation fault\): nothing is mapped at address 0x0$", rf"^    crashes +{line('crashes')}$")


rows(globals(), "crashes", crashes, mpirun="mpirun", hydra="hydra")

def test_cut_off():
    """A host whose link is down is silent; the PEs of the others are told."""
    needs_hosts()
    hydra(1)
    start = f"mpiexec.hydra -hosts h1:2,h2:2 -n 4 {program('hosts_hang')} one"
    script = asking(start, 4, "^PEs 0,2,3") + "ip link set v2 down; wait $p; cat /tmp/told >&2"
    result = on_hosts(2, "sh", "-c", script, env={"LATERAL_TIMEOUT": "12", "LATERAL_PEER_TIMEOUT": "60"})
    tells(result, result.status, r"lateral: time limit of 12 s reached", r"^  PE 2,3 +host h2 is silent", row("1", r"shmem_long_wait_until\(flag == 7, is 0\)", "one"))


def test_one_node():
    """On one node, too, the user's own line has the report, and a time that is none is named."""
    hang = program("hosts_hang")
    tells(run(*hydra(4), hang, "one", env={"LATERAL_TIMEOUT": "2"}), 124, r"lateral: time limit of 2 s reached", *ONE)
    tells(run(*harness.ours(4), hang, "one", env={"LATERAL_TIMEOUT": "2"}), 124, r"oshrun: time limit of 2 s reached", *ONE)
    wrong = run(*hydra(1), hang, "one", env={"LATERAL_TIMEOUT": "soon"})
    assert wrong.status != 0 and "LATERAL_TIMEOUT=soon is not a time such as 90, 90s, 1.5m or 2h" in wrong.err, wrong


def test_nothing_left():
    """No watcher outlives its job, and none is there when nobody asks."""
    mark = f"LEFT_BY={os.getpid()}"     # other jobs have watchers, too
    def watchers():
        lines = subprocess.run(["ps", "-eww", "e", "-o", "command"], capture_output=True, text=True, check=True).stdout.splitlines()
        return sum(" lateral-watch " in line and mark in line for line in lines)
    job = [str(word) for word in (*hydra(2), program("hosts_hang"), "all")]
    for env, wanted in (({}, 0), ({"LATERAL_TIMEOUT": "60"}, 1)):
        with subprocess.Popen(job, env=CLEAN | env | dict([mark.split("=")]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
            assert [started.stdout.readline()[:5] for _ in range(2)] == ["ready"] * 2
            assert watchers() == wanted, env
            started.terminate()
        end = time.monotonic() + 10
        while watchers():
            assert time.monotonic() < end, "a watcher is left"
            time.sleep(0.05)


if __name__ == "__main__":
    harness.main(globals())
