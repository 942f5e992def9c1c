#!/usr/bin/env python3
"""Installs the build into a folder, moves that folder elsewhere, and uses it as an outsider would.

usage: check.py --build=DIR ... PART     PART: tree wrappers through tools pkgconfig cmake static part destdir
                                                 uninstall mpi
"""
import argparse
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

OUTSIDE = pathlib.Path(__file__).resolve().parent / "outside"


def run(*command, env=None, cwd=None, status=0, stderr=False):
    """Run, show on failure, return standard output or error."""
    print("+", " ".join(map(str, command)), flush=True)
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != status:
        sys.exit(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr if stderr else done.stdout


def clean_env(**more):
    """Nothing of the build or of the caller that would find the library by luck."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "DESTDIR")}
    return env | more


def install(options, work):
    first, moved = work / "first", work / "moved to" / "lateral"   # a blank in the path: quoting holds
    run(options.cmake, "--install", options.build, "--prefix", first, env=clean_env())
    moved.parent.mkdir()
    shutil.move(first, moved)
    return moved


def check_ring(prefix, program, env=None):
    for pes in (1, 2, 3):
        out = run(prefix / "bin" / "oshrun", "-n", pes, program, env=env or clean_env())
        assert sorted(out.splitlines()) == [f"PE {pe} of {pes}: right" for pe in range(pes)], out


def part_tree(options, work):
    prefix = install(options, work)
    lib, so = prefix / "lib", f"liblateral.so.{options.soversion}"
    for name in ("bin/oshrun", "bin/oshcc", "bin/oshc++", "bin/oshfort", "include/shmem.f90", "include/shmem.h", "include/shmemx.h", "include/pshmem.h", "include/mpp/shmem.h",
                 "lib/liblateral.a", "lib/liblateral-check.so",
                 "lib/pkgconfig/lateral.pc", "lib/cmake/Lateral/LateralConfig.cmake",
                 "lib/cmake/Lateral/LateralConfigVersion.cmake", "lib/cmake/Lateral/LateralTargets.cmake"):
        assert (prefix / name).exists(), f"{name} is not installed"
    assert os.readlink(lib / "liblateral.so") == so, "liblateral.so does not lead to its SONAME"
    assert os.readlink(lib / so) == f"liblateral.so.{options.version}"
    dynamic = run("readelf", "-d", lib / so)
    assert re.search(rf"SONAME.*\[{re.escape(so)}\]", dynamic), dynamic
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", dynamic))
    assert not needed - {"libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, needed
    names_no_place(options, work, prefix)
    has_manuals(prefix)
    completes(prefix, work)


def has_manuals(prefix):
    """Every program has a manual page; that of lateral-bench has every option."""
    programs = sorted(path.name for path in (prefix / "bin").iterdir())
    pages = {path.name for path in (prefix / "share" / "man" / "man1").iterdir()}
    assert "lateral-bench" in programs and not [name for name in programs if f"{name}.1" not in pages], (programs, pages)
    known = set(re.findall(r"--[a-z]+", run(prefix / "bin" / "lateral-bench", "--help", env=clean_env()))) - {"--help"}
    page = (prefix / "share" / "man" / "man1" / "lateral-bench.1").read_text(encoding="utf-8").replace("\\-", "-")
    assert len(known) > 10 and not known - set(re.findall(r"--[a-z]+", page)), known - set(re.findall(r"--[a-z]+", page))


def names_no_place(options, work, prefix):
    """No file tells where it was built or first installed."""
    for path in prefix.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        if data[:4] == b"\x7fELF":
            data = run("readelf", "-d", path).encode()              # debug information may name sources
        elif data[:8] == b"!<arch>\n":
            continue
        for place in (str(work / "first"), str(options.build)):
            assert place.encode() not in data, f"{path} names {place}"


COMPLETE = """
. "$1"; shift
COMP_WORDS=("$@" ""); COMP_CWORD=$#
[ "$WORD" = + ] || { COMP_WORDS[$#]=$WORD; }
_lateral_oshrun
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completes(prefix, work):
    """bash offers every option of --help, the values of one, files where one wants a file, and programs; zsh reads its file."""
    file = prefix / "share" / "bash-completion" / "completions" / "oshrun"
    oshrun = prefix / "bin" / "oshrun"
    (work / "one.hosts").write_text("", encoding="utf-8")

    def offered(word, *before):
        return run("bash", "-c", COMPLETE, "bash", file, *before, env=clean_env(WORD=word), cwd=work).split()
    listed = set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", "\n".join(
        re.sub(r"   .*", "", line.strip()) for line in run(oshrun, "--help", env=clean_env()).splitlines() if line.startswith("  -"))))
    assert listed >= {"-n", "--timeout", "--stdin", "--output-filename", "-f"}, listed
    assert set(offered("-", oshrun)) == listed, set(offered("-", oshrun)) ^ listed
    assert sorted(offered("--tim", oshrun)) == ["--timeout", "--timestamp-output"], offered("--tim", oshrun)
    assert offered("a", oshrun, "--stdin") == ["all"] and offered("", oshrun, "--bind-to") == ["core", "none"]
    assert offered("one", oshrun, "-f") == ["one.hosts"] and offered("one", oshrun, "-n", "2", "cat") == ["one.hosts"]
    assert "--doctor" in offered("--d", prefix / "bin" / "lateral-info")
    if shutil.which("zsh"):
        run("zsh", "-n", prefix / "share" / "zsh" / "site-functions" / "_oshrun", env=clean_env())


