#!/usr/bin/env python3
"""Builds the Debian packages (./dev deb, which asks lintian), unpacks them into a folder and uses them there. debs.sh installs them in a
fresh system (./dev bare debs).

usage: unpacked.py --root=DIR
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile

from wheel import run

PACKAGES = ("lateral", "lateral-dev", "lateral-doc", "lateral-mpi")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=lambda text: pathlib.Path(text).resolve(), required=True)
    root = parser.parse_args().root
    if not shutil.which("dpkg-buildpackage"):
        print("skipped: no dpkg-buildpackage here")
        sys.exit(77)
    run(root / "dev", "deb")
    files = sorted((root / "build/dist").glob("*.deb"))
    assert sorted(re.match("[a-z-]+", path.name)[0] for path in files) == sorted(PACKAGES), files
    with tempfile.TemporaryDirectory(prefix="lateral-debs.") as folder:
        tree = pathlib.Path(folder).resolve()
        for path in files:
            run("dpkg-deb", "-x", path, tree)
        shutil.copy(root / "examples/hello.c", tree)
        run(tree / "usr/bin/oshcc.lateral", "hello.c", "-o", "hello", cwd=tree)
        said = run(tree / "usr/bin/oshrun.lateral", "-n", 2, "./hello", cwd=tree)
        assert sorted(said.splitlines()) == ["hello from PE 0 of 2", "hello from PE 1 of 2"], said
        for name in ("man3/shmem_int_put.3.gz", "man1/oshrun.lateral.1.gz", "man1/lateral-bench.1.gz"):
            assert (tree / "usr/share/man" / name).exists(), name
    print("the packages hold")


if __name__ == "__main__":
    main()
