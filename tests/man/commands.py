#!/usr/bin/env python3
"""Runs each line of a guide that begins with "$", in a copy of a folder of examples, and compares what it prints with the page. Times,
addresses and process numbers may differ, and so may the order of lines.

usage: commands.py ROOT BIN PAGE EXAMPLES          BIN: the folder of oshcc and oshrun.

Without an MPI the page's lines that begin with mpicc or mpirun are left out.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BIN = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PAGE, EXAMPLES = sys.argv[3:5]


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
    for pattern, instead in ((r"0x[0-9a-f]+", "ADDRESS"), (r"PE \d+: \d+\.\d+ s\b", "PE N: TIME"), (r"\d+\.\d+(?! KiB)", "NUMBER"), (r"pid \d+", "pid N"), (r"\d+%", "SHARE"), (r"[ -]+", " ")):
        text = re.sub(pattern, instead, text)
    return sorted(line.strip() for line in text.splitlines() if line.strip())


def main():
    if set(str(BIN)) & set(" :"):
        print("skipped: a blank or a colon is in the path of the build: nothing can be preloaded from there")
        return 77
    wrong, listed = [], commands((ROOT / "docs/guide" / PAGE).read_text(encoding="utf-8"))
    sources = sorted((ROOT / "examples" / EXAMPLES).glob("*.c"))
    unused = [path.name for path in sources if not any(path.name in command for command, _ in listed)]
    if unused or not any(shown for _, shown in listed):
        wrong.append(f"no command of the page uses {unused}")
    if not (shutil.which("mpicc") and shutil.which("mpirun")):
        listed = [(command, shown) for command, shown in listed if not command.startswith("mpi")]
    with tempfile.TemporaryDirectory(prefix="lateral-guide.") as folder:
        shutil.copytree(ROOT / "examples" / EXAMPLES, f"{folder}/copy")
        os.symlink(ROOT / "tools/report.py", f"{folder}/lateral-report")
        env = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_"))}
        env |= {"PATH": f"{BIN}:{folder}:{env['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        for command, shown in listed:
            done = subprocess.run(["sh", "-c", command], cwd=f"{folder}/copy", env=env, stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100, check=False)
            if plain(done.stdout.splitlines()) != plain(shown):
                wrong.append(f"$ {command}\nthe page shows\n" + "\n".join(shown) + f"\nbut it prints\n{done.stdout}")
            if command.startswith(("oshcc", "mpicc", "lateral-report")) and done.returncode:
                wrong.append(f"$ {command}: status {done.returncode}")
    print("\n".join(wrong) or f"{len(listed)} commands print what the page shows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