def part_wrappers(options, work):
    prefix = install(options, work)
    run(prefix / "bin" / "oshcc", "-O2", "-Wall", "-Werror", OUTSIDE / "ring.c", "-o", work / "ring", env=clean_env())
    check_ring(prefix, work / "ring")
    run(prefix / "bin" / "oshc++", "-Wall", "-Werror", OUTSIDE / "ring.cc", "-o", work / "ring_cxx", env=clean_env())
    check_ring(prefix, work / "ring_cxx")
    run(prefix / "bin" / "oshcc", "-c", OUTSIDE / "ring.c", "-o", work / "ring.o", env=clean_env())
    run(prefix / "bin" / "oshcc", work / "ring.o", "-o", work / "ring_two", env=clean_env())
    check_ring(prefix, work / "ring_two")


def part_through(options, work):
    """A program that calls OpenSHMEM only through another library keeps liblateral, and so has shared globals."""
    prefix = install(options, work)
    oshcc, other = prefix / "bin" / "oshcc", work / "libother.so"
    run(oshcc, "-shared", "-fPIC", "-DLIBRARY", OUTSIDE / "through.c", "-o", other, env=clean_env())
    needs_other = ["-Wl,--as-needed", f"-L{work}", "-lother", f"-Wl,-rpath,{work}"]
    run(oshcc, OUTSIDE / "through.c", *needs_other, "-o", work / "by_oshcc", env=clean_env())
    run(prefix / "bin" / "oshrun", "-n", 2, work / "by_oshcc", env=clean_env())
    if shutil.which("pkg-config"):
        env = clean_env(PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
        script = 'cc=$1; shift; eval "set -- \"\\$@\" $(pkg-config --cflags --libs lateral)"; exec "$cc" "$@"'
        run("sh", "-c", script, "sh", options.cc, OUTSIDE / "through.c", *needs_other, "-o", work / "by_pkgconfig", env=env)
        run(prefix / "bin" / "oshrun", "-n", 2, work / "by_pkgconfig", env=clean_env())


def part_tools(options, work):
    """What finds its other half at run time: the checking layer, and lateral-info."""
    blank = install(options, work)
    prefix = blank.rename(work / "lateral")
    run(prefix / "bin" / "oshcc", OUTSIDE / "mistake.c", "-o", work / "mistake", env=clean_env())
    oshrun = prefix / "bin" / "oshrun"
    run(oshrun, "-n", 1, work / "mistake", env=clean_env())
    shown = run(oshrun, "--check", "-n", 1, work / "mistake", env=clean_env(), status=1, stderr=True)
    assert "PE 0: shmem_int_put: dest: 16 bytes" in shown, shown
    assert options.version in run(prefix / "bin" / "lateral-info", env=clean_env())
    assert options.version in run(oshrun, "--version", env=clean_env())
    prefix.rename(blank)                                 # LD_PRELOAD cannot name it there: no silent unchecked run
    shown = run(blank / "bin" / "oshrun", "--check", "-n", 1, "true", env=clean_env(), status=1, stderr=True)
    assert "a blank or a colon is in its path" in shown, shown


def part_pkgconfig(options, work):
    if not shutil.which("pkg-config"):
        print("skipped: pkg-config is not installed")
        sys.exit(77)
    prefix = install(options, work)
    env = clean_env(PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    assert run("pkg-config", "--modversion", "lateral", env=env).strip() == options.version
    script = 'cc=$1 from=$2 to=$3; eval "set -- $(pkg-config --cflags --libs lateral)"; "$cc" "$from" -o "$to" "$@"'
    run("sh", "-c", script, "sh", options.cc, OUTSIDE / "ring.c", work / "ring", env=env)
    check_ring(prefix, work / "ring")
    run(options.cmake, "--install", options.build, "--prefix", prefix, "--component", "compat", env=clean_env())
    for name in ("oshmem-c", "sandia-openshmem", "osss-ucx"):  # other libraries' names, for builds that look for these
        assert run("pkg-config", "--cflags", "--libs", name, env=env) == run("pkg-config", "--cflags", "--libs", "lateral", env=env)
    for name in ("oshmem", "openshmem", "sma"):
        run("sh", "-c", script.replace("libs lateral", "libs " + name), "sh", options.cc, OUTSIDE / "ring.c", work / name, env=env)
        check_ring(prefix, work / name)
        library = prefix / "lib" / f"lib{name}.so"             # as find_library gives it
        run(options.cc, f"-I{prefix}/include", OUTSIDE / "ring.c", library, f"-Wl,-rpath,{prefix}/lib", "-o", work / name)
        assert ctypes.CDLL(str(library)).shmem_init and f"liblateral.so.{options.soversion}" in run("readelf", "-d", work / name)
        check_ring(prefix, work / name)


def part_static(options, work):
    """liblateral.a alone, and with all of libc: the linker has nothing to warn of."""
    prefix = install(options, work)
    quiet = "-Wl,--fatal-warnings"
    run(options.cc, "-I", prefix / "include", OUTSIDE / "ring.c", prefix / "lib" / "liblateral.a", "-pthread", quiet, "-o", work / "ring")
    assert "liblateral" not in run("readelf", "-d", work / "ring")
    check_ring(prefix, work / "ring")
    run(prefix / "bin" / "oshcc", "-static", quiet, OUTSIDE / "ring.c", "-o", work / "ring_all", env=clean_env())
    assert "NEEDED" not in run("readelf", "-d", work / "ring_all")
    check_ring(prefix, work / "ring_all")
    if shutil.which("pkg-config"):
        script = 'cc=$1; shift; eval "set -- \\"\\$@\\" $(pkg-config --static --cflags --libs lateral)"; exec "$cc" "$@"'
        run("sh", "-c", script, "sh", options.cc, "-static", quiet, OUTSIDE / "ring.c", "-o", work / "ring_pc",
            env=clean_env(PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig")))
        check_ring(prefix, work / "ring_pc")
    shown = run(prefix / "bin" / "oshrun", "-n", 2, work / "ring_all", status=1, stderr=True,
                env=clean_env(LATERAL_NODE_SIZE="1", LATERAL_TRANSPORTS="ucx"))
    assert "a program linked with -static loads no modules" in shown, shown


def part_cmake(options, work):
    prefix = install(options, work)
    run(options.cmake, "-G", "Ninja", "-S", OUTSIDE, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={options.cc}", f"-DCMAKE_CXX_COMPILER={options.cxx}", "-DCMAKE_C_FLAGS=-Wall -Werror", env=clean_env())
    run(options.cmake, "--build", work / "build", env=clean_env())
    for program in ("ring_shared", "ring_static", "ring_cxx"):
        check_ring(prefix, work / "build" / program)
    run(prefix / "bin" / "oshrun", "-n", 2, work / "build" / "through", env=clean_env())
    assert "liblateral.so" in run("readelf", "-d", work / "build" / "ring_shared")
    assert "liblateral" not in run("readelf", "-d", work / "build" / "ring_static")
    run(options.cmake, "--install", options.build, "--prefix", prefix, "--component", "compat", env=clean_env())
    run(options.cmake, "-G", "Ninja", "-S", OUTSIDE / "openshmem", "-B", work / "any", f"-DCMAKE_PREFIX_PATH={prefix}", env=clean_env())
    run(options.cmake, "--build", work / "any", env=clean_env())
    check_ring(prefix, work / "any" / "ring")


def part_part(options, work):
    """Somebody else's project builds the library as a part of itself, by FetchContent and by add_subdirectory."""
    project, build, off = OUTSIDE / "part", work / "build", [f"-DLATERAL_{name}=OFF" for name in ("UCX", "PMIX", "OPENMPI", "MPICH")]
    for how, prefix in (("FetchContent", work / "whole"), ("add_subdirectory", work / "alone")):
        shown = run(options.cmake, "-G", "Ninja", "-S", project, "-B", build, f"-DLATERAL_SOURCE={options.source}", f"-DHOW={how}", *off,
                    f"-DCMAKE_C_COMPILER={options.cc}", f"-DCMAKE_CXX_COMPILER={options.cxx}", env=clean_env(), stderr=True)
        assert "CMake Warning" not in shown, shown
        run(options.cmake, "--build", build, env=clean_env())
        launcher = pathlib.Path((build / "oshrun").read_text(encoding="utf-8"))
        for program in ("ring_shared", "ring_static"):
            check_ring(launcher.parents[1], build / program)
        run(launcher, "-n", 2, build / "through", env=clean_env())
        assert not list(build.rglob("test_*")) and not list(build.rglob("*.3")), "tests or manual pages are made"
        run(options.cmake, "--install", build, "--prefix", prefix, env=clean_env())
        assert not (prefix / "share" / "doc" / "outside").exists(), "a file lies among those of the other project"
    check_ring(work / "whole", work / "whole" / "bin" / "ring_shared", clean_env(LD_LIBRARY_PATH=str(work / "whole" / "lib")))
    assert [str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()] == ["bin/ring_shared"]


def part_destdir(options, work):
    stage, prefix = work / "stage", f"/opt/lateral-{os.getpid()}"
    run(options.cmake, "--install", options.build, "--prefix", prefix, env=clean_env(DESTDIR=str(stage)))
    assert not os.path.exists(prefix), "DESTDIR was not heeded"
    staged = stage / prefix[1:]
    run(staged / "bin" / "oshcc", OUTSIDE / "ring.c", "-o", work / "ring", env=clean_env())
    check_ring(staged, work / "ring")


def part_uninstall(options, work):
    """The target uninstall removes every file and every folder of ours, and nothing of others."""
    prefix, of_others = work / "prefix", ("include/other.h", "share/man/man3/other.3", "lib/cmake/Other/OtherConfig.cmake")
    for name in of_others:
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).write_text("", encoding="utf-8")
    run(options.cmake, "--install", options.build, "--prefix", prefix, env=clean_env())
    assert (prefix / "bin" / "oshrun").exists() and (prefix / "share" / "lateral" / "examples").exists()
    run(options.cmake, f"-DBUILD={options.build}", "-P", options.source / "cmake" / "LateralUninstall.cmake", env=clean_env())
    left = sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir())
    assert left == sorted(of_others), left
    ours = [path for path in prefix.rglob("*") if path.is_dir() and re.search(r"lateral|/mpp$|/examples$", str(path.relative_to(prefix)), re.I)]
    assert not ours, ours
    run(options.cmake, f"-DBUILD={options.build}", "-P", options.source / "cmake" / "LateralUninstall.cmake", env=clean_env(), status=1)


def check_window(command, env):
    """Runs a program of one rank, which must say that its window is ours."""
    shown = run(*command, env=env | {"LATERAL_MPI": "verbose", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
                stderr=True)
    assert "is carried by Lateral" in shown, shown


def check_launcher(options, tool, program, env):
    """In front of a launcher: each of its programs gets the layer, the launcher none."""
    folder = pathlib.Path(options.mpicc).parent
    launchers = [folder / name for name in (f"mpirun.{options.mpi}", "mpirun") if (folder / name).exists()]
    if launchers:
        env = env | {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
        check_window([tool, launchers[0], "-n", 1, program, ":", "-n", 1, program], env)


def part_mpi(options, work):
    """An MPI program with the layer: linked before the MPI by hand, by pkg-config and by CMake, and preloaded."""
    blank = install(options, work)
    prefix = blank.rename(work / "lateral")
    lib, layer, source = prefix / "lib", f"lateral-mpi-{options.mpi}", OUTSIDE / "mpi" / "window.c"
    tool, env, found = prefix / "bin" / "lateral-mpi", clean_env(), clean_env(LD_LIBRARY_PATH=str(lib))
    run(options.mpicc, source, "-o", work / "plain", env=env)
    assert "liblateral" not in run("readelf", "-d", work / "plain")
    assert run(tool, "--print", work / "plain", env=env).strip() == str(lib / f"lib{layer}.so")
    check_window([tool, work / "plain"], env)
    check_window([tool, f"--mpi={options.mpi}", "sh", "-c", work / "plain"], env)
    check_launcher(options, tool, work / "plain", env)
    shown = run(tool, "sh", "-c", work / "plain", env=env, status=125, stderr=True)
    assert "linked with no MPI" in shown, shown
    run(options.mpicc, source, f"-L{lib}", f"-l{layer}", "-o", work / "linked", env=env)
    check_window([work / "linked"], found)
    if shutil.which("pkg-config"):
        flags = run("pkg-config", "--libs", layer, env=clean_env(PKG_CONFIG_PATH=str(lib / "pkgconfig"))).split()
        run(options.mpicc, source, *flags, "-o", work / "by_pkgconfig", env=env)
        check_window([work / "by_pkgconfig"], env)
    run(options.cmake, "-G", "Ninja", "-S", OUTSIDE / "mpi", "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={options.mpicc}", f"-DLAYER={options.mpi}", env=env)
    run(options.cmake, "--build", work / "build", env=env)
    check_window([work / "build" / "window"], env)
    assert f"{options.mpi} " in run(prefix / "bin" / "lateral-info", env=env)
    prefix.rename(blank)
    shown = run(blank / "bin" / "lateral-mpi", work / "plain", env=env, status=125, stderr=True)
    assert "a blank or a colon is in its path" in shown, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("build", "cmake", "cc", "cxx", "version", "soversion"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("mpi", "mpicc"):
        parser.add_argument(f"--{name}")
    parser.add_argument("part", choices=sorted(name[5:] for name in globals() if name.startswith("part_")))
    options = parser.parse_args()
    options.source = pathlib.Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory(prefix="lateral-install.") as folder:
        globals()[f"part_{options.part}"](options, pathlib.Path(folder).resolve())
    print(options.part, "holds")


if __name__ == "__main__":
    main()
