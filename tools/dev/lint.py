#!/usr/bin/env python3
"""./dev lint: the format, the scripts, and the rules of the project that a machine can check.

usage: lint.py [--changed | FILE ...]     every file that git knows; those that differ from
                                          origin/main or main; or the named ones
       lint.py --self                     plants one violation of each own rule and must find it
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = {".c", ".h", ".cc", ".cpp", ".hpp"}
MAX_LINES = 500
UNDONE = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3 + "X?", "HA" + "CK")) + r")\b")
WHOLE_BUILD = re.compile(r"\$\{CMAKE_(SOURCE|BINARY)_DIR\}")
# A path of somebody's machine: a home, or the folder at the top under which this checkout lies.
TOPS = {"home", "Users"} | ({ROOT.parts[1]} - {"usr", "tmp", "var", "opt", "root", "etc"})
HOME = re.compile(r"(?<![\w.$}/])/(" + "|".join(map(re.escape, sorted(TOPS))) + r")/[A-Za-z0-9_.-]+")


def run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def forbidden_words():
    """Patterns that the owner of this checkout wants nowhere, one a line in .git/info/words."""
    status, folder = run("git", "rev-parse", "--git-common-dir")
    file = ROOT / folder / "info" / "words"
    words = file.read_text(encoding="utf-8").split("\n") if not status and file.is_file() else []
    words = [word.strip() for word in words if word.strip()]
    return re.compile("|".join(words)) if words else None


def git_lines(*args):
    status, text = run("git", *args)
    if status:
        sys.exit(f"lint: git {' '.join(args)}: {text}")
    return [line for line in text.splitlines() if line]


def chosen(args):
    if args == ["--changed"]:
        base = next((name for name in ("origin/main", "main") if run("git", "rev-parse", "-q", "--verify", name)[0] == 0), "HEAD")
        names = git_lines("diff", "--name-only", "--diff-filter=d", base)
        names += git_lines("ls-files", "--others", "--exclude-standard")
    elif args:
        names = [os.path.relpath(pathlib.Path(name).resolve(), ROOT) for name in args]
    else:
        names = git_lines("ls-files", "--cached", "--others", "--exclude-standard")
    names = [name for name in dict.fromkeys(names) if not name.startswith("tests/fuzz/corpus/")]     # bytes, not text
    return [ROOT / name for name in names if (ROOT / name).is_file() and not (ROOT / name).is_symlink()]


def read(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None                                      # a picture or an archive


def is_script(path, text):
    return path.suffix in {".sh", ".bash"} or re.match(r"#!.*\b(ba|da)?sh\b", text)


# ------------------------------------------------------------------------------ our own rules

def own_rules(path, text, words=None):
    lines = text.splitlines()
    if len(lines) > MAX_LINES and (path.suffix in CODE | {".py", ".sh"} or is_script(path, text)):
        yield 1, f"{len(lines)} lines; over {MAX_LINES}: is it one concept?"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        if path.suffix in CODE | {".py", ".sh", ".cmake"} and UNDONE.search(line):
            yield number, "left undone: finish it or open an issue"
        if HOME.search(line):
            yield number, f"a path of one machine: {HOME.search(line).group()}"
        if words and words.search(line):
            yield number, f"a word that has no place here: {words.search(line).group()}"
        if "outside" not in path.parts and (path.suffix == ".cmake" or path.name == "CMakeLists.txt") and WHOLE_BUILD.search(line):
            yield number, "a folder of the whole build, which may be another project's: PROJECT_SOURCE_DIR or PROJECT_BINARY_DIR"
        if line != line.rstrip() and path.suffix != ".md":
            yield number, "blanks at the end"
        if "\t" in line and path.suffix in CODE | {".py"}:
            yield number, "a tab; indent by blanks"


def check_own(path, text, words):
    return [f"{os.path.relpath(path, ROOT)}:{number}: {what}" for number, what in own_rules(path, text, words)]


# -------------------------------------------------------------------------------------- tools

def check_format(path):
    status, text = run("clang-format", "--dry-run", "--Werror", "--ferror-limit=3", str(path))
    wrong = [re.sub(r"^" + re.escape(str(ROOT)) + "/", "", line) for line in text.splitlines() if ": error: " in line]
    return (wrong or [f"{path}: {text}"]) if status else []


def check_script(path):
    status, text = run("shellcheck", "-x", "-f", "gcc", str(path))
    return text.splitlines() if status else []


def check_python(path, text):
    try:
        compile(text, str(path), "exec")
    except SyntaxError as error:
        return [f"{os.path.relpath(path, ROOT)}:{error.lineno}: {error.msg}"]
    if run(sys.executable, "-c", "import pyflakes")[0] == 0:
        status, out = run(sys.executable, "-m", "pyflakes", str(path))
        return out.splitlines() if status else []
    return []


def check_file(path, words):
    text = read(path)
    if text is None:
        return []
    found = check_own(path, text, words)
    if path.suffix in CODE:
        found += check_format(path)
    elif is_script(path, text):
        found += check_script(path)
    elif path.suffix == ".py" or re.match(r"#!.*\bpython3?\b", text):
        found += check_python(path, text)
    return found


def self_test():
    bad = {"a line" + " " * 2: "blanks", "/* TO" + "DO */": "undone", "see /ho" + "me/me/file": "path", "\tint x;": "tab",
           "an ugly word": "word", "int x;\n" * (MAX_LINES + 1): "over"}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.c"
        assert not list(own_rules(path, "/* clean: /usr/include, $HOME/build/x */\n"))
        for line, word in bad.items():
            found = list(own_rules(path, line + "\n", re.compile("ugly")))
            assert len(found) == 1 and word in found[0][1], (line, found)
        assert list(own_rules(path, "no newline"))
        assert len(list(own_rules(path.with_name("CMakeLists.txt"), "file(GLOB x ${CMAKE_BINARY_DIR}/x)\n"))) == 1
    print(f"found each of {len(bad) + 2} planted violations")


def main():
    if sys.argv[1:] == ["--self"]:
        return self_test()
    files, words = chosen(sys.argv[1:]), forbidden_words()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [line for lines in pool.map(lambda file: check_file(file, words), files) for line in lines]
    status, text = run(sys.executable, "tests/include/check.py", str(ROOT))
    if status:
        found += text.splitlines()
    print("\n".join(found + [f"lint: {len(files)} files, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
