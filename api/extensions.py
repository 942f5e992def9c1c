"""The rows of shmemx.h: requests, counters, split-phase collectives; and the types they need."""

from table import AMO, AMO_BIT, AMO_EXT, RED_ARITH, RED_BIT, RED_ORDER, RMA, _ALL, broadcast, moves, reduces, row

TYPES = """
/* A request tracks operations until they are complete (man 3 shmemx_request). Compare handles with ==. */
typedef struct uccs_request *shmemx_request_t;
#if defined(__cplusplus)
#define SHMEMX_REQUEST_NULL (static_cast<shmemx_request_t>(nullptr))
#else
#define SHMEMX_REQUEST_NULL ((shmemx_request_t)0)
#endif
#define SHMEMX_REQUEST_SHARED 1L    /* any number of threads may issue into it and test it at once */
#define SHMEMX_REQUEST_PRIVATE 2L   /* one thread at a time; goes with private and serialized contexts */

/* Counters of arrivals (man 3 shmemx_ct). */
typedef struct shmemx_ct_impl *shmemx_ct_t;
"""

PAPER_NAMES = ("ct_create", "ct_free", "ct_get", "ct_set", "ct_wait", "putmem_ct", "getmem_ct")


def paper_names():
    """Returns definitions of the names that the paper on counting puts prints in its listings."""
    lines = ["\n#ifdef SHMEMX_PAPER_NAMES", "typedef shmemx_ct_t shmem_ct_t;"]
    lines += [f"#define shmem_{name} shmemx_{name}" for name in PAPER_NAMES]
    return "\n".join(lines + ["#endif\n"])


def _row(family, name, result, params, **more):
    row(family, name, result, params, header="shmemx.h", **more)


# --- Operations that a request tracks: `_nbe`, the request last ---------------------------------------
_REQ = ", shmemx_request_t *req"
_MOVE = "T *dest, const T *source, size_t nelems, int pe"
_STRIDED = "T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe"

for _op in ("put", "get"):
    _row("nbe", f"{_op}#_nbe", "void", _MOVE + _REQ, types=RMA, forms=_ALL,
         call=f"lat_{_op}_nbe(CALL, CTX, dest, source, nelems, SIZE, pe, req)")
for _op in ("iput", "iget"):
    _row("nbe", f"{_op}#_nbe", "void", _STRIDED + _REQ, types=RMA, forms="typed sized ctx generic",
         call=f"lat_{_op}(CALL, CTX, dest, source, dst, sst, 1, nelems, SIZE, pe, req)")
_row("nbe", "put#_signal_nbe", "void",
     "T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe" + _REQ,
     types=RMA, forms=_ALL,
     call="lat_put_signal(CALL, CTX, dest, source, nelems, SIZE, sig_addr, signal, sig_op, pe, false, req)")


def _amo(name, operation, operands, types, fetching):
    target = "const T *source" if operation == "fetch" else "T *dest"
    params = ", ".join((["T *fetch"] if fetching else []) + [target] + operands + ["int pe"])
    _row("nbe", f"atomic_{name}_nbe", "void", params + _REQ, types=types, forms="typed ctx generic", near=operation)


_amo("fetch", "fetch", [], AMO_EXT, True)
_amo("set", "set", ["T value"], AMO_EXT, False)
_amo("swap", "swap", ["T value"], AMO_EXT, True)
_amo("compare_swap", "cswap", ["T cond", "T value"], AMO, True)
_amo("inc", "inc", [], AMO, False)
_amo("fetch_inc", "inc", [], AMO, True)
_amo("add", "add", ["T value"], AMO, False)
_amo("fetch_add", "add", ["T value"], AMO, True)
for _op in ("and", "or", "xor"):
    _amo(_op, _op, ["T value"], AMO_BIT, False)
    _amo("fetch_" + _op, _op, ["T value"], AMO_BIT, True)

# --- Collectives in two phases ----------------------------------------------------------------------
_TEAM = "shmem_team_t team, T *dest, const T *source, "
_row("nbe", "barrier_all_nbe", "void", "shmemx_request_t *req",
     call="uccs_team_barrier_nb(CALL, &lat_team_world.group, true, req)", state="run")
_row("nbe", "team_sync_nbe", "int", "shmem_team_t team, shmemx_request_t *req", state="group",
     call="uccs_team_barrier_nb(CALL, group, false, req)")
_row("nbe", "broadcast#_nbe", "int", _TEAM + "size_t nelems, int PE_root" + _REQ, types=RMA, forms="typed mem generic",
     state="group", call=broadcast("SIZE", "true, req"))
for _op in ("fcollect", "alltoall"):
    _row("nbe", f"{_op}#_nbe", "int", _TEAM + "size_t nelems" + _REQ, types=RMA, forms="typed mem generic",
         state="group", call=moves(_op, "SIZE", "req"))
