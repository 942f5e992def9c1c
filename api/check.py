"""Writes the checking layer: shmem_X checks every argument by the rules of api/check/ and calls pshmem_X.

Names of parameters and the shape of a row select the rules, so a new row gets the rules of similar rows.
"""

import headers
import model

FILES = {"check_rma": ("rma",), "check_amo": ("amo",), "check_p2p": ("p2p", "signal"), "check_coll": ("coll", "reduce"),
         "check_nbe": ("nbe",), "check_counter": ("counter", "request"), "check_rest": None}

# Callable before init and after finalize.
ANYTIME = {"shmem_init", "shmem_init_thread", "start_pes", "shmem_query_initialized", "shmem_global_exit",
           "shmem_info_get_version", "shmem_info_get_name"}

OUTPUTS = {"provided", "initialized", "major", "minor", "name", "new_team", "xaxis_team", "yaxis_team", "config"}

KNOWN_OPTIONS = "SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE"


FROM = "check_from(__builtin_return_address(0))"

# Arguments that must be equal at all members of a collective call.
ALIKE = ("nelems", "nreduce", "PE_root", "dst", "sst", "size", "count", "alignment", "hints", "start", "stride", "xrange")

# Other calls that all PEs, or all members of `team` or `parent_team`, make together.
TOGETHER = {"barrier_all", "sync_all", "barrier", "sync", "team_sync", "malloc", "calloc", "align", "malloc_with_hints",
            "realloc", "free", "team_split_strided", "team_split_2d", "team_destroy", "finalize", "ct_create", "ct_free",
            "ct_create_team", "ct_free_team"}

# Calls that do nothing with some arguments, and then wait for nobody: when they do something.
UNLESS_NOTHING = {"malloc": "size", "calloc": "count && size", "align": "size", "malloc_with_hints": "size",
                  "realloc": "ptr || size", "free": "ptr"}

# Calls in which all red zones are looked at.
MEETS = {"barrier_all", "sync_all", "barrier", "sync", "team_sync", "finalize"}

# Calls that complete what the default context has under way.
COMPLETES = {"quiet", "barrier_all", "barrier", "finalize", "clear_lock"}

# Calls of which the layer makes others.
INSTEAD = {"malloc": f"check_zone_malloc(call, {FROM}, size, 0)", "calloc": f"check_zone_calloc(call, {FROM}, count, size)",
           "malloc_with_hints": f"check_zone_malloc(call, {FROM}, size, hints)",
           "align": f"check_zone_align(call, {FROM}, alignment, size)",
           "realloc": f"check_zone_realloc(call, {FROM}, ptr, size)", "free": "check_zone_free(call, ptr)"}


class Checks:
    """The lines of one function, in order; `size` and `align` of its elements."""

    def __init__(self, function):
        self.f = function
        self.lines = []
        kind = function.type
        self.size = f"sizeof({headers.spell(kind.c)})" if kind else str(function.bytes or 1)
        self.align = f"_Alignof({headers.spell(kind.c)})" if kind else "1"

    def rule(self, name, *arguments):
        self.lines.append(f"check_{name}({', '.join(['call', *arguments])});")

    def let(self, kind, variable, rule, *arguments):
        self.lines.append(f"const {kind} {variable} = check_{rule}({', '.join(['call', *arguments])});")

    def remote(self, name, length):
        self.rule("symmetric", f'"{name}"', name, length, self.align)

    def local(self, name, length):
        self.rule("local", f'"{name}"', name, length, self.align)

    def pe(self):
        """Declares `world`, the target's number in the world."""
        if self.f.ctx:
            self.let("int", "world", "ctx_pe", "ctx", "pe")
        else:
            self.let("int", "world", "pe", "pe")


