"""Writes the thunks: pshmem_X with a short body that calls a lat_ function, and shmem_X as its weak alias."""

import re

import headers

# Source files, so that they compile in parallel: families and whether typed. CMakeLists.txt keeps the frames of calls
# that may wait (p2p, coll, counter, rest) on the stack, so that debuggers show the name that the program called.
FILES = {
    "thunks_rma": lambda f: f.row.family == "rma" and f.type and not f.ctx,
    "thunks_rma_ctx": lambda f: f.row.family == "rma" and f.type and f.ctx,
    "thunks_rma_sized": lambda f: f.row.family == "rma" and not f.type,
    "thunks_signal": lambda f: f.row.family == "signal",
    "thunks_amo": lambda f: f.row.family == "amo" and not f.ctx,
    "thunks_amo_ctx": lambda f: f.row.family == "amo" and f.ctx,
    "thunks_p2p": lambda f: f.row.family == "p2p",
    "thunks_coll": lambda f: f.row.family in ("coll", "reduce"),
    "thunks_nbe": lambda f: f.row.family == "nbe",
    "thunks_counter": lambda f: f.row.family == "counter",
    "thunks_order": lambda f: "fence" in f.name or "quiet" in f.name,
    "thunks_rest": lambda f: True,
}

# What an atomic does when the peer is mapped, and its operation when it is not.
AMO = {
    "fetch": ("atomic_load_acquire(to)", "FETCH"), "set": ("atomic_store_release(to, value)", "SET"),
    "swap": ("atomic_exchange_acqrel(to, value)", "SWAP"), "cswap": ("", "CSWAP"),
    "inc": ("atomic_fetch_add_acqrel(to, 1)", "ADD"), "add": ("atomic_fetch_add_acqrel(to, value)", "ADD"),
    "and": ("atomic_fetch_and_acqrel(to, value)", "AND"), "or": ("atomic_fetch_or_acqrel(to, value)", "OR"),
    "xor": ("atomic_fetch_xor_acqrel(to, value)", "XOR"),
}
AMO_REAL = {"fetch": "__atomic_load(to, &old, __ATOMIC_ACQUIRE)", "set": "__atomic_store(to, &value, __ATOMIC_RELEASE)",
            "swap": "__atomic_exchange(to, &value, &old, __ATOMIC_ACQ_REL)"}


# What thunks use, beside the prototypes of calls.h.
HEADERS = ("counter", "ctx", "p2p", "place", "rma", "team")


def context(function):
    return "ctx" if function.ctx else "LAT_CTX_DEFAULT"


def element(function):
    if function.type:
        return f"sizeof({function.type.c})"
    return str(function.bytes)


def fill(function, text):
    value = "value" if function.has("value") else "cmp_value"
    known = {"CALL": f'"{function.name}"', "CTX": context(function), "SIZE": element(function),
             "KIND": function.type.kind if function.type else "", "BITS": f"(uint64_t){value}"}
    return re.sub(r"\b(CALL|CTX|SIZE|KIND|BITS)\b", lambda match: known[match.group(1)], text)


def translated(function):
    """Returns the line that translates the PE in context forms."""
    if not function.ctx or not function.has("pe"):
        return []
    return [f'pe = lat_ctx_pe("{function.name}", ctx, pe);']


def body_p(function):
    c = function.type.c
    return [f"{c} *to = uccs_near(dest, pe);", "if (lat_likely(to)) {", "    *to = value;", "} else {",
            f"    {c} copy = value;",
            f'    lat_put_far("{function.name}", {context(function)}, dest, &copy, sizeof copy, pe, 0, true, 0);', "}"]


def body_g(function):
    c = function.type.c
    return [f"const {c} *from = uccs_near(source, pe);", "if (lat_likely(from))", "    return *from;",
            f"{c} value;", f'lat_get_far("{function.name}", {context(function)}, &value, source, sizeof value, pe, 0, true, 0);',
            "return value;"]


def amo_far(function):
    kind = function.type
    bits = (lambda name: f"lat_bits_of(&{name}, sizeof {name})") if kind.real else (lambda name: f"(uint64_t){name}")
    operation = function.row.near
    value = "1" if operation == "inc" else bits("value") if function.has("value") else "0"
    cond = bits("cond") if function.has("cond") else "0"
    target = "source" if operation == "fetch" else "dest"
    # without `fetch` the call does not wait for the old value; with it, the value is written there later
    half, more = "lat_amo_far", ""
    if function.has("fetch") or function.result == "void":
        half = "lat_amo_start_far"
        more = f', {"fetch" if function.has("fetch") else "0"}, {"req" if function.has("req") else "0"}'
    asked = (f'{half}("{function.name}", {context(function)}, UCCS_ATOMIC_{AMO[operation][1]}, {target}, '
             f"sizeof({kind.c}), {value}, {cond}, pe{more})")
    return asked if kind.real or function.has("fetch") or function.result == "void" else f"({kind.c}){asked}"


