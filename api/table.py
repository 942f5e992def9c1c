"""The one table of OpenSHMEM operations.

generate.py makes from these rows all code that repeats over types, sizes and contexts: headers, thunks, symbol map,
checking layer, tests, synopses. README.md explains how to add a row.

A row's `name` may hold '#', the place of a size ("8", ..., "mem"); typed forms are
shmem_TYPE_<name without #>. In `params`, T is the element type (void in sized and mem forms).
`call` is the C code of the thunk, with these words:
    CALL  the public name, for messages      CTX   the context (LAT_CTX_DEFAULT without one)
    SIZE  bytes of one element               KIND  the element's enum kind
    BITS  the parameter `value` or `cmp_value` as uint64_t
A row without `call` calls lat_<name> with its own parameters.
`state` says when a program may call it: "run", between init and finalize (what rows without `call` say); "ends", then too, but it does
nothing in the exit of a job; "" at any time, or the function looks itself.
"""

from dataclasses import dataclass

# name          C type                kind (src/base/kind.h)
_TYPES = """
float           float                 KIND_FLOAT
double          double                KIND_DOUBLE
longdouble      long double           KIND_LONGDOUBLE
char            char                  KIND_CHAR
schar           signed char           KIND_I8
short           short                 KIND_I16
int             int                   KIND_I32
long            long                  KIND_I64
longlong        long long             KIND_I64
uchar           unsigned char         KIND_U8
ushort          unsigned short        KIND_U16
uint            unsigned int          KIND_U32
ulong           unsigned long         KIND_U64
ulonglong       unsigned long long    KIND_U64
int8            int8_t                KIND_I8
int16           int16_t               KIND_I16
int32           int32_t               KIND_I32
int64           int64_t               KIND_I64
uint8           uint8_t               KIND_U8
uint16          uint16_t              KIND_U16
uint32          uint32_t              KIND_U32
uint64          uint64_t              KIND_U64
size            size_t                KIND_U64
ptrdiff         ptrdiff_t             KIND_I64
complexf        float _Complex        KIND_COMPLEXF
complexd        double _Complex       KIND_COMPLEXD
"""

# Types that are another name of a basic type on 64-bit Linux, x86-64 and aarch64 alike: a C11
# generic or a set of C++ overloads must name each distinct type once.
SAME = {
    "int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long",
    "uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned int",
    "uint64_t": "unsigned long", "size_t": "unsigned long", "ptrdiff_t": "long",
}


@dataclass(frozen=True)
class Type:
    name: str
    c: str
    kind: str

    @property
    def distinct(self):
        return SAME.get(self.c, self.c)

    @property
    def real(self):
        return self.kind in ("KIND_FLOAT", "KIND_DOUBLE", "KIND_LONGDOUBLE")

    @property
    def complex(self):
        return self.kind.startswith("KIND_COMPLEX")


def _read_types(text):
    types = {}
    for line in text.strip().splitlines():
        words = line.split()
        types[words[0]] = Type(words[0], " ".join(words[1:-1]), words[-1])
    return types


TYPES = _read_types(_TYPES)
SIZES = (8, 16, 32, 64, 128)


@dataclass(frozen=True)
class TypeSet:
    label: str          # the words in the error of a generic: ..._needs_<label>
    names: tuple

    def __iter__(self):
        return (TYPES[name] for name in self.names)


def _set(label, names):
    return TypeSet(label, tuple(names.split()))


RMA = _set("a_standard_RMA_type",
           "float double longdouble char schar short int long longlong uchar ushort uint ulong ulonglong "
           "int8 int16 int32 int64 uint8 uint16 uint32 uint64 size ptrdiff")
AMO = _set("a_standard_AMO_type",
           "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff")
AMO_EXT = _set("an_extended_AMO_type", "float double " + " ".join(AMO.names))
AMO_BIT = _set("a_bitwise_AMO_type", "uint ulong ulonglong int32 int64 uint32 uint64")
WAIT_ONE = _set("a_standard_AMO_type_or_short", " ".join(AMO.names) + " short ushort")
RED_BIT = _set("a_bitwise_reduction_type",
               "uchar ushort uint ulong ulonglong int8 int16 int32 int64 uint8 uint16 uint32 uint64 size")
