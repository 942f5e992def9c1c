"""Parts of the machine fail while a job runs. The job ends soon, prints which PE is lost, and leaves no PE behind; or it goes
on when the part comes back. Names with long_ are for ./dev test --soak."""
import json
import random
import re
import sys

import harness
from harness import ROOT, mpirun, needs, needs_hosts, on_hosts, oshrun, program, rows

PATIENCE = 4                                            # LATERAL_PEER_TIMEOUT here
SILENT = rf"PE \d+: PE [23] (on h2|on node 1|at [0-9.]+) is lost: its host has not answered for {PATIENCE} s"
WAYS = ("stream", "small", "get", "atomics", "barrier", "barriers", "wait", "idle")


def needs_launcher(name):
    needs_hosts()
    if name == "mpirun":
        mpirun(1)
    else:
        needs(name)


def broken(launcher, mode, *actions, pes=4, hosts=2, env=None):
    """How the jobs end: a list, see breaker.py."""
    needs_launcher(launcher)
    words = [word for action in actions for word in (*action.split(), "--")]
    env = {"LATERAL_LAUNCHER": launcher, "LATERAL_PEER_TIMEOUT": str(PATIENCE), "UCX_TLS": "tcp,self"} | (env or {})
    result = on_hosts(hosts, sys.executable, "-B", ROOT / "tests/hosts/breaker.py", oshrun(), program("hosts_faulty"), pes,
                      mode, *words, slots=pes // hosts, env=env, timeout=105)
    assert result.status == 0, result
    ends = json.loads(result.out.splitlines()[-1])
    for end in ends:
        print(json.dumps(end, indent=1))
    return ends


def ended(end, line, seconds):
    """Not well, in time, with the line, and no PE is left."""
    assert end["status"] not in (0, None) and end["seconds"] < seconds and not end["left"], end
    assert line is None or any(re.search(line, text) for text in end["lines"]), end


def went_through(end):
    assert end["status"] == 0 and "PASS" in end["lines"] and not end["left"], end


def test_link_mpirun():
    """A host's link goes down while puts stream."""
    ended(broken("mpirun", "stream", "sleep 0.5", "down v2")[0], SILENT, PATIENCE + 20)


def test_link_hydra():
    """A host's link goes down while all wait."""
    ended(broken("mpiexec.hydra", "wait", "sleep 0.5", "down v2")[0], SILENT, PATIENCE + 20)


def killed(launcher):
    """SIGKILL to PE 3, then to all PEs of a host: oshrun's line names PE, host and signal whatever the launcher says, 137 comes out, and the
    next job starts clean. A PE of the host that the launcher has killed meanwhile may be named with it, and of those that die together the
    first alone."""
    one, both = (rf"oshrun: PE {pe} \(pid \d+, hosts_faulty\) on host h2 was killed (by signal 9 \(Killed\)|\(signal 9\?\)).*" for pe in ("3", "[23]"))
    for way, whom, line in (("barriers", "3", f"{one}|{both}, PE 3 with it$"), ("wait", "h2", both)):
        first, second = broken(launcher, way, f"signal KILL {whom}", "again")
        ended(first, line, 15)
        assert first["status"] == 137, first
        went_through(second)


def test_killed_mpirun():
    """Under Open MPI."""
    killed("mpirun")


def test_killed_hydra():
    """Under Hydra, which may name no PE or another one, and whose proxy may fail."""
    killed("mpiexec.hydra")


def killer(seed, count):
    """PEs die while messages are under way: who, when, how many and under which launcher come from the seed."""
    rng, flowing = random.Random(seed), [way for way in WAYS if way not in ("wait", "idle")]
    for number in range(count):
        way, launcher = rng.choice(flowing), ("mpirun", "mpiexec.hydra")[number % 2]
        victims = rng.choice((["0"], ["3"], ["2"], ["1", "2"], ["h1"], ["h2"]))
        print(f"kill {number} of seed {seed}: {victims} in {way} under {launcher}", flush=True)
        kills = [f"signal KILL {victim}" for victim in victims]
        first, second = broken(launcher, way, f"sleep {rng.uniform(0, 0.5):.3f}", *kills, "again")
        ended(first, None, 15)
        assert any(line.strip() for line in first["lines"]), first
        went_through(second)


def test_killed_under_way():
    """SIGKILL to PEs of either host while messages flow: the job ends, somebody says why, nobody is left, and the next job runs."""
    killer(seed=1, count=2)


def test_long_killed_under_way():
    """The same ten times."""
    killer(seed=2, count=10)


def test_daemon():
    """SIGKILL to the launcher's daemon on a host: its PEs see that, or the launcher does and may end what would say more;
    nobody is left."""
    ended(broken("mpirun", "wait", "daemon h2 orted")[0], None, 15)
    ended(broken("mpiexec.hydra", "wait", "daemon h2 hydra_pmi_proxy")[0], None, 15)


def test_host():
    """SIGKILL to all processes of a host, PE 0's or another: a line of oshrun tells PEs and host; 137 comes out."""
    for launcher in ("mpirun", "mpiexec.hydra"):
        for host, pes in (("h1", "0,1"), ("h2", "2,3")):
            end = broken(launcher, "barriers", "sleep 1", f"daemon {host}")[0]
            ended(end, rf"oshrun: PE {pes} on host {host} are lost: ", 15)
            assert end["status"] == 137, end


def test_launcher():
    """SIGKILL to the launcher: nobody is left."""
    for launcher in ("mpirun", "mpiexec.hydra"):
        ended(broken(launcher, "stream", "launcher")[0], None, 15)


def test_flap():
    """A link that is away for 2 s: the job goes on and all data is right."""
    went_through(broken("mpiexec.hydra", "rounds 200", "down v2", "sleep 2", "up v2", env={"LATERAL_PEER_TIMEOUT": "12"})[0])


def test_stopped():
    """A PE that is stopped, in a debugger say, for longer than a host may be silent: the others wait."""
    went_through(broken("mpiexec.hydra", "rounds 200", "signal STOP 3", f"sleep {PATIENCE + 3}", "signal CONT 3")[0])


def silent(launcher, way, progress="thread"):
    """The host is silent half a second after the start. With "poll", PEs that wait poll for themselves."""
    ended(broken(launcher, way, "sleep 0.5", "down v2", env={"LATERAL_PROGRESS": progress})[0], SILENT, PATIENCE + 20)


for each in WAYS:   # a test for each: Open MPI's daemons stay behind a cut link for half a minute
    rows(globals(), f"long_{each}", silent, mpirun=("mpirun", each), hydra=("mpiexec.hydra", each),
         **({"poll": ("mpiexec.hydra", each, "poll")} if each != "idle" else {}))


def test_long_crowd():
    """32 PEs on few cores are slow, and nobody takes one for lost."""
    went_through(broken("mpiexec.hydra", "rounds 5", "sleep 1", pes=32, env={"LATERAL_PEER_TIMEOUT": "2"})[0])


def test_long_never():
    """LATERAL_PEER_TIMEOUT=0: a link that is away for long is waited for."""
    went_through(broken("mpiexec.hydra", "rounds 200", "down v2", "sleep 15", "up v2", env={"LATERAL_PEER_TIMEOUT": "0"})[0])


def test_long_back():
    """The link is back after the job's end: the next job starts clean."""
    first, second = broken("mpiexec.hydra", "wait", "down v2", "sleep 8", "up v2", "again")
    ended(first, SILENT, 30)
    went_through(second)


if __name__ == "__main__":
    harness.main(globals())
