"""A job of 1,000 nodes: what PE 0's watcher tells of it (nodes.c plays the others), in bounded memory."""
import re
import subprocess

import harness

SANITIZED = False       # a sanitizer's memory is another one's


def report(nodes, pes, silent):
    done = subprocess.run([harness.BUILD / "tests/launch_nodes", harness.OSHRUN, *map(str, (nodes, pes, silent))], capture_output=True,
                          text=True, env=harness.CLEAN, timeout=50, check=False)
    assert done.returncode == 0, done
    *lines, figures = done.stdout.splitlines()
    return lines, int(figures.split()[3])


def test_thousand():
    """PEs that do the same are one row each, silent hosts are named, and 100,000 PEs take less than 100 MB; so do 10^6."""
    lines, peak = report(1000, 100, 3)
    assert lines[0] == "lateral: where the 99901 PEs are:" and lines[-1].endswith(",..."), lines
    rows = [line for line in lines if line.startswith("  PE ")]
    silent = [re.sub(" +", " ", row).strip() for row in rows if "silent" in row]
    assert silent == [f"PE {pe}-{pe + 99} host host-{host} is silent" for host, pe in ((997, 99601), (998, 99701), (999, 99801))], lines
    assert sum("shmem_barrier_all (98604 of 99901 have come)" in row for row in rows) == 1 and len(rows) == 8, lines
    assert peak < 100000, peak
    lines, peak = report(1000, 1000, 0)
    assert lines[0] == "lateral: where the 999001 PEs are:" and len(lines) == 7 and peak < 100000, (lines, peak)


if __name__ == "__main__":
    harness.main(globals())