def check_move(c):
    """put, get and their strided and signalling forms."""
    name = c.f.row.name
    c.pe()
    put = "put" in name
    far, near = ("dest", "source") if put else ("source", "dest")
    strides = {"dest": "dst", "source": "sst"}
    if name.startswith("i"):
        length, blocks = ("bsize", "nblocks") if name.startswith("ib") else ("1", "nelems")
        for side in (far, near):
            c.let("size_t", f"{side}_bytes", "span", f'"{strides[side]}"', strides[side], length, blocks, c.size)
        c.remote(far, f"{far}_bytes")
        c.local(near, f"{near}_bytes")
        c.lines.append("(void)world;")
        return
    c.let("size_t", "bytes", "bytes", '"nelems"', "nelems", c.size)
    c.remote(far, "bytes")
    c.local(near, "bytes")
    c.rule("apart_at", f'"{far}"', far, "bytes", "world", f'"{near}"', near, "bytes")
    if c.f.has("sig_op"):
        c.rule("symmetric", '"sig_addr"', "sig_addr", "sizeof *sig_addr", "_Alignof(uint64_t)")
        c.rule("sig_op", "sig_op")
        c.rule("apart", '"sig_addr"', "sig_addr", "sizeof *sig_addr", '"dest"', "dest", "bytes")


def check_element(c):
    """p, g and atomics: one element at a PE, perhaps a result here."""
    c.pe()
    far = "dest" if c.f.has("dest") else "source"
    c.remote(far, c.size)
    if c.f.has("fetch"):
        c.local("fetch", c.size)
        c.rule("apart_at", f'"{far}"', far, c.size, "world", '"fetch"', "fetch", c.size)
    else:
        c.lines.append("(void)world;")


def check_signal(c):
    if c.f.has("pe"):
        c.pe()
        c.lines.append("(void)world;")
    c.rule("symmetric", '"sig_addr"', "sig_addr", "sizeof *sig_addr", "_Alignof(uint64_t)")
    if c.f.has("cmp"):
        c.rule("cmp", "cmp")


def check_wait(c):
    if c.f.has("ivar"):
        c.rule("symmetric", '"ivar"', "ivar", "sizeof *ivar", "_Alignof(long)" if not c.f.type else c.align)
    else:
        c.let("size_t", "bytes", "bytes", '"nelems"', "nelems", c.size)
        c.remote("ivars", "bytes")
        if c.f.has("cmp_values"):
            c.local("cmp_values", "bytes")
        if c.f.has("indices"):
            c.rule("local", '"indices"', "indices", "nelems * sizeof *indices", "_Alignof(size_t)")
            c.rule("apart", '"indices"', "indices", "nelems * sizeof *indices", '"ivars"', "ivars", "bytes")
            c.rule("apart", '"indices"', "indices", "nelems * sizeof *indices", '"status"', "status",
                   "status ? nelems * sizeof *status : 0")
        c.rule("apart", '"ivars"', "ivars", "bytes", '"status"', "status", "status ? nelems * sizeof *status : 0")
    if c.f.has("cmp"):
        c.rule("cmp", "cmp")


def sync_words(c, size):
    c.rule("symmetric", '"pSync"', "pSync", f"{size} * sizeof *pSync", "_Alignof(long)")


