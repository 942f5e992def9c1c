#!/usr/bin/env python3
"""Every public header compiles alone, without a warning, as C and as C++ of each standard; mpix_rma.h with each MPI's mpi.h.

    alone.py ROOT GENERATED [MPICC ...]      compilers that are missing are skipped, with a word
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

STANDARDS = {"gcc": ("c11", "c17"), "clang": ("c11", "c17"),
             "g++": ("c++11", "c++14", "c++17", "c++20"), "clang++": ("c++11", "c++14", "c++17", "c++20")}
WARNINGS = ("-pedantic", "-Wall", "-Wextra", "-Werror")


def mpi_folders(mpicc):
    """Options that lead to an MPI's headers, whose own warnings are not ours."""
    words = subprocess.run([mpicc, "-show"], capture_output=True, text=True, check=True).stdout.split()
    return [word for path in words if path.startswith("-I") for word in ("-isystem", path[2:])]


def headers(root, generated, mpis):
    """Name, and the options that it needs beyond those of all."""
    for folder in (root / "include", generated / "include"):
        for path in sorted(folder.rglob("*.h")):
            name = str(path.relative_to(folder))
            for options in map(mpi_folders, mpis) if re.search(r"#include <mpi\.h>", path.read_text(encoding="utf-8")) else ([],):
                yield name, options


def compile_alone(compiler, standard, name, options):
    """Null, or what the compiler says. The second inclusion must find everything there already."""
    language = "c++" if compiler.endswith("++") else "c"
    command = [compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only", *options, "-x", language, "-"]
    done = subprocess.run(command, input=f"#include <{name}>\n#include <{name}>\nint main(void) {{ return 0; }}\n",
                          capture_output=True, text=True, check=False)
    return f"{' '.join(command)} <{name}>:\n{done.stderr[:1500]}" if done.returncode else None


def main():
    root, generated, *mpis = map(pathlib.Path, sys.argv[1:])
    ours = [f"-I{root}/include", f"-I{generated}/include"]
    compilers = [name for name in STANDARDS if shutil.which(name) or print(f"{name} is not installed: skipped")]
    public = list(headers(root, generated, mpis))
    jobs = [(compiler, standard, name, ours + options)
            for compiler in compilers for standard in STANDARDS[compiler] for name, options in public]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = list(filter(None, pool.map(lambda job: compile_alone(*job), jobs)))
    print("\n".join(wrong) or f"{len(public)} headers alone, {len(jobs)} times, by {', '.join(compilers)}")
    return 1 if wrong or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
