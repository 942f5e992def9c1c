#!/usr/bin/env python3
"""lateral-info --json and --doctor.

usage: info.py LATERAL-INFO VERSION json|doctor
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

INFO, VERSION, WHAT = sys.argv[1:]
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_", "SMA_"))}
BIN = pathlib.Path(INFO).parent


def run(*words, status=0, **env):
    done = subprocess.run([INFO, *words], capture_output=True, text=True, env=CLEAN | env, timeout=60, check=False)
    assert done.returncode == status, done
    return done.stdout


def test_json():
    """One object; values and where they come from; a mistake in place of the environment; names with odd bytes."""
    said = json.loads(run("--json", SHMEM_SYMMETRIC_SIZE="2g"))
    assert said["version"] == VERSION and said["openshmem"] == "1.6" and said["mistake"] is None, said
    assert said["environment"]["SHMEM_SYMMETRIC_SIZE"]["value"] == "2g", said
    assert said["environment"]["SHMEM_SYMMETRIC_SIZE"]["from"] == "SHMEM_SYMMETRIC_SIZE", said
    assert said["environment"]["LATERAL_LANES"]["from"] is None, said
    assert said["machine"]["cores_allowed"] == len(os.sched_getaffinity(0)), said
    for module in (said["tcp"], said["ucx"], said["ofi"], said["pmix"]):
        assert module["usable"] == bool(module["library"]) == (module["why_not"] is None), module
    assert said["tcp"]["usable"] and said["tcp"]["library"].endswith("/liblateral-tcp.so"), said
    assert set(said["mpi_layers"]) == {"openmpi", "mpich", "abi"}, said
    odd = 'a"b\\c\nd\x01'
    assert json.loads(run("--json", LATERAL_RTE=odd))["environment"]["LATERAL_RTE"]["value"] == odd
    said = json.loads(run("--json", status=1, LATERAL_LANES="x"))
    assert said["mistake"] == "LATERAL_LANES=x is not a whole number" and "environment" not in said, said


def lines_of(text):
    return {tuple(line.split(None, 2)[:2]): line for line in text.splitlines() if line}


def test_doctor():
    """A job is tried; misspelt and wrong variables, another oshrun in PATH, and a limit that no job can keep are named."""
    path = f"{BIN}:{os.environ['PATH']}"
    said = run("--doctor", PATH=path)
    assert re.search(r"^ok +a job +two PEs put to and get from each other$", said, re.M), said
    assert re.search(rf"^ok +oshrun +{BIN}/oshrun$", said, re.M) and "WRONG" not in said, said
    assert re.search(r"^ok +variables +all values can be read$", said, re.M), said
    assert re.search(r"^(ok|note) +huge pages +(heaps of more|random access|this kernel)", said, re.M), said
    assert re.search(rf"^ok +version +Lateral {VERSION}$", said, re.M) and re.search(r"^(ok|note) +locked memory ", said, re.M), said
    said = run("--doctor", PATH=path, LATERAL_TRANSPORTS="tcp")
    assert re.search(r"^ok +network +LATERAL_TRANSPORTS is set: messages go over tcp$", said, re.M), said
    if re.search(r"^ok +libfabric ", said, re.M):
        over = {"PATH": path, "LATERAL_TRANSPORTS": "ofi"}
        said = run("--doctor", **over, FI_PROVIDER="tcp")
        assert re.search(r"^ok +network +LATERAL_TRANSPORTS \(set\): messages go over libfabric$", said, re.M), said
        assert re.search(r"^note +provider +libfabric takes tcp\S*, which is software over IP and slower", said, re.M), said
        if shutil.disk_usage("/dev/shm").free > 16 << 20:
            assert re.search(r"^ok +provider +libfabric takes shm$", run("--doctor", **over, FI_PROVIDER="shm"), re.M)
        assert re.search(r"^WRONG +provider +libfabric has none", run("--doctor", status=1, **over, FI_PROVIDER="pigeon"), re.M)
    assert "no variable is named LATERAL_CHEK; did you mean LATERAL_CHECK?" in run("--doctor", PATH=path, LATERAL_CHEK="1")
    said = run("--doctor", status=1, PATH=path, LATERAL_LANES="x")
    assert re.search(r"^WRONG +variables +LATERAL_LANES=x is not a whole number$", said, re.M), said
    assert "1 thing must be mended" in said, said
    for name, known in (("PROGRESS", "auto, poll, thread"), ("TRANSPORTS", "auto, tcp, ucx, ofi")):
        said = run("--doctor", status=1, PATH=path, **{f"LATERAL_{name}": "foo"})
        assert re.search(rf"^WRONG +variables +LATERAL_{name}=foo is not one of {known}$", said, re.M), said
    told = run("--doctor", status=1, PATH=path, LATERAL_COLL="scan:foo")
    assert re.search(r"^WRONG +a job .*LATERAL_COLL has scan:foo, but scan is one of slots, pull, share, gather$", told, re.M), told
    assert re.search(r"^ok +other nodes +over TCP$", said, re.M), said
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder, "oshrun")
        other.write_text("#!/bin/sh\n")
        other.chmod(0o755)
        assert f"PATH finds {other}, which is not {BIN}/oshrun" in run("--doctor", PATH=f"{folder}:{path}")
    said = run("--doctor", PATH="/nowhere")
    for name in ("launchers", "source", "stacks", "oshrun"):
        assert re.search(rf"^note +{name}", said, re.M), said
    said = run("--doctor", status=1, PATH=path, SHMEM_SYMMETRIC_SIZE="100000t")
    assert re.search(r"^WRONG +a job +oshrun -n 2 fails: .*[a-z]", said, re.M), said


{"json": test_json, "doctor": test_doctor}[WHAT]()
