#!/usr/bin/env python3
"""Compiles the whole programs of manual pages, guides and README.md with oshcc, as a reader would, and runs each with 4 PEs: it
must print the lines that its page shows, in any order. Every page of section 3 must have such a program; MPI's runs where an MPI is.

usage: examples.py ROOT BIN          BIN: the folder of oshcc and oshrun
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT, BIN = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
LIB = BIN.parent / "lib"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def said(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          timeout=120, env=os.environ | AS_ROOT)
    return (done.stdout, "") if done.returncode == 0 else ("", f"exit status {done.returncode}: {done.stdout}{done.stderr}")


def wrong_with(source):
    """What is wrong with one example, or an empty string."""
    program = source.with_suffix("")
    compiler, launcher, libraries = [BIN / "oshcc", "-std=c11"], BIN / "oshrun", []
    if source.stem.startswith("mpix"):
        found = [name for name in ("openmpi", "mpich") if shutil.which(f"mpicc.{name}") and (LIB / f"liblateral-mpi-{name}.so").exists()]
        if not found:
            return ""
        compiler, launcher = [f"mpicc.{found[0]}", "-I", ROOT / "include"], f"mpirun.{found[0]}"
        libraries = [LIB / f"liblateral-mpi-{found[0]}.so", f"-Wl,-rpath,{LIB}"]
    _, wrong = said([*compiler, "-Wall", "-Wextra", "-Werror", "-O1", source, *libraries, "-o", program])
    if wrong:
        return wrong
    printed, wrong = said([launcher, "-n", 4, program])
    wanted = source.with_suffix(".out").read_text(encoding="utf-8")
    if not wrong and sorted(printed.splitlines()) != sorted(wanted.splitlines()):
        wrong = f"the page shows\n{wanted}but it prints\n{printed}"
    return wrong


def main():
    with tempfile.TemporaryDirectory(prefix="lateral-man.") as folder:
        subprocess.run([sys.executable, ROOT / "docs/pages.py", "--examples", folder], check=True)
        sources = sorted(pathlib.Path(folder).glob("*.c"))
        without = {path.name.split(".")[0] for path in (ROOT / "docs/man").glob("*.3.md")} - {path.stem.rpartition("-")[0] for path in sources}
        found = [f"{name}.3.md has no whole program" for name in sorted(without)]
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
            found += [f"{source.stem}: {wrong}" for source, wrong in zip(sources, pool.map(wrong_with, sources)) if wrong]
    print("\n".join(found) or f"{len(sources)} examples print what their pages show")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
