#!/usr/bin/env python3
"""What a user sees of the layer around a program: a start that one rank cannot take part in, tools and sanitizers in front, a wrong call.

    starts.py NAME COMPILER LAYER BIN PROGRAM     COMPILER: the MPI's; its mpirun lies beside it
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import run

LIMIT = 30
TOOL = """
#include <mpi.h>
#include <stdio.h>
static int puts_seen;
int MPI_Put(const void *o, int oc, MPI_Datatype ot, int r, MPI_Aint d, int tc, MPI_Datatype tt, MPI_Win w)
{
    puts_seen++;
    return PMPI_Put(o, oc, ot, r, d, tc, tt, w);
}
int MPI_Finalize(void)
{
    fprintf(stderr, "tool: %d puts\\n", puts_seen);
    return PMPI_Finalize();
}
"""


def job(mpirun, parts, environment):
    """Runs an application of several parts, one rank each. mpirun: with options. Returns status, words and seconds."""
    command = mpirun.split()
    for i, part in enumerate(parts):
        command += [*([":"] if i else []), "-n", "1", *part]
    began = time.monotonic()
    out, err, status = run.finish(command, environment, LIMIT)
    return status, out + err, time.monotonic() - began


def check_start(mpirun, environment, layer, program, rank, prepare, reason):
    """One rank of three cannot: all windows are the MPI's, one line says which rank and why, and the job ends well."""
    good = ["env", f"LD_PRELOAD={layer}", program]
    bad = ["sh", "-c", f"{prepare} LD_PRELOAD={layer} exec {program}"]
    status, words, seconds = job(mpirun, [bad if i == rank else good for i in range(3)], environment)
    lines = [line for line in words.splitlines() if "cannot have windows of Lateral" in line]
    assert status == 0 and "PASS\n" in words, f"{prepare}: status {status}\n{words}"
    assert len(lines) == 1 and f"rank {rank} " in lines[0] and reason in lines[0], f"{prepare}: {words}"
    assert seconds < 20, f"{prepare}: {seconds} s"


def check_without(mpirun, environment, layer, program, without, ranks=3):
    """Some ranks run without the layer: the same, in short order, and one line names one of them. program: with arguments."""
    bare = program.split()
    good = ["env", f"LD_PRELOAD={layer}", *bare]
    status, words, seconds = job(mpirun, [bare if i in without else good for i in range(ranks)], environment)
    lines = [line for line in words.splitlines() if "cannot have windows of Lateral" in line]
    assert status == 0 and "PASS\n" in words, f"without at {without}: status {status}\n{words}"
    assert len(lines) == 1 and "runs without this library" in lines[0], f"without at {without}: {words}"
    assert any(f"rank {rank} " in lines[0] for rank in without), f"without at {without}: {words}"
    assert seconds < 10, f"without at {without}: {seconds} s"


def main():
    name, compiler, layer, folder, program = sys.argv[1:]
    mpirun = run.launcher(name, compiler)
    front = str(pathlib.Path(folder, "lateral-mpi"))
    environment = run.surroundings(CHECK_LIMIT=str(LIMIT - 1))
    for without in [0], [1], [2]:
        check_without(mpirun, environment, layer, program, without)
    check_without(mpirun, environment, layer, program, [0, 1, 4], 7)
    check_without(mpirun, environment, layer, program, [2, 4, 6], 7)
    first = f"{pathlib.Path(program).with_name(f'test_mpi_bare_{name}')} bare-shmem"     # OpenSHMEM before MPI
    check_without(mpirun, environment, layer, first, [1])
    if name == "mpich":     # its ranks call their launcher, and inherit no connection
        check_without(f"{mpirun} -pmi-port", environment, layer, program, [0])
        check_without(f"{mpirun} -pmi-port", environment, layer, first, [2])
    for rank in 0, 2:
        check_start(mpirun, environment, layer, program, rank, "ulimit -v 3000000;", "did not start")
        check_start(mpirun, environment, layer, program, rank, "LATERAL_LANES=x", "variable")
        check_start(mpirun, environment, layer, program, rank, "LATERAL_MPI=0", "LATERAL_MPI is 0")
    both = dict(environment, LATERAL_NODE_SIZE="1")
    check_start(mpirun, both, layer, program, 1, "ulimit -v 3000000;", "did not start")
    status, words, _ = job(mpirun, [["sh", "-c", f"ulimit -v 3000000; {front} {program}"]] * 2, environment)
    assert status == 0 and "PASS\n" in words, f"no rank can start: status {status}\n{words}"

    status, words, _ = job(mpirun, [[front, program, "wrong"]] * 2, environment)
    assert status != 0 and re.search(r"lateral-mpi: rank [01]: MPI_Put on window 'halo': .*; called at \w+\.c:\d+", words), words

    status, words, _ = job(mpirun, [[front, program, "unit"]] * 2, environment)
    assert status != 0 and re.search(r"lateral-mpi: rank [01]: MPI_Win_create on communicator MPI_COMM_WORLD: ", words), words

    with tempfile.TemporaryDirectory() as made:
        source = pathlib.Path(made, "tool.c")
        source.write_text(TOOL, encoding="ascii")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", f"{made}/tool.so", source], check=True)
        tooled = ["env", f"LD_PRELOAD={made}/tool.so", "LATERAL_MPI=verbose", front, program]
        status, words, _ = job(mpirun, [tooled] * 2, environment)
        assert status == 0 and words.count("tool: 2 puts\n") == 2 and "is carried by Lateral" in words, words
        here = pathlib.Path(__file__).parent
        linked = pathlib.Path(made, "linked")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", f"{made}/libtool.so", source], check=True)
        subprocess.run([compiler, "-D_GNU_SOURCE", "-w", "-o", linked, here / "starts.c", f"-L{made}", f"-Wl,-rpath,{made}", "-ltool"],
                       check=True)
        status, words, _ = job(mpirun, [["env", "LATERAL_MPI=verbose", front, str(linked)]] * 2, environment)
        assert status == 0 and words.count("tool: 2 puts\n") == 2 and "is carried by Lateral" in words, words
        clean = pathlib.Path(made, "clean")
        if subprocess.run([compiler, "-fsanitize=address", "-D_GNU_SOURCE", "-w", "-o", clean, here / "starts.c"],
                          capture_output=True, check=False).returncode == 0:
            quiet = dict(environment, ASAN_OPTIONS="detect_leaks=0", LATERAL_MPI="verbose")
            status, words, _ = job(mpirun, [[front, str(clean)]] * 2, quiet)
            assert status == 0 and "PASS\n" in words and "is carried by Lateral" in words, words


if __name__ == "__main__":
    main()
