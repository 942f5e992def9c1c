/* One-sided operations on memory of other nodes; see inner.h. */
#include "uccs/rma/inner.h"

#include "uccs/far/far.h"
#include "uccs/object/request.h"

#define PACK_BYTES (256u << 10) /* at most this much of small blocks is packed into one message */

static bool is_ordered(const struct uccs_context *context, const struct uccs_op *op)
{
    return context->attr.ordered || (op && op->ordered);
}

/* Keeps later operations behind earlier ones at the target. */
static void before(const struct uccs_context *context, const struct uccs_op *op)
{
    if (is_ordered(context, op))
        uccs_fence_all();
}

/* Completes earlier operations before an ordered get, since the target does not hold reads back. */
static void before_get(const struct uccs_context *context, const struct uccs_op *op)
{
    if (is_ordered(context, op))
        uccs_quiet_all();
}

static struct uccs_far_place place_of(const struct uccs_region *memory, size_t offset)
{
    return (struct uccs_far_place){FAR_REGION, offset, uccs_region_id(memory->slot, memory->generation)};
}

static struct uccs_far_with count_of(const struct uccs_op *op)
{
    return (struct uccs_far_with){.what = FAR_COUNT, .value = op->counter, .weight = op->weight ? op->weight : 1};
}

static uccs_request_t *request_of(const struct uccs_op *op)
{
    return op ? op->request : 0;
}

/* Counts, by a message behind them, operations that do not count by themselves. */
static void count(const struct uccs_region *memory, const struct uccs_op *op)
{
    if (!op || !op->counter)
        return;
    const struct uccs_far_with with = count_of(op);
    uccs_fence_all();
    uccs_far_put_nb(0, memory->owner, (struct uccs_far_place){.segment = FAR_HEAP}, 0, 0, &with, op->request);
}

/* Ends an operation whose reply has come. When the reply is not good, returns UCCS_ERR_STALE, or, when the memory is
 * dynamic and not released, UCCS_ERR_BOUNDS. */
static int finish(const struct uccs_region *memory, const struct uccs_op *op, bool good)
{
    if (!good)
        return memory->dynamic && uccs_region_check(memory, 0, 0) == UCCS_OK ? UCCS_ERR_BOUNDS : UCCS_ERR_STALE;
    if (op && op->request)
        uccs_request_loaded(op->request);
    count(memory, op);
    return UCCS_OK;
}

int uccs_rma_far_put(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                     const void *source, size_t length, const struct uccs_op *op)
{
    struct uccs_far_with with;
    bool counts = op && op->counter;
    if (counts)
        with = count_of(op);
    before(context, op);
    uccs_far_put(0, memory->owner, place_of(memory, offset), source, length, counts ? &with : 0, request_of(op));
    return UCCS_OK;
}

int uccs_rma_far_put_nb(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const void *source, size_t length, uccs_request_t *desc)
{
    before(context, 0);
    uccs_far_put_nb(0, memory->owner, place_of(memory, offset), source, length, 0, desc);
    return UCCS_OK;
}

int uccs_rma_far_get(const struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                     size_t length, const struct uccs_op *op)
{
    before_get(context, op);
    bool good = uccs_far_get(0, memory->owner, place_of(memory, offset), dest, length, 0);
    return finish(memory, op, good);
}

int uccs_rma_far_get_nb(const struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                        size_t length, uccs_request_t *desc)
{
    before_get(context, 0);
    uccs_far_get_nb(0, memory->owner, place_of(memory, offset), dest, length, 0, desc);
    return UCCS_OK;
}

/* Returns how many blocks go into one message, at least 1. */
static size_t pack_count(const struct uccs_stride *s, size_t done)
{
    size_t most = s->block < PACK_BYTES ? PACK_BYTES / s->block : 1, left = s->count - done;
    return left < most ? left : most;
}

static struct uccs_far_blocks blocks_of(const struct uccs_stride *s, size_t count)
{
    return (
        struct uccs_far_blocks){.block = s->block, .count = count, .there = s->remote_stride, .here = s->local_stride};
}

int uccs_rma_far_put_strided(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                             const char *source, const struct uccs_stride *s, const struct uccs_op *op)
{
    before(context, op);
    for (size_t i = 0, n; i < s->count && s->block; i += n) {
        ptrdiff_t at = (ptrdiff_t)i;
        n = pack_count(s, i);
        const struct uccs_far_blocks blocks = blocks_of(s, n);
        uccs_far_put_blocks(0, memory->owner, place_of(memory, offset + (size_t)(at * s->remote_stride)),
                            source + at * s->local_stride, &blocks, request_of(op));
    }
    count(memory, op);
    return UCCS_OK;
}

int uccs_rma_far_get_strided(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                             char *dest, const struct uccs_stride *s, const struct uccs_op *op)
{
    bool good = true;
    before_get(context, op);
    for (size_t i = 0, n; i < s->count && s->block && good; i += n) {
        ptrdiff_t at = (ptrdiff_t)i;
        n = pack_count(s, i);
        const struct uccs_far_blocks blocks = blocks_of(s, n);
        good = uccs_far_get_blocks(0, memory->owner, place_of(memory, offset + (size_t)(at * s->remote_stride)),
                                   dest + at * s->local_stride, &blocks);
    }
    return finish(memory, op, good);
}

int uccs_rma_far_put_vector(const struct uccs_context *context, const struct uccs_region *memory,
                            const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    before(context, op);
    for (size_t i = 0; i < n; i++)
        if (pieces[i].length)
            uccs_far_put(0, memory->owner, place_of(memory, pieces[i].offset), pieces[i].local, pieces[i].length, 0,
                         request_of(op));
    count(memory, op);
    return UCCS_OK;
}

int uccs_rma_far_get_vector(const struct uccs_context *context, const struct uccs_region *memory,
                            const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    bool good = true;
    before_get(context, op);
    for (size_t i = 0; i < n && good; i++)
        if (pieces[i].length)
            good = uccs_far_get(0, memory->owner, place_of(memory, pieces[i].offset), pieces[i].local, pieces[i].length,
                                0);
    return finish(memory, op, good);
}

/* A fetching set is sent as a swap. */
int uccs_rma_far_atomic(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const struct uccs_atomic_op *a, uint64_t *old, const struct uccs_op *op)
{
    enum uccs_atomic what = a->what;
    struct uccs_far_place at = place_of(memory, offset);
    before(context, op);
    if (old || what == UCCS_ATOMIC_FETCH) {
        uint64_t unwanted;
        what = what == UCCS_ATOMIC_SET ? UCCS_ATOMIC_SWAP : what;
        return finish(memory, op,
                      uccs_far_amo_fetch(0, memory->owner, what, at, a->size, a->operand, a->compare,
                                         old ? old : &unwanted));
    }
    uccs_far_amo_post(0, memory->owner, what, at, a->size, a->operand, a->compare, request_of(op));
    count(memory, op);
    return UCCS_OK;
}

/* Messages keep the order of changes on a lane, so that only an ordered one needs a fence. */
int uccs_rma_far_change(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const struct uccs_change *change, const void *operand, void *result, const struct uccs_op *op)
{
    struct uccs_far_place at = place_of(memory, offset);
    before(context, op);
    if (result)
        return finish(memory, op, uccs_far_change_fetch(0, memory->owner, at, change, operand, result));
    uccs_far_change(0, memory->owner, at, change, operand, 0, false, request_of(op));
    count(memory, op);
    return UCCS_OK;
}
