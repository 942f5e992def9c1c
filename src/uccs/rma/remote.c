/* Operations that the target executes; see inner.h. */
#include "uccs/rma/inner.h"

#include <string.h>

enum call_kind { PUT, GET, ATOMIC, CHANGE };

/* The head of the block. The data follows it; of a change the operand, then the old values. */
struct call {
    enum call_kind kind;
    int32_t status; /* the target's answer */
    uint64_t offset, length;
    uint32_t slot, generation;
    struct uccs_atomic_op atomic;
    struct uccs_accumulate_op change;
    uint64_t old;
    /* Only the origin uses these: */
    void *local;                     /* destination of a get's data, or of old values; may be null */
    struct uccs_remote_wait *wait;   /* of a blocking call */
    struct uccs_request *done;       /* completes when the data is here; may be null */
    struct uccs_stream_thread *part; /* counts it while it is under way */
};

#define PIECE ((64u << 10) - sizeof(struct call)) /* most data in one piece, so that its block is reused */

/* --- At the target */

static char *old_values(struct call *call)
{
    return (char *)(call + 1) + uccs_accumulate_operand(&call->change);
}

static void change_elements(struct call *call, void *here)
{
    const struct uccs_accumulate_target place = {uccs_core.me, UCCS_DOMAIN_LOCKED, (uintptr_t)here, here};
    uccs_accumulate_apply(&call->change, &place, call + 1, call->local ? old_values(call) : 0);
}

static int execute_call(struct call *call)
{
    char *here;
    size_t bytes = call->kind == CHANGE ? uccs_accumulate_bytes(&call->change) : call->length; /* of memory */
    int status = uccs_region_find(uccs_region_id(call->slot, call->generation), call->offset, bytes, &here);
    if (status != UCCS_OK)
        return status;
    switch (call->kind) {
    case PUT: memcpy(here, call + 1, call->length); break;
    case GET: memcpy(call + 1, here, call->length); break;
    case ATOMIC: call->old = uccs_atomic_apply_locked(&call->atomic, here); break;
    case CHANGE: change_elements(call, here); break;
    }
    return UCCS_OK;
}

void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    struct call *call = (struct call *)token->block->payload;
    (void)payload, (void)length, (void)argument;
    call->status = execute_call(call);
    token->block->failed = call->status != UCCS_OK;
}

/* --- At the origin */

static void landed(struct uccs_bounce *block)
{
    struct call *call = (struct call *)block->payload;
    if (call->kind == GET && call->status == UCCS_OK)
        memcpy(call->local, call + 1, call->length);
    if (call->kind == ATOMIC && call->local && call->status == UCCS_OK)
        proto_store_value(call->local, call->atomic.size, call->old);
    if (call->kind == CHANGE && call->local && call->status == UCCS_OK)
        memcpy(call->local, old_values(call), uccs_accumulate_bytes(&call->change));
    if (call->done)
        uccs_request_finish(call->done, call->status != UCCS_OK);
    uccs_deferred_end(call->part, call->status != UCCS_OK && !call->wait && !call->done && !block->request);
    if (!call->wait)
        return;
    if (call->status != UCCS_OK)
        atomic_store_relaxed(&call->wait->status, call->status); /* published by the count */
    (void)atomic_fetch_sub_acqrel(&call->wait->pending,
                                  1); /* acquire: uccs_remote_finish; *wait may be gone afterwards */
}

/* Returns null when no room can come, or with `nowait` when there is none now. */
static struct uccs_bounce *get_block(size_t length, bool nowait)
{
    struct uccs_wait wait uccs_scoped = {0};
    struct uccs_bounce *block;
    int vain = 0;
    while (!(block = uccs_bounce_get(UCCS_ARENA_LIBRARY, sizeof(struct call) + length))) {
        if (!uccs_bounce_expected(UCCS_ARENA_LIBRARY, &vain) || nowait)
            return 0;
        uccs_am_serve(&wait);
    }
    return block;
}

/* Counts an operation that is about to be under way. */
static void begin_call(struct call *call, struct uccs_bounce *block, const struct uccs_rma_later *later)
{
    block->landed = landed;
    block->request = later ? later->request : 0;
    if (block->request)
        uccs_request_begin(block->request);
    call->done = later ? later->local : 0;
    if (call->done)
        uccs_request_begin(call->done);
    if (call->wait)
        (void)atomic_fetch_add_relaxed(&call->wait->pending, 1);
}

