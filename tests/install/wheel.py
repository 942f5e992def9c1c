#!/usr/bin/env python3
"""Builds the wheel, installs it into a fresh environment, and uses it as an outsider would.

usage: wheel.py --root=DIR --cmake=PATH [PART ...]       PART: build install tag hello cmake pkgconfig module numpy ucx moved unpacked

Without names, all parts run in this order. `build` makes the wheel, `install` the environment that the others use.
Exit status 77: PyPI is not reachable.
"""
import argparse
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
OUTSIDE = HERE / "outside"
FOR_NODES = {"LATERAL_NODE_SIZE": "1", "LATERAL_TRANSPORTS": "ucx", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}


def run(*command, env=None, cwd=None, skip=""):
    """Runs, shows what a failing command said, returns standard output. With skip, a failure skips the test."""
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        print(done.stdout, done.stderr, sep="")
        if skip:
            print("skipped:", skip)
            sys.exit(77)
        sys.exit(f"exit status {done.returncode}")
    return done.stdout


class Environment:
    """A virtual environment with the wheel, in a folder that may be moved."""
    def __init__(self, folder):
        self.folder = folder

    def env(self, **more):
        """As `activate` sets it, and nothing else that would find the library by luck."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL")
                if name in os.environ}
        return kept | {"PATH": f"{self.folder}/bin:/usr/local/bin:/usr/bin:/bin", "VIRTUAL_ENV": str(self.folder)} | more

    def python(self, *arguments, **more):
        return run(self.folder / "bin" / "python", *arguments, env=self.env(), **more)

    def compile(self, source, program):
        run(self.folder / "bin" / "oshcc", "-O2", source, "-o", program, env=self.env(), cwd="/")

    def job(self, pes, program, **settings):
        return run(self.folder / "bin" / "oshrun", "-n", pes, program, env=self.env(**settings), cwd="/")

    def check_ring(self, program, **settings):
        out = self.job(3, program, **settings)
        assert sorted(out.splitlines()) == [f"PE {pe} of 3: right" for pe in range(3)], out


def part_build(options, work, at):
    run(options.root / "dev", "wheel", skip="the wheel's tools or UCX could not be fetched, or it was not built"
        if not (options.root / ".cache/wheel/stamp").exists() else "")


def part_install(options, work, at):
    run(sys.executable, "-m", "venv", at.folder)
    at.python("-m", "pip", "install", "-q", "--disable-pip-version-check", options.wheel())


def part_tag(options, work, at):
    """The file's name says py3-none and a manylinux tag: a glibc, and no library of the machine that built it. It is whole."""
    name = options.wheel().name
    assert "-py3-none-manylinux_2_" in name, name
    assert int(name.split("manylinux_2_")[1].split("_")[0]) <= 36, name
    for wanted in ("bin/oshrun", "lib/liblateral-ucx.so", "lib/liblateral-pmix.so", "lib/liblateral-mpi-openmpi.so",
                   "lib/liblateral-mpi-mpich.so", "include/uccs.h", "share/man/man3/shmem_put.3", "share/man/man3/shmem_int_put.3"):
        assert (at.folder / wanted).is_file(), f"{wanted} is not in the wheel"
    for path in at.folder.rglob("liblateral*"):
        assert not path.is_symlink() and str(options.root).encode() not in path.read_bytes(), f"{path} names the build's place"


def part_hello(options, work, at):
    """The two commands of the manual, typed in the environment, in any folder."""
    (work / "any folder").mkdir()
    shutil.copy(options.root / "examples" / "hello.c", work / "any folder")
    out = run("sh", "-c", "oshcc hello.c && oshrun -n 4 ./a.out", env=at.env(), cwd=work / "any folder")
    assert sorted(out.splitlines()) == [f"hello from PE {pe} of 4" for pe in range(4)], out


def part_cmake(options, work, at):
    """CMake finds a prefix by PATH: no variable is needed in an active environment."""
    run(options.cmake, "-G", "Ninja", "-S", OUTSIDE, "-B", work / "build", env=at.env())
    run(options.cmake, "--build", work / "build", env=at.env())
    for program in ("ring_shared", "ring_static", "ring_cxx"):
        at.check_ring(work / "build" / program)


