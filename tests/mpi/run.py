#!/usr/bin/env python3
"""Runs a program under an MPI's mpirun with the layer preloaded; it must end well and print PASS, and nobody may complain.

    run.py NAME COMPILER LAYER RANKS PROGRAM ARGUMENT     COMPILER: the MPI's; its mpirun lies beside it

An argument that begins with bare- means: without the layer.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LIMIT = 55      # seconds, fewer than CTest's
ROOM = 64 << 20 # bytes that an MPI takes of /dev/shm for a few ranks


def is_full():
    return not os.path.isdir("/dev/shm") or shutil.disk_usage("/dev/shm").free < ROOM


def launcher(name, compiler):
    folder = pathlib.Path(compiler).parent
    found = [folder / word for word in (f"mpirun.{name}", "mpirun") if (folder / word).exists()]
    if not found:
        print(f"skipped: no mpirun beside {compiler}")
        sys.exit(77)
    if any(word.startswith("/") and set(word) & set(" :") for word in sys.argv):
        print("skipped: a blank or a colon is in the path of the build: nothing can be preloaded from there")
        sys.exit(77)
    if name != "openmpi" and is_full():
        print(f"skipped: /dev/shm is full, where {name} needs room")
        sys.exit(77)
    return str(found[0])


def surroundings(**more):
    """The environment of a job: on any machine, by any user. Open MPI's shared memory lies elsewhere where /dev/shm is full."""
    both = {f"{who}_ALLOW_RUN_AS_ROOT{what}": "1" for who in ("OMPI", "PRTE") for what in ("", "_CONFIRM")}
    if is_full():
        both |= {f"OMPI_MCA_{part}_backing_directory": tempfile.gettempdir() for part in ("btl_vader", "osc_rdma", "osc_sm")}
    return dict(os.environ, **both, OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", **more)


def finish(command, environment, limit):
    """Status and words of the job. What has no end in time is ended by its mpirun, which takes the ranks along."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        try:
            return (*job.communicate(timeout=limit), job.returncode)
        except subprocess.TimeoutExpired:
            job.terminate()
            try:
                out, err = job.communicate(timeout=5)
            except subprocess.TimeoutExpired as late:
                job.kill()
                out, err = late.stdout, late.stderr
            sys.exit(f"{out}{err}\nrun.py: no end in {limit} s")


def main():
    name, compiler, layer, ranks, program, argument = sys.argv[1:]
    environment = surroundings(LATERAL_MPI="verbose")
    if argument.startswith("far"):
        # Lateral's messages alone go over TCP. MPICH 4.0 hangs in MPI_Finalize now and then where its own do, also without
        # the layer: in 18 of 30 runs of a program of MPI_Init, MPI_Barrier and MPI_Finalize.
        environment.update(LATERAL_NODE_SIZE="1", LATERAL_UCX_TLS="tcp,self")
    if argument.startswith("far-sim"):
        environment.update(LATERAL_TRANSPORTS="sim,seed=1,hold=50:tcp")
    if argument.startswith("far-ofi"):
        environment.update(LATERAL_TRANSPORTS="ofi", FI_PROVIDER=argument.removeprefix("far-ofi-").replace("rxd", "udp;ofi_rxd"), FI_SOCKETS_PE_WAITTIME="0")
    if argument.endswith("fault"):
        environment.update(LATERAL_TRANSPORTS="fault,seed=1,hold=50,steps=20:tcp")
    if argument == "check":
        environment.update(LATERAL_CHECK="1")
    bare = argument.startswith("bare-")
    words = "far" if argument.startswith(("far-sim", "far-ofi")) else argument
    command = [launcher(name, compiler), "-n", ranks, *([] if bare else ["env", f"LD_PRELOAD={layer}"]), program, words]
    environment["CHECK_LIMIT"] = str(LIMIT - 1)              # ../within.h
    out, err, status = finish(command, environment, LIMIT)
    print(out, err, sep="")
    if argument == "spawn" and "skipped: " in out:
        sys.exit(77)
    assert status == 0 and ("PASS\n" in out or ", verified\n" in out), f"it ended with {status}"
    foreign = [line for line in err.splitlines() if line.startswith("lateral") and "carried by Lateral" not in line
               and "windows of this job are Lateral's" not in line and not (argument == "check" and "LATERAL_CHECK" in line)]
    if argument == "spawn":
        strange = [line for line in foreign if line.endswith("it holds processes of another MPI_COMM_WORLD")]
        assert strange, "nobody says that windows over spawned processes are the MPI's"
        foreign = [line for line in foreign if line not in strange]
    assert not foreign, f"not all windows are ours: {foreign}"
    assert bare or "windows of this job are Lateral's" in err, "the layer did not take over"


if __name__ == "__main__":
    main()
