/* Operations on memory of this node: by load and store, by the kernel's copy, or executed by the owner. Only the last may outlast
 * the call. mem/accumulate.h defines the rules of domains; dynamic memory goes range by range (mem/dynamic.h). */
#include "uccs/rma/inner.h"

#include "uccs/core/core.h"
#include "uccs/comp/counter.h"
#include "uccs/mem/dynamic.h"

#include <string.h>

/* --- Parts of an operation, for both ways */

bool uccs_rma_next(const struct uccs_rma *rma, size_t pack, struct uccs_rma_part *part)
{
    size_t i = part->next;
    const struct uccs_stride *s = rma->blocks;
    if (rma->pieces) {
        while (i < rma->n && !rma->pieces[i].length)
            i++;
        if (i >= rma->n)
            return false;
        *part = (struct uccs_rma_part){.offset = rma->pieces[i].offset,
                                       .bytes = rma->pieces[i].length,
                                       .local = rma->pieces[i].local};
        while (++i < rma->n && !rma->pieces[i].length)
            ;
        part->last = i == rma->n;
    } else if (s) {
        if (i >= s->count || !s->block)
            return false;
        const size_t most = s->block < pack ? pack / s->block : 1, count = s->count - i < most ? s->count - i : most;
        *part = (struct uccs_rma_part){.offset = rma->offset + i * (size_t)s->remote_stride,
                                       .bytes = s->block,
                                       .local = rma->local + (ptrdiff_t)i * s->local_stride};
        if (pack)
            part->blocks = (struct proto_blocks){s->block, count, s->remote_stride, s->local_stride};
        i += count;
        part->last = i == s->count;
    } else {
        if (i++ || !rma->length)
            return false;
        *part = (struct uccs_rma_part){.offset = rma->offset, .bytes = rma->length, .local = rma->local, .last = true};
    }
    part->next = i;
    return true;
}

/* --- Elements, by the way that reaches them */

/* Elements whose bytes follow each other in this process and in the owner. */
static int access_piece(struct uccs_stream *stream, const struct uccs_access *a, const struct uccs_dynamic_piece *piece,
                        const struct uccs_remote_later *later)
{
    const struct uccs_region *memory = a->memory;
    if (a->copies && piece->near) {
        memcpy(a->operand ? piece->near : a->result, a->operand ? a->operand : piece->near, a->what.n);
        return UCCS_OK;
    }
    if (!piece->near)
        return uccs_cma_reaches(memory) ? uccs_call_or_copy(a) : uccs_remote_start(stream, a, later);
    const struct uccs_accumulate_target place = {memory->owner, piece->mapped ? UCCS_DOMAIN_CPU : UCCS_DOMAIN_LOCKED,
                                                 memory->address + a->offset, piece->near, memory};
    return uccs_accumulate_apply(&a->what, &place, a->operand, a->result);
}

/* UCCS_ERR_BOUNDS for an element that lies across two ranges of which the node maps one. */
static lat_cold int access_dynamic(struct uccs_stream *stream, const struct uccs_access *a,
                                   const struct uccs_remote_later *later)
{
    const size_t size = uccs_accumulate_size(a->what.type), n = a->what.n;
    struct uccs_dynamic_piece piece;
    int status = UCCS_OK;
    for (size_t done = 0, some; done < n && status == UCCS_OK; done += some) {
        status = uccs_dynamic_find(a->memory->attached, a->memory->owner, a->offset + done * size, (n - done) * size,
                                   &piece);
        some = status == UCCS_OK ? piece.bytes / size : 0;
        if (!some)
            return UCCS_ERR_BOUNDS;
        const struct uccs_access part = uccs_access_part(a, done, some);
        status = access_piece(stream, &part, &piece, later);
    }
    return status;
}

static int access_elements(struct uccs_stream *stream, const struct uccs_access *a,
                           const struct uccs_remote_later *later)
{
    const struct uccs_region *memory = a->memory;
    if (lat_unlikely(memory->dynamic))
        return access_dynamic(stream, a, later);
    const struct uccs_dynamic_piece all = {.near = memory->near ? memory->near + a->offset : 0,
                                           .mapped = memory->domain == UCCS_DOMAIN_CPU};
    return access_piece(stream, a, &all, later);
}

/* --- Operations */

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

static int move_all(const struct uccs_rma *rma, const struct uccs_remote_later *later)
{
    const bool put = rma->kind == RMA_PUT;
    struct uccs_remote_later rest = *later;
    struct uccs_rma_part part = {0};
    int status = UCCS_OK;
    while (status == UCCS_OK && uccs_rma_next(rma, 0, &part)) {
        const struct uccs_access a = {.memory = rma->memory,
                                      .offset = part.offset,
                                      .what = {UCCS_UINT8, put ? UCCS_REPLACE : UCCS_NO_OP, part.bytes},
                                      .copies = true,
                                      .operand = put ? part.local : 0,
                                      .result = put ? 0 : part.local};
        status = access_elements(rma->endpoint->stream, &a, &rest);
        rest.nowait = false;
    }
    return status;
}

static int access_all(const struct uccs_rma *rma, const struct uccs_remote_later *later)
{
    if (rma->kind != RMA_CHANGE)
        return move_all(rma, later);
    const struct uccs_access a = {rma->memory, rma->offset, *rma->change, false, rma->local, rma->result};
    return access_elements(rma->endpoint->stream, &a, later);
}

/* Stores the word of a signal, or adds to it, behind the data. */
static int signal_target(const struct uccs_rma *rma, const struct uccs_signal *signal)
{
    struct uccs_request all = {.pending = 1};
    int failure = UCCS_OK;
    const struct uccs_remote_later later = {.request = &all, .status = &failure};
    const struct uccs_access a = {.memory = signal->memory,
                                  .offset = signal->offset,
                                  .what = {UCCS_UINT64, signal->how == UCCS_SIGNAL_ADD ? UCCS_SUM : UCCS_REPLACE, 1},
                                  .operand = (const char *)&signal->value};
    return uccs_remote_finish(&all, &failure, access_elements(rma->endpoint->stream, &a, &later));
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

static bool may_outlast(const struct uccs_rma *rma)
{
    return rma->op->nonblocking && !uccs_rma_tells(rma) && !rma->memory->near && !rma->memory->dynamic &&
           !uccs_cma_reaches(rma->memory);
}

static int start_near(struct uccs_rma *rma)
{
    const struct uccs_op *op = rma->op;
    const bool data_comes = rma->kind == RMA_GET || rma->result;
    struct uccs_remote_later later = {.nowait = op->nowait};
    if ((rma->request && !(later.request = uccs_request_materialise(rma->request))) ||
        (op->local && data_comes && !(later.local = uccs_request_materialise(op->local))))
        return UCCS_ERR_NO_MEMORY;
    int status = access_all(rma, &later);
    if (op->local && !data_comes && status == UCCS_OK)
        uccs_request_loaded(op->local);
    return status;
}

/* The target counts and signals nothing by itself here, so such an operation ends within the call, and so does one that
 * may not outlast it. What the target executes of it is under way at the same time. */
int uccs_rma_near(struct uccs_rma *rma)
{
    struct uccs_request all = {.pending = 1};
    int failure = UCCS_OK;
    const struct uccs_remote_later later = {.request = &all, .status = &failure};
    order_near(rma);
    if (may_outlast(rma))
        return start_near(rma);
    int status = uccs_remote_finish(&all, &failure, access_all(rma, &later));
    if (status == UCCS_OK)
        status = notify_near(rma);
    if (status == UCCS_OK)
        uccs_rma_done(rma);
    return status;
}
