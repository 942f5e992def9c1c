#!/usr/bin/env python3
"""Runs mpi4py's own tests of one-sided communication on the layer: its wheel, and the tests of its source package.

    mpi4py.py --folder F prepare                                       once: venv, wheel, source
    mpi4py.py --folder F run NAME COMPILER LAYER RANKS TEST...         NAME: openmpi or mpich

Exit status 77 means skipped: what is needed cannot be had here (PyPI, venv). F holds everything; a stamp in it names the
version.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

from run import surroundings

SKIPPED = 77
PACKAGE = "mpi4py==4.1.2"
NEEDS = ["numpy", "setuptools<81", "wheel"]


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def call(command):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=False).returncode


def prepare(options):
    stamp = options.folder / "stamp"
    wanted = " ".join([PACKAGE, *NEEDS, sys.version])
    if stamp.exists() and stamp.read_text() == wanted:
        print("there already")
        return
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    if call([sys.executable, "-m", "venv", options.folder / "venv"]) != 0:
        skip("python3 -m venv does not work here (Debian: install python3-venv)")
    pip = [options.folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "--timeout", "15", "--retries", "1"]
    if call(pip + ["install", "-q", "--only-binary", "numpy,mpi4py", PACKAGE, *NEEDS]) != 0:
        skip(f"{PACKAGE} could not be had for this Python: PyPI is not reachable, or has no wheels for it")
    if call(pip + ["download", "-q", "--no-deps", "--no-binary", ":all:", "--no-build-isolation",
                   "-d", options.folder, PACKAGE]) != 0:
        skip(f"the source of {PACKAGE} could not be downloaded: PyPI is not reachable")
    archive = next(options.folder.glob("mpi4py-*.tar.gz"))
    shutil.unpack_archive(archive, options.folder)
    pathlib.Path(str(archive)[:-len(".tar.gz")]).rename(options.folder / "source")
    stamp.write_text(wanted)


def library_of(layer):
    """The MPI that the layer is linked with."""
    shown = subprocess.run(["ldd", layer], check=True, capture_output=True, text=True).stdout
    return pathlib.Path(re.search(r"libmpi(?:ch)?\.so\.\d+ => (\S+)", shown).group(1))


def find_by(folder, layer):
    """A folder in which the wheel finds that MPI: Debian's MPICH has a name of its own."""
    library, links = library_of(layer), folder / "links"
    if not library.name.startswith("libmpich"):
        return library.parent
    links.mkdir(exist_ok=True)
    if not (links / "libmpi.so.12").exists():
        (links / "libmpi.so.12").symlink_to(library)
    return links


def run(options):
    if not (options.folder / "stamp").exists():
        skip("mpi4py was not fetched (see the test mpi/mpi4py.prepare)")
    folder = pathlib.Path(options.compiler).parent
    launcher = next(path for path in (folder / f"mpirun.{options.name}", folder / "mpirun") if path.exists())
    environment = surroundings(OPENBLAS_NUM_THREADS="1", LATERAL_MPI="verbose", MPI4PY_MPIABI=options.name,
                       LD_LIBRARY_PATH=str(find_by(options.folder, options.layer)))
    for test in options.tests:
        command = [launcher, "-n", options.ranks, "env", f"LD_PRELOAD={options.layer}", options.folder / "venv/bin/python",
                   options.folder / f"source/test/test_{test}.py", "-q"]
        done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr, sep="")
        assert done.returncode == 0, f"test_{test} ended with {done.returncode}"
        assert "windows of this job are Lateral's" in done.stderr, "the layer did not take over"
        assert len(re.findall(r"^OK", done.stderr, re.MULTILINE)) == int(options.ranks), "not every rank says OK"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where everything goes")
    modes = parser.add_subparsers(required=True)
    modes.add_parser("prepare").set_defaults(action=prepare)
    mode = modes.add_parser("run")
    for word in ("name", "compiler"):
        mode.add_argument(word)
    mode.add_argument("layer", type=pathlib.Path)
    mode.add_argument("ranks")
    mode.add_argument("tests", nargs="+", help="the NAMEs of test_NAME.py")
    mode.set_defaults(action=run)
    options = parser.parse_args()
    options.action(options)


main()