for _op, _types in (("and", RED_BIT), ("or", RED_BIT), ("xor", RED_BIT), ("max", RED_ORDER), ("min", RED_ORDER),
                    ("sum", RED_ARITH), ("prod", RED_ARITH)):
    _row("nbe", f"{_op}_reduce_nbe", "int", _TEAM + "size_t nreduce" + _REQ, types=_types, forms="typed generic",
         state="group", call=reduces(_op, "req"))

# --- Requests ---------------------------------------------------------------------------------------------
_LIST = "shmemx_request_t *reqs, size_t nreqs, "
_row("request", "request_create", "int", "long options, shmemx_request_t *req")
_row("request", "request_free", "void", "shmemx_request_t *req", call="uccs_request_free(req)", state="ends")
_row("request", "request_merge", "void", "shmemx_request_t *into, size_t n, shmemx_request_t *reqs",
     call="uccs_request_merge(into, n, reqs)", state="run")
_row("request", "request_fence", "void", "shmemx_request_t *req")
_row("request", "request_pending", "size_t", "shmemx_request_t req", call="uccs_request_pending(req)", state="run")
for _tail in ("", "_local"):
    _local = "true" if _tail else "false"
    _row("request", "request_wait" + _tail, "void", "shmemx_request_t *req", call=f"lat_request_wait(req, {_local})", state="run")
    _row("request", "request_test" + _tail, "int", "shmemx_request_t *req", call=f"lat_request_test(CALL, req, {_local})")
_row("request", "request_wait_free", "void", "shmemx_request_t *req")
_row("request", "request_wait_all_free", "void", _LIST + "const int *status")
for _verb, _all in (("wait", "void"), ("test", "int")):
    for _which, _result, _out in (("all", _all, ""), ("any", "size_t", ""), ("some", "size_t", "size_t *indices, ")):
        _row("request", f"request_{_verb}_{_which}", _result, _LIST + _out + "const int *status", state="run",
             call=f"lat_requests_{_verb}(LAT_{_which.upper()}, reqs, nreqs, {'indices' if _out else 0}, status)")

# --- Counters and counted operations ----------------------------------------------------------------------
_row("counter", "ct_create", "void", "shmemx_ct_t *ct")
_row("counter", "ct_free", "void", "shmemx_ct_t *ct", state="ends")
_row("counter", "ct_create_team", "int", "shmem_team_t team, shmemx_ct_t *ct")
_row("counter", "ct_free_team", "int", "shmem_team_t team, shmemx_ct_t *ct")
_row("counter", "ct_get", "long", "shmemx_ct_t ct")
_row("counter", "ct_set", "void", "shmemx_ct_t ct, long value")
_row("counter", "ct_wait", "long", "shmemx_ct_t ct, long wait_for")
_row("counter", "ct_wait_nbe", "void", "shmemx_ct_t ct, long wait_for" + _REQ)
_row("counter", "ct_test", "int", "shmemx_ct_t ct, long wait_for")
_row("counter", "ct_wait_timeout", "int", "shmemx_ct_t ct, long wait_for, double seconds")
_row("counter", "ct_wait_any", "size_t", "shmemx_ct_t *cts, const long *values, size_t n")
_row("counter", "ct_consume", "void", "shmemx_ct_t ct, long n")
_row("counter", "ct_fetch_reset", "long", "shmemx_ct_t ct")
_row("counter", "ct_errors", "long", "shmemx_ct_t ct")
_row("counter", "ct_add", "void", "shmemx_ct_t ct, long weight, int pe", forms="plain ctx",
     call="lat_ct_arrive(CALL, CTX, ct, weight, pe)")
_row("counter", "ct_add_nbe", "void", "shmemx_ct_t ct, long weight, int pe" + _REQ, forms="plain ctx",
     call="lat_ct_add_nbe(CALL, CTX, ct, weight, pe, req)")
for _op in ("put", "get"):
    for _tail, _more, _pass in (("", "", "true, 0"), ("_nbi", "", "false, 0"), ("_nbe", _REQ, "false, req")):
        _row("counter", f"{_op}#_ct{_tail}", "void", "shmemx_ct_t ct, " + _MOVE + _more, types=RMA, forms=_ALL,
             call=f"lat_{_op}_ct(CALL, CTX, ct, dest, source, nelems, SIZE, pe, {_pass})")
for _op in ("iput", "iget"):
    _row("counter", f"{_op}#_ct", "void", "shmemx_ct_t ct, " + _STRIDED, types=RMA, forms="typed sized ctx generic",
         call=f"lat_{_op}_ct(CALL, CTX, ct, dest, source, dst, sst, nelems, SIZE, pe)")
_row("counter", "put#_signal_ct", "void", "shmemx_ct_t ct, T *dest, const T *source, size_t nelems, uint64_t *sig_addr, "
     "uint64_t signal, int sig_op, int pe", types=RMA, forms=_ALL,
     call="lat_put_signal_ct(CALL, CTX, ct, dest, source, nelems, SIZE, sig_addr, signal, sig_op, pe)")
