"""The conformance programs, and those of uccs.h, over 2 hosts x 2 PEs, every case of them: messages between the hosts,
shared memory on them."""
import re
import subprocess
import sys

import harness
from harness import ROOT, hydra, mpirun, needs_hosts, on_hosts, oshrun

RUN = ROOT / "tests/run.py"
SCRIPT = """
printf '#!/bin/sh\nexec %s "$@"\n' "$START" >/tmp/launch && chmod +x /tmp/launch
run=$1
shift
while [ $# -gt 0 ]; do
    name=${1##*/}$2
    if out=$(timeout 30 python3 -B "$run" --case="$2" --pes=4 --oshrun=/tmp/launch "$1" "$3" 2>&1)
    then echo "holds $name"; else echo "$out"; echo "fails $name"; fi
    shift 3
done
"""


def cases(room, pick):
    """Triples of source, case and program: of the room's sources whose stem and number of cases are picked."""
    found = []
    for file in sorted((ROOT / "tests" / room).glob("*.c")):
        program = harness.BUILD / "tests" / f"test_{room}_{file.stem}"
        listed = subprocess.run([sys.executable, "-B", RUN, "--list", "--jobs=TRUE", file], capture_output=True, text=True,
                                check=True).stdout
        names = dict.fromkeys(line.split("|")[0] for line in listed.splitlines() if not line.startswith("="))
        if pick(file.stem, len(names)):
            assert names and program.exists(), file
            found += [word for name in names for word in (file, name, program)]
    return found


def whole(launcher, name, pick, room="conform", env=None, start=None):
    needs_hosts()
    launcher(4)  # or there is a word why not
    wanted = cases(room, pick)
    assert wanted
    start = start or f'"{oshrun()}" -q --hostfile "$TEST_HOSTFILE"'
    result = on_hosts(2, "sh", "-c", SCRIPT, "-", RUN, *wanted, timeout=110,
                      env={"UCX_TLS": "tcp,self", "LATERAL_LAUNCHER": name, "START": start} | (env or {}))
    assert len(re.findall(r"^holds ", result.out, re.M)) == len(wanted) // 3, result


def test_a_to_l():
    """Atomics, collectives, contexts, locks."""
    whole(mpirun, "mpirun", lambda stem, count: stem[0] <= "l" and count == 1)


def test_m_to_z():
    """Memory, order, puts and gets, active sets, signals, teams."""
    whole(hydra, "mpiexec.hydra", lambda stem, count: stem[0] > "l" and count == 1)


def test_cases():
    """What has cases: starts and ends, sizes of the heap, what the environment says."""
    whole(hydra, "mpiexec.hydra", lambda stem, count: count > 1)


def test_uccs():
    """Active messages, groups, memory and one-sided operations, requests, the runtime environment."""
    whole(mpirun, "mpirun", lambda stem, count: stem in ("am", "group", "requests", "rma", "rte"), "uccs",
          {"LATERAL_NODE_SIZE": "2"})  # by which these programs know who is near


def test_ofi():
    """Over libfabric's tcp: order, puts and gets, atomics, sums."""
    whole(mpirun, "mpirun", lambda stem, count: stem in ("amo_standard", "coll_reduce", "order", "rma_nbi", "signal_put"),
          env={"LATERAL_TRANSPORTS": "ofi", "FI_PROVIDER": "tcp"})


def dealt(pick):
    whole(mpirun, "mpirun", pick, start='mpirun --oversubscribe --bind-to none --map-by node --host h1:2,h2:2 -x UCX_TLS')


def test_dealt_in_turn():
    """PEs 0 and 2 on one host, 1 and 3 on the other: what sees who is whose neighbour."""
    dealt(lambda stem, count: stem in ("amo_standard", "coll_reduce", "ctx_team", "query", "rma_put_get", "team_split_strided"))


def test_long_dealt_in_turn():
    """The same of the others."""
    dealt(lambda stem, count: count == 1 and stem[0] in "clrstv")


if __name__ == "__main__":
    harness.main(globals())
