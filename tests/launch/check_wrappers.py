#!/usr/bin/env python3
"""oshcc and oshc++, in a tree of a made-up library that is moved about."""
import os
import pathlib
import shlex
import shutil
import subprocess

import harness
from harness import temporary

HEADER = '#ifdef __cplusplus\nextern "C"\n#endif\nint made_up(void);\n'
LIBRARY = "int made_up(void);\nint made_up(void) { return 42; }\n"
PROGRAM = "#include <made_up.h>\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", made_up()); return 0; }\n"


def call(*words, status=0, env=None, cwd=None):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=cwd, env=harness.CLEAN | (env or {}))
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def make_tree(folder):
    """A prefix with the wrappers as they would be installed, in a folder with a blank."""
    prefix = pathlib.Path(folder, "a tree")
    for name in ("bin", "lib", "include"):
        (prefix / name).mkdir(parents=True)
    for name in ("oshcc", "oshc++", "oshcxx", "oshCC"):
        shutil.copy(harness.BUILD / "launch" / "installed" / name, prefix / "bin" / name, follow_symlinks=False)
    (prefix / "include" / "made_up.h").write_text(HEADER)
    source = pathlib.Path(folder, "library.c")
    source.write_text(LIBRARY)
    pathlib.Path(folder, "p.c").write_text(PROGRAM)
    shutil.copy(pathlib.Path(folder, "p.c"), pathlib.Path(folder, "p.cc"))
    call("cc", "-shared", "-fPIC", source, "-o", prefix / "lib" / "liblateral.so")
    call("cc", "-c", source, "-o", f"{folder}/library.o")
    call("ar", "rcs", prefix / "lib" / "liblateral.a", f"{folder}/library.o")
    return prefix / "bin"


def test_compile():
    """Compile and link in one step and in two, C and C++, under every name; the program finds its library."""
    with temporary() as folder:
        tree = make_tree(folder)
        for name, source in (("oshcc", "p.c"), ("oshc++", "p.cc"), ("oshcxx", "p.cc"), ("oshCC", "p.cc")):
            call(tree / name, "-Wall", "-Werror", source, "-o", "program", cwd=folder)
            assert call("./program", cwd=folder) == "42\n"
            call(tree / name, "-c", source, "-o", "p.o", cwd=folder)
            call(tree / name, "p.o", "-o", "two", cwd=folder)
            assert call("./two", cwd=folder) == "42\n"
        assert "liblateral.so" in call("readelf", "-d", "two", cwd=folder)


def test_other_header():
    """Our header is found before that of a folder on the line, such as an MPI compiler names."""
    with temporary() as folder:
        tree = make_tree(folder)
        pathlib.Path(folder, "other").mkdir()
        pathlib.Path(folder, "other", "made_up.h").write_text("#error another library's header\n")
        call(tree / "oshcc", "-Iother", "p.c", "-o", "p", cwd=folder)


def test_static():
    """-static links liblateral.a, and all of libc."""
    with temporary() as folder:
        tree = make_tree(folder)
        call(tree / "oshcc", "-static", "p.c", "-o", "program", cwd=folder)
        assert call("./program", cwd=folder) == "42\n"
        assert "NEEDED" not in call("readelf", "-d", "program", cwd=folder)


def test_show():
    """--show prints a line that a shell can run; -c, -S, -E get nothing to link."""
    with temporary() as folder:
        tree = make_tree(folder)
        for word in ("--show", "-show", "-showme", "--showme"):
            line = call(tree / "oshcc", word, "-DTEXT=a b", "it's.c", "-o", "program", cwd=folder)
            assert shlex.split(line)[2:6] == ["-DTEXT=a b", "it's.c", "-o", "program"], line
            assert "-llateral" in line and not os.path.exists(f"{folder}/program")
        call("sh", "-c", call(tree / "oshcc", "--show", "p.c", "-o", "program", cwd=folder), cwd=folder)
        assert call("./program", cwd=folder) == "42\n"
        for word in ("-c", "-S", "-E", "-M"):
            line = call(tree / "oshcc", "--show", word, "p.c")
            assert "-llateral" not in line and "-I" in line, line
        for name in ("compile", "link"):
            line = call(tree / "oshcc", f"--showme:{name}")
            assert ("-I" in line, "-llateral" in line) == (name == "compile", name == "link"), line


