"""The conformance programs over 2 hosts x 2 PEs, every case of them: messages between the hosts, shared memory on them."""
import re
import subprocess
import sys

import harness
from harness import ROOT, Skip, hydra, mpirun, needs_hosts, on_hosts, oshrun

RUN = ROOT / "tests/run.py"
SCRIPT = """
printf '#!/bin/sh\nexec "%s" -q --hostfile "$LATERAL_HOSTFILE" "$@"\n' "$0" >/tmp/launch && chmod +x /tmp/launch
run=$1
shift
while [ $# -gt 0 ]; do
    name=${1##*/}$2
    if out=$(timeout 30 python3 -B "$run" --case="$2" --pes=4 --oshrun=/tmp/launch "$1" "$3" 2>&1)
    then echo "holds $name"; else echo "$out"; echo "fails $name"; fi
    shift 3
done
"""


def cases(pick):
    """Triples of source, case and program: of all sources, or those whose stem is picked."""
    found = []
    for file in sorted((ROOT / "tests/conform").glob("*.c")):
        program = harness.BUILD / "tests" / f"test_conform_{file.stem}"
        listed = subprocess.run([sys.executable, "-B", RUN, "--list", "--jobs=TRUE", file], capture_output=True, text=True,
                                check=True).stdout
        names = dict.fromkeys(line.split("|")[0] for line in listed.splitlines())
        assert names and program.exists(), file
        if pick(file.stem, len(names)):
            found += [word for name in names for word in (file, name, program)]
    return found


def whole(launcher, name, pick):
    needs_hosts()
    launcher(4)  # or there is a word why not
    if not (harness.BUILD / "lib/liblateral-ucx.so").exists():
        raise Skip("this build has no module for UCX")
    wanted = cases(pick)
    assert wanted
    result = on_hosts(2, "sh", "-c", SCRIPT, oshrun(), RUN, *wanted, env={"UCX_TLS": "tcp,self", "LATERAL_LAUNCHER": name},
                      timeout=110)
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


if __name__ == "__main__":
    harness.main(globals())
