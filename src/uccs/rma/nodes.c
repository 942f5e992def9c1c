/* One-sided operations on memory of other nodes; see inner.h. */
#include "uccs/rma/inner.h"

#include "uccs/proto/initiator.h"
#include "uccs/comp/request.h"

#include <stdlib.h>
#include <string.h>

#define PACK_BYTES (256u << 10) /* at most this much of small blocks is packed into one message */
#define PIECE_MOST 1024 /* bytes of a piece that goes with others: to copy a longer one costs more than a header */

static struct proto_worker_set *workers_of(const struct uccs_rma *rma)
{
    return uccs_stream_workers(rma->endpoint->stream);
}

static struct proto_address place_of(const struct uccs_region *memory, size_t offset)
{
    return (struct proto_address){PROTO_REGION, offset, uccs_region_id(memory->slot, memory->generation)};
}

static struct proto_op op_of(const struct uccs_rma *rma)
{
    static const enum proto_kind kinds[] =
        {[RMA_PUT] = PROTO_PUT, [RMA_GET] = PROTO_GET, [RMA_CHANGE] = PROTO_ACCUMULATE};
    return (struct proto_op){.kind = kinds[rma->kind],
                             .nonblocking = rma->op->nonblocking,
                             .ordered = uccs_rma_ordered(rma),
                             .pe = rma->memory->owner,
                             .on = workers_of(rma),
                             .at = place_of(rma->memory, rma->offset),
                             .source = rma->local,
                             .dest = rma->result,
                             .accumulate = rma->change,
                             .request = rma->request};
}

/* Keeps an ordered operation behind earlier ones at the target. Messages hold it back there; only for a change of
 * memory that a long get still reads does it wait here. */
static void order_far(const struct uccs_rma *rma)
{
    if (!uccs_rma_ordered(rma))
        return;
    proto_fence(workers_of(rma));
    if (rma->kind != RMA_GET)
        proto_wait_reads(workers_of(rma), rma->endpoint->pe);
}

/* --- Counters and signals */

static struct proto_notify count_of(const struct uccs_op *op)
{
    return (
        struct proto_notify){.what = PROTO_NOTIFY_COUNT, .value = op->counter, .weight = op->weight ? op->weight : 1};
}

static struct proto_notify signal_of(const struct uccs_signal *signal)
{
    return (struct proto_notify){.what = signal->how == UCCS_SIGNAL_ADD ? PROTO_SIGNAL_ADD : PROTO_SIGNAL_SET,
                                 .place = place_of(signal->memory, signal->offset),
                                 .value = signal->value};
}

static bool tells_twice(const struct uccs_rma *rma)
{
    return rma->op->signal && rma->op->counter;
}

/* What goes with the last message of an operation: its signal, then its count. Returns null for neither. One message, so that
 * neither tells of what the target refuses. */
static const struct proto_notify *notice_of(const struct uccs_rma *rma, struct proto_notify with[2])
{
    if (!uccs_rma_tells(rma))
        return 0;
    if (!rma->op->signal) {
        with[0] = count_of(rma->op);
        return with;
    }
    with[0] = signal_of(rma->op->signal);
    if (tells_twice(rma)) {
        with[1] = count_of(rma->op);
        with[0].also = &with[1];
    }
    return with;
}

/* Sends a message behind the operation. */
static int send_behind(const struct uccs_rma *rma, const struct proto_notify *with)
{
    const struct proto_notify alone = {with->what, with->place, with->value, with->weight, 0};
    const struct proto_op op = {.kind = PROTO_PUT,
                                .nonblocking = true,
                                .pe = rma->memory->owner,
                                .on = workers_of(rma),
                                .at.segment = PROTO_HEAP,
                                .with = &alone,
                                .request = rma->request};
    proto_fence(op.on);
    return proto_rma(&op);
}

/* Counts and signals behind an operation whose messages do neither: there are none, or its data is there. */
static int tell_behind(const struct uccs_rma *rma)
{
    struct proto_notify with[2];
    int status = UCCS_OK;
    for (const struct proto_notify *one = notice_of(rma, with); one && status == UCCS_OK; one = one->also)
        status = send_behind(rma, one);
    return status;
}

/* Returns the error of an operation that the target has refused: UCCS_ERR_STALE, or, when the memory is dynamic and not
 * released, UCCS_ERR_BOUNDS. */
static int refusal_error(const struct uccs_region *memory)
{
    return memory->dynamic && uccs_region_check(memory, 0, 0) == UCCS_OK ? UCCS_ERR_BOUNDS : UCCS_ERR_STALE;
}

/* --- Operations */

/* Without a byte to move, or an element to change, there is no message: the handles must say so. */
static bool is_empty(const struct uccs_rma *rma)
{
    return rma->change && !rma->pieces ? !rma->change->n : !uccs_rma_next(rma, 0, &(struct uccs_rma_part){0});
}

static bool brings_back(const struct uccs_rma *rma)
{
    return rma->kind == RMA_GET || rma->result;
}

/* Returns true when the call has read the source anyhow: a change, a put of blocks, and a put that tells twice. */
static bool is_copied(const struct uccs_rma *rma)
{
    return rma->kind == RMA_CHANGE || rma->blocks || (!rma->pieces && tells_twice(rma));
}

/* Ends an operation whose call has read its source, or filled its destination, unless a request tells of that. */
static int end_call(const struct uccs_rma *rma, const struct uccs_request *local, int status)
{
    if (status == UCCS_OK && rma->op->local && !local)
        uccs_request_loaded(rma->op->local);
    return status;
}

static int end_empty(const struct uccs_rma *rma)
{
    const int status = tell_behind(rma);
    if (status == UCCS_OK && rma->request)
        uccs_request_loaded(rma->request);
    return end_call(rma, 0, status);
}

