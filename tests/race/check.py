#!/usr/bin/env python3
"""Runs racy.c and fine.c under oshrun --check=race: every racy_ program is reported with both of its places, no fine_ one is.

    check.py OSHRUN PROGRAMS SOURCE ...
"""
import collections
import pathlib
import re
import subprocess
import sys

REPORT = re.compile(r"^lateral: PE \d+: race: .*$", re.MULTILINE)


def functions(source):
    """The function of each line, by "file.c:12"."""
    found, name = {}, None
    lines = pathlib.Path(source).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        match = re.match(r"void (\w+)\(void\)$", line)
        name = match[1] if match else name
        found[f"{pathlib.Path(source).name}:{number}"] = name
        if line.startswith("}"):
            name = None
    return found


def main():
    if set(sys.argv[1]) & set(" :"):
        sys.exit("a blank or a colon is in its path")
    oshrun, program, *sources = sys.argv[1:]
    of_line = {place: name for source in sources for place, name in functions(source).items()}
    done = subprocess.run([oshrun, "-n", "3", "--check=race", program], capture_output=True, text=True, timeout=100, check=False)
    reports, wrong = collections.defaultdict(list), []
    for line in REPORT.findall(done.stderr):
        places = re.findall(r"\w+\.c:\d+", line)
        names = {of_line.get(place) for place in places}
        if len(places) != 2 or len(names) != 1:
            wrong.append(f"a report without two places of one program: {line}")
        reports[names.pop() if names else None].append(line)
    listed = sorted({name for name in of_line.values() if name and name.startswith(("racy_", "fine_"))})
    wrong += [f"missed: {name}" for name in listed if name.startswith("racy_") and not reports[name]]
    wrong += [f"invented: {line}" for name in listed if name.startswith("fine_") for line in reports[name]]
    for name, memory in (("racy_global", "memory of PE 1, global;"), ("racy_put_store", r"memory of PE 1, heap block at heap \+ 0x[0-9a-f]+, \+ 0x[0-9a-f]+;"),
                         ("racy_private_source", r"memory of PE 0, 0x[0-9a-f]+ of its stack or of malloc;")):
        if not any(re.search(memory, line) for line in reports[name]):
            wrong.append(f"{name}: no report says {memory}: {reports[name]}")
    if done.returncode != 66:
        wrong.append(f"status {done.returncode}\n{done.stderr}")
    fine = subprocess.run([oshrun, "-n", "3", "--check=race", program, "fine_"], capture_output=True, text=True, timeout=100, check=False)
    if fine.returncode or fine.stderr:
        wrong.append(f"without races: status {fine.returncode}\n{fine.stderr}")
    print("\n".join(wrong) or f"{len(listed)} programs, each as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
