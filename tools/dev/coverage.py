#!/usr/bin/env python3
"""Lines of src/, launch/ and tools/ that the tests ran: coverage.py BUILD_FOLDER

One row per file, the least covered first; the total last. BUILD_FOLDER/seen holds what tools/dev/coverage.c recorded there, of
killed processes too.
"""
import collections
import os
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = re.compile(r"^ *([0-9a-f]+):\tcall.*<__sanitizer_cov_trace_pc(?:@plt)?>\n *([0-9a-f]+):", re.M)
NOTE_GNU_BUILD_ID = 3


def build_id(path):
    """The build id of a 64-bit ELF file, as hexadecimal digits; or None."""
    with path.open("rb") as file:
        if file.read(5) != b"\x7fELF\x02":
            return None
        file.seek(0)
        head = file.read(64)
        at, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        file.seek(at)
        parts = [struct.unpack_from("<IIQQQQ", file.read(size)) for _ in range(count)]
        for kind, _, offset, _, _, length in parts:
            file.seek(offset)
            notes = file.read(length) if kind == 4 else b""
            while len(notes) >= 12:
                name, data, note = struct.unpack_from("<III", notes)
                start = 12 + (name + 3) // 4 * 4
                if note == NOTE_GNU_BUILD_ID and notes[12:16] == b"GNU\0":
                    return notes[start:start + data].hex()
                notes = notes[start + (data + 3) // 4 * 4:]
    return None


def modules(build):
    """{build id: file} of the programs and libraries of a build folder."""
    files = (path for folder in ("lib", "bin", "tests", "tools", "examples") for path in sorted((build / folder).rglob("*")))
    found = {}
    for path in files:
        if path.is_file() and not path.is_symlink() and path.suffix not in (".o", ".a", ".c", ".ninja"):
            found.setdefault(build_id(path), path)
    found.pop(None, None)
    return found


def sites(path):
    """The offsets of all basic blocks of a program or library."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    return [int(match[2], 16) for match in SITE.finditer(code)]


def places(path, offsets, root=ROOT):
    """[(file, line)] of the basic blocks at these offsets; a file's name is that below the root."""
    asked = "\n".join(f"{offset - 1:#x}" for offset in offsets)
    told = subprocess.run(["addr2line", "-e", path], input=asked, capture_output=True, text=True, check=True).stdout
    found = []
    for line in told.splitlines():
        name, _, number = line.split(" (")[0].rpartition(":")
        found.append((os.path.relpath(name, root), int(number) if number.isdigit() else 0))
    return found


def seen(folder):
    """{build id: offsets of the basic blocks that ran}."""
    return {path.name: [match.start() for match in re.finditer(b"\1", path.read_bytes())] for path in folder.iterdir()}


def lines_of(build):
    """{file: {line: whether it ran}}, of the lines where a basic block begins."""
    ran = collections.defaultdict(dict)
    found, recorded = modules(build), seen(build / "seen")
    for name, path in found.items():
        offsets = set(recorded.get(name, ()))
        every = sites(path) if path.parent.name in ("lib", "bin") else sorted(offsets)
        for (file, line), offset in zip(places(path, every), every):
            ran[file][line] = ran[file].get(line, False) or offset in offsets
    return ran


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not (build / "seen").is_dir() or not any((build / "seen").iterdir()):
        sys.exit("coverage: nothing is recorded: did the tests run?")
    rows = [(sum(lines.values()), len(lines), name) for name, lines in lines_of(build).items() if name.startswith(("src/", "launch/", "tools/"))]
    for run, total, name in sorted(rows, key=lambda row: row[0] / row[1]):
        print(f"{100 * run / total:6.1f} %  {run:5d} of {total:5d}  {name}")
    run, total = (sum(row[i] for row in rows) for i in (0, 1))
    print(f"{100 * run / total:6.1f} %  {run:5d} of {total:5d}  all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