RED_ORDER = _set("a_min_max_reduction_type",
                 "char schar short int long longlong ptrdiff uchar ushort uint ulong ulonglong "
                 "int8 int16 int32 int64 uint8 uint16 uint32 uint64 size float double longdouble")
RED_ARITH = _set("a_sum_prod_reduction_type", " ".join(RED_ORDER.names) + " complexd complexf")
OLD_AMO = _set("int_long_or_long_long", "int long longlong")
OLD_AMO_EXT = _set("float_double_int_long_or_long_long", "float double int long longlong")
OLD_BIT = _set("an_old_bitwise_reduction_type", "short int long longlong")
OLD_ORDER = _set("an_old_min_max_reduction_type", "short int long longlong float double longdouble")
OLD_ARITH = _set("an_old_sum_prod_reduction_type", " ".join(OLD_ORDER.names) + " complexd complexf")


@dataclass(frozen=True)
class Row:
    family: str                 # groups rows for files, comments and man pages
    name: str
    result: str
    params: str
    types: TypeSet = None
    forms: str = "plain"        # of: plain typed sized mem ctx generic
    call: str = ""
    near: str = ""              # p, g or an atomic operation: the thunk does it when the peer is mapped
    old: bool = False           # deprecated but required
    quiet: tuple = ()           # deprecated types (or True) that a C11 generic names: no attribute on them
    public: str = ""            # full public name where it is not shmem_<name>
    header: str = "shmem.h"
    state: str = ""


TABLE = []


def row(family, name, result, params, **more):
    own = not (more.get("call") or more.get("near"))
    TABLE.append(Row(family, name, result, params, **{"state": "run" if own else "", **more}))


# --- Library, memory, teams, contexts ------------------------------------------------------------
row("setup", "init", "void", "", state="")
row("setup", "init_thread", "int", "int requested, int *provided", state="")
row("setup", "finalize", "void", "", state="")
row("setup", "global_exit", "void", "int status", state="")
row("setup", "query_thread", "void", "int *provided", call="*provided = lat_thread_level")
row("setup", "query_initialized", "void", "int *initialized", call="*initialized = lat_state == LAT_RUNNING")
row("setup", "my_pe", "int", "", call="uccs_core.me", state="ends")
row("setup", "n_pes", "int", "", call="uccs_core.npes", state="ends")
row("setup", "pe_accessible", "int", "int pe", call="pe >= 0 && pe < uccs_core.npes", state="run")
row("setup", "addr_accessible", "int", "const void *addr, int pe")
row("setup", "ptr", "void *", "const void *dest, int pe")
row("setup", "info_get_version", "void", "int *major, int *minor",
    call="*major = SHMEM_MAJOR_VERSION, *minor = SHMEM_MINOR_VERSION")
row("setup", "info_get_name", "void", "char *name", call="(void)snprintf(name, SHMEM_MAX_NAME_LEN, \"%s\", SHMEM_VENDOR_STRING)")
row("setup", "pcontrol", "void", "int level, ...", state="")

row("memory", "malloc", "void *", "size_t size")
row("memory", "calloc", "void *", "size_t count, size_t size")
row("memory", "align", "void *", "size_t alignment, size_t size")
row("memory", "malloc_with_hints", "void *", "size_t size, long hints")
row("memory", "realloc", "void *", "void *ptr, size_t size")
row("memory", "free", "void", "void *ptr", state="ends")

row("team", "team_my_pe", "int", "shmem_team_t team", call="team ? lat_team_of(team)->group.rank : -1", state="run")
row("team", "team_n_pes", "int", "shmem_team_t team", call="team ? lat_team_of(team)->group.size : -1", state="run")
row("team", "team_get_config", "int", "shmem_team_t team, long config_mask, shmem_team_config_t *config")
row("team", "team_translate_pe", "int", "shmem_team_t src_team, int src_pe, shmem_team_t dest_team")
row("team", "team_split_strided", "int",
    "shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config, "
    "long config_mask, shmem_team_t *new_team")