def part_pkgconfig(options, work, at):
    if not shutil.which("pkg-config"):
        return
    path = at.python("-m", "lateral", "path", "pkgconfig").strip()
    flags = run("pkg-config", "--cflags", "--libs", "lateral", env=at.env(PKG_CONFIG_PATH=path)).split()
    run("cc", OUTSIDE / "ring.c", "-o", work / "by_pkgconfig", *flags, env=at.env())
    at.check_ring(work / "by_pkgconfig")


def part_module(options, work, at):
    at.compile(OUTSIDE / "ring.c", work / "ring")
    script = f"import lateral; done = lateral.run(2, {str(work / 'ring')!r}, capture_output=True, text=True); print(done.stdout, end='')"
    assert sorted(at.python("-c", script, cwd="/").splitlines()) == [f"PE {pe} of 2: right" for pe in range(2)]
    assert at.python("-m", "lateral", "path", "prefix").strip() == str(at.folder.resolve())
    version = at.python("-c", "import lateral; print(lateral.__version__)").strip()
    assert f"Lateral {version}," in at.python("-m", "lateral", "info")
    assert "man" in at.python("-m", "lateral", "paths")


def part_numpy(options, work, at):
    """lateral.shmem with the NumPy that the extra brings: the newest for this Python, where tests/python has NumPy 1."""
    at.python("-m", "pip", "install", "-q", "--disable-pip-version-check", f"{options.wheel()}[numpy]")
    module = options.root / "tests/python/module.py"
    for group in at.python("-B", module, "--list").split():
        if group != "raises":
            at.python("-B", "-m", "lateral", "run", "-n", "2", module, group)


def part_ucx(options, work, at):
    """PyPI's UCX serves jobs of several nodes: with it, and only with it, lateral-info names one of the environment."""
    at.python("-m", "pip", "install", "-q", "--disable-pip-version-check", f"{options.wheel()}[ucx]")
    assert "site-packages/libucx" in at.python("-m", "lateral", "info")
    at.check_ring(work / "ring", **FOR_NODES)
    at.check_ring(work / "build" / "ring_static", **FOR_NODES)


def part_moved(options, work, at):
    moved = Environment(work / "moved")
    at.folder.rename(moved.folder)
    at.folder = moved.folder
    at.compile(OUTSIDE / "ring.c", work / "ring_moved")
    at.check_ring(work / "ring_moved")
    at.check_ring(work / "ring_moved", **FOR_NODES)
    assert at.python("-m", "lateral", "path", "prefix").strip() == str(at.folder.resolve())
    assert "site-packages/libucx" in at.python("-m", "lateral", "info")


def part_unpacked(options, work, at):
    """The wheel as a plain archive: its programs work where they lie, and so does the module."""
    folder = work / "unpacked"
    with zipfile.ZipFile(options.wheel()) as archive:
        for item in archive.infolist():
            path = pathlib.Path(archive.extract(item, folder))
            if path.is_file() and (item.external_attr >> 16) & stat.S_IXUSR:
                path.chmod(0o755)
    prefix = pathlib.Path(run(sys.executable, "-m", "lateral", "path", "prefix", cwd=folder).strip())
    assert folder.resolve() in prefix.parents, prefix
    there = Environment(prefix)
    there.compile(OUTSIDE / "ring.c", work / "ring_unpacked")
    there.check_ring(work / "ring_unpacked")


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    options = parser.parse_args()
    options.wheel = lambda: next((options.root / "build/dist").glob("lateral-*.whl"))
    with tempfile.TemporaryDirectory(prefix="lateral-wheel.") as folder:
        work = pathlib.Path(folder).resolve()
        at = Environment(work / "env")
        for name in options.parts:
            print(f"== {name}", flush=True)
            PARTS[name](options, work, at)
    print("the wheel holds")


if __name__ == "__main__":
    main()