/* Takes back what begin has counted: the ring is full, and the call may not wait. */
static int give_up(struct call *call, struct uccs_bounce *block)
{
    uccs_deferred_end(call->part, false);
    if (block->request)
        uccs_request_finish(block->request, false);
    if (call->done)
        uccs_request_finish(call->done, false);
    block->request = 0;
    block->landed = 0;
    uccs_bounce_put(block);
    return UCCS_AGAIN;
}

static int post_call(struct uccs_stream *stream, const struct uccs_region *memory, const struct call *what,
                     const void *source, const struct uccs_rma_later *later)
{
    const bool nowait = later && later->nowait;
    struct uccs_bounce *block = get_block(what->length, nowait);
    struct uccs_wait wait uccs_scoped = {0};
    if (!block)
        return nowait ? UCCS_AGAIN : UCCS_ERR_NO_MEMORY;
    struct call *call = (struct call *)block->payload;
    *call = *what;
    call->slot = memory->slot;
    call->generation = memory->generation;
    call->part = uccs_deferred_begin(stream);
    if (what->kind == PUT)
        memcpy(call + 1, source, what->length);
    if (what->kind == CHANGE && source)
        memcpy(call + 1, source, uccs_accumulate_operand(&what->change));
    begin_call(call, block, later);
    while (!uccs_am_try(uccs_index(memory->owner), UCCS_INNER_REMOTE, 0, sizeof *call + what->length, block)) {
        if (nowait)
            return give_up(call, block);
        uccs_am_serve(&wait);
    }
    return UCCS_OK;
}

int uccs_remote_finish(struct uccs_remote_wait *wait, int status)
{
    struct uccs_wait turns uccs_scoped = {0};
    while (atomic_load_acquire(&wait->pending)) /* acqrel: landed */
        uccs_am_serve(&turns);
    return status == UCCS_OK ? wait->status : status;
}

int uccs_remote_move(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset, char *local,
                     size_t length, bool put, const struct uccs_rma_later *later)
{
    struct uccs_remote_wait wait = {0};
    struct uccs_rma_later rest = later ? *later : (struct uccs_rma_later){0};
    int status = UCCS_OK;
    for (size_t at = 0, piece; at < length && status == UCCS_OK; at += piece) {
        piece = length - at < PIECE ? length - at : PIECE;
        struct call call = {.kind = put ? PUT : GET,
                            .offset = offset + at,
                            .length = piece,
                            .local = local + at,
                            .wait = later ? later->wait : &wait};
        status = post_call(stream, memory, &call, local + at, later ? &rest : 0);
        rest.nowait = false;
    }
    return uccs_remote_finish(&wait, status);
}

int uccs_remote_atomic(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset,
                       const struct uccs_atomic_op *atomic, void *result, const struct uccs_rma_later *later)
{
    struct uccs_remote_wait wait = {0};
    struct call call = {.kind = ATOMIC,
                        .offset = offset,
                        .length = atomic->size,
                        .atomic = *atomic,
                        .local = result,
                        .wait = later ? 0 : &wait};
    return uccs_remote_finish(&wait, post_call(stream, memory, &call, 0, later));
}

int uccs_remote_change(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset,
                       const struct uccs_accumulate_op *change, const void *operand, void *result,
                       const struct uccs_rma_later *later)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type), most = PIECE / 3 / size;
    struct uccs_rma_later rest = later ? *later : (struct uccs_rma_later){0};
    struct uccs_accumulate_op some = *change;
    struct uccs_remote_wait wait = {0};
    int status = UCCS_OK;
    for (size_t done = 0; done < change->n && status == UCCS_OK; done += some.n) {
        const size_t at = done * size;
        some.n = change->n - done < most ? change->n - done : most;
        struct call call = {.kind = CHANGE,
                            .offset = offset + at,
                            .length = uccs_accumulate_operand(&some) + uccs_accumulate_bytes(&some),
                            .change = some,
                            .local = result ? (char *)result + at : 0,
                            .wait = later ? 0 : &wait};
        status = post_call(stream, memory, &call, operand ? (const char *)operand + at : 0, later ? &rest : 0);
        rest.nowait = false;
    }
    return uccs_remote_finish(&wait, status);
}
