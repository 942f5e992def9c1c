#!/usr/bin/env python3
"""Writes the wrappers of oshrun --stats: every call that moves data counts it, every call that may wait takes its time.

Reads the table of functions (api/generate.py --json) from standard input, writes C to standard output.
"""
import json
import re
import sys

HEAD = """/* Made by wrappers.py. */
#define SHMEM_NO_DEPRECATED_WARNINGS
#include <pshmem.h>
#include <shmemx.h>
#include "of_shmem.h"
"""
MOVES = ("rma", "amo", "signal", "nbe", "counter")
WAITS = re.compile(r"^shmemx?_(\w+_)?(wait\w*|barrier\w*|sync\w*|quiet|pe_quiet|set_lock|finalize|broadcast\w*|f?collect\w*|alltoalls?\w*"
                   r"|reduce|scan|inscan|exscan|\w+_to_all|team_split\w*|team_destroy|malloc|calloc|align|realloc|free)$")
OURS = ("shmem_init", "shmem_init_thread", "shmem_finalize")


def size_of(function, params):
    """The bytes that a call moves, as a C expression."""
    types = {p["name"]: p["type"] for p in function["params"]}
    target = types.get("dest") or types.get("source") or types.get("sig_addr") or ""
    element = target.replace("const", "").rstrip(" *").strip()
    if element == "void":
        digits = re.search(r"(?:put|get)(8|16|32|64|128)", function["name"])
        element_bytes = str(int(digits[1]) // 8) if digits else "1"
    else:
        element_bytes = f"sizeof({element})" if element else "0"
    if "bsize" in params:
        return f"bsize * nblocks * {element_bytes}"
    return f"nelems * {element_bytes}" if "nelems" in params else element_bytes


def stored(function, params):
    """Where the call stores at the other PE, and how many bytes there may be waited for: address, bytes."""
    if "sig_addr" in params:
        return "sig_addr, sizeof *sig_addr"
    if "dest" in params and "get" not in function["name"] and "dst" not in params:
        return f"dest, {size_of(function, params)}"
    return "0, 0"


def awaited(params):
    return next((name for name in ("ivar", "ivars", "sig_addr") if name in params), "0")


def wrapper(function, before, after):
    params = [p["name"] for p in function["params"]]
    void = function["result"].strip() == "void"
    call = f"p{function['name']}({', '.join(params)})"
    prototype = function["prototype"].replace(function["name"], f"({function['name']})", 1)  # some names are generic macros, too
    result = function["result"].strip()
    lines = [before, f"{call};" if void else f"{result} result = {call};", after, "" if void else "return result;"]
    return prototype + "\n{\n" + "".join(f"    {line}\n" for line in lines if line) + "}\n"


def main():
    print(HEAD)
    for function in json.load(sys.stdin):
        name, params = function["name"], [p["name"] for p in function["params"]]
        if name in OURS or "..." in function["prototype"] or function["family"] == "old" or not name.startswith("shmem"):
            continue
        if function["family"] in MOVES and "pe" in params:
            pe = "stats_pe_of(ctx, pe)" if function["context"] else "pe"
            print(wrapper(function, "uint64_t begin = stats_now();",
                          f'stats_moved("{name}", {pe}, {size_of(function, params)}, begin, {stored(function, params)});'))
        elif WAITS.match(name) and not re.search(r"_nbe?$|_nbi$|_test", name):
            print(wrapper(function, "uint64_t begin = stats_now();", f'stats_waited("{name}", __builtin_return_address(0), begin, {awaited(params)});'))


if __name__ == "__main__":
    main()
