"""Lateral, the one-sided communication runtime: where its files lie, and its launcher.

    lateral.run(4, "./program", "argument")      oshrun -n 4 ./program argument
    lateral.include_dir(), lateral.lib_dir()     for build systems
    python -m lateral info                       what this installation can do

The library, the tools oshcc and oshrun, headers and manual pages lie under prefix() as in any installed tree. Nothing here
loads the library; lateral.shmem is OpenSHMEM on NumPy arrays. All functions may be called from any thread.
"""
import functools
import importlib.metadata
import os
import pathlib
import subprocess

__all__ = ["prefix", "bin_dir", "lib_dir", "include_dir", "cmake_dir", "pkgconfig_dir", "man_dir", "library", "run", "__version__"]


def __getattr__(name):
    if name == "__version__":
        return importlib.metadata.version("lateral")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _is_prefix(folder):
    return (folder / "bin" / "oshrun").is_file() and (folder / "lib" / "liblateral.so.1").exists()


@functools.cache
def prefix():
    """The folder with bin/, lib/, include/ and share/: the environment's own. Raises FileNotFoundError when the module
    stands alone."""
    here = pathlib.Path(__file__).resolve().parent
    for folder in here.parents:
        if _is_prefix(folder):
            return folder
    for folder in here.parent.glob("lateral-*.data/data"):      # a wheel that was unpacked and not installed
        if _is_prefix(folder):
            return folder
    raise FileNotFoundError(f"no bin/oshrun and lib/liblateral.so.1 in a folder above {here}: Lateral is not installed with this module")


def bin_dir():
    """The folder of oshrun, oshcc, oshc++ and lateral-info."""
    return prefix() / "bin"


def lib_dir():
    """The folder of liblateral."""
    return prefix() / "lib"


def include_dir():
    """The folder of shmem.h and uccs.h."""
    return prefix() / "include"


def cmake_dir():
    """The folder for Lateral_DIR, so that find_package(Lateral) finds this installation."""
    return lib_dir() / "cmake" / "Lateral"


def pkgconfig_dir():
    """The folder for PKG_CONFIG_PATH."""
    return lib_dir() / "pkgconfig"


def man_dir():
    """The folder for MANPATH. man finds it by itself when bin_dir() is in PATH."""
    return prefix() / "share" / "man"


def library():
    """The shared library, for ctypes and the like."""
    return lib_dir() / "liblateral.so.1"


def run(pes, program, *arguments, options=(), check=True, **more):
    """Runs program with its arguments as a job of so many PEs, waits for its end, and returns a
    subprocess.CompletedProcess.

    options stand before the program on oshrun's command line, for example ["--check"]. more goes to subprocess.run, for
    example timeout (seconds), cwd, env, capture_output, text. Without check=False, a job that fails raises
    subprocess.CalledProcessError. PEs find bin_dir() in PATH.
    """
    env = dict(more.pop("env", None) or os.environ)
    env["PATH"] = os.pathsep.join(filter(None, [str(bin_dir()), env.get("PATH")]))
    command = [bin_dir() / "oshrun", "-n", pes, *options, program, *arguments]
    return subprocess.run([os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in command],
                          env=env, check=check, **more)
