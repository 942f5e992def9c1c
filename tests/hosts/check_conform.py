"""The conformance programs over 2 hosts x 2 PEs: messages between the hosts, shared memory on them."""
import re

import harness
from harness import ROOT, Skip, mpirun, needs_hosts, on_hosts, oshrun

SCRIPT = """
launch=$0
for program; do
    name=${program##*/test_conform_}
    if out=$(timeout 30 "$launch" -q --hostfile "$LATERAL_HOSTFILE" -n 4 "$program" 2>&1) && echo "$out" | grep -q '^PASS$'
    then echo "holds $name"; else echo "$out"; echo "fails $name"; fi
done
"""


def programs(first, last):
    """Those that print PASS and need nothing set; by the first letter of the name."""
    found = []
    for file in sorted((ROOT / "tests/conform").glob("*.c")):
        text = file.read_text(encoding="utf-8")
        if first <= file.stem[0] <= last and re.search(r"^ \* prints: \^PASS\$$", text, re.M) \
                and not re.search(r"^ \* (fails|case|status|env|oshrun):", text, re.M):
            found.append(harness.BUILD / "tests" / f"test_conform_{file.stem}")
    return [program for program in found if program.exists()]


def whole(first, last):
    needs_hosts()
    mpirun(4)  # or there is a word why not
    if not (harness.BUILD / "lib/liblateral-ucx.so").exists():
        raise Skip("this build has no module for UCX")
    wanted = programs(first, last)
    assert wanted
    result = on_hosts(2, "sh", "-c", SCRIPT, oshrun(), *wanted, env={"UCX_TLS": "tcp,self"}, timeout=110)
    assert len(re.findall(r"^holds ", result.out, re.M)) == len(wanted), result


def test_a_to_l():
    """Atomics, collectives, contexts, locks."""
    whole("a", "l")


def test_m_to_z():
    """Memory, order, puts and gets, active sets, signals, teams."""
    whole("m", "z")


if __name__ == "__main__":
    harness.main(globals())
