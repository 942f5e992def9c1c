/* The layer's operations in one process: on a window of five ranks, whose memory the test holds, and which of it the layer reaches how:
 * ranks 0 and 1 by load and store, and 1 is this one; rank 2 through views of dynamic memory; rank 3, of this node, by the substrate; rank
 * 4, of another node, by messages. The substrate does what it is asked, and the test sees with which options. */
#ifndef MPI_TEST_OPERATING_STUB_H
#define MPI_TEST_OPERATING_STUB_H
#include "layer_stub.h"

#include <stdarg.h>

static int isends;
#define PMPI_Isend(...) (isends++, PMPI_Isend(__VA_ARGS__))

#include "../../src/mpi/accumulate.c"
#include "../../src/mpi/contents.c"
#include "../../src/mpi/flatten.c"
#define find find_word
#include "../../src/mpi/intrinsic.c"
#undef find
#include "../../src/mpi/ops.c"
#include "../../src/mpi/pieces.c"
#define plain plain_moved
#include "../../src/mpi/rma.c"
#undef plain
#include "../../src/mpi/types.c"
#include "../../src/mpi/view.c"
#define plain plain_word
#include "../../src/mpi/word.c"
#undef plain
#include "../../src/mpi/request.c"
#include "../../src/mpi/work.c"
#include "../../src/mpi/remote.c"

enum { RANKS = 5, ME = 1, NEAR = 0, RANGED = 2, KERNEL = 3, FAR = 4, BYTES = 256, AT = 64, CONTROL = 4096 };
enum { OURS = 1, PART, COPY };
enum what { PUT = 1, GOT, PUTS, GETS, UPDATED, SWAPPED, ATOMIC, LATE };

struct uccs_endpoint {
    int rank;
};
struct uccs_region {
    int rank;
    char *bytes;
    size_t length;
};

struct lmpi_life lmpi_life;
_Thread_local int lmpi_calling;
_Thread_local bool lmpi_fence_is_due;
uint64_t lmpi_windows_age = 7;
_Thread_local struct lmpi_last_windows lmpi_last_windows;

static struct lmpi_target target[RANKS + 1];
static struct lmpi_peer peer[RANKS + 1];
static struct lmpi_window window, part, twin;
static struct uccs_endpoint endpoint[RANKS + 1];
static struct uccs_region memory[RANKS], words[RANKS];
static _Alignas(64) char there[RANKS][AT + BYTES + 64]; /* the window's bytes begin at AT */
static _Alignas(64) char control[RANKS][CONTROL];

/* What the substrate was asked last. */
static struct {
    size_t offset, bytes, n;
    struct uccs_op op;
    struct uccs_signal signal;
    struct uccs_stride stride;
    enum uccs_type type;
    enum uccs_reduction how;
    enum uccs_atomic what;
    bool with_op, with_operand, with_result;
} asked;
static int status_of_next, fails_after = -1; /* the calls behind so many give that status */
static int wait_status, waits, releases, pending_works = 1, pending_starts, pending_fails;
static bool intrinsic[RANKS + 1], arrives_at_once, allowed = true;
static struct lmpi_pending *pending;
static void (*arrival)(void *, int);
static void *arrival_argument;

static void reset(void)
{
    window = (struct lmpi_window){.target = target,
                                  .ranks = RANKS,
                                  .rank = ME,
                                  .leaves = true,
                                  .handle = WIN(OURS),
                                  .peer = peer,
                                  .open = LMPI_OPEN_FENCE,
                                  .exposed = -1};
    memset(target, 0, sizeof target);
    memset(peer, 0, sizeof peer);
    for (int i = 0; i < RANKS; i++) {
        endpoint[i].rank = i;
        memory[i] = (struct uccs_region){i, there[i], sizeof there[i]};
        words[i] = (struct uccs_region){i, control[i], CONTROL};
        memset(there[i], 'a' + i, sizeof there[i]);
        memset(control[i], 0, CONTROL);
        target[i] = (struct lmpi_target){.near = i <= ME ? there[i] + AT : 0,
                                         .bytes = BYTES,
                                         .unit = 1,
                                         .memory = &memory[i],
                                         .offset = AT,
                                         .endpoint = &endpoint[i],
                                         .base = there[i] + AT,
                                         .local = i != FAR,
                                         .direct = i <= ME,
                                         .ranged = i == RANGED};
        peer[i] = (struct lmpi_peer){.control = i == FAR ? 0 : (struct lmpi_control *)control[i],
                                     .memory = &words[i],
                                     .endpoint = &endpoint[i],
                                     .world = 10 + i,
                                     .ids = 3};
        intrinsic[i] = true;
    }
    endpoint[RANKS].rank = NEAR; /* none of the window's, which nobody may reach */
    target[RANKS] = target[NEAR];
    target[RANKS].open = LMPI_OPEN_SHARED;
    target[RANKS].local = 0;
    target[RANKS].memory = &words[FAR];
    peer[RANKS] = peer[NEAR];
    part = twin = window;
    part.family = twin.family = true;
    part.parent = twin.parent = &window;
    part.part = true;
    part.rank = NEAR;
    part.handle = WIN(PART);
    twin.handle = WIN(COPY);
    lmpi_life.crowded = true;
    lmpi_last_windows.age = 0;
    lmpi_windows_age++; /* views are asked for anew */
    status_of_next = wait_status = waits = releases = pending_starts = pending_fails = 0;
    fails_after = -1;
    pending_works = 1;
    lmpi_fence_is_due = false;
    arrives_at_once = false;
    arrival = 0;
    *said = 0;
    memset(&asked, 0, sizeof asked);
    start_over();
}