row("team", "team_split_2d", "int",
    "shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask, "
    "shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team")
row("team", "team_destroy", "void", "shmem_team_t team", state="ends")
row("team", "team_ptr", "void *", "shmem_team_t team, const void *dest, int pe")

row("context", "ctx_create", "int", "long options, shmem_ctx_t *ctx",
    call="lat_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx)", state="run")
row("context", "team_create_ctx", "int", "shmem_team_t team, long options, shmem_ctx_t *ctx")
row("context", "ctx_destroy", "void", "shmem_ctx_t ctx", state="ends")
row("context", "ctx_get_team", "int", "shmem_ctx_t ctx, shmem_team_t *team")
# Sessions are hints for networks that can batch what the program issues; the library batches without them.
row("context", "ctx_session_start", "void",
    "shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask",
    call="(void)ctx, (void)options, (void)config, (void)config_mask", state="run")
row("context", "ctx_session_stop", "void", "shmem_ctx_t ctx", call="(void)ctx", state="ends")

# --- Remote memory access ------------------------------------------------------------------------
_MOVE = "T *dest, const T *source, size_t nelems, int pe"
_ALL = "typed sized mem ctx generic"
for _op in ("put#", "get#", "put#_nbi", "get#_nbi"):
    row("rma", _op, "void", _MOVE, types=RMA, forms=_ALL,
        call=f"lat_{_op[:3]}(CALL, CTX, dest, source, nelems, SIZE, pe, {'false' if 'nbi' in _op else 'true'})")
row("rma", "p", "void", "T *dest, T value, int pe", types=RMA, forms="typed ctx generic", near="p")
row("rma", "g", "T", "const T *source, int pe", types=RMA, forms="typed ctx generic", near="g")
for _op in ("iput", "iget"):
    row("rma", _op + "#", "void", "T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe",
        types=RMA, forms="typed sized ctx generic",
        call=f"lat_{_op}(CALL, CTX, dest, source, dst, sst, 1, nelems, SIZE, pe, 0)")
for _op in ("put", "get"):
    row("rma", f"ib{_op}#", "void",
        "T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe",
        types=RMA, forms="typed sized ctx generic",
        call=f"lat_i{_op}(CALL, CTX, dest, source, dst, sst, bsize, nblocks, SIZE, pe, 0)")

# --- Signals -------------------------------------------------------------------------------------
for _tail, _blocking in (("_signal", "true"), ("_signal_nbi", "false")):
    row("signal", "put#" + _tail, "void",
        "T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe",
        types=RMA, forms=_ALL,
        call=f"lat_put_signal(CALL, CTX, dest, source, nelems, SIZE, sig_addr, signal, sig_op, pe, {_blocking}, 0)")
for _op in ("add", "set"):
    row("signal", "signal_" + _op, "void", "uint64_t *sig_addr, uint64_t signal, int pe", forms="plain ctx generic",
        call=f"lat_signal(CALL, CTX, sig_addr, signal, SHMEM_SIGNAL_{_op.upper()}, pe)")
row("signal", "signal_fetch", "uint64_t", "const uint64_t *sig_addr")
row("signal", "signal_wait_until", "uint64_t", "uint64_t *sig_addr, int cmp, uint64_t cmp_value")

# --- Atomics: `near` names the operation; `value`, `cond` and `fetch` are found in the parameters ------
_TYPED = "typed ctx generic"


def _amo(name, operation, operands, types, fetching):
    """Adds the forms of one atomic: plain, or fetching with its non-blocking twin."""
    target = "const T *source" if operation == "fetch" else "T *dest"
    params = ", ".join([target] + operands + ["int pe"])
    row("amo", name, "T" if fetching else "void", params, types=types, forms=_TYPED, near=operation)
    if fetching:
        row("amo", name + "_nbi", "void", "T *fetch, " + params, types=types, forms=_TYPED, near=operation)


