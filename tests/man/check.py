#!/usr/bin/env python3
"""Checks the manual pages and the other documents.

    check.py ROOT format        every page and alias passes groff (and mandoc) without a warning
    check.py ROOT references    functions and pages that the manual pages name exist
    check.py ROOT names         every function, by every name, and every constant of the standard has a page
    check.py ROOT documents     files, links, functions and printed lines that the other documents name exist
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NAMES = re.compile(r"\bp?shmemx?_\w+|\b_(?:my_pe|num_pes)\b")
PAGES = re.compile(r"\b([a-z_0-9]+(?:-[a-z]+)?)\(([137])\)")
ELSEWHERE = {"ucx_info", "environ"}
CODE = ("src", "include", "api", "launch", "bench", "tests", "tools", "examples", "cmake", "docs")
LINKS = re.compile(r"\]\(([^)\s:]+)\)")
FILES = re.compile(r"(?<![\w./*-])((?:[\w-]+/)*[\w-]+\.(?:c|h|cc|py|in|cmake))\b(?![.*])")
FOLDERS = re.compile(r"(?<![\w./-])((?:" + "|".join(CODE) + r")(?:/[a-z0-9_-]+)+)\b(?![\w*.-])")
DOCUMENTS = re.compile(r"\b(?:docs|api|launch)/[\w/]+\.md\b")
FUNCTIONS = re.compile(r"\b(?:uccs|rte|lat)_\w+\b(?!\.[ch]\b)")
# Headers that the build makes, and programs that documents show.
MADE = {"stdio.h", "shmem.h", "shmemx.h", "pshmem.h", "mpp/shmem.h", "all.c", "first.c", "program.c", "ring.py", "thunks.c"}


def made(root, folder):
    subprocess.run([sys.executable, root / "docs/pages.py", "--out", folder, "--version", "0"], check=True)
    return sorted(pathlib.Path(folder).glob("man*/*"))


def format_of(root):
    tools = {"groff": ["groff", "-man", "-ww", "-z", "-Tutf8"], "mandoc": ["mandoc", "-Tlint", "-Wwarning"]}
    there = [name for name in tools if shutil.which(name)]
    if not there:
        print("neither groff nor mandoc is installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for path in made(root, folder):
            text = path.read_text(encoding="utf-8")
            if text.startswith(".so "):
                if not pathlib.Path(folder, text.split()[1]).exists():
                    yield f"{path.name}: alias of nothing"
                continue
            for name in there:
                done = subprocess.run([*tools[name], path], capture_output=True, text=True, check=False)
                said = [line for line in (done.stderr + done.stdout).splitlines()      # pages bear a version and no date
                        if name != "mandoc" or ("missing date" not in line and line.strip())]
                if said or done.returncode not in (0, 2 if name == "mandoc" else 0):
                    yield f"{path.name}: {name}: {' '.join(said)[:300]}"


def references(root):
    sys.path.insert(0, str(root / "api"))
    sys.dont_write_bytecode = True
    import model
    known = {prefix + f.name for f in model.functions() for prefix in ("", "p")}
    known |= {model.generic_name(f.row) for f in model.functions()}
    known |= {"shmem_ctx_t", "shmem_team_t", "shmem_team_config_t", "shmem_ctx_session_config_t", "shmemx_request_t",
              "shmemx_ct_t", "shmem_fortran", "shmem_allocate", "shmem_deallocate", "shmem_ct_t", "shmem_ct_create", "shmem_putmem_ct"}
    with tempfile.TemporaryDirectory() as folder:
        files = {path.name for path in made(root, folder)}
    for path in sorted((root / "docs/man").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for name in sorted(set(NAMES.findall(text)) - known):
            if "TYPE" not in name and "SIZE" not in name and not name.endswith("_") and f"{name}.3" not in files:
                yield f"{path.name}: there is no {name}"
        for name, section in sorted(set(PAGES.findall(text))):
            if f"{name}.{section}" not in files and name not in ELSEWHERE:
                yield f"{path.name}: there is no page {name}({section})"


def names(root):
    """The pages as they are installed, with their typed aliases."""
    sys.path.insert(0, str(root / "api"))
    sys.dont_write_bytecode = True
    import model
    text = (root / "tests/symbols/facts/constants.txt").read_text(encoding="utf-8")
    constants = set(re.findall(r"^(SHMEM_[A-Z_0-9]+)", text, re.MULTILINE)) | {"SHMEMX_REQUEST_NULL", "SHMEMX_REQUEST_PRIVATE"}
    functions = {function.name for function in model.functions()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, root / "docs/pages.py", "--out", folder, "--typed", "--version", "0"], check=True)
        there = {path.name.removesuffix(".3") for path in pathlib.Path(folder, "man3").iterdir() if path.exists()}
    for name in sorted((functions | constants) - there):
        yield f"no page has the name {name}"
    pages = "".join(path.read_text(encoding="utf-8") for path in (root / "docs/man").glob("*.md"))
    for name in sorted(constants):
        if not re.search(rf"(?<!_){name}\b", pages):
            yield f"no page explains {name}"


def documents_of(root):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "api/README.md", "launch/README.md",
                                         "examples/README.md"))
    yield from sorted((root / "docs").glob("*.md"))
    yield from sorted(path for folder in ("guide", "internals", "results") for path in (root / "docs" / folder).glob("*.md"))


def sources_of(root):
    return [path for folder in CODE for path in (root / folder).rglob("*")
            if path.suffix in {".c", ".h", ".cc", ".cpp", ".py", ".md", ".in", ".cmake", ".txt"}]


def broken_links(root, path, text):
    for target in LINKS.findall(text):
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            yield f"{path.relative_to(root)}: the link {target} leads nowhere"
        elif anchor and anchor not in {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")
                                       for head in re.findall(r"^#+ (.*)", file.read_text(encoding="utf-8"), re.MULTILINE)}:
            yield f"{path.relative_to(root)}: {target}: there is no such heading"


def lost_documents(root, files):
    for file in files:
        for name in sorted(set(DOCUMENTS.findall(file.read_text(encoding="utf-8")))):
            if not (root / name).exists():
                yield f"{file.relative_to(root)}: there is no {name}"


def documents(root):
    files = sources_of(root)
    yield from lost_documents(root, [file for file in files if file.suffix in {".c", ".h"}])
    names = {"/" + str(file.relative_to(root)) for file in files}
    words = {word for file in files if file.suffix in {".c", ".h", ".py"} and file.relative_to(root).parts[0] != "tests"
             for word in FUNCTIONS.findall(file.read_text(encoding="utf-8"))}
    for path in documents_of(root):
        text = path.read_text(encoding="utf-8")
        yield from broken_links(root, path, text)
        own = text.partition("\nNot run to the end:")[0]     # what peers print there names files of theirs
        for name in sorted(set(FILES.findall(own)) - MADE):
            if not any(file.endswith("/" + name) for file in names):
                yield f"{path.relative_to(root)}: there is no file {name}"
        for name in sorted(set(FOLDERS.findall(text))):
            if not (root / name).exists():
                yield f"{path.relative_to(root)}: there is no folder {name}"
        for name in sorted(set(FUNCTIONS.findall(text)) - words):
            if not name.endswith(("_", "_X")) and name != "uccs_object_verb":
                yield f"{path.relative_to(root)}: there is no function {name}"
    yield from lost_lines(root)


def lost_lines(root):
    """Lines of the guide for clusters whose longest piece between numbers and names the library and its tools do not print."""
    printed = "".join(re.sub(r'"\s*"', "", path.read_text(encoding="utf-8"))
                      for folder in ("src", "launch", "tools") for path in sorted((root / folder).rglob("*.c")))
    rows = re.findall(r"^\| (.*?) \|", (root / "docs/guide/cluster.md").read_text(encoding="utf-8").partition("## What a line means")[2], re.M)
    for line in re.findall(r"`(.*?)`", "\n".join(rows)):
        piece = max(re.split(r"\d+|\.\.\.|[():]|\b(?:ucx|tcp|MPICH|n3|h2)\b", line), key=len).strip()
        if piece not in printed and not line.startswith(("ibv_", "error while")):
            yield f"docs/guide/cluster.md: nothing prints '{piece}'"


def main():
    root, mode = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    wrong = list({"format": format_of, "references": references, "names": names, "documents": documents}[mode](root))
    print("\n".join(wrong[:40]) or "as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