/* ---- the layer's other parts ---- */

struct lmpi_window *lmpi_window_slow(MPI_Win handle)
{
    return handle == WIN(OURS) ? &window : handle == WIN(PART) ? &part : handle == WIN(COPY) ? &twin : 0;
}

#define FAILED(class) ((class) + 5000)
#define FAILS(call, class) CHECK_EQ(call, FAILED(class))
#define CLASS_OF(status) (9000 - (status)) /* of a status of the substrate */

int lmpi_error(const struct lmpi_window *one, int class)
{
    CHECK(one == &window || one == &part || one == &twin);
    return FAILED(class);
}

int lmpi_class_of(int status)
{
    return status == UCCS_OK ? MPI_SUCCESS : CLASS_OF(status);
}

void lmpi_lock_late(struct lmpi_window *one, int rank)
{
    CHECK(one == &window);
    note(LATE, rank, 0);
    target[rank].open |= LMPI_OPEN_LATE;
}

void lmpi_lock_failed(const struct lmpi_peer *one, int status)
{
    (void)one, (void)status;
}

void lmpi_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

bool lmpi_pending_works(void)
{
    return pending_works;
}

bool lmpi_pending_start(struct lmpi_pending *started, MPI_Request *request)
{
    pending_starts++;
    if (pending_fails)
        return false;
    pending = started;
    *request = MPI_REQUEST_NULL;
    return true;
}

void lmpi_pause_slow(struct lmpi_wait *wait)
{
    CHECK(wait->window == &window && arrival);
    arrival(arrival_argument, UCCS_OK);
}

void uccs_waiting_end(int record)
{
    (void)record;
}

/* ---- the substrate ---- */

static int asks(int what, uccs_endpoint_t to, uccs_memory_t held, size_t offset, size_t bytes, const struct uccs_op *op)
{
    CHECK(held == &memory[to->rank] || held == &words[to->rank]);
    note(what, to->rank, (int)bytes);
    if (fails_after >= 0 && fails_after-- == 0)
        return status_of_next;
    CHECK(offset + bytes <= held->length);
    asked.offset = offset;
    asked.bytes = bytes;
    asked.with_op = op != 0;
    asked.op = op ? *op : (struct uccs_op){0};
    if (op && op->signal)
        asked.signal = *op->signal;
    if (op && op->complete) {
        arrival = op->complete;
        arrival_argument = op->argument;
        if (arrives_at_once)
            arrival(arrival_argument, UCCS_OK);
    }
    return UCCS_OK;
}

int uccs_put(uccs_endpoint_t to, uccs_memory_t held, size_t offset, const void *source, size_t bytes,
             const struct uccs_op *op)
{
    const int status = asks(PUT, to, held, offset, bytes, op);
    if (status == UCCS_OK)
        memcpy(held->bytes + offset, source, bytes);
    return status;
}

int uccs_get(uccs_endpoint_t to, uccs_memory_t held, size_t offset, void *dest, size_t bytes, const struct uccs_op *op)
{
    const int status = asks(GOT, to, held, offset, bytes, op);
    if (status == UCCS_OK)
        memcpy(dest, held->bytes + offset, bytes);
    return status;
}

int uccs_put_blocks(uccs_endpoint_t to, uccs_memory_t held, size_t offset, const void *source,
                    const struct uccs_stride *stride, const struct uccs_op *op)
{
    const int status = asks(PUTS, to, held, offset, stride->block * stride->count, op);
    asked.stride = *stride;
    for (size_t i = 0; i < stride->count && status == UCCS_OK; i++)
        memcpy(held->bytes + (ptrdiff_t)offset + (ptrdiff_t)i * stride->remote_stride,
               (const char *)source + (ptrdiff_t)i * stride->local_stride, stride->block);
    return status;
}

