#!/usr/bin/env python3
"""Generates all code that repeats over the table of OpenSHMEM operations.

    generate.py --out DIR [--version V]   write headers, thunks, map, checking layer, test sources
    generate.py --list                    the files that --out writes, one per line
    generate.py --json                    every function as JSON
    generate.py synopsis [FAMILY]         prototypes for man pages
"""

import argparse
import json
import pathlib
import sys

import calls
import check
import fortran
import headers
import model
import symbols
import table
import thunks


class Output:
    """Collects files and writes only those with changed text, so that nothing is rebuilt in vain."""

    def __init__(self):
        self.files = {}

    def write(self, name, text):
        self.files[name] = text

    def flush(self, folder):
        for name, text in self.files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


def collect(version):
    functions, generics = model.functions(), model.generics()
    out = Output()
    headers.write(out, functions, generics, version)
    thunks.write(out, functions)
    symbols.write(out, functions)
    check.write(out, functions)
    calls.write(out, functions, generics)
    fortran.write(out, functions)
    return out


def as_json(functions):
    return json.dumps([{
        "name": f.name, "family": f.row.family, "header": f.row.header, "result": f.result.strip(),
        "params": [{"type": kind.strip(), "name": name} for kind, name in f.params],
        "type": f.type.name if f.type else None, "context": f.ctx, "deprecated": f.old,
        "generic": model.generic_name(f.row) if "generic" in f.row.forms and f.type else None,
        "prototype": f.prototype()} for f in functions], indent=1)


def synopsis(family):
    """Returns the prototypes of a family with TYPE and SIZE in place of the table's lists."""
    rows = [row for row in table.TABLE if family in (None, row.family)]
    return "\n".join(f.prototype() + ";" for row in rows for f in model.synopsis_row(row))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--version", default="0.0.0")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("mode", nargs="*", help="synopsis [FAMILY]")
    asked = parser.parse_args(arguments)
    if asked.list:
        print("\n".join(collect(asked.version).files))
    if asked.json:
        print(as_json(model.functions()))
    if asked.mode[:1] == ["synopsis"]:
        print(synopsis(asked.mode[1] if len(asked.mode) > 1 else None))
    elif asked.mode:
        parser.error(f"unknown mode {asked.mode[0]}")
    if asked.out:
        collect(asked.version).flush(asked.out)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(sys.argv[1:])
