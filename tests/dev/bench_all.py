#!/usr/bin/env python3
"""`./dev bench --all`: after an interruption the same command keeps the rounds that are measured, and goes on; after its end it begins anew.

    bench_all.py BUILD
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
PAGES = {"node": "rss-2", "looking": "looking-2"}


def command(folder, rounds):
    only = [f"--only={name}" for name in PAGES.values()]
    run = Path(__file__).resolve().parents[2] / "bench" / "run.py"
    return [sys.executable, "-B", run, "--all", "--quick", "--no-peers", f"--rounds={rounds}", f"--build={sys.argv[1]}", f"--out={folder}", *only]


def rounds_of(folder, page):
    """A file is there whole or not at all."""
    path = Path(folder, f"{page}.json")
    return json.loads(path.read_text(encoding="utf-8"))["rounds"] if path.exists() else []


def main():
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen(command(folder, ROUNDS), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            while len(rounds_of(folder, "node")) < 2:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.02)
            process.terminate()
            assert process.wait(30) == 143, process.returncode
        first = rounds_of(folder, "node")
        assert 2 <= len(first) and not rounds_of(folder, "looking"), first
        done = subprocess.run(command(folder, ROUNDS), capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "resident memory per PE" in done.stdout and "a shmem_long_p" in done.stdout, done
        for page in PAGES:
            assert len(rounds_of(folder, page)) == ROUNDS, rounds_of(folder, page)
        assert rounds_of(folder, "node")[:len(first)] == first, "rounds were measured again"
        subprocess.run(command(folder, 1), capture_output=True, check=True)
        assert len(rounds_of(folder, "node")) == 1, "it did not begin anew"
    print("an interrupted measurement has gone on")


main()
