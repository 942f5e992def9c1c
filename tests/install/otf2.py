#!/usr/bin/env python3
"""lateral-report --otf2 with PyPI's otf2: what an archive holds is what the timeline holds. Without PyPI it is skipped.

    otf2.py BUILD ROOT
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

PES = 4
READ = """
import json, otf2, sys
rows = []
with otf2.reader.open(sys.argv[1]) as trace:
    for place, event in trace.events:
        name = type(event).__name__
        peer = trace.definitions.rma_wins[0].location(event.remote).group.name if hasattr(event, "remote") else None
        moved = getattr(event, "bytes", getattr(event, "bytes_sent", None))
        region = event.region.name if hasattr(event, "region") else None
        rows.append([place.group.name, place.name, name, event.time, region, peer, moved])
print(json.dumps(rows))
"""


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def interpreter(folder):
    """A Python that has the package."""
    run(sys.executable, "-m", "venv", folder)
    done = subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", "otf2"], capture_output=True, text=True, check=False)
    if done.returncode:
        print("skipped: PyPI's otf2 cannot be installed:", done.stderr[-300:])
        sys.exit(77)
    return folder / "bin/python"


def main():
    build, root = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="lateral-otf2.") as name:
        folder = pathlib.Path(name)
        python = interpreter(folder / "venv")
        run(build / "bin/oshrun", "-n", PES, "--trace", folder / "t.json", build / "tests/test_job_counted")
        run(python, root / "tools/report.py", "--otf2", folder / "archive", folder / "t.json")
        calls = [event for event in json.loads((folder / "t.json").read_text())["traceEvents"] if event["ph"] == "X"]
        rows = json.loads(run(python, "-c", READ, folder / "archive/traces.otf2"))
        again = subprocess.run([python, root / "tools/report.py", "--otf2", folder / "archive", folder / "t.json"], capture_output=True,
                               text=True, check=False)
    assert again.returncode == 1 and "File exists" in again.stderr and len(again.stderr.splitlines()) == 1, again
    moves = [call for call in calls if call["cat"] == "move"]
    wanted = collections.Counter((f"PE {call['pid']}", f"PE {call['args']['pe']}", call["args"]["bytes"]) for call in moves)
    found = collections.Counter((row[0], row[5], row[6]) for row in rows if row[5])
    assert found == wanted and len(moves) == PES * 13, (found, wanted)
    kinds = collections.Counter(row[2] for row in rows)
    assert kinds["RmaGet"] == kinds["RmaAtomic"] == PES and kinds["RmaPut"] == PES * 11, kinds
    assert kinds["Enter"] == kinds["Leave"] == len(calls) and kinds["RmaOpCompleteBlocking"] == len(moves), kinds
    entered = collections.Counter((row[0], row[4]) for row in rows if row[2] == "Enter")
    assert entered == collections.Counter((f"PE {call['pid']}", call["name"]) for call in calls), entered
    inside = {}
    for pe, thread, kind, time, region, _, _ in rows:
        if kind == "Enter":
            assert inside.get((pe, thread)) is None, "calls of a thread do not overlap"
            inside[pe, thread] = (region, time)
        elif kind == "Leave":
            assert inside.pop((pe, thread))[1] <= time
    assert not inside
    enter, leave = ([row[3] for row in rows if row[2] == kind and row[4] == "shmem_barrier_all"] for kind in ("Enter", "Leave"))
    assert len(leave) == PES and max(enter) <= min(leave), "one clock: nobody leaves a barrier before all have entered it"
    assert max(leave) - min(enter) >= 300000000 * 0.9, "in nanoseconds: PE 0 comes 0.3 s late"
    print(f"{len(rows)} events of {len(calls)} calls were read back")


main()