/* Goes to the pieces that go in one message, if they are several, and packs them. Sets op->pieces to their number, else 0. */
static int next_pieces(const struct uccs_rma *rma, struct uccs_rma_part *part, struct proto_op *op)
{
    const struct uccs_piece *pieces = rma->pieces + part->next;
    size_t n = 0, bytes = 0;
    op->pieces = 0;
    if (!rma->pieces || rma->kind == RMA_GET || (rma->change && rma->change->how == UCCS_NO_OP))
        return UCCS_OK;
    for (; part->next + n < rma->n && pieces[n].length <= PIECE_MOST && bytes < PROTO_PIECES_MOST; n++)
        bytes += pieces[n].length + sizeof(struct proto_piece);
    if (n < 2)
        return UCCS_OK;
    struct proto_piece *table = malloc(bytes);
    char *to = (char *)(table + n);
    if (!table)
        return UCCS_ERR_NO_MEMORY;
    for (size_t i = 0; i < n; to += pieces[i++].length) {
        table[i] = (struct proto_piece){pieces[i].offset, pieces[i].length};
        if (pieces[i].length)
            memcpy(to, pieces[i].local, pieces[i].length);
    }
    op->pieces = (uint32_t)n;
    op->source = table;
    op->bytes = bytes;
    op->at.offset = 0;
    *part = (struct uccs_rma_part){.next = part->next + n};
    part->last = !uccs_rma_next(rma, 0, &(struct uccs_rma_part){.next = part->next});
    return UCCS_OK;
}

/* Issues the messages of an operation. The last one of a put or get brings what is to be done behind it: it may overtake the others
 * unless it stays behind them. */
static int issue_messages(const struct uccs_rma *rma, struct proto_op *op, const struct proto_notify *with)
{
    struct uccs_accumulate_op change = rma->change ? *rma->change : (struct uccs_accumulate_op){0};
    struct uccs_rma_part part = {0};
    int status = UCCS_OK;
    op->with = with;
    if (rma->change && !rma->pieces)
        return proto_rma(op);
    for (bool first = true; status == UCCS_OK && !part.last; first = false) {
        if ((status = next_pieces(rma, &part, op)) != UCCS_OK)
            break;
        if (!op->pieces) {
            if (!uccs_rma_next(rma, PACK_BYTES, &part))
                break;
            op->at.offset = part.offset;
            op->source = part.local;
            op->dest = rma->change ? 0 : part.local;
            op->bytes = part.bytes;
            op->blocks = part.blocks.count ? &part.blocks : 0;
            change.n = rma->change ? part.bytes / uccs_accumulate_size(change.type) : 0;
            op->accumulate = &change;
        }
        op->with = part.last ? with : 0;
        if (op->with && !first)
            proto_fence(op->on);
        status = proto_rma(op);
    }
    return status;
}

/* Does or starts an operation whose last message tells, if it is to tell. */
static int start_far(const struct uccs_rma *rma)
{
    struct proto_notify with[2];
    struct proto_op op = op_of(rma);
    if (rma->op->local && rma->op->nonblocking && (brings_back(rma) || !is_copied(rma)) &&
        !(op.local = uccs_request_materialise(rma->op->local)))
        return UCCS_ERR_NO_MEMORY;
    struct uccs_request *local = op.local;
    return end_call(rma, local, issue_messages(rma, &op, notice_of(rma, with)));
}

/* Waits for what comes back, then tells of it by messages behind. */
static int fetch_far(struct uccs_rma *rma)
{
    struct uccs_request all = {.pending = 1};
    uccs_request_handle handle = &all;
    struct proto_op op = op_of(rma);
    op.nonblocking = rma->blocks || rma->pieces;
    op.request = op.nonblocking ? &handle : 0;
    int status = issue_messages(rma, &op, 0);
    if (op.nonblocking)
        proto_await(proto_worker_of(op.on), &all.pending);
    if (status == UCCS_ERR_STALE || (status == UCCS_OK && all.error))
        return refusal_error(rma->memory);
    if (status != UCCS_OK)
        return status;
    uccs_rma_done(rma);
    return tell_behind(rma);
}

/* Returns true when the message of a get carries its notice. A second one would go to the target before the data has left. */
static bool tells_itself(const struct uccs_rma *rma)
{
    return !rma->op->counter != !rma->op->signal && !rma->blocks && !rma->pieces;
}

static int issue_far(struct uccs_rma *rma)
{
    order_far(rma);
    if (is_empty(rma))
        return end_empty(rma);
    const bool later = rma->op->nonblocking && (rma->kind != RMA_GET || !uccs_rma_tells(rma) || tells_itself(rma));
    return brings_back(rma) && !later ? fetch_far(rma) : start_far(rma);
}

/* Returns true, after some progress, when the operation would wait for room, or for reads that it must stay behind. */
static bool would_wait(const struct uccs_rma *rma)
{
    if (proto_set_busy(workers_of(rma)))
        return true;
    if (!uccs_rma_ordered(rma) || rma->kind == RMA_GET || !proto_reads(workers_of(rma), rma->endpoint->pe))
        return false;
    (void)proto_progress(proto_worker_of(workers_of(rma)));
    return true;
}

/* With nowait, an operation of many messages may go beyond the room, which was there when it began. */
int uccs_rma_far(struct uccs_rma *rma)
{
    if (lat_likely(!rma->op->nowait))
        return issue_far(rma);
    if (would_wait(rma))
        return UCCS_AGAIN;
    proto_never_waits = true;
    int status = issue_far(rma);
    proto_never_waits = false;
    return status;
}