int uccs_get_blocks(uccs_endpoint_t to, uccs_memory_t held, size_t offset, void *dest, const struct uccs_stride *stride,
                    const struct uccs_op *op)
{
    const int status = asks(GETS, to, held, offset, stride->block * stride->count, op);
    asked.stride = *stride;
    for (size_t i = 0; i < stride->count && status == UCCS_OK; i++)
        memcpy((char *)dest + (ptrdiff_t)i * stride->local_stride,
               held->bytes + (ptrdiff_t)offset + (ptrdiff_t)i * stride->remote_stride, stride->block);
    return status;
}

size_t uccs_type_size(enum uccs_type type)
{
    switch (type) {
    case UCCS_INT8:
    case UCCS_UINT8: return 1;
    case UCCS_INT16:
    case UCCS_UINT16:
    case UCCS_FLOAT16:
    case UCCS_BFLOAT16: return 2;
    case UCCS_INT32:
    case UCCS_UINT32:
    case UCCS_FLOAT: return 4;
    case UCCS_INT64:
    case UCCS_UINT64:
    case UCCS_DOUBLE:
    case UCCS_FLOAT_INT:
    case UCCS_2INT:
    case UCCS_SHORT_INT:
    case UCCS_2FLOAT:
    case UCCS_FLOAT_COMPLEX: return 8;
    case UCCS_LONG_DOUBLE_COMPLEX:
    case UCCS_LONG_DOUBLE_INT: return 32;
    default: return 16;
    }
}

/* Sums of 4 and 8 bytes, and what copies. */
int uccs_accumulate(uccs_endpoint_t to, uccs_memory_t held, size_t offset, const void *operand, void *result, size_t n,
                    enum uccs_type type, enum uccs_reduction how, const struct uccs_op *op)
{
    const size_t unit = uccs_type_size(type), bytes = n * unit;
    const int status = asks(UPDATED, to, held, offset, bytes, op);
    char *at = held->bytes + offset;
    if (status != UCCS_OK)
        return status;
    asked.n = n;
    asked.type = type;
    asked.how = how;
    asked.with_operand = operand != 0;
    asked.with_result = result != 0;
    if (result)
        memcpy(result, at, bytes);
    if (how == UCCS_REPLACE)
        memcpy(at, operand, bytes);
    for (size_t i = 0; i < n && how == UCCS_SUM; i++) {
        CHECK(unit <= 8);
        uint64_t sum = 0, more = 0;
        memcpy(&sum, at + i * unit, unit);
        memcpy(&more, (const char *)operand + i * unit, unit);
        sum += more;
        memcpy(at + i * unit, &sum, unit);
    }
    return UCCS_OK;
}

int uccs_compare_and_swap(uccs_endpoint_t to, uccs_memory_t held, size_t offset, size_t size, const void *operand,
                          const void *compare, void *result, const struct uccs_op *op)
{
    const int status = asks(SWAPPED, to, held, offset, size, op);
    if (status != UCCS_OK)
        return status;
    const bool equal = memcmp(held->bytes + offset, compare, size) == 0;
    memcpy(result, held->bytes + offset, size);
    if (equal)
        memcpy(held->bytes + offset, operand, size);
    return UCCS_OK;
}

int uccs_atomic(uccs_endpoint_t to, uccs_memory_t held, size_t offset, size_t size, enum uccs_atomic what,
                uint64_t operand, uint64_t compare, void *result, const struct uccs_op *op)
{
    (void)compare;
    CHECK(size == 8 && held == &words[to->rank]);
    const int status = asks(ATOMIC, to, held, offset, size, op);
    asked.what = what;
    asked.with_result = result != 0;
    if (status == UCCS_OK && what == UCCS_ATOMIC_ADD)
        *(uint64_t *)(held->bytes + offset) += operand;
    return status;
}

int uccs_accumulate_intrinsic(uccs_endpoint_t to, uccs_memory_t held, enum uccs_type type, enum uccs_reduction how)
{
    CHECK(held == &memory[to->rank]); /* and of no other rank */
    asked.type = type;
    asked.how = how;
    return intrinsic[to->rank];
}

int uccs_wait(uccs_request_t *request)
{
    CHECK(request && *request == UCCS_REQUEST_NULL);
    waits++;
    return wait_status;
}

int uccs_request_release(uccs_request_t *request)
{
    *request = UCCS_REQUEST_NULL;
    releases++;
    return UCCS_OK;
}

int uccs_memory_view(uccs_memory_t held, size_t offset, struct uccs_view *view)
{
    static const uint64_t version = 5;
    CHECK(held == &memory[RANGED]);
    if (offset < AT || offset >= AT + BYTES)
        return UCCS_ERR_BOUNDS;
    *view = (struct uccs_view){.start = AT,
                               .length = BYTES,
                               .address = allowed ? there[RANGED] + AT : 0,
                               .domain = UCCS_DOMAIN_CPU,
                               .version = &version,
                               .seen = 5};
    return UCCS_OK;
}

#endif
