#!/usr/bin/env python3
"""Writes wrappers for every OpenSHMEM call that names a PE: count the call and its bytes, go on.

Reads the table of functions (api/generate.py --json) from standard input, writes C to standard
output. This is all that a profiling tool needs to know of OpenSHMEM's 1,788 functions.
"""
import json
import sys

HEAD = """/* Made by wrappers.py. */
#define SHMEM_NO_DEPRECATED_WARNINGS
#include <pshmem.h>
#include "matrix.h"
"""


def size_of(function, params):
    """The bytes that a call moves, as a C expression."""
    types = {p["name"]: p["type"] for p in function["params"]}
    target = types.get("dest") or types.get("source") or types.get("sig_addr") or ""
    element = target.replace("const", "").rstrip(" *").strip()
    if element == "void":
        digits = "".join(c for c in function["name"] if c.isdigit())
        element_bytes = str(int(digits) // 8) if digits else "1"
    else:
        element_bytes = f"sizeof({element})" if element else "0"
    if "bsize" in params:
        return f"bsize * nblocks * {element_bytes}"
    return f"nelems * {element_bytes}" if "nelems" in params else element_bytes


def wrapper(function):
    params = [p["name"] for p in function["params"]]
    pe = "matrix_world(ctx, pe)" if function["context"] else "pe"
    result = "" if function["result"].strip() == "void" else "return "
    # Some names are also generic macros: parentheses keep the function.
    prototype = function["prototype"].replace(function["name"], f"({function['name']})", 1)
    return (f"{prototype}\n{{\n    matrix_count({pe}, {size_of(function, params)});\n"
            f"    {result}p{function['name']}({', '.join(params)});\n}}\n")


def main():
    functions = json.load(sys.stdin)
    print(HEAD)
    for function in functions:
        names = [p["name"] for p in function["params"]]
        if function["header"] == "shmem.h" and function["family"] in ("rma", "amo", "signal") and "pe" in names:
            print(wrapper(function))


if __name__ == "__main__":
    main()
