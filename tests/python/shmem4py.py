#!/usr/bin/env python3
"""Builds SHMEM4PY against this library and runs its tests.

    shmem4py.py --folder F prepare --oshcc PATH        once: venv, download, build
    shmem4py.py --folder F run --oshrun PATH --pes N NAME   one file of its tests
    shmem4py.py --folder F module --pes N GROUP             a group of module.py, with the NumPy that was fetched for the above;
                                                            or a whole script, by a name that ends in .py

Exit status 77 means skipped: what is needed cannot be had here (PyPI, venv, Python's headers). A build
that fails is a failure. F holds everything; a stamp in it names what it was built from, so that it is
built again only when our header or the versions change.
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

SKIPPED = 77
PACKAGE = "shmem4py==1.0.0"
# Its 1.0.0 goes with NumPy 1 only: it casts -1 to unsigned and asks for arrays without a copy.
NEEDS = ["numpy<2", "cffi>=1.13", "setuptools<81", "wheel"]
# It knows libraries by their vendors' macros and takes an unknown one for OpenSHMEM 1.4. This macro of
# its own chooses the table of a library that has all of 1.5.
COMPLETE = "-DPySHMEM_VENDOR_Sandia=1"


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def call(command, **more):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=False, **more).returncode


def stamp_text(oshcc):
    """What a build depends on: the package, its needs, the interpreter and our header."""
    shown = subprocess.run([oshcc, "--show"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    digest = hashlib.sha256(" ".join([PACKAGE, *NEEDS, COMPLETE, sys.version]).encode())
    for word in shown:
        header = pathlib.Path(word[2:], "shmem.h")
        if word.startswith("-I") and header.exists():
            digest.update(header.read_bytes())
    return digest.hexdigest()


def make_venv(folder):
    if call([sys.executable, "-m", "venv", "--clear", folder / "venv"]) != 0:
        skip("python3 -m venv does not work here (Debian: install python3-venv)")
    return folder / "venv/bin/python"


def download(python, folder):
    """The dependencies as wheels, the package as source; both or nothing."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--timeout", "15", "--retries", "1"]
    if call(pip + ["install", "-q", "--only-binary", "numpy,cffi", *NEEDS]) != 0:
        skip("NumPy and cffi could not be had for this Python: PyPI is not reachable, or has no wheels for it")
    if call(pip + ["download", "-q", "--no-deps", "--no-binary", ":all:", "--no-build-isolation",
                   "-d", folder, PACKAGE]) != 0:
        skip(f"{PACKAGE} could not be downloaded: PyPI is not reachable")
    archive = next(folder.glob("shmem4py-*.tar.gz"))
    shutil.unpack_archive(archive, folder)
    return pathlib.Path(str(archive)[:-len(".tar.gz")])


def build(python, source, oshcc):
    environment = dict(os.environ, OSHCC=f"{oshcc} {COMPLETE}")
    if call([python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps",
             "--no-build-isolation", source], env=environment) != 0:
        sys.exit("SHMEM4PY does not build with our oshcc")


def prepare(options):
    folder = options.folder / "shmem4py"
    stamp = folder / "stamp"
    wanted = stamp_text(options.oshcc)
    if stamp.exists() and stamp.read_text() == wanted:
        print("built already")
        return
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        skip("no Python.h here (Debian: install python3-dev)")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    python = make_venv(folder)
    source = download(python, folder)
    build(python, source, options.oshcc)
    source.rename(folder / "source")
    stamp.write_text(wanted)


def run(options):
    folder = options.folder / "shmem4py"
    if not (folder / "stamp").exists():
        skip("SHMEM4PY was not built (see the test python/prepare)")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    command = [options.oshrun, "-n", options.pes, str(folder / "venv/bin/python"),
               str(folder / f"source/test/test_{options.name}.py")]
    print("+", *command, flush=True)
    os.execv(command[0], command)


def module(options):
    python = options.folder / "shmem4py/venv/bin/python"
    if not python.exists():
        skip("there is no NumPy (see the test python/prepare)")
    script = [options.group] if options.group.endswith(".py") else [str(pathlib.Path(__file__).with_name("module.py")), options.group]
    command = [str(python), "-m", "lateral", "run", "-n", options.pes, *options.option, *script]
    print("+", *command, flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    if options.group != "raises":
        sys.exit(done.returncode or (f"it does not print {options.prints}" if options.prints not in done.stdout + done.stderr else 0))
    if done.returncode != 1 or "KeyError: 'a mistake of the program'" not in done.stderr:
        sys.exit(f"status {done.returncode} and no traceback, where an exception shall end the job with 1")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where everything goes")
    modes = parser.add_subparsers(required=True)
    mode = modes.add_parser("prepare")
    mode.add_argument("--oshcc", required=True)
    mode.set_defaults(action=prepare)
    mode = modes.add_parser("run")
    mode.add_argument("--oshrun", required=True)
    mode.add_argument("--pes", default="1")
    mode.add_argument("name", help="the NAME of test_NAME.py")
    mode.set_defaults(action=run)
    mode = modes.add_parser("module")
    mode.add_argument("--pes", default="1")
    mode.add_argument("--prints", default="")
    mode.add_argument("--option", action="append", default=[], help="one of oshrun's")
    mode.add_argument("group")
    mode.set_defaults(action=module)
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    main()
