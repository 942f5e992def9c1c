#!/usr/bin/env python3
"""Runs each line of docs/guide/debugging.md that begins with "$", in a copy of examples/bugs, and compares what it prints with the
page. Times, addresses and process numbers may differ, and so may the order of lines.

usage: debugging.py ROOT BIN          BIN: the folder of oshcc and oshrun
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BIN = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def commands(page):
    """Pairs of a command and the lines that the page shows behind it."""
    found = []
    inside = False
    for line in page.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][1].append(line[4:])
        else:
            inside = False
    return found


def plain(lines):
    """Lines without what differs from run to run."""
    text = "\n".join(lines)
    for pattern, instead in ((r"0x[0-9a-f]+", "ADDRESS"), (r"\d+\.\d+(?! KiB)", "NUMBER"), (r"pid \d+", "pid N"), (r"\d+%", "SHARE"), (r"[ -]+", " ")):
        text = re.sub(pattern, instead, text)
    return sorted(line.strip() for line in text.splitlines() if line.strip())


def main():
    page = (ROOT / "docs/guide/debugging.md").read_text(encoding="utf-8")
    wrong, listed = [], commands(page)
    assert len(listed) >= 10 and sum(bool(shown) for _, shown in listed) >= 6, f"the page has lost its commands: {listed}"
    with tempfile.TemporaryDirectory(prefix="lateral-guide.") as folder:
        shutil.copytree(ROOT / "examples/bugs", f"{folder}/bugs")
        os.symlink(ROOT / "tools/report.py", f"{folder}/lateral-report")
        env = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_"))}
        env["PATH"] = f"{BIN}:{folder}:{env['PATH']}"
        for command, shown in listed:
            done = subprocess.run(["sh", "-c", command], cwd=f"{folder}/bugs", env=env, stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100, check=False)
            if plain(done.stdout.splitlines()) != plain(shown):
                wrong.append(f"$ {command}\nthe page shows\n" + "\n".join(shown) + f"\nbut it prints\n{done.stdout}")
            if command.startswith("oshcc") and done.returncode:
                wrong.append(f"$ {command}: status {done.returncode}")
        if not pathlib.Path(folder, "bugs/report.html").exists():
            wrong.append("lateral-report has made no report.html")
    print("\n".join(wrong) or f"{len(listed)} commands print what the page shows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