def body_amo(function):
    c, operation = function.type.c, function.row.near
    target = "source" if operation == "fetch" else "dest"
    near, far, fetches = AMO[operation][0], amo_far(function), function.has("fetch")
    const = "const " if operation == "fetch" else ""
    lines = [f"{const}{c} *to = uccs_near({target}, pe);"]
    if operation == "cswap":
        lines = [f"{c} seen = cond;"] + lines + ["if (lat_likely(to))", "    atomic_cas_acqrel(to, &seen, value);"]
        return lines + (["if (lat_likely(to))", "    *fetch = seen;", "else", f"    {far};"] if fetches
                        else ["else", f"    seen = {far};", "return seen;"])
    if function.type.real:
        return lines + body_real(function, far)
    if fetches:
        return lines + ["if (lat_likely(to))", f"    *fetch = {near};", "else", f"    {far};"]
    if function.result != "void":
        return lines + ["if (lat_likely(to))", f"    return {near};", f"return {far};"]
    return lines + ["if (lat_likely(to))", f"    (void){near};", "else", f"    {far};"]


def body_real(function, far):
    """The compiler's generic forms: its others take integers alone. The far half gives bits."""
    near, operation, c = AMO_REAL[function.row.near], function.row.near, function.type.c
    if function.has("fetch"):
        return ["if (lat_likely(to))", f"    {near.replace('&old', 'fetch')};", "else", f"    {far};"]
    if operation == "set":
        return ["if (lat_likely(to))", f"    {near};", "else", f"    {far};"]
    return [f"{c} old;", "if (lat_likely(to))", f"    {near};", "else", f"    lat_store_bits(&old, sizeof old, {far});",
            "return old;"]


def body(function):
    row = function.row
    if row.near in ("p", "g"):
        return body_p(function) if row.near == "p" else body_g(function)
    if row.near:
        return body_amo(function)
    if row.name == "pcontrol":
        return ["(void)level;"]
    if row.call:
        call = fill(function, row.call)
    else:
        inside = "lat_" + ("ctx_" if function.ctx else "") + row.name
        call = f"{inside}({', '.join(function.names)})"
    if row.state == "group":
        return [call + ";"] + (["return 0;"] if function.result == "int" else [])
    return [("" if function.result == "void" else "return ") + call + ";"]


def tracked(function):
    """Returns the line that tells a request whether the atomic stored or only loaded."""
    if not function.row.near or not function.has("req"):
        return []
    return [("lat_loaded" if function.row.near == "fetch" else "lat_stored") + "(req);"]


def required(function):
    """Returns the lines that look whether the library runs, and those that find the group of a collective."""
    call = f'"{function.name}"'
    if function.row.state == "group" and function.row.old:
        return [f"struct uccs_team *group = lat_set_group({call}, PE_start, logPE_stride, PE_size, pSync);", "if (!group)", "    return;"]
    if function.row.state == "group":
        return [f"struct uccs_team *group = lat_team_group({call}, team);", "if (!group)", "    return -1;"]
    if function.row.state == "run":
        return [f"lat_require({call});"]
    if function.row.state != "ends":
        return []
    return [f"if (!lat_require_or_leave({call}))", "    return;"] if function.result == "void" else [f"(void)lat_require_or_leave({call});"]


def thunk(function):
    lines = required(function) + translated(function) + body(function) + tracked(function)
    return (f"{function.prototype('p')}\n{{\n" + "".join(f"    {line}\n" for line in lines)
            + f"}}\n#pragma weak {function.name} = p{function.name}\n\n")


def split(functions):
    """Gives each function to the first file that takes it."""
    files = {name: [] for name in FILES}
    for function in functions:
        chosen = next(name for name, wants in FILES.items() if wants(function))
        files[chosen].append(function)
    return files


def source(functions):
    extension = "#include <shmemx.h>\n" if any(f.row.header == "shmemx.h" for f in functions) else ""
    return (headers.file_comment("Thunks from the public names to the inside of the library.")
            + "#define SHMEM_NO_DEPRECATED_WARNINGS\n#include <pshmem.h>\n" + extension
            + "".join(f'#include "shmem/{name}.h"\n' for name in ("calls",) + HEADERS)
            + "\n#include <stdio.h>\n\n#pragma GCC visibility push(default)\n\n"
            + "".join(thunk(f) for f in functions) + "#pragma GCC visibility pop\n")


def inside(functions):
    """The functions that thunks without a body of their own call: shmem_X calls lat_X with the same arguments."""
    seen = {}
    for function in functions:
        if not (function.row.call or function.row.near) and function.row.name != "pcontrol":
            seen.setdefault(function.row.name, function)
    lines = [("_Noreturn " if name == "global_exit" else "") + function.prototype().replace(function.name, "lat_" + name) + ";\n"
             for name, function in seen.items()]
    return (headers.file_comment("What thunks call. The standard, or the manual page, defines meaning, arguments and errors.")
            + "#ifndef SHMEM_CALLS_H\n#define SHMEM_CALLS_H\n\n#include <shmemx.h>\n\n" + "".join(lines) + "\n#endif\n")


def write(out, functions):
    out.write("shmem/calls.h", inside(functions))
    for name, members in split(functions).items():
        out.write(f"{name}.c", source(members))
