#!/usr/bin/env python3
"""Holds the manual pages to their format and to what they name.

    check.py ROOT format        every page and alias passes groff (and mandoc) without a warning
    check.py ROOT references    functions and pages that the text names exist
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
                if done.stderr or done.returncode:
                    yield f"{path.name}: {name}: {(done.stderr or done.stdout)[:300]}"


def references(root):
    sys.path.insert(0, str(root / "api"))
    sys.dont_write_bytecode = True
    import model
    known = {prefix + f.name for f in model.functions() for prefix in ("", "p")}
    known |= {model.generic_name(f.row) for f in model.functions()}
    known |= {"shmem_ctx_t", "shmem_team_t", "shmem_team_config_t", "shmem_ctx_session_config_t", "shmemx_request_t",
              "shmemx_ct_t", "shmem_ct_t", "shmem_ct_create", "shmem_putmem_ct"}
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


def main():
    root, mode = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    wrong = list({"format": format_of, "references": references}[mode](root))
    print("\n".join(wrong[:40]) or "as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
