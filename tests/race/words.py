#!/usr/bin/env python3
"""What --check=race says of a program that oshcc --race has not built, of names of C++, and of options that exclude each other.

    words.py OSHRUN OSHCC
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
#include <shmem.h>
static long word;
int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_long_p(&word, 1, 1);
    if (argc > 1 && shmem_my_pe() == 0)
        shmem_long_p(&word, 2, 1);
    shmem_finalize();
    return 0;
}
"""
CXX_PROGRAM = """
#include <shmem.h>
namespace app {
long flag;
struct grid { void store(long value); };
__attribute__((noinline)) void grid::store(long value) { shmem_long_p(&flag, value, 1); }
__attribute__((noinline)) void fall(int *at) { *at = 1; }
}
int main(int argc, char **)
{
    shmem_init();
    app::grid grid;
    if (shmem_my_pe() == 0)
        grid.store(1);
    else
        app::flag = 2;
    if (argc > 1)
        app::fall(nullptr);
    shmem_finalize();
}
"""
HINT = "oshcc --race has not built this program"


def main():
    oshrun, oshcc = sys.argv[1:]
    clean = {name: value for name, value in os.environ.items() if name != "LATERAL_CHECK"}
    with tempfile.TemporaryDirectory(prefix="lateral-race.") as folder:
        source = pathlib.Path(folder, "p.c")
        source.write_text(PROGRAM)
        for options, name in (([], "plain"), (["--race"], "seen")):
            subprocess.run([oshcc, *options, "-g", source, "-o", f"{folder}/{name}"], check=True)

        def run(*words, **more):
            done = subprocess.run([oshrun, "-n", "2", *words], capture_output=True, text=True, timeout=60, check=False, env=clean | more)
            return done.returncode, done.stderr.splitlines()

        status, lines = run("--check=race", f"{folder}/plain")
        assert status == 0 and len(lines) == 1 and HINT in lines[0], (status, lines)
        status, lines = run("--check=race", f"{folder}/plain", "twice")         # calls are compared all the same
        assert status == 66 and sum(HINT in line for line in lines) == 1 and any("race: shmem_long_p" in line and "word" in line for line in lines), lines
        for words in (["twice"], []):
            status, lines = run("--check=race", f"{folder}/seen", *words)
            assert status == (66 if words else 0) and not any(HINT in line for line in lines), (status, lines)
        assert run(f"{folder}/plain", "twice") == (0, [])
        for words, more in ((["--check"], {}), ([], {"LATERAL_CHECK": "1"})):
            status, lines = run(*words, "--check=race", f"{folder}/seen", **more)
            assert status == 2 and len(lines) == 1 and "--check=race and " in lines[0] and "cannot be used together" in lines[0], (status, lines)
        source = pathlib.Path(folder, "p.cc")               # names of C++ as the source has them
        source.write_text(CXX_PROGRAM)
        for options, name in ((["--race", "-g"], "race_cxx"), ([], "bare_cxx")):
            subprocess.run([pathlib.Path(oshcc).with_name("oshc++"), *options, source, "-o", f"{folder}/{name}"], check=True)
        status, lines = run("--check=race", f"{folder}/race_cxx")
        assert status == 66 and any("memory of PE 1, app::flag;" in line for line in lines), (status, lines)
        status, lines = run(f"{folder}/bare_cxx", "fall")
        assert status == 139 and any("app::fall(int*)" in line for line in lines), (status, lines)
    print("as expected")


if __name__ == "__main__":
    main()
