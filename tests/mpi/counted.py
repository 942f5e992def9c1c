#!/usr/bin/env python3
"""lateral-mpi --stats and --trace: numbers of a program whose moves and waits are known (counted.c).

    counted.py NAME COMPILER BIN PROGRAM     COMPILER: the MPI's; its mpirun lies beside it
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import run

RANKS = 4
PUTS = 10
EACH = PUTS + 2                         # and a fetch, and a get; ranks 0 and 1 put once more, in windows of two


def check_table(lines):
    start = lines.index(f"what {RANKS} PEs did")
    rows = [line.split() for line in lines[start + 2:start + 2 + RANKS]]
    for rank, row in enumerate(rows):
        assert row[:4] == [str(rank), str(EACH + (rank < 2)), "3.9", "KiB"], (rank, row)
        assert float(row[5]) > 0.1 or rank == 0, f"rank {rank} has waited for rank 0: {row}"
    fences = [line for line in lines if re.search(r" 4  PE [1-3]: (0\.[1-9]|[1-9])[0-9.]* s  MPI_Win_fence  counted\.c:\d+$", line)]
    assert len(fences) == 1, lines
    start = lines.index("bytes from (row) to (column)")
    for rank in range(RANKS):
        cells = re.split(r"\s{2,}", lines[start + 2 + rank].strip())[1:]
        assert cells[(rank + 1) % RANKS].startswith("3.9 KiB") or rank == 0, (rank, cells)
        assert (cells[rank + 2] == "8 B") if rank < 2 else cells.count(".") >= 1, (rank, cells)


def check_trace(path):
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    calls = [event for event in events if event["ph"] == "X"]
    for rank in range(RANKS):
        moves = [event for event in calls if event["pid"] == rank and event["cat"] == "move"]
        assert len(moves) == EACH + (rank < 2) and [event["name"] for event in moves].count("MPI_Put") == PUTS + (rank < 2), moves
        assert sum(event["args"]["bytes"] for event in moves) == PUTS * 400 + 16 + 8 * (rank < 2), moves
    waits = {event["name"] for event in calls if event["cat"] == "wait"}
    assert waits >= {"MPI_Win_allocate", "MPI_Wait", "MPI_Win_flush_all", "MPI_Win_unlock_all", "MPI_Win_fence", "MPI_Win_free", "MPI_Cart_sub"} and \
        "MPI_Comm_split_type" not in waits, waits       # which --stats itself calls


def main():
    name, compiler, tools, program = sys.argv[1:]
    environment = run.surroundings()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([f"{tools}/lateral-mpi", f"--mpi={name}", "--stats", "--trace=t.json", run.launcher(name, compiler), "-n", str(RANKS),
                               program], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=50)
        assert done.returncode == 0, done
        print(done.stderr)
        check_table(done.stderr.splitlines())
        check_trace(pathlib.Path(folder, "t.json"))
    # The MPI's own windows are counted, too, and without the option nothing is said.
    for options, words in ((["--stats"], [f"what {RANKS} PEs did"]), ([], [])):
        done = subprocess.run([f"{tools}/lateral-mpi", f"--mpi={name}", *options, run.launcher(name, compiler), "-n", str(RANKS), program, "plain"],
                              env=environment | {"LATERAL_MPI": "0"}, capture_output=True, text=True, check=False, timeout=50)
        assert done.returncode == 0 and re.findall("what . PEs did", done.stderr) == words, done
    for option in ("--trace=", "--state"):
        done = subprocess.run([f"{tools}/lateral-mpi", option, program], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and f"unknown option {option};" in done.stderr, done


main()