_amo("atomic_fetch", "fetch", [], AMO_EXT, True)
_amo("atomic_set", "set", ["T value"], AMO_EXT, False)
_amo("atomic_swap", "swap", ["T value"], AMO_EXT, True)
_amo("atomic_compare_swap", "cswap", ["T cond", "T value"], AMO, True)
_amo("atomic_inc", "inc", [], AMO, False)
_amo("atomic_fetch_inc", "inc", [], AMO, True)
_amo("atomic_add", "add", ["T value"], AMO, False)
_amo("atomic_fetch_add", "add", ["T value"], AMO, True)
for _op in ("and", "or", "xor"):
    _amo("atomic_" + _op, _op, ["T value"], AMO_BIT, False)
    _amo("atomic_fetch_" + _op, _op, ["T value"], AMO_BIT, True)

for _name, _op, _result, _params, _types in (
        ("fetch", "fetch", "T", "const T *source, int pe", OLD_AMO_EXT),
        ("set", "set", "void", "T *dest, T value, int pe", OLD_AMO_EXT),
        ("swap", "swap", "T", "T *dest, T value, int pe", OLD_AMO_EXT),
        ("cswap", "cswap", "T", "T *dest, T cond, T value, int pe", OLD_AMO),
        ("fadd", "add", "T", "T *dest, T value, int pe", OLD_AMO),
        ("finc", "inc", "T", "T *dest, int pe", OLD_AMO),
        ("add", "add", "void", "T *dest, T value, int pe", OLD_AMO),
        ("inc", "inc", "void", "T *dest, int pe", OLD_AMO)):
    row("amo", _name, _result, _params, types=_types, forms="typed generic", near=_op, old=True)

# --- Point-to-point synchronisation ------------------------------------------------------------------
row("p2p", "wait_until", "void", "T *ivar, int cmp, T cmp_value", types=WAIT_ONE, forms="typed generic",
    call="lat_wait_until(CALL, KIND, ivar, cmp, BITS)", quiet=("short", "ushort"))
row("p2p", "test", "int", "T *ivar, int cmp, T cmp_value", types=WAIT_ONE, forms="typed generic",
    call="lat_test(CALL, KIND, ivar, cmp, BITS)", quiet=("short", "ushort"))
for _verb, _all in (("wait_until", "void"), ("test", "int")):
    for _which in ("all", "any", "some"):
        _result = _all if _which == "all" else "size_t"
        _list = "T *ivars, size_t nelems, " + ("size_t *indices, " if _which == "some" else "")
        _call = (f"lat_set_{_verb.split('_')[0]}(&(struct lat_set){{lat_variable_holds, ivars, nelems, status, KIND, cmp, "
                 "%s}, " + f"LAT_{_which.upper()}, {'indices' if _which == 'some' else 0})")
        row("p2p", f"{_verb}_{_which}", _result, _list + "const int *status, int cmp, T cmp_value",
            types=AMO, forms="typed generic", state="run", call=_call % ".value = BITS")
        row("p2p", f"{_verb}_{_which}_vector", _result, _list + "const int *status, int cmp, const T *cmp_values",
            types=AMO, forms="typed generic", state="run", call=_call % ".values = cmp_values")
row("p2p", "wait", "void", "T *ivar, T cmp_value", types=OLD_BIT, forms="typed", old=True,
    call="lat_wait_until(CALL, KIND, ivar, SHMEM_CMP_NE, BITS)")
row("p2p", "wait_until", "void", "long *ivar, int cmp, long cmp_value", old=True, quiet=(True,),
    call="lat_wait_until(CALL, KIND_I64, ivar, cmp, BITS)")
row("p2p", "wait", "void", "long *ivar, long cmp_value", old=True,
    call="lat_wait_until(CALL, KIND_I64, ivar, SHMEM_CMP_NE, BITS)")

# --- Order, locks, barriers ------------------------------------------------------------------------
row("order", "fence", "void", "", forms="plain ctx", call="lat_fence(CALL, CTX)")
row("order", "quiet", "void", "", forms="plain ctx", call="lat_quiet(CALL, CTX)")
row("order", "pe_quiet", "void", "const int *target_pes, size_t npes", forms="plain ctx",
    call="lat_pe_quiet(CALL, CTX, target_pes, npes)")