def check_collective(c):
    """Team collectives and their old forms on active sets."""
    row, f = c.f.row, c.f
    stem = row.name.replace("_nbe", "").rstrip("#0123456789")
    if f.has("team"):
        c.let("int", "members", "team", '"team"', "team")
    else:
        c.let("int", "members", "set", "PE_start", "logPE_stride", "PE_size")
        if "#" not in row.name and not f.type:
            c.size, c.align = str(int(row.name[-2:]) // 8), "1"
    if f.has("PE_root"):
        c.rule("root", '"PE_root"', "PE_root", "members")
    if "_reduce" in row.name or "_to_all" in row.name or "scan" in row.name:
        check_reduction(c)
    else:
        check_exchange(c, stem)
    c.lines.append("(void)members;")


def check_reduction(c):
    f = c.f
    if f.has("pSync"):
        c.let("size_t", "bytes", "count", '"nreduce"', "nreduce", c.size)
        least = "nreduce / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? nreduce / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE"
        c.rule("symmetric", '"pWrk"', "pWrk", f"(size_t)({least}) * sizeof *pWrk", c.align)
        sync_words(c, "SHMEM_REDUCE_SYNC_SIZE")
    else:
        count = "nreduce" if f.has("nreduce") else "nelems"
        c.let("size_t", "bytes", "bytes", f'"{count}"', count, c.size)
    c.remote("dest", "bytes")
    c.remote("source", "bytes")
    c.rule("apart_or_same", '"dest"', "dest", '"source"', "source", "bytes")


def check_exchange(c, stem):
    """Declares the bytes that each PE needs. No PE knows the total of a collect beforehand."""
    if c.f.has("dst"):
        for side, stride in (("dest", "dst"), ("source", "sst")):
            c.let("size_t", f"{side}_bytes", "span", f'"{stride}"', stride, "1", "nelems * (size_t)members", c.size)
    else:
        c.let("size_t", "one", "bytes", '"nelems"', "nelems", c.size)
        whole = "one * (size_t)members"
        c.lines.append(f"const size_t dest_bytes = {whole if stem in ('fcollect', 'alltoall') else 'one'};")
        c.lines.append(f"const size_t source_bytes = {whole if stem == 'alltoall' else 'one'};")
    c.remote("dest", "dest_bytes")
    c.remote("source", "source_bytes")
    if stem == "broadcast":
        c.rule("apart_or_warn", '"dest"', "dest", '"source"', "source", "one")
    else:
        c.rule("apart", '"dest"', "dest", "dest_bytes", '"source"', "source", "source_bytes")
    if c.f.has("pSync"):
        sync_words(c, {"broadcast": "SHMEM_BCAST_SYNC_SIZE", "alltoall": "SHMEM_ALLTOALL_SYNC_SIZE",
                       "alltoalls": "SHMEM_ALLTOALLS_SYNC_SIZE"}.get(stem, "SHMEM_COLLECT_SYNC_SIZE"))


# Every other function accepts SHMEM_TEAM_INVALID: it then does nothing or returns an error.
NEEDS_TEAM = {"team_sync"}


def check_rest(c):
    f, name = c.f, c.f.row.name
    if f.row.family == "counter" and f.has("pe"):
        c.pe()
        c.lines.append("(void)world;")
    if f.has("ctx") and ("shmem_ctx_t ", "ctx") in f.params:
        c.rule("ctx_or_invalid", "ctx")
    for kind, parameter in f.params:
        if kind == "shmem_team_t ":
            rule = "team" if name in NEEDS_TEAM else "team_or_invalid"
            c.rule(rule, f'"{parameter}"', parameter)
        elif kind.endswith("shmem_team_config_t *"):          # the mask says which fields are used
            mask = "config_mask" if parameter == "config" else parameter.replace("config", "mask")
            c.rule("config", f'"{parameter}"', parameter, mask, "SHMEM_TEAM_NUM_CONTEXTS")
        elif parameter in OUTPUTS and not kind.startswith("const ") or kind in ("shmem_ctx_t *", "shmem_team_t *"):
            c.rule("null", f'"{parameter}"', parameter)
        elif parameter == "lock":
            c.rule("symmetric", '"lock"', "lock", "sizeof *lock", "_Alignof(long)")
        elif parameter == "pSync":
            c.rule("set", "PE_start", "logPE_stride", "PE_size")
            sync_words(c, "SHMEM_BARRIER_SYNC_SIZE")
        elif parameter == "target_pes":
            c.rule("pes", '"target_pes"', "ctx" if f.ctx else "SHMEM_CTX_DEFAULT", "target_pes", "npes")
        elif kind.startswith("const shmem_ctx_session_config_t"):
            c.rule("config", f'"{parameter}"', parameter, "config_mask", "SHMEM_CTX_SESSION_TOTAL_OPS")
        elif parameter == "requested":
            c.rule("level", "requested")
    if name == "finalize":
        c.rule("finalize")
    if name in ("ctx_create", "team_create_ctx"):
        c.rule("options", "options", KNOWN_OPTIONS)


# Lines behind the call that tell the register of handles about it.
AFTER = {
    "ctx_create": ["if (!status)", "    check_ctx_made(*ctx, SHMEM_TEAM_WORLD);"],
    "team_create_ctx": ["if (!status)", "    check_ctx_made(*ctx, team);"],
    "ctx_destroy": ["check_ctx_gone(ctx);"],
    "team_split_strided": ["check_team_made(*new_team);"],
    "team_split_2d": ["check_team_made(*xaxis_team);", "check_team_made(*yaxis_team);"],
    "team_destroy": ["check_team_gone(team);"],
    "finalize": ["check_all_gone();"],
}


# Calls that end the requests they are given.
ENDS = {"request_free": "check_reqs_end(req, 1, NULL);", "request_wait_free": "check_reqs_end(req, 1, NULL);",
        "request_wait_all_free": "check_reqs_end(reqs, nreqs, status);",
        "request_merge": "check_reqs_end(reqs, n, NULL);"}


def check_requests(c):
    """Requests and counters: the handles themselves."""
    f, name = c.f, c.f.row.name
    kinds = {parameter: kind.strip() for kind, parameter in f.params}
    for parameter in ("req", "into"):
        if kinds.get(parameter) == "shmemx_request_t *":
            c.rule("null" if name == "request_create" else "req", f'"{parameter}"', parameter)
    if kinds.get("req") == "shmemx_request_t":
        c.rule("req_value", '"req"', "req")
    if f.has("reqs"):
        count = "nreqs" if f.has("nreqs") else "n"
        c.rule("reqs", '"reqs"', "reqs", count)
        if f.has("indices"):
            c.rule("local", '"indices"', "indices", f"{count} * sizeof *indices", "_Alignof(size_t)")
    if kinds.get("ct") == "shmemx_ct_t":
        c.rule("ct", "ct")
    elif f.has("ct"):
        c.rule("null", '"ct"', "ct")
        if name.startswith("ct_free"):
            c.rule("ct", "*ct")
    if f.has("cts"):
        c.rule("cts", "cts", "n")
        c.rule("local", '"values"', "values", "n * sizeof *values", "_Alignof(long)")
    if name == "ct_consume":
        c.rule("least", '"n"', "n")
    if name in ENDS:
        c.lines.append(ENDS[name])


def check_together(c):
    """All members of a team make the same call."""
    f, row = c.f, c.f.row
    split = row.family == "nbe" and (f.has("team") or row.name == "barrier_all_nbe")
    if not (row.family in ("coll", "reduce") or row.name in TOGETHER or split) or row.name.endswith("_nbe") and not split:
        return
    kind = f":{f.type.distinct}" if f.type else f":{f.bytes}" if f.bytes else ""
    alike = [p for _, p in f.params if p in ALIKE and not (p == "nelems" and row.name.startswith("collect"))]
    values = [(f"{p} %lld", f"(long long){p}") for p in alike]
    if f.has("ptr"):
        values.append(("block %lu", "check_zone_number(ptr)"))
    text = ", ".join(form for form, _ in values) or "%s"
    tail = "".join(f", {value}" for _, value in values) or ', ""'
    key = f'"{row.name}{kind}"'
    if f.has("pSync"):
        c.rule("step_set", key, "PE_start", "logPE_stride", "PE_size", "pSync", FROM, f'"{text}"{tail}')
        return
    team = next((p for _, p in f.params if p in ("team", "parent_team")), "SHMEM_TEAM_WORLD")
    when = "check_last()" if row.name == "finalize" else UNLESS_NOTHING.get(row.name)
    condition = f"if ({when})\n        " if when else ""
    c.lines.append(f'{condition}check_{"begun_" if split else ""}step(call, {key}, {team}, {FROM}, "{text}"{tail});')


def check_states(c):
    """What the layer remembers: red zones, sources of puts, locks."""
    f, name = c.f, c.f.row.name
    if name in MEETS:
        c.rule("zones")
    if name in COMPLETES and f.row.family != "setup" and not f.ctx:
        c.rule("sources", "SHMEM_CTX_DEFAULT")
    elif f.ctx and name == "quiet" or name == "ctx_destroy":
        c.rule("sources", "ctx")
    elif name == "pe_quiet":
        c.rule("sources_of", "ctx" if f.ctx else "SHMEM_CTX_DEFAULT", "target_pes", "npes")
    if name == "set_lock":
        c.rule("lock_set", "lock")
    if name == "finalize":
        c.lines.append("if (!lat_check_finalized()) {")
        c.lines += ["    check_sources(call, SHMEM_CTX_DEFAULT);", "    check_locks_end(call);", "}"]


def after_states(function):
    """Lines behind the call: what the register of sources and of locks learns."""
    row, name = function.row, function.row.name
    if row.family in ("rma", "signal") and name.startswith("put") and name.endswith("_nbi"):
        ctx = "ctx" if function.ctx else "SHMEM_CTX_DEFAULT"
        return [f"check_source_issue(call, {FROM}, {ctx}, world, source, bytes);"]
    return {"set_lock": [f"check_lock_held(lock, {FROM});"], "clear_lock": ["check_lock_clear(lock);"],
            "test_lock": ["if (!status)", f"    check_lock_held(lock, {FROM});"], "init": ["check_begun();"],
            "start_pes": ["check_begun();"], "init_thread": ["if (!status)", "    check_begun();"]}.get(name, [])


def after_requests(function):
    """Lines behind the call: what the register of requests learns."""
    return [f"check_req_used({parameter});" for kind, parameter in function.params
            if parameter in ("req", "into") and kind.strip() == "shmemx_request_t *"
            and function.row.name not in ("request_free", "request_wait_free")]


def check_shape(c):
    """Chooses the rules by the parameters of the function."""
    f = c.f
    if f.row.near:
        check_element(c)
    elif f.has("dest") and f.has("source") and f.has("pe"):
        check_move(c)
    elif f.has("dest") and f.has("source"):
        check_collective(c)
    elif f.has("sig_addr"):
        check_signal(c)
    elif f.has("ivar") or f.has("ivars"):
        check_wait(c)
    else:
        check_rest(c)


def checks(function):
    c = Checks(function)
    row = function.row
    if function.name not in ANYTIME and row.name != "finalize":
        c.lines.append("const uintptr_t inside check_scoped = check_enter(call);")
    check_shape(c)
    check_requests(c)
    check_together(c)
    check_states(c)
    return c.lines


def definition(function, generic_names):
    """Puts a name that is also a generic macro in parentheses."""
    text = function.prototype(spell=headers.spell)
    if function.name in generic_names:
        text = text.replace(f"{function.name}(", f"({function.name})(", 1)
    inside = INSTEAD.get(function.row.name, f"p{function.name}({', '.join(function.names)})")
    after = (AFTER.get(function.row.name, []) if not function.row.old else []) + after_requests(function) + after_states(function)
    lines = checks(function)
    if any("call" in line for line in lines):
        lines = [f'static const char call[] = "{function.name}";'] + lines
    if function.result == "void":
        lines += [f"{inside};"] + after
    elif after:
        lines += [f"{function.result}{'' if function.result.endswith('*') else ' '}status = {inside};"] + after + ["return status;"]
    else:
        lines.append(f"return {inside};")
    return f"{text}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n\n"


def source(functions, generic_names):
    return (headers.file_comment("The checking layer: arguments first, then the profiling name.") + '#include "rules.h"\n\n'
            + "".join(definition(f, generic_names) for f in functions))


def write(out, functions):
    generic_names = {model.generic_name(f.row) for f in functions if "generic" in f.row.forms}
    checked = [f for f in functions if ("...", "") not in f.params]
    taken = {family for families in FILES.values() if families for family in families}
    for name, families in FILES.items():
        wanted = [f for f in checked if (f.row.family in families if families else f.row.family not in taken)]
        out.write(f"{name}.c", source(wanted, generic_names))
