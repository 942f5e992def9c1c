/* Operations with options on memory of this node: by load and store, by the kernel's copy, or executed by the target.
 * Only the last may outlast the call. */
#include "uccs/rma/inner.h"

#include "uccs/core/fence.h"
#include "uccs/comp/counter.h"

/* Keeps an ordered operation behind earlier ones. Stores follow stores; a read waits until they are visible. */
static void order_near(const struct uccs_rma *rma)
{
    if (!uccs_rma_ordered(rma))
        return;
    uccs_deferred_wait_mine(rma->endpoint->stream);
    if (rma->kind == RMA_GET)
        uccs_quiet();
    else
        uccs_fence_stores(); /* acquire: the reader that sees the later store */
}

/* Stores the word of a signal, or adds to it, behind the data. */
static int signal_target(const struct uccs_rma *rma, const struct uccs_signal *signal)
{
    const bool add = signal->how == UCCS_SIGNAL_ADD;
    const struct uccs_atomic_op op = {add ? UCCS_ATOMIC_ADD : UCCS_ATOMIC_SET, sizeof signal->value, signal->value, 0};
    uint64_t old;
    return uccs_rma_apply(rma->endpoint->stream, &op, signal->memory, signal->offset, &old);
}

/* Counts and signals an operation whose data has been written (or read). */
static int notify_near(const struct uccs_rma *rma)
{
    const struct uccs_op *op = rma->op;
    const int pe = rma->endpoint->pe;
    if (op->counter && !uccs_counter_arrive(op->counter, op->weight ? op->weight : 1, pe))
        uccs_counter_late(op->counter, pe); /* shut meanwhile */
    return op->signal ? signal_target(rma, op->signal) : UCCS_OK;
}

void uccs_rma_done(struct uccs_rma *rma)
{
    if (rma->request)
        (rma->kind == RMA_GET ? uccs_request_loaded : uccs_request_stored)(rma->request);
    if (rma->op->local)
        uccs_request_loaded(rma->op->local);
}

/* --- Parts: bytes that lie together on both sides */

struct part {
    size_t offset, length;
    char *local;
};

/* Sets the part with this number. Returns false when there are no more. */
static bool part_of(const struct uccs_rma *rma, size_t i, struct part *part)
{
    if (rma->pieces) {
        if (i < rma->n)
            *part = (struct part){rma->pieces[i].offset, rma->pieces[i].length, rma->pieces[i].local};
        return i < rma->n;
    }
    if (rma->blocks) {
        const struct uccs_stride *s = rma->blocks;
        *part = (struct part){rma->offset + (size_t)((ptrdiff_t)i * s->remote_stride), s->block,
                              rma->local + (ptrdiff_t)i * s->local_stride};
        return i < s->count && s->block;
    }
    *part = (struct part){rma->offset, rma->length, rma->local};
    return i == 0;
}

/* When `later` is null, what the target executes is under way at the same time, and all of it has ended on return. */
static int move_all(const struct uccs_rma *rma, const struct uccs_rma_later *later)
{
    struct uccs_remote_wait wait = {0};
    struct uccs_rma_later rest = later ? *later : (struct uccs_rma_later){.wait = &wait};
    struct part part;
    int status = UCCS_OK;
    for (size_t i = 0; status == UCCS_OK && part_of(rma, i, &part); i++) {
        status = uccs_rma_move(rma->endpoint->stream, rma->memory, part.offset, part.local, part.length,
                               rma->kind == RMA_PUT, &rest);
        rest.nowait = false;
    }
    return uccs_remote_finish(&wait, status);
}

static int apply_near(const struct uccs_rma *rma)
{
    struct uccs_stream *stream = rma->endpoint->stream;
    uint64_t old;
    if (rma->change)
        return uccs_rma_change(stream, rma->change, rma->memory, rma->offset, rma->local, rma->result);
    int status = uccs_rma_apply(stream, rma->atomic, rma->memory, rma->offset, &old);
    if (rma->result && status == UCCS_OK)
        proto_store_value(rma->result, rma->atomic->size, old);
    return status;
}

/* --- Operations that outlast the call */

static bool may_outlast(const struct uccs_rma *rma)
{
    return rma->op->nonblocking && !uccs_rma_tells(rma) && !rma->memory->near && !rma->memory->dynamic &&
           !uccs_cma_reaches(rma->memory);
}

static int start_any(const struct uccs_rma *rma, const struct uccs_rma_later *later)
{
    struct uccs_stream *stream = rma->endpoint->stream;
    if (rma->change)
        return uccs_remote_change(stream, rma->memory, rma->offset, rma->change, rma->local, rma->result, later);
    if (rma->atomic)
        return uccs_remote_atomic(stream, rma->memory, rma->offset, rma->atomic, rma->result, later);
    return move_all(rma, later);
}

static int start_near(struct uccs_rma *rma)
{
    const struct uccs_op *op = rma->op;
    const bool data_comes = rma->kind == RMA_GET || rma->result;
    struct uccs_rma_later later = {.nowait = op->nowait};
    if ((rma->request && !(later.request = uccs_request_materialise(rma->request))) ||
        (op->local && data_comes && !(later.local = uccs_request_materialise(op->local))))
        return UCCS_ERR_NO_MEMORY;
    int status = start_any(rma, &later);
    if (op->local && !data_comes && status == UCCS_OK)
        uccs_request_loaded(op->local);
    return status;
}

/* The target counts and signals nothing by itself here, so such an operation ends within the call, and so does one that
 * may not outlast it. */
int uccs_rma_near(struct uccs_rma *rma)
{
    order_near(rma);
    if (may_outlast(rma))
        return start_near(rma);
    int status = rma->atomic || rma->change ? apply_near(rma) : move_all(rma, 0);
    if (status == UCCS_OK)
        status = notify_near(rma);
    if (status == UCCS_OK)
        uccs_rma_done(rma);
    return status;
}
