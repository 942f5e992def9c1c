#!/usr/bin/env python3
"""Each way in which a program may end has a defined status and says what it must, soon, under every launcher.

    check_endings.py --oshrun=PATH --program=PATH oshrun|nodes|mpirun|hydra|alone [CASE ...]

The table shmem_init(3) shows to users what holds here: a program that calls shmem_finalize last, wherever, ends with its own
status; shmem_global_exit gives its status from everywhere; any other end is told in a line and fails.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

LAST = r"called after the last shmem_finalize"
EARLY = r"exited with status 5|left with exit status 5 before shmem_finalize"
DESERTED = r"exited without shmem_finalize"
ANY = r""           # the launcher's or the C library's own words
SECONDS = 40        # "within a second", on a machine with much other work to do

# (where, calls, end): status, what every PE prints (None: not looked at), what standard error says (None: nothing)
ALL_PES = {
    # right programs: shmem_finalize comes last, explicit or by an exit with status 0
    ("none", "say", "return0"): (0, "", None),
    ("none", "say", "exit0"): (0, "", None),
    ("none", "say", "finalize"): (0, "", None),
    ("none", "say", "thread0"): (0, "", None),
    ("none", "say", "busy0"): (0, "", None),
    ("none", "say", "pthread_exit"): (0, "", None),
    ("none", "say", "finalize_pthread_exit"): (0, "", None),
    ("quick", "finalize,say", "quick0"): (0, None, None),
    **{(where, calls, "return0"): (0, "handled\n", None)
       for where in ("before", "onexit", "after", "local", "static", "tls", "library")
       for calls in ("barrier,put,get,free,say", "free,finalize,say", "finalize,say", "pe,say")},
    ("before", "free,finalize,say", "finalize"): (1, None, LAST),
    ("before", "finalize,say", "finalize"): (0, "handled\n", None),
    ("library", "finalize,say", "exit0"): (0, "handled\n", None),
    # right programs with a status of their own
    ("before", "barrier,free,finalize,say", "return5"): (5, None, ANY),
    ("none", "say", "finalize5"): (5, "", ANY),
    ("none", "say", "gexit7"): (7, "", None),
    **{(where, "gexit", "return0"): (9, None, None) for where in ("before", "after", "local", "static", "tls", "library")},
    # calls behind the last shmem_finalize
    **{(where, call, "finalize"): (1, None, LAST) for where in ("before", "after", "static", "tls", "library")
       for call in ("free", "pe", "barrier")},
    # calls behind shmem_global_exit: what releases does nothing, what communicates ends the handler
    **{(where, "pe,free,finalize,say", "gexit7"): (7, None, None) for where in ("before", "after", "static", "tls", "library")},
    ("before", "barrier", "gexit7"): (7, "", None),
    ("before", "gexit", "gexit7"): (7, "", None),
    ("before", "sleep,say", "gexit7"): (7, None, None),
}

# PE 0 leaves so while the others wait. The part behind the slash says where.
ONE_PE = {
    ("none", "say", "exit0/flag"): (1, "", DESERTED),
    ("none", "say", "exit0/barrier"): (1, None, DESERTED),
    **{(where, calls, "exit5/flag"): (5, None, EARLY) for where in ("before", "after", "local", "static", "library")
       for calls in ("free", "barrier,say", "finalize")},
    ("none", "say", "thread5/flag"): (5, None, EARLY),
    ("none", "say", "busy5/flag"): (5, None, EARLY),
    ("none", "say", "thread7/flag"): (7, "", None),
    ("none", "say", "busy7/flag"): (7, "", None),
    ("before", "join,say", "waited7/flag"): (7, "", None),
    ("before", "join,say", "busy7/flag"): (7, "", None),
    **{(where, "free,finalize,say", f"gexit7/{others}"): (7, "handled\n", None)
       for where in ("before", "local", "static", "tls", "library") for others in ("flag", "barrier", "exit")},
    ("before", "free,say", "gexit0/flag"): (0, "handled\n", None),
    ("before", "gexit", "exit0/exit"): (9, "", None),
    ("library", "gexit", "exit0/flag"): (9, "", None),
    ("before", "gexit", "exit5/flag"): (9, "", None),
    ("none", "say", "finalize_gexit"): (7, "", None),
    ("none", "say", "crash/flag"): (139, "", ANY),
    ("before", "crash", "exit0/flag"): (139, "", ANY),
    ("before", "abort", "exit0/flag"): (134, "", ANY),
    ("none", "say", "abort/flag"): (134, "", ANY),
    ("none", "say", "throw/flag"): (134, "", ANY),
    ("none", "say", "term/flag"): (143, "", ANY),
    ("none", "say", "kill/flag"): (137, "", ANY),
    ("none", "say", "_exit5/flag"): (5, "", ANY),
    ("none", "say", "quick5/flag"): (5, "", ANY),
    ("none", "say", "_exit0/flag"): (1, "", ANY),
    ("none", "say", "quick0/flag"): (1, "", ANY),
    ("none", "say", "exec/flag"): (1, "", ANY),
}

# Ends without any exit handler are the launcher's alone.
STATUS = {
    # of two that end, Hydra gives the status of either; mpirun wants a farewell that only exit, or a return from main, can say
    "mpirun": {("quick", "finalize,say", "quick0"): 1},
    "hydra": {**{key: status - 128 for key, (status, _, _) in ONE_PE.items() if status > 128},
              **{key: None for key in ONE_PE if key[2] in ("_exit0/flag", "quick0/flag", "exec/flag")},
              **{key: (1, 5) for key in ONE_PE if key[2] in ("_exit5/flag", "quick5/flag")}},
}
RIGHT_TEXT = {"mpirun": {("quick", "finalize,say", "quick0")}}


def command(launcher, oshrun, pes):
    if launcher in ("oshrun", "nodes"):
        return [oshrun, "-n", str(pes)]
    if launcher == "mpirun":
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return ["mpirun", *root, "--oversubscribe", "-n", str(pes)]
    return ["mpiexec.hydra", "-n", str(pes)] if launcher == "hydra" else []


def check(launcher, words, case, expected, pes):
    status, out, err = expected
    status = STATUS.get(launcher, {}).get(case, status)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "PMI"))}
    if launcher == "nodes":
        environment |= {"LATERAL_NODE_SIZE": "1", "LATERAL_TRANSPORTS": "tcp"}
    try:
        done = subprocess.run([*words, *case], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              env=environment, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    done.stdout = re.sub(r"\n=====(.*\n)*", "", done.stdout)     # Hydra's banner
    got = 128 - done.returncode if done.returncode < 0 else done.returncode
    wrong = []
    if status is not None and got not in (status if isinstance(status, tuple) else (status,)):
        wrong.append(f"status {got}, not {status}")
    if out is not None and case[1].find("pe") < 0 and case[1].find("get") < 0 and done.stdout != out * (pes if case in ALL_PES else 1):
        wrong.append(f"printed {done.stdout!r}")
    if err is None and done.stderr and case not in RIGHT_TEXT.get(launcher, ()) and not (launcher == "mpirun" and status):
        wrong.append("says something")
    if err and launcher != "alone" and not re.search(err, done.stderr):
        wrong.append(f"does not say {err!r}")
    return "; ".join(wrong) + f"\n{done.stdout}\n{done.stderr}" if wrong else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oshrun", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("launcher")
    parser.add_argument("only", nargs="*", help="cases as words joined by blanks")
    options = parser.parse_args()
    pes = 1 if options.launcher == "alone" else 2
    words = [*command(options.launcher, options.oshrun, pes), options.program]
    if not shutil.which(words[0]):
        print(f"{words[0]} is not installed")
        return 77
    table = ALL_PES if options.launcher == "alone" else ALL_PES | ONE_PE
    cases = [case for case in table if not options.only or " ".join(case) in options.only]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrongs = pool.map(lambda case: check(options.launcher, words, case, table[case], pes), cases)
        failed = 0
        for case, wrong in zip(cases, wrongs):
            if wrong:
                failed += 1
                print(f"{options.launcher}: {' '.join(case)}: {wrong}", flush=True)
    print(f"{len(cases)} ends, {failed} wrong")
    return failed != 0


sys.exit(main())
