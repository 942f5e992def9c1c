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
    struct uccs_change change;
    uint64_t old;
    /* Only the origin uses these: */
    void *local;        /* destination of a get's data, or of old values; may be null */
    struct wait *wait;  /* of a blocking call */
    uint32_t *deferred; /* the origin subtracts one when the operation is done */
};

struct wait {
    uint32_t pending; /* release by landed, acquire by the waiter */
    int32_t status;   /* of an operation that failed */
    uint64_t old;
};

#define PIECE ((64u << 10) - sizeof(struct call)) /* most data in one piece, so that its block is reused */

/* --- At the target */

static char *old_values(struct call *call)
{
    return (char *)(call + 1) + uccs_change_operand(&call->change);
}

static void change_elements(struct call *call, void *here)
{
    const struct uccs_change_place place = {uccs_core.me, UCCS_DOMAIN_LOCKED, (uintptr_t)here, here};
    uccs_change_apply(&call->change, &place, call + 1, call->local ? old_values(call) : 0);
}

static int execute(struct call *call)
{
    char *here;
    size_t bytes = call->kind == CHANGE ? uccs_change_bytes(&call->change) : call->length; /* of memory */
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
    call->status = execute(call);
    token->block->failed = call->status != UCCS_OK;
}

/* --- At the origin */

static void landed(struct uccs_block *block)
{
    struct call *call = (struct call *)block->payload;
    if (call->kind == GET && call->status == UCCS_OK)
        memcpy(call->local, call + 1, call->length);
    if (call->kind == CHANGE && call->local && call->status == UCCS_OK)
        memcpy(call->local, old_values(call), uccs_change_bytes(&call->change));
    (void)atomic_fetch_sub_acqrel(call->deferred, 1); /* acquire: deferred.c */
    if (!call->wait)
        return;
    call->wait->old = call->old;
    if (call->status != UCCS_OK)
        atomic_store_relaxed(&call->wait->status, call->status); /* published by the count */
    (void)atomic_fetch_sub_acqrel(&call->wait->pending, 1);      /* acquire: finish; *wait may be gone afterwards */
}

static struct uccs_block *get_block(size_t length)
{
    struct uccs_wait wait = {0};
    struct uccs_block *block;
    while (!(block = uccs_stage_get(UCCS_ROOM_LIBRARY, sizeof(struct call) + length))) {
        if (!uccs_stage_expected(UCCS_ROOM_LIBRARY))
            return 0;
        uccs_am_serve(&wait);
    }
    return block;
}

static int post(struct uccs_context *context, const struct uccs_region *memory, const struct call *what,
                const void *source, struct uccs_request *request)
{
    struct uccs_block *block = get_block(what->length);
    struct uccs_wait wait = {0};
    if (!block)
        return UCCS_ERR_NO_MEMORY;
    struct call *call = (struct call *)block->payload;
    *call = *what;
    call->slot = memory->slot;
    call->generation = memory->generation;
    call->deferred = uccs_deferred_begin(context);
    if (what->kind == PUT)
        memcpy(call + 1, source, what->length);
    if (what->kind == CHANGE && source)
        memcpy(call + 1, source, uccs_change_operand(&what->change));
    block->landed = landed;
    block->request = request;
    if (request)
        uccs_request_begin(request);
    if (call->wait)
        (void)atomic_fetch_add_relaxed(&call->wait->pending, 1); /* before it can land */
    while (!uccs_am_try((uint32_t)memory->owner - uccs_core.first, UCCS_INNER_REMOTE, 0, sizeof *call + what->length,
                        block))
        uccs_am_serve(&wait);
    return UCCS_OK;
}

static int finish(struct wait *wait, int status)
{
    struct uccs_wait turns = {0};
    while (atomic_load_acquire(&wait->pending)) /* acqrel: landed */
        uccs_am_serve(&turns);
    return status == UCCS_OK ? wait->status : status;
}

static int move(struct uccs_context *context, const struct uccs_region *memory, size_t offset, char *local,
                size_t length, enum call_kind kind, struct uccs_request *request)
{
    struct wait wait = {0};
    int status = UCCS_OK;
    for (size_t at = 0, piece; at < length && status == UCCS_OK; at += piece) {
        piece = length - at < PIECE ? length - at : PIECE;
        struct call call = {.kind = kind,
                            .offset = offset + at,
                            .length = piece,
                            .local = local + at,
                            .wait = request ? 0 : &wait};
        status = post(context, memory, &call, local + at, request);
    }
    return finish(&wait, status);
}

int uccs_remote_put(struct uccs_context *context, const struct uccs_region *memory, size_t offset, const void *source,
                    size_t length, struct uccs_request *request)
{
    return move(context, memory, offset, (char *)source, length, PUT, request);
}

int uccs_remote_get(struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                    size_t length, struct uccs_request *request)
{
    return move(context, memory, offset, dest, length, GET, request);
}

int uccs_remote_atomic(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                       const struct uccs_atomic_op *atomic, uint64_t *old)
{
    struct wait wait = {0};
    struct call call = {.kind = ATOMIC, .offset = offset, .length = atomic->size, .atomic = *atomic, .wait = &wait};
    int status = finish(&wait, post(context, memory, &call, 0, 0));
    *old = wait.old;
    return status;
}

int uccs_remote_change(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                       const struct uccs_change *change, const void *operand, void *result,
                       struct uccs_request *request)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type), most = PIECE / 3 / size;
    struct uccs_change some = *change;
    struct wait wait = {0};
    int status = UCCS_OK;
    for (size_t done = 0; done < change->n && status == UCCS_OK; done += some.n) {
        const size_t at = done * size;
        some.n = change->n - done < most ? change->n - done : most;
        struct call call = {.kind = CHANGE,
                            .offset = offset + at,
                            .length = uccs_change_operand(&some) + uccs_change_bytes(&some),
                            .change = some,
                            .local = result ? (char *)result + at : 0,
                            .wait = request ? 0 : &wait};
        status = post(context, memory, &call, operand ? (const char *)operand + at : 0, request);
    }
    return finish(&wait, status);
}
