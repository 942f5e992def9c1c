#!/usr/bin/env python3
"""A job that hangs in calls on a window: what lateral-mpi tells at its time limit and on SIGQUIT, and oshrun --status.

    stuck.py NAME COMPILER LAYER BIN PROGRAM     COMPILER: the MPI's; its mpirun lies beside it
"""
import re
import signal
import subprocess
import sys
import time

import run

WAITS = r" +[0-9.]+ s +stuck\.c:\d+\n"
REST = r"  PE {}  +is in no wait that lasts +.*\n"
WANTED = {
    "fence": r"  PE 0,1  MPI_Win_fence \(window \d+; 2 of 3 have come\)" + WAITS + REST.format(2) + "PEs 0,1 wait for PE 2\n",
    "start": r"  PE 0  MPI_Win_start \(window \d+; waits for PE 1\)" + WAITS + r"  PE 1  MPI_Win_wait \(window \d+\)" + WAITS
             + REST.format(2) + "PE 0 waits for PE 1\n",
    "flush": r"  PE 0 +MPI_Win_flush \(.*waits for PE 2\)" + WAITS + REST.format("1,2") + "PE 0 waits for PE 2\n",
    "lock": r"  PE 0,2  MPI_Win_lock \(a lock of PE 0; waits for PE 1\)" + WAITS + REST.format(1) + "PEs 0,2 wait for PE 1\n",
}


def await_status(oshrun, process, wanted):
    """Asks from outside until all have waited for some time; the job goes on."""
    end, text = time.monotonic() + 60, ""
    while not re.search(wanted, text):
        assert time.monotonic() < end and process.poll() is None, text
        time.sleep(0.3)
        text = subprocess.run([oshrun, "--status", str(process.pid)], capture_output=True, text=True, check=False).stderr
    return text


def main():
    name, compiler, layer, tools, program = sys.argv[1:]
    environment = run.surroundings()
    job = [run.launcher(name, compiler), "-n", "3", "env", f"LD_PRELOAD={layer}", program]
    watched = [f"{tools}/lateral-mpi", f"--mpi={name}", "--timeout=60", *job]
    far = {"LATERAL_NODE_SIZE": "2", "LATERAL_PROGRESS": "poll", "LATERAL_UCX_TLS": "tcp,self"}
    for how in ("start", "lock", "flush"):
        with subprocess.Popen([*job, how], env=environment | (far if how == "flush" else {}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                await_status(f"{tools}/oshrun", process, WANTED[how])
            finally:
                process.terminate()
    with subprocess.Popen([*watched, "fence"], env=environment, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            await_status(f"{tools}/oshrun", process, WANTED["fence"])
            process.send_signal(signal.SIGQUIT)
            text = process.communicate(timeout=20)[1]
        finally:
            process.kill()
    assert process.returncode == 128 + signal.SIGQUIT and re.search(WANTED["fence"], text), (process.returncode, text)
    for seconds in (1.5, 6, 24):                        # the MPI may need long to start on a busy machine
        watched[2] = f"--timeout={seconds}s"
        done = subprocess.run([*watched, "fence"], env=environment | far, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 124 and f"lateral-mpi: time limit of {seconds} s reached (--timeout)" in done.stderr, done
        if re.search(r"  PE 0 +MPI_Win_fence .*(\n.*)?\n" + REST.format(2), done.stderr):     # of both nodes
            break
    else:
        raise AssertionError(done.stderr)
    done = subprocess.run([f"{tools}/lateral-mpi", f"--mpi={name}", "--timeout=1", "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--timeout goes in front of a launcher" in done.stderr, done
    print("the reports hold")


main()
