#include "uccs/am/inner.h"

/* The head of the block. The operand follows it, then the old values, when they are wanted. */
struct call {
    struct uccs_remote_call at;
    char *result;                    /* these are the origin's alone */
    int *failure;                    /* takes an error; may be null */
    struct uccs_request *done;       /* completes when the old values are here; may be null */
    struct uccs_stream_thread *part; /* counts the call while it is under way; may be null */
};

#define PIECE ((64u << 10) - sizeof(struct call)) /* most data in one piece, so that its block is reused */

static char *old_values(struct call *call)
{
    return (char *)(call + 1) + uccs_accumulate_operand(&call->at.what);
}

/* --- At the target */

void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    struct call *call = (struct call *)token->block->payload;
    (void)payload, (void)length, (void)argument;
    call->at.status = uccs_call_execute(&call->at, call + 1, old_values(call));
    token->block->failed = call->at.status != UCCS_OK;
}

/* --- At the origin */

static void end_call(struct uccs_bounce *block)
{
    struct call *call = (struct call *)block->payload;
    const bool failed = call->at.status != UCCS_OK;
    if (call->result && !failed)
        memcpy(call->result, old_values(call), uccs_accumulate_bytes(&call->at.what));
    if (call->done)
        uccs_request_finish(call->done, failed);
    if (call->part)
        uccs_deferred_end(call->part, failed && !call->done && !block->request);
    if (failed && call->failure)
        atomic_store_relaxed(call->failure,
                             call->at.status); /* the request's count, which drops behind this, publishes it */
}

/* Returns null when no room can come, or with `nowait` when there is none now. */
static struct uccs_bounce *get_block(size_t length, bool nowait)
{
    struct uccs_wait wait uccs_scoped = {0};
    struct uccs_bounce *block;
    int vain = 0;
    while (!(block = uccs_bounce_get(UCCS_ARENA_LIBRARY, length))) {
        if (!uccs_bounce_expected(UCCS_ARENA_LIBRARY, &vain) || nowait)
            return 0;
        uccs_am_serve(&wait);
    }
    return block;
}

/* Counts an operation that is about to be under way. */
static void begin_call(struct call *call, struct uccs_bounce *block, const struct uccs_remote_later *later, int to)
{
    block->landed = end_call;
    block->to = to;
    if ((block->request = later->request))
        uccs_request_begin(block->request);
    if ((call->done = later->local))
        uccs_request_begin(call->done);
    call->failure = later->status;
}

/* Takes back what begin_call has counted: the ring is full, and the call may not wait. */
static int give_up(struct call *call, struct uccs_bounce *block)
{
    if (call->part)
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

static int post_call(struct uccs_stream *stream, const struct uccs_access *access,
                     const struct uccs_remote_later *later)
{
    const struct uccs_region *memory = access->memory;
    const size_t operand = uccs_accumulate_operand(&access->what),
                 length = sizeof(struct call) + operand + (access->result ? uccs_accumulate_bytes(&access->what) : 0);
    struct uccs_bounce *block = get_block(length, later->nowait);
    struct uccs_wait wait uccs_scoped = {0};
    if (!block)
        return later->nowait ? UCCS_AGAIN : UCCS_ERR_NO_MEMORY;
    struct call *call = (struct call *)block->payload;
    *call = (struct call){.at = {.what = access->what,
                                 .copies = access->copies,
                                 .wanted = access->result != 0,
                                 .offset = access->offset + (memory->generation ? 0 : memory->address),
                                 .slot = memory->slot,
                                 .generation = memory->generation},
                          .result = access->result,
                          .part = stream ? uccs_deferred_begin(stream) : 0};
    if (operand)
        memcpy(call + 1, access->operand, operand);
    begin_call(call, block, later, memory->owner);
    while (!uccs_am_try(uccs_index(memory->owner), UCCS_INNER_REMOTE, 0, length, block)) {
        if (later->nowait)
            return give_up(call, block);
        uccs_am_serve(&wait);
    }
    return UCCS_OK;
}

int uccs_remote_start(struct uccs_stream *stream, const struct uccs_access *access,
                      const struct uccs_remote_later *later)
{
    const size_t n = access->what.n, size = uccs_accumulate_size(access->what.type);
    const size_t most = PIECE / (access->copies ? 1 : 3) / size;
    struct uccs_remote_later rest = *later;
    int status = UCCS_OK;
    for (size_t done = 0, some; done < n && status == UCCS_OK; done += some) {
        some = n - done < most ? n - done : most;
        const struct uccs_access part = uccs_access_part(access, done, some);
        status = post_call(stream, &part, &rest);
        rest.nowait = false;
    }
    return status;
}

int uccs_remote_finish(const struct uccs_request *all, const int *failure, int status)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&all->pending) != 1) /* acqrel: uccs_request_finish */
        uccs_am_serve(&wait);
    return status == UCCS_OK ? *failure : status;
}
