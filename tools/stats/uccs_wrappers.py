#!/usr/bin/env python3
"""Writes the wrappers of oshrun --stats for uccs.h: calls that move data count it, calls that may wait take their time.

    uccs_wrappers.py HEADER ... > wrappers_uccs.c
"""
import pathlib
import re
import sys

HEAD = """/* Made by uccs_wrappers.py. */
#include "of_uccs.h"
"""
MOVES = re.compile(r"uccs_(put|get|atomic|accumulate$|compare_and_swap|send)")
WAITS = re.compile(r"uccs_(wait(_all|_any|_some|_conditions)?|queue_wait|counter_(wait|consume|shut\w*|open_group)|stream_(flush|flush_local|fence|release)"
                   r"|lock|lock_mapped|barrier|broadcast|allgather|allreduce|alltoall|group_create|group_release|context_(create_in|destroy)"
                   r"|rte_(barrier|send|recv|session_(create|exchange|destroy)))$")
BYTES = {"stride": "stride->block * stride->count", "pieces": "stats_pieces(pieces, n)", "parts": "stats_parts(parts, n)", "header_length": "header_length + length",
         "length": "length", "size": "size", "type": "n * uccs_type_size(type)"}


def functions(paths):
    """Prototypes that return int: name, parameters as written, their names."""
    for path in paths:
        text = re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.S)
        for name, params in re.findall(r"^int (uccs_\w+)\(([^()]*)\);", text, re.M):
            yield name, " ".join(params.split()), re.findall(r"(\w+)(?=,|$)", params)


def bytes_of(params):
    return next(expression for param, expression in BYTES.items() if param in params)


def wrapper(name, written, params, after):
    return f"""int {name}({written})
{{
    static __typeof__(&{name}) next;
    if (!next)
        next = (__typeof__(next))stats_next("{name}");
    const void *from = __builtin_return_address(0);
    uint64_t begin = stats_now();
    int status = next({", ".join(params)});
    {after}
    return status;
}}
"""


def main():
    print(HEAD)
    for name, written, params in functions(sys.argv[1:]):
        if MOVES.match(name) and "endpoint" in params:
            print(wrapper(name, written, params, f"""if (status == UCCS_OK && stats_is_program(from))
        stats_moved("{name}", uccs_endpoint_world_rank(endpoint), {bytes_of(params)}, begin, NULL, 0);"""))
        elif WAITS.match(name) and not name.endswith("_nb"):
            print(wrapper(name, written, params, f"""if (stats_is_program(from))
        stats_waited("{name}", from, begin, NULL);"""))


if __name__ == "__main__":
    main()
