#!/usr/bin/env python3
"""Writes the wrappers of --stats: each call that moves data, or that may wait for another PE, between its stats_enter and stats_leave.

    wrappers.py shmem < TABLE           OpenSHMEM: the table of functions (api/generate.py --json)
    wrappers.py uccs HEADER ...         uccs.h
    wrappers.py mpi < PREPROCESSED      MPI: its header with mpix_rma.h behind it, as its preprocessor leaves them
"""
import json
import pathlib
import re
import sys

OURS = {"shmem_init", "shmem_init_thread", "shmem_finalize", "start_pes", "uccs_init", "uccs_finalize", "MPI_Init", "MPI_Init_thread",
        "MPI_Finalize", "MPI_Win_free"}                 # of_*.c have them
HEAD = {
    "shmem": "#define SHMEM_NO_DEPRECATED_WARNINGS\n#include <pshmem.h>\n#include <shmemx.h>\n#include \"of_shmem.h\"",
    "uccs": "#include \"of_uccs.h\"",
    "mpi": "#include \"of_mpi.h\"",
}
# Calls without a peer that may wait, and those that ask once: a pattern, and what they return (C) when the answer is no.
SHMEM_WAITS = re.compile(r"shmemx?_(\w+_)?(wait\w*|barrier\w*|sync\w*|fence|quiet|pe_quiet|(set|clear)_lock|broadcast\w*|f?collect\w*|alltoalls?\w*"
                         r"|reduce|scan|inscan|exscan|\w+_to_all|team_split\w*|team_destroy|ctx_destroy|session_stop|malloc\w*|calloc|align"
                         r"|realloc|free|ct_(create|free|consume)\w*)$|sh(malloc|free|realloc|memalign)$")
SHMEM_POLLS = (("_test_lock$", "got != 0"), ("_test_any", "got == SIZE_MAX"), ("_test", "got == 0"),
               ("_signal_fetch$|_ct_get$|_ct_fetch_reset$", "true"), ("_request_pending$", "got != 0"))
UCCS_WAITS = re.compile(r"uccs_(wait(_\w+)?|queue_wait|counter_(wait|consume|shut(_group)?|open_group)|stream_(flush|flush_local|fence|release)"
                        r"|(un)?lock(_mapped)?|barrier|broadcast|all\w+|gather|scatter|reduce|scan|group_create|group_release"
                        r"|context_(create_in|destroy)|rte_(barrier|send|recv|session_(create|exchange|destroy)))$")
UCCS_POLLS = (("_test", "got == UCCS_IN_PROGRESS"), ("progress$", "got == 0"), ("_queue_poll$", "*count == 0"), ("_counter_read$", "true"))
MPI_WAITS = re.compile(r"(?!.*_init)MPI_(Win_(fence|start|complete|post|wait|(un)?lock(_all)?|flush\w*|create(_dynamic)?|allocate(_shared)?)"
                       r"|Wait(all|any|some)?|Barrier|[SR]?[Ss]end|Bsend|Recv|Sendrecv(_replace)?|M?[Pp]robe|Mrecv|Bcast|(All)?[Rr]educe|Reduce_scatter\w*"
                       r"|(All)?[Gg]atherv?|Scatterv?|Alltoall[vw]?|Scan|Exscan|Neighbor_all\w+|Comm_(dup|split|create|free|disconnect)(_with_info|_type|_group)?"
                       r"|Comm_(accept|connect|spawn\w*)|Intercomm_(create|merge)|Cart_(create|sub)|(Dist_g|G)raph_create\w*|Buffer_detach"
                       r"|File_(open|close|sync|set_(size|view)|preallocate|(read|write)_(at_all|all|ordered)\w*))(_c)?$")
MPI_POLLS = ((r"MPI_(Test(all|any|some)?|Win_test|Iprobe|Improbe)$", "!*{flag}"), ("MPIX_Win_notify_get_value$", "true"))
UCCS_BYTES = {"stride": "stride->block * stride->count", "pieces": "stats_pieces(pieces, n)", "parts": "stats_parts(parts, n)",
              "header_length": "header_length + length", "length": "length", "size": "size", "type": "n * uccs_type_size(type)"}


def wrapper(name, prototype, params, kind, move=None, after="", guard="", behind=None):
    """`kind`, and `move` (PE, bytes, where it stores, how many there), are C with `got`, what the call has returned. `behind`: the next function's
    name, where the other is a second name of this one."""
    result = prototype[:prototype.index(name)].rstrip(" (")
    void, alias, early = result == "void", "", ""
    pe, size, place, room = move or ("-1", "0", after or "0", "0")
    call = f"({', '.join(params)})"
    if behind:
        alias = f'extern __typeof__({name}) {behind} __attribute__((alias("{name}")));\n'
    if guard:
        early = f"    if ({guard})\n        {'' if void else 'return '}((__typeof__(&{name}))stats_behind(&site)){call};\n"
    return f"""{prototype}
{{
    static struct stats_site site = {{.name = "{name}"{f', .behind = "{behind}"' if behind else ''}}};
    struct stats_call call;
{early}    __typeof__(&{name}) next = stats_enter(&call, &site, FROM);
    {"" if void else result + " got = "}next{call};
    if (call.begin)
        stats_leave(&call, {kind}, {pe}, {size}, {place}, {room});
    {"return;" if void else "return got;"}
}}
{alias}"""


