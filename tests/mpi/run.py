#!/usr/bin/env python3
"""Runs a program under an MPI's mpirun with the layer preloaded; it must end well and print PASS, and nobody may complain.

    run.py NAME COMPILER LAYER RANKS PROGRAM ARGUMENT     COMPILER: the MPI's; its mpirun lies beside it

An argument that begins with bare- means: without the layer.
"""
import os
import pathlib
import subprocess
import sys


def launcher(name, compiler):
    folder = pathlib.Path(compiler).parent
    found = [folder / word for word in (f"mpirun.{name}", "mpirun") if (folder / word).exists()]
    if not found:
        print(f"skipped: no mpirun beside {compiler}")
        sys.exit(77)
    return str(found[0])


def main():
    name, compiler, layer, ranks, program, argument = sys.argv[1:]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       PRTE_ALLOW_RUN_AS_ROOT="1", PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
                       LATERAL_MPI_VERBOSE="1")
    if argument.startswith("far"):
        # Lateral's messages alone go over TCP. MPICH 4.0 hangs in MPI_Finalize now and then where its own do, also without
        # the layer: in 18 of 30 runs of a program of MPI_Init, MPI_Barrier and MPI_Finalize.
        environment.update(LATERAL_NODE_SIZE="1", LATERAL_UCX_TLS="tcp,self")
    if argument.startswith("far-sim"):
        environment.update(LATERAL_TRANSPORTS="sim:ucx", LATERAL_SIM="seed=1,hold=50")
    if argument == "check":
        environment.update(LATERAL_CHECK="1")
    bare = argument.startswith("bare-")
    words = "far" if argument == "far-sim" else argument
    command = [launcher(name, compiler), "-n", ranks, *([] if bare else ["env", f"LD_PRELOAD={layer}"]), program, words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=55)
    print(done.stdout, done.stderr, sep="")
    assert done.returncode == 0 and ("PASS\n" in done.stdout or ", verified\n" in done.stdout), f"it ended with {done.returncode}"
    foreign = [line for line in done.stderr.splitlines() if line.startswith("lateral") and "carried by Lateral" not in line
               and "windows of this job are Lateral's" not in line and not (argument == "check" and "LATERAL_CHECK" in line)]
    assert not foreign, f"not all windows are ours: {foreign}"
    assert bare or "windows of this job are Lateral's" in done.stderr, "the layer did not take over"


main()