def test_showme():
    """The parts of the line one by one, by the names of Open MPI and MPICH."""
    with temporary() as folder:
        tree = make_tree(folder)
        prefix = tree.parent
        for option, answer in (("command", "cc x"), ("incdirs", f"{prefix}/include"), ("libdirs", f"{prefix}/lib"), ("libs", "lateral")):
            for dashes in ("-", "--"):
                assert call(tree / "oshcc", f"{dashes}showme:{option}", env={"LATERAL_CC": "cc x"}) == f"{answer}\n", option
        assert call(tree / "oshc++", "--showme:version").startswith("oshc++ (Lateral) ")
        assert "usage: oshcc" in call(tree / "oshcc", "--showme:help")
        for name in ("compile", "link"):
            wanted = call(tree / "oshcc", f"--showme:{name}")
            for word in (f"-{name}_info", f"-{name}-info"):
                assert call(tree / "oshcc", word) == wanted, word
        done = subprocess.run([tree / "oshcc", "--showme:all"], capture_output=True, text=True, check=False, env=harness.CLEAN)
        assert done.returncode == 2 and done.stderr.startswith("oshcc: unknown option --showme:all; there are --showme:command"), done


def test_compiler():
    """LATERAL_CC and LATERAL_CXX name another compiler, with arguments; a missing one is named."""
    with temporary() as folder:
        tree = make_tree(folder)
        assert call(tree / "oshcc", "--show", "x.c", env={"LATERAL_CC": "ccache other-cc -m64"}).startswith("ccache other-cc -m64 ")
        assert call(tree / "oshc++", "--show", "x.cc", env={"LATERAL_CXX": "other"}).startswith("other ")
        done = subprocess.run([tree / "oshcc", "x.c"], capture_output=True, text=True, check=False,
                              env=harness.CLEAN | {"LATERAL_CC": "no-such-compiler"})
        assert done.returncode == 127 and "oshcc: no compiler no-such-compiler: set LATERAL_CC" in done.stderr, done
        assert call(tree / "oshcc", "-dumpversion").strip()


def test_places():
    """Through a link, through PATH, and after a move, the wrapper finds its tree; alone it says so."""
    with temporary() as folder:
        tree = make_tree(folder)
        os.symlink(tree / "oshcc", f"{folder}/mycc")
        assert f"{tree.parent}/include" in call(f"{folder}/mycc", "--show", "p.c")
        assert f"{tree.parent}/include" in call("oshcc", "--show", "p.c", env={"PATH": f"{tree}:{os.environ['PATH']}"})
        assert f"{tree.parent}/include" in call("./oshcc", "--show", "p.c", cwd=tree, env={"show": "compile", "link": "x"})
        moved = pathlib.Path(folder, "it's moved")
        tree.parent.rename(moved)
        call(moved / "bin" / "oshcc", "p.c", "-o", "program", cwd=folder)
        assert call("./program", cwd=folder) == "42\n"
        shutil.copy(moved / "bin" / "oshcc", f"{folder}/oshcc")
        done = subprocess.run([f"{folder}/oshcc", "p.c"], capture_output=True, text=True, check=False, env=harness.CLEAN)
        assert done.returncode == 1 and "moved without its tree" in done.stderr, done


def test_words():
    """--help and --version; the compiler's own version comes first, as configure scripts want."""
    for name in ("oshcc", "oshc++"):
        wrapper = harness.BUILD / "bin" / name
        assert f"{name} -O2 hello" in call(wrapper, "--help")
        lines = call(wrapper, "--version").splitlines()
        assert lines[-1].startswith(f"{name} (Lateral) ") and not lines[0].startswith(name), lines


if __name__ == "__main__":
    harness.main(globals())
