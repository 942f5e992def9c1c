#!/usr/bin/env python3
"""The pieces of C in docs/guide/mpi.md compile, with the variables that the page speaks of.

    guide.py PAGE INCLUDE COMPILER
"""
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
FRAME = """#include <mpix_rma.h>
void piece_%d(MPI_Win win, long *memory, const long *data, long one, int target, int rank);
void piece_%d(MPI_Win win, long *memory, const long *data, long one, int target, int rank)
{
    int flag, size;
    long old, count;
    char handle[MPIX_MAX_MEMHANDLE_SIZE];
    MPI_Info info;
    MPI_Win dup, part;
    MPI_Request request[2];
    (void)flag, (void)size, (void)old, (void)count, (void)handle, (void)info, (void)dup, (void)part, (void)request;
    (void)win, (void)memory, (void)data, (void)one, (void)target, (void)rank;
%s}
"""


def main():
    page, include, *compiler = sys.argv[1:]
    blocks = BLOCK.findall(pathlib.Path(page).read_text(encoding="utf-8"))
    assert len(blocks) >= 5, f"only {len(blocks)} pieces are in the page"
    for number, block in enumerate(blocks):
        text = FRAME % (number, number, block)
        done = subprocess.run([*compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", include, "-x", "c", "-"], input=text,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{block}\n{done.stderr}"
    named = set(re.findall(r"\bint (MPIX_\w+)\(", (pathlib.Path(include) / "mpix_rma.h").read_text(encoding="utf-8")))
    said = pathlib.Path(page).read_text(encoding="utf-8")
    missing = sorted(name for name in named if name not in said)
    assert not missing, f"the page does not name {', '.join(missing)}"
    print(f"{len(blocks)} pieces compile, {len(named)} functions are named")


main()