def poll_kind(table, name, **words):
    """The kind of a call that asks once; none: it does not."""
    no = next((no for pattern, no in table if re.search(pattern, name)), None)
    return no and f"{no.format(**words)} ? STATS_POLLS : STATS_MOVES"


# ---- OpenSHMEM ----

def shmem_bytes(function, params):
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


def shmem_stored(function, params):
    """Where the call stores at the other PE, and how many bytes there may be waited for."""
    if "sig_addr" in params:
        return "sig_addr", "sizeof *sig_addr"
    if "dest" in params and "get" not in function["name"] and "dst" not in params:
        return "dest", shmem_bytes(function, params)
    return "0", "0"


def shmem_wrappers():
    for function in json.load(sys.stdin):
        name, params = function["name"], [p["name"] for p in function["params"]]
        if name in OURS or "..." in function["prototype"]:
            continue
        prototype = function["prototype"].replace(name, f"({name})", 1)     # some names are generic macros, too
        awaited = next((p for p in ("ivar", "ivars", "sig_addr") if p in params), "0")
        later = re.search("_nb[ie]$", name)
        poll = poll_kind(SHMEM_POLLS, name)
        if "pe" in params and function["family"] in ("rma", "amo", "signal", "nbe", "counter"):
            answered = not later and ("get" in name or function["result"].strip() != "void")
            move = ("stats_pe_of(ctx, pe)" if function["context"] else "pe", shmem_bytes(function, params), *shmem_stored(function, params))
            yield wrapper(name, prototype, params, "STATS_WAITS" if answered else "STATS_MOVES", move)
        elif poll and not later:
            yield wrapper(name, prototype, params, poll, after=awaited)
        elif SHMEM_WAITS.match(name) and not later:
            yield wrapper(name, prototype, params, "STATS_WAITS", after=awaited)


# ---- uccs.h and MPI: prototypes of headers ----

def prototypes(text, names):
    """Functions that return int: name, parameters as written, their names."""
    seen = set(OURS)
    for name, written in re.findall(rf"(?<!inline )\bint ({names}\w+)\(([^()]*)\)", text):
        written = " ".join(written.split())
        if name not in seen:
            seen.add(name)
            yield name, written, [] if written == "void" else re.findall(r"(\w+)(?:\[\d*\])*(?=,|$)", written)


def uccs_wrappers():
    text = "".join(re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.S) for path in sys.argv[2:])
    for name, written, params in prototypes(text, "uccs_"):
        guard, prototype = "!stats_is_program(FROM)", f"int {name}({written})"
        poll = poll_kind(UCCS_POLLS, name)
        if "endpoint" in params and re.match(r"uccs_(put|get|atomic$|accumulate$|compare_and_swap|send)", name):
            answered = "1" if "get" in name else "result" if "result" in params else "0"
            now = f"{answered} && !(op && op->nonblocking)" if "op" in params else answered
            kind = "STATS_MOVES" if answered == "0" else f"{now} ? STATS_WAITS : STATS_MOVES"
            size = next(expression for param, expression in UCCS_BYTES.items() if param in params)
            yield wrapper(name, prototype, params, kind, ("got == UCCS_OK ? uccs_endpoint_world_rank(endpoint) : -1", size, "0", "0"), guard=guard)
        elif poll:
            yield wrapper(name, prototype, params, poll, guard=guard)
        elif UCCS_WAITS.match(name) and not name.endswith("_nb"):
            yield wrapper(name, prototype, params, "STATS_WAITS", guard=guard)


def mpi_wrappers():
    for name, written, params in prototypes(sys.stdin.read(), "MPIX?_"):
        rank = next((p for p in ("target_rank", "rank") if p in params), None)
        common = {"prototype": f"int {name}({written})", "params": params, "guard": "stats_inside()",
                  "behind": None if name.startswith("MPIX_") else f"P{name}"}
        poll = poll_kind(MPI_POLLS, name, flag=next((p for p in ("flag", "outcount") if p in params), "flag"))
        if rank and "win" in params and re.match("MPIX?_(R?r?put|R?r?get|R?r?accumulate|R?r?fetch|R?r?compare)", name, re.I):
            count = next((p for p in params if p == "target_count"), "1")
            kind = next(p for p in reversed(params) if p.endswith(("type", "datatype")))
            move = (f"got == MPI_SUCCESS ? stats_pe_of(win, {rank}) : -1", f"stats_bytes({count}, {kind})", "0", "0")
            yield wrapper(name, kind="STATS_MOVES", move=move, **common)
        elif poll:
            yield wrapper(name, kind=poll, **common)
        elif MPI_WAITS.match(name):
            yield wrapper(name, kind="STATS_WAITS", **common)


def main():
    print("/* Made by wrappers.py. */", HEAD[sys.argv[1]], "#define FROM __builtin_return_address(0)\n", sep="\n")
    print("\n".join({"shmem": shmem_wrappers, "uccs": uccs_wrappers, "mpi": mpi_wrappers}[sys.argv[1]]()))


if __name__ == "__main__":
    main()