row("order", "set_lock", "void", "long *lock")
row("order", "clear_lock", "void", "long *lock")
row("order", "test_lock", "int", "long *lock")
row("order", "barrier_all", "void", "")
row("order", "sync_all", "void", "", call="uccs_team_sync(&lat_team_world.group)", state="run")
row("order", "team_sync", "int", "shmem_team_t team")
_SET = "int PE_start, int logPE_stride, int PE_size, "
row("order", "barrier", "void", _SET + "long *pSync", old=True, state="group", call="uccs_quiet_all(), uccs_team_sync(group)")
row("order", "sync", "void", _SET + "long *pSync", old=True, quiet=(True,), forms="plain generic", state="group",
    call="uccs_team_sync(group)")

# --- Collectives on teams, and on active sets (old) ----------------------------------------------------
_TEAM = "shmem_team_t team, T *dest, const T *source, "
_COLL = "typed mem generic"
_STRIDED = ("lat_require_strides(CALL, dst, sst, nelems, {size}), "
            "uccs_team_alltoalls(CALL, group, dest, source, dst, sst, nelems, {size})")
MOVES = {"collect": "collect", "fcollect": "allgather", "alltoall": "alltoall"}  # and what does it


def broadcast(size, rest):
    return ("lat_require_root(CALL, group, PE_root), "
            f"uccs_team_broadcast(CALL, group, dest, source, lat_bytes(CALL, nelems, {size}), PE_root, {rest})")


def moves(op, size, request):
    last = "" if op == "collect" else f", {request}"
    return f"uccs_team_{MOVES[op]}(CALL, group, dest, source, lat_bytes(CALL, nelems, {size}){last})"


def reduces(op, request):
    return ("(void)lat_bytes(CALL, nreduce, SIZE), "
            f"uccs_team_reduce(CALL, group, dest, source, nreduce, KIND, FOLD_{op.upper()}, {request})")


row("coll", "broadcast#", "int", _TEAM + "size_t nelems, int PE_root", types=RMA, forms=_COLL,
    state="group", call=broadcast("SIZE", "true, 0"))
for _op in MOVES:
    row("coll", _op + "#", "int", _TEAM + "size_t nelems", types=RMA, forms=_COLL, state="group", call=moves(_op, "SIZE", "0"))
row("coll", "alltoalls#", "int", _TEAM + "ptrdiff_t dst, ptrdiff_t sst, size_t nelems", types=RMA, forms=_COLL,
    state="group", call=_STRIDED.format(size="SIZE"))
