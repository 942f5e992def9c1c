#!/usr/bin/env python3
"""What oshrun says to the launcher that reaches other hosts, word by word: stand-ins of each kind show their words."""
import contextlib
import os
import pathlib
import re
import tempfile

import harness
from harness import one_line, run, temporary

SHOW = """#!/bin/sh
case $1 in
--version) echo "{version}"; exit ;;
--mpi=list) echo "{plugins}"; exit ;;
esac
[ -z "$TEST_SLEEP" ] || exec sleep "$TEST_SLEEP"
if [ -n "$TEST_CHILDREN" ]; then read -r children </proc/$$/task/$$/children; echo "children:$children"; exit; fi
[ -z "$TEST_KEEP" ] || set -- $(env | grep keepalive | sort)
for word; do
    case $word in
    /proc/self/fd/*) cat "$word" ;;
    *) printf '%s\\n' "$word" ;;
    esac
done
"""
OPEN_MPI, PRRTE, HYDRA = "mpirun (Open MPI) 4.1.4", "prterun (PRRTE) 3.0.1", "HYDRA build details:"
SLURM = {"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "2"}


def put(folder, name, version="", plugins="none"):
    """A stand-in."""
    path = pathlib.Path(folder, name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(SHOW.format(version=version, plugins=plugins))
    path.chmod(0o755)
    return path


@contextlib.contextmanager
def launchers(**names):
    """A folder with these stand-ins alone, and with tools that they use."""
    with temporary() as folder:
        folder = os.path.realpath(folder)
        for name, version in names.items():
            put(folder, name.replace("_", "."), version)
        for tool in ("cat", "env", "grep", "sort"):
            os.symlink(next(f"{place}/{tool}" for place in ("/usr/bin", "/bin") if os.path.exists(f"{place}/{tool}")), f"{folder}/{tool}")
        yield folder


def told(folder, *words, env=None, quiet=True, says=r""):
    """What the launcher of the folder is told; without the variables that it passes on."""
    result = run(*(["-q"] if quiet else []), *words, env={"PATH": folder} | (env or {}))
    assert result.status == 0 and re.fullmatch(says, result.err), result
    lines = result.lines
    passed = [i for i, word in enumerate(lines) if word == "-x"]
    return " ".join(word for i, word in enumerate(lines) if i not in passed and i - 1 not in passed)


def check(folder, rows, env=None, quiet=True):
    """Rows of a line for oshrun and the words that it becomes."""
    for line, wanted in rows:
        words = told(folder, *line.split(), env=env, quiet=quiet, says="" if quiet else r"oshrun: several hosts.*\n")
        assert words == wanted, f"oshrun {line}\n  wanted: {wanted}\n  is:     {words}"


def test_open_mpi():
    """Open MPI 4: each program has its share of the slots."""
    with launchers(mpirun=OPEN_MPI) as folder:
        check(folder, [
            ("--host a:2,b:2 -n 3 p x", "--bind-to none --quiet --host a:2,b:1 -n 3 p x"),
            ("--host a:2,b:2 -n 4 p", "--bind-to none --quiet --host a:2,b:2 -n 4 p"),
            ("--host a:2,b:2 -n 1 p : -n 2 q : -n 1 r y", "--bind-to none --quiet --host a:1 -n 1 p : --host a:1,b:1 -n 2 q : --host b:1 -n 1 r y"),
            ("--host a:1,b:1 --oversubscribe -n 3 p", "--bind-to none --oversubscribe --quiet --host a:1,b:1 -n 3 p"),
            ("--host a,b -n 3 p", "--bind-to none --oversubscribe --quiet --host a:1,b:1 -n 3 p"),
            ("--host a:2 --bind-to core --allow-run-as-root -n 1 p", "--allow-run-as-root --bind-to core --quiet --host a:1 -n 1 p"),
            ("--host a:2 --tag-output --timestamp-output p", "--bind-to none --quiet --tag-output --timestamp-output --host a:2 -n 2 p"),
            ("--host a:2 --output-filename f --stdin all p", "--bind-to none --quiet --output-filename f --stdin all --host a:2 -n 2 p"),
            ("--host a:2 --stdin none p", "--bind-to none --quiet --stdin none --host a:2 -n 2 p"),
            ("--host a:2 --stdin 0 p", "--bind-to none --quiet --host a:2 -n 2 p"),
            ("--host a:2 --stdin 1 p", "--bind-to none --quiet --stdin 1 --host a:2 -n 2 p"),
            ("--host a:2 --wdir d -n 1 -x A=1 -x B= p : -n 1 -x C=2 q", "--bind-to none --quiet --host a:1 --wdir d -n 1 env A=1 B= p : --host a:1 -n 1 env C=2 q"),
            ("--host a:2 --timeout 1.5m --deadlock 3 p", "--bind-to none --quiet --host a:2 -n 2 p"),
        ])
        check(folder, [("--host a:2 p", "--bind-to none --host a:2 -n 2 p")], quiet=False)
        assert told(folder, "--host", "a", "-n", 1, "-x", "V", "p", env={"V": "a b"}).endswith("-n 1 env V=a b p")
        told(folder, "--host", "a", "-n", 1, "-x", "NOT_SET", "p", says="oshrun: -x NOT_SET: not set in the environment of oshrun, so not passed on\n")


def test_open_mpi_variables():
    """Open MPI and PRRTE pass on the variables of this library, of UCX and libfabric, and no others."""
    for version in (OPEN_MPI, "mpirun (Open MPI) 5.0.3"):
        with launchers(mpirun=version) as folder:
            env = {"PATH": folder, "UCX_TLS": "tcp", "FI_PROVIDER": "tcp", "SHMEM_DEBUG": "", "SMA_X": "1", "LATERAL_LANES": "3", "LATERAL_JOB": "1:2:3", "UC_X": "1", "XSHMEM_": "1", "LATERAL": "1"}
            lines = run("-q", "--host", "a", "-n", 1, "p", ":", "-n", 1, "q", env=env).lines
            colon = lines.index(":")
            for part in (lines[:colon], lines[colon:]):
                names = {part[i + 1] for i, word in enumerate(part) if word == "-x"}
                ours = {name for name in names if not name.startswith("UCX_") or name == "UCX_TLS"}
                assert ours == {"UCX_TLS", "FI_PROVIDER", "SHMEM_DEBUG", "SMA_X", "LATERAL_LANES", "LATERAL_JOB"}, names


def test_prrte():
    """PRRTE, and Open MPI 5, which brings it."""
    rows = [("--host a:2,b:2 -n 3 p x", "--bind-to none --map-by slot --host a:2,b:1 -n 3 p x"),
            ("--host a,b -n 3 p", "--bind-to none --map-by slot:OVERSUBSCRIBE --host a:1,b:1 -n 3 p"),
            ("--host a:2 --tag-output --timestamp-output p", "--bind-to none --map-by slot --output=tag --output=timestamp --host a:2 -n 2 p"),
            ("--host a:2 --output-filename f p", "--bind-to none --map-by slot --output file=f --host a:2 -n 2 p"),
            ("--host a:2 --bind-to core --stdin 1 --allow-run-as-root p", "--allow-run-as-root --bind-to core --map-by slot --stdin 1 --host a:2 -n 2 p")]
    for name, version in (("prterun", PRRTE), ("mpirun", "mpirun (Open MPI) 5.0.3"), ("mpirun", "PRRTE 3.0")):
        with launchers(**{name: version}) as folder:
            check(folder, rows)
    with launchers() as folder:
        place = put(folder, "bin/prterun", PRRTE)
        words = told(f"{folder}/bin:{folder}", "--host", "a", "-n", 1, "p")
        assert words == f"--prefix {folder} --bind-to none --map-by slot --host a:1 -n 1 p", (words, place)


def test_hydra():
    """MPICH's and Intel's launcher passes all variables on, and places PEs by the whole list."""
    rows = [("--host a:2,b:2 -n 3 p x", "-hosts a:2,b:2 -bind-to none -n 3 p x"),
            ("--host a:2 --bind-to core --tag-output p", "-hosts a:2 -bind-to core -prepend-rank -n 2 p"),
            ("--host a:2 --output-filename f p", "-hosts a:2 -bind-to none -outfile-pattern=f.%r -errfile-pattern=f.%r -n 2 p"),
            ("--host a:3 -n 1 --wdir d p : -n 2 -x A=1 q", "-hosts a:3 -bind-to none -wdir d -n 1 p : -n 2 env A=1 q")]
    for name, version in (("mpiexec_hydra", HYDRA), ("mpirun", "Intel(R) MPI Library for Linux"), ("mpirun", HYDRA)):
        with launchers(**{name: version}) as folder:
            check(folder, rows)
            one_line(run("--host", "a:2", "--timestamp-output", "-q", "p", env={"PATH": folder}), r"--timestamp-output: mpiexec.hydra has no such option", 2)
            one_line(run("--host", "a:2", "--stdin", 1, "-q", "p", env={"PATH": folder}), r"--stdin: mpiexec.hydra has no such option", 2)


def test_slurm():
    """srun, in an allocation of several nodes or by name."""
    front = "--mpi=pmi2 --kill-on-bad-exit=1"
    back = "--distribution=block --overcommit"
    with launchers(srun="slurm 23.11", mpirun=OPEN_MPI) as folder:
        check(folder, [
            ("p x", f"{front} --input=0 {back} --ntasks=2 --quiet p x"),
            ("-n 5 p", f"{front} --input=0 {back} --ntasks=5 --quiet p"),
            ("-n 5 --stdin 4 --bind-to core --tag-output p", f"{front} --input=4 --cpu-bind=cores {back} --ntasks=5 --label --quiet p"),
            ("--stdin all --output-filename f p", f"{front} --input=all --output=f.%t {back} --ntasks=2 --quiet p"),
            ("--stdin none --wdir d -x A=1 p", f"{front} --input=none {back} --ntasks=2 --quiet env --chdir=d A=1 p"),
            ("--host a,b p", f"{front} --input=0 {back} --ntasks=2 --nodes=2 --nodelist=a,b --quiet p"),
            ("--host a:3 p", f"{front} --input=0 {back} --ntasks=3 --nodes=1 --nodelist=a --quiet p"),
            ("-n 1 p it's : -n 3 --wdir d q ' : -n 1 r", f"{front} --input=0 {back} --ntasks=5 --quiet --multi-prog "
                                                         r"0-0 'p' 'it'\''s' 1-3 'env' '--chdir=d' 'q' ''\''' 4-4 'r'"),
        ], env=SLURM)
        check(folder, [("p", f"{front} --input=0 {back} --ntasks=2 p")], env=SLURM, quiet=False)
        one_line(run("-q", "--timestamp-output", "p", env=SLURM | {"PATH": folder}), r"--timestamp-output: srun has no such option", 2)
        put(folder, "srun", "slurm", plugins="none pmix pmi2")
        pmix = list((harness.OSHRUN.parent.parent / "lib").glob("liblateral-pmix.so")) if isinstance(harness.OSHRUN, pathlib.Path) else []
        words = told(folder, "p", env=SLURM)
        assert words.startswith(("--mpi=pmix ", "--mpi=pmi2 ")) and (not pmix or words.startswith("--mpi=pmix ")), words


def test_choice():
    """Which launcher is taken, and what is said of it."""
    with launchers(prterun=PRRTE, mpirun=OPEN_MPI, mpiexec_hydra=HYDRA, srun="slurm 23.11", odd="Something else", launch="(OpenRTE) 2") as folder:
        def said(*words, **env):
            result = run(*words, "--host", "a", "-n", 1, "p", env={"PATH": folder} | env)
            assert result.status == 0, result
            return result.err
        hand = "oshrun: several hosts: handing over to"
        assert said() == f"{hand} {folder}/prterun ({PRRTE})\n"
        assert said(LATERAL_LAUNCHER="") == f"{hand} {folder}/prterun ({PRRTE})\n"
        assert said(LATERAL_LAUNCHER="mpirun") == f"{hand} {folder}/mpirun ({OPEN_MPI})\n"
        assert said(LATERAL_LAUNCHER=f"{folder}/mpirun") == f"{hand} {folder}/mpirun ({OPEN_MPI})\n"
        assert said(LATERAL_LAUNCHER="mpiexec.hydra") == f"{hand} {folder}/mpiexec.hydra (Hydra)\n"
        assert said(LATERAL_LAUNCHER="launch") == f"{hand} {folder}/launch\n"
        assert said(LATERAL_LAUNCHER="srun") == f"{hand} {folder}/srun (slurm 23.11)\n"
        assert said(**SLURM) == f"{hand} {folder}/srun (slurm 23.11)\n"
        assert said("-q") == ""
        assert told(folder, "--host", "a", "-n", 1, "p", env={"TEST_CHILDREN": "1"}) == "children:", "what asked for a version is left"
        for wish in ("odd", "missing", f"{folder}/missing", "a'b"):
            one_line(run("--host", "a", "-n", 1, "p", env={"PATH": folder, "LATERAL_LAUNCHER": wish}),
                     rf"LATERAL_LAUNCHER={wish}: no launcher that is known here \(srun, prterun, mpirun, mpiexec\.hydra\)", 127)
        for name in ("prterun", "mpirun"):
            os.chmod(f"{folder}/{name}", 0o644)     # no program
        for path in (folder, f":{folder}", f"/nowhere::{folder}:/", f"/nowhere:{folder}"):
            assert said(PATH=path) == f"{hand} {folder}/mpiexec.hydra (Hydra)\n", path
        os.remove(f"{folder}/mpiexec.hydra")
        missing = r"no launcher for other hosts in PATH; install Open MPI or PRRTE \(mpirun, prterun\) or MPICH \(mpiexec\.hydra\), or run it in a Slurm allocation"
        one_line(run("--host", "a", "-n", 1, "p", env={"PATH": folder}), f"--host: {missing}", 127)
        os.remove(f"{folder}/srun")
        one_line(run("-n", 1, "p", env={"PATH": folder} | SLURM), f"this Slurm allocation has several nodes: {missing}", 127)
        pathlib.Path(folder, "srun").write_text("#!/nowhere/sh\n")
        os.chmod(f"{folder}/srun", 0o755)
        result = run("-q", "-n", 1, "p", env={"PATH": folder} | SLURM)
        assert result.status == 126 and result.errors[-1] == f"oshrun: {folder}/srun: No such file or directory", result


def test_private_folder():
    """A program in a folder that each host has for itself is named before the launcher starts, unless oshrun shall be quiet."""
    with launchers(mpirun=OPEN_MPI) as folder, tempfile.NamedTemporaryFile(dir="/tmp") as program:
        here = rf"oshrun: {program.name} lies in /tmp, which each host has for itself: .*share\n"
        told(folder, "--host", "a", "-n", 1, program.name, quiet=False, says=here + r"oshrun: several hosts.*\n")
        told(folder, "--host", "a", "-n", 1, program.name)
        told(folder, "--host", "a", "-n", 1, "/bin/sh", quiet=False, says=r"oshrun: several hosts.*\n")


def test_one_node_alone():
    """Options that hold on one machine alone are refused before any launcher is looked for."""
    for option, why in ((["--debug", 0], "--debug: debuggers attach to PEs of this machine alone; start the job on one host"),
                        (["--check=race"], "--check=race: races are looked for among PEs of one node; start the job on one host")):
        one_line(run(*option, "--host", "a", "-n", 1, "p", env={"PATH": "/nowhere"}), why, 2)


def test_layer():
    """The checking layer stands in front of each program."""
    with launchers(mpirun=OPEN_MPI) as folder:
        for option, settings, layer in (("--check", "LATERAL_CHECK=1", "check"), ("--stats", "LATERAL_STATS=1", "stats"), ("--trace=t", f"LATERAL_TRACE={os.getcwd()}/t", "stats")):
            words = told(folder, option, "--host", "a:2", "-n", 1, "-x", "A=1", "p", ":", "-n", 1, "q")
            front = rf"{re.escape(settings)} LD_PRELOAD=\S+/liblateral-{layer}\.so"
            assert re.search(rf"-n 1 env A=1 {front} p : --host a:1 -n 1 env {front} q$", words), words


def test_time_limit():
    """The limit holds, too, while no PE has come: a line in place of the report."""
    with launchers(mpirun=OPEN_MPI) as folder:
        late = run("-q", "--host", "a", "--timeout", ".3", "-n", 1, "p", env={"PATH": f"{folder}:/usr/bin:/bin", "TEST_SLEEP": "30"})
        assert (late.status, late.err) == (124, ""), late
        late = run("--host", "a", "--timeout", ".3", "-n", 1, "p", env={"PATH": f"{folder}:/usr/bin:/bin", "TEST_SLEEP": "30"})
        assert late.status == 124 and late.err.splitlines()[1:] == ["oshrun: time limit of 0.3 s reached (--timeout); not all PEs have called shmem_init or uccs_init"], late


def test_keepalive():
    """Open MPI and PRRTE notice a lost host soon after the PEs do, unless the user says otherwise."""
    with launchers(mpirun=OPEN_MPI) as folder:
        def kept(**env):
            words = told(folder, "--host", "a", "-n", 1, "p", env={"TEST_KEEP": "1"} | env).split()
            return dict(word.split("=") for word in words)
        names = [f"{front}_MCA_oob_tcp_keepalive_{what}" for front in ("OMPI", "PRTE") for what in ("intvl", "probes", "time")]
        usual = kept()
        assert sorted(usual) == names and kept(LATERAL_PEER_TIMEOUT="20") == kept(LATERAL_PEER_TIMEOUT="") == usual, usual

        def seconds(of, front="OMPI"):
            idle, between, probes = (int(of[f"{front}_MCA_oob_tcp_keepalive_{what}"]) for what in ("time", "intvl", "probes"))
            return idle + between * probes
        for limit in (5, 20, 60):
            values = kept(LATERAL_PEER_TIMEOUT=str(limit))
            assert limit < seconds(values) <= 2 * limit and seconds(values) == seconds(values, "PRTE"), (limit, values)
        assert not kept(LATERAL_PEER_TIMEOUT="0")
        own = kept(OMPI_MCA_oob_tcp_keepalive_time="7")
        assert own == usual | {"OMPI_MCA_oob_tcp_keepalive_time": "7"}, own


if __name__ == "__main__":
    harness.main(globals())
