#!/usr/bin/env python3
"""Checks that the library still has what programs compiled against an earlier release need.

    check.py LIBRARY            every symbol in symbols.txt is exported under its version, the SONAME is
                                as recorded, and nothing is exported without a version
    check.py --record LIBRARY   adds what is new (a release does this; taking away needs a new SONAME)

OpenSHMEM's own names are held by tests/symbols; symbols.txt records the extensions and uccs.h.
"""
import pathlib
import re
import subprocess
import sys

RECORD = pathlib.Path(__file__).with_name("symbols.txt")
VERSION = "@@LATERAL_1.0"
SONAME = "liblateral.so.1"


def exported(library):
    text = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {line.split()[-1] for line in text.splitlines() if " A " not in line}


def soname(library):
    text = subprocess.run(["readelf", "-d", library], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"SONAME.*\[(.*)\]", text).group(1)


def recorded():
    """The names of the record, whose lines are of names in which a word in capitals stands for each of its words."""
    words, names = {}, set()
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        word, equals, meanings = line.partition(" = ")
        if equals:
            words[word] = meanings.split()
            continue
        for name in [] if line.startswith("#") else line.split():
            word = (re.findall("[A-Z]+", name) or [""])[0]
            names.update(name.replace(word, one) + VERSION for one in words[word]) if word else names.add(name + VERSION)
    return names


def main():
    library = sys.argv[-1]
    symbols = exported(library)
    ours = {s for s in symbols if re.match(r"p?shmemx_|uccs_", s)}
    known = recorded()
    if sys.argv[1] == "--record":
        new = sorted(s.removesuffix(VERSION) for s in ours - known if not s.startswith("pshmemx_"))
        RECORD.write_text(RECORD.read_text(encoding="utf-8") + "".join(name + "\n" for name in new), encoding="utf-8")
        return 0
    wrong = [f"gone: {s}" for s in sorted(known - symbols)]
    wrong += [f"gone: p{s}" for s in sorted(known) if s.startswith("shmemx_") and "p" + s not in symbols]
    wrong += [f"without a version: {s}" for s in sorted(symbols) if "@@" not in s]
    wrong += [f"inside name exported: {s}" for s in sorted(symbols)
              if not re.match(r"(p?shmemx?_|uccs_|p?start_pes|p?_my_pe|p?_num_pes|p?sh(malloc|free|realloc|memalign)|lat_check_|PMIx_Initialized@|_Fork@)", s)]
    if soname(library) != SONAME:
        wrong.append(f"SONAME is {soname(library)}, not {SONAME}")
    print("\n".join(wrong) or f"{len(known)} recorded symbols are there, {len(symbols)} in all")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