for _bits in (32, 64):
    _old = "void *dest, const void *source, "
    _tail = _SET + "long *pSync"
    row("coll", f"broadcast{_bits}", "void", _old + "size_t nelems, int PE_root, " + _tail, old=True, state="group",
        call=broadcast(_bits // 8, "false, 0"))
    for _op in MOVES:
        row("coll", f"{_op}{_bits}", "void", _old + "size_t nelems, " + _tail, old=True, state="group",
            call=moves(_op, _bits // 8, "0"))
    row("coll", f"alltoalls{_bits}", "void", _old + "ptrdiff_t dst, ptrdiff_t sst, size_t nelems, " + _tail, old=True,
        state="group", call=_STRIDED.format(size=_bits // 8))

for _op, _new, _before in (("and", RED_BIT, OLD_BIT), ("or", RED_BIT, OLD_BIT), ("xor", RED_BIT, OLD_BIT),
                           ("max", RED_ORDER, OLD_ORDER), ("min", RED_ORDER, OLD_ORDER),
                           ("sum", RED_ARITH, OLD_ARITH), ("prod", RED_ARITH, OLD_ARITH)):
    row("reduce", f"{_op}_reduce", "int", _TEAM + "size_t nreduce", types=_new, forms="typed generic",
        state="group", call=reduces(_op, "0"))
    row("reduce", f"{_op}_to_all", "void",
        "T *dest, const T *source, int nreduce, " + _SET + "T *pWrk, long *pSync", types=_before, forms="typed", old=True,
        state="group", call="(void)pWrk, " + reduces(_op, "0").replace("nreduce", "(size_t)nreduce"))
for _name, _inclusive in (("sum_inscan", "true"), ("sum_exscan", "false")):
    row("reduce", _name, "int", _TEAM + "size_t nelems", types=RED_ARITH, forms="typed generic", state="group",
        call="(void)lat_bytes(CALL, nelems, SIZE), "
             f"uccs_team_scan(CALL, group, dest, source, nelems, KIND, {_inclusive})")

# --- Names from before version 1.2 -----------------------------------------------------------------------
row("old", "start_pes", "void", "int npes", public="start_pes", old=True, state="")
row("old", "my_pe", "int", "", public="_my_pe", old=True, call="uccs_core.me", state="ends")
row("old", "n_pes", "int", "", public="_num_pes", old=True, call="uccs_core.npes", state="ends")
row("old", "malloc", "void *", "size_t size", public="shmalloc", old=True)
row("old", "free", "void", "void *ptr", public="shfree", old=True, state="ends")
row("old", "realloc", "void *", "void *ptr, size_t size", public="shrealloc", old=True)
row("old", "align", "void *", "size_t alignment, size_t size", public="shmemalign", old=True)

# --- Constants -------------------------------------------------------------------------------------------
# (comment, [(name, value)]); a pSync array is 64 longs for every operation, so that one array serves all.
CONSTANTS = (
    ("Version", (("SHMEM_MAJOR_VERSION", "1"), ("SHMEM_MINOR_VERSION", "6"), ("SHMEM_MAX_NAME_LEN", "256"))),
    ("Open MPI's macro for the same version; its examples ask for it", (("OSHMEM_SPEC_VERSION", "10600"),)),
    ("Thread levels", (("SHMEM_THREAD_SINGLE", "0"), ("SHMEM_THREAD_FUNNELED", "1"),
                       ("SHMEM_THREAD_SERIALIZED", "2"), ("SHMEM_THREAD_MULTIPLE", "3"))),
    ("Teams and contexts", (("SHMEM_TEAM_NUM_CONTEXTS", "(1L << 0)"),
                            ("SHMEM_CTX_SERIALIZED", "(1L << 0)"), ("SHMEM_CTX_PRIVATE", "(1L << 1)"),
                            ("SHMEM_CTX_NOSTORE", "(1L << 2)"), ("SHMEM_CTX_SESSION_TOTAL_OPS", "(1L << 0)"),
                            ("SHMEM_CTX_SESSION_BATCH", "(1L << 0)"))),
    ("Signals", (("SHMEM_SIGNAL_SET", "1"), ("SHMEM_SIGNAL_ADD", "2"))),
    ("Hints of shmem_malloc_with_hints", (("SHMEM_MALLOC_ATOMICS_REMOTE", "(1L << 0)"),
                                          ("SHMEM_MALLOC_SIGNAL_REMOTE", "(1L << 1)"))),
    ("Comparisons", tuple((f"SHMEM_CMP_{_c}", str(_i + 1))
                          for _i, _c in enumerate(("EQ", "NE", "LT", "LE", "GT", "GE")))),
    ("Deprecated since 1.5", (("SHMEM_SYNC_VALUE", "(-1L)"), ("SHMEM_SYNC_SIZE", "64"))
     + tuple((f"SHMEM_{_c}_SYNC_SIZE", "SHMEM_SYNC_SIZE")
             for _c in ("BCAST", "REDUCE", "BARRIER", "COLLECT", "ALLTOALL", "ALLTOALLS"))
     + (("SHMEM_REDUCE_MIN_WRKDATA_SIZE", "64"),)),
    ("Deprecated since 1.3", tuple((f"_SHMEM_{_c}", f"SHMEM_{_c}") for _c in (
        "SYNC_VALUE", "BARRIER_SYNC_SIZE", "BCAST_SYNC_SIZE", "COLLECT_SYNC_SIZE", "REDUCE_SYNC_SIZE",
        "REDUCE_MIN_WRKDATA_SIZE", "MAJOR_VERSION", "MINOR_VERSION", "MAX_NAME_LEN", "VENDOR_STRING",
        "CMP_EQ", "CMP_NE", "CMP_LT", "CMP_LE", "CMP_GT", "CMP_GE"))),
)
