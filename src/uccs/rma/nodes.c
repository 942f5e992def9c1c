/* One-sided operations on memory of other nodes; see inner.h. */
#include "uccs/rma/inner.h"

#include "uccs/far/far.h"
#include "uccs/comp/request.h"

#define PACK_BYTES (256u << 10) /* at most this much of small blocks is packed into one message */

static struct uccs_far_lanes *lanes_of(const struct uccs_rma *rma)
{
    return uccs_stream_lanes(rma->endpoint->stream);
}

static struct uccs_far_place place_of(const struct uccs_region *memory, size_t offset)
{
    return (struct uccs_far_place){FAR_REGION, offset, uccs_region_id(memory->slot, memory->generation)};
}

/* Keeps an ordered operation behind earlier ones at the target. Messages hold it back there; only for a change of
 * memory that a long get still reads does it wait here. */
static void before(const struct uccs_rma *rma)
{
    if (!uccs_rma_ordered(rma))
        return;
    struct link_track *track = link_track_of(lanes_of(rma));
    if (rma->kind == RMA_GET)
        link_track_fence(track);
    else if (lat_unlikely(link_track_fence_changes(track, rma->endpoint->pe)))
        link_track_wait_reads(track, rma->endpoint->pe);
}

/* --- Counters and signals */

static struct uccs_far_with count_of(const struct uccs_op *op)
{
    return (struct uccs_far_with){.what = FAR_COUNT, .value = op->counter, .weight = op->weight ? op->weight : 1};
}

static struct uccs_far_with signal_of(const struct uccs_signal *signal)
{
    return (struct uccs_far_with){.what = signal->how == UCCS_SIGNAL_ADD ? FAR_SIGNAL_ADD : FAR_SIGNAL_SET,
                                  .place = place_of(signal->memory, signal->offset),
                                  .value = signal->value};
}

static bool tells_twice(const struct uccs_rma *rma)
{
    return rma->op->signal && rma->op->counter;
}

/* What goes with the last message of an operation: its signal, then its count. Returns null for neither. One message, so that
 * neither tells of what the target refuses. */
static const struct uccs_far_with *notice_of(const struct uccs_rma *rma, struct uccs_far_with with[2])
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
static void send_behind(const struct uccs_rma *rma, const struct uccs_far_with *with)
{
    struct uccs_far_lanes *on = lanes_of(rma);
    link_track_fence(link_track_of(on));
    uccs_far_put_nb(on, rma->memory->owner, (struct uccs_far_place){.segment = FAR_HEAP}, 0, 0, with, rma->request);
}

/* Counts and signals behind an operation whose messages do neither: it has no bytes, or its data is there. */
static void tell_behind(const struct uccs_rma *rma)
{
    struct uccs_far_with with[2];
    for (const struct uccs_far_with *one = notice_of(rma, with); one; one = one->also)
        send_behind(rma, one);
}

/* The last of several messages may overtake the others unless it stays behind them, as its notice must. */
static void keep_last(const struct uccs_rma *rma)
{
    if (uccs_rma_tells(rma))
        link_track_fence(link_track_of(lanes_of(rma)));
}

/* Returns the error of an operation that the target has refused: UCCS_ERR_STALE, or, when the memory is dynamic and not
 * released, UCCS_ERR_BOUNDS. */
static int refused(const struct uccs_region *memory)
{
    return memory->dynamic && uccs_region_check(memory, 0, 0) == UCCS_OK ? UCCS_ERR_BOUNDS : UCCS_ERR_STALE;
}

/* --- Puts */

static struct uccs_request *local_of(const struct uccs_rma *rma)
{
    return rma->op->local && rma->op->nonblocking ? uccs_request_materialise(rma->op->local) : 0;
}

/* Ends a put that has been issued: the source is free, unless a request tells. */
static int put_issued(const struct uccs_rma *rma, const struct uccs_request *local)
{
    if (rma->op->local && !local)
        uccs_request_loaded(rma->op->local);
    return UCCS_OK;
}

static void put_bytes(const struct uccs_rma *rma, size_t offset, const void *source, size_t length,
                      const struct uccs_far_with *with, struct uccs_request *local)
{
    const struct uccs_far_place to = place_of(rma->memory, offset);
    const struct uccs_far_blocks whole = {.block = length, .count = 1};
    if (lat_unlikely(with && with->also)) /* as a block: a put has room for one notice */
        uccs_far_put_blocks(lanes_of(rma), rma->memory->owner, to, source, &whole, false, with, rma->request);
    else if (rma->op->nonblocking)
        uccs_far_put_local(lanes_of(rma), rma->memory->owner, to, source, length, with, rma->request, local);
    else
        uccs_far_put(lanes_of(rma), rma->memory->owner, to, source, length, with, rma->request);
}

static int put_one(const struct uccs_rma *rma)
{
    struct uccs_far_with with[2];
    if (lat_unlikely(!rma->length && tells_twice(rma))) {
        tell_behind(rma);
        return put_issued(rma, 0);
    }
    struct uccs_request *local = tells_twice(rma) ? 0 : local_of(rma);
    put_bytes(rma, rma->offset, rma->local, rma->length, notice_of(rma, with), local);
    return put_issued(rma, local);
}

/* Returns the number of the last piece with bytes, or SIZE_MAX. */
static size_t last_piece(const struct uccs_rma *rma)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < rma->n; i++)
        if (rma->pieces[i].length)
            last = i;
    return last;
}

static int put_pieces(const struct uccs_rma *rma)
{
    struct uccs_far_with with[2];
    struct uccs_request *local = local_of(rma);
    const size_t last = last_piece(rma);
    for (size_t i = 0; i < rma->n && last != SIZE_MAX; i++) {
        const struct uccs_piece *piece = &rma->pieces[i];
        if (i == last && i)
            keep_last(rma);
        if (piece->length)
            put_bytes(rma, piece->offset, piece->local, piece->length, i == last ? notice_of(rma, with) : 0, local);
    }
    if (last == SIZE_MAX)
        tell_behind(rma);
    return put_issued(rma, local);
}

/* Blocks from `first` on that go into one message, with the place of the first one there and here. */
struct pack {
    struct uccs_far_blocks blocks;
    size_t offset;
    char *local;
};

static struct pack pack_of(const struct uccs_rma *rma, size_t first)
{
    const struct uccs_stride *s = rma->blocks;
    const size_t most = s->block < PACK_BYTES ? PACK_BYTES / s->block : 1, left = s->count - first;
    const ptrdiff_t at = (ptrdiff_t)first;
    return (struct pack){{s->block, left < most ? left : most, s->remote_stride, s->local_stride},
                         rma->offset + (size_t)(at * s->remote_stride),
                         rma->local + at * s->local_stride};
}

static int put_blocks(const struct uccs_rma *rma)
{
    const struct uccs_stride *s = rma->blocks;
    struct uccs_far_with with[2];
    const bool some = s->count && s->block;
    for (size_t i = 0; some && i < s->count;) {
        const struct pack pack = pack_of(rma, i);
        const bool last = i + pack.blocks.count == s->count;
        if (last && i)
            keep_last(rma);
        uccs_far_put_blocks(lanes_of(rma), rma->memory->owner, place_of(rma->memory, pack.offset), pack.local,
                            &pack.blocks, rma->op->nonblocking, last ? notice_of(rma, with) : 0, rma->request);
        i += pack.blocks.count;
    }
    if (!some)
        tell_behind(rma);
    return put_issued(rma, 0);
}

static int put(const struct uccs_rma *rma)
{
    return rma->blocks ? put_blocks(rma) : rma->pieces ? put_pieces(rma) : put_one(rma);
}

/* --- Gets and atomics. Those that wait for their data count and signal by a message behind it. */

/* Returns true when the message of a get carries its notice. A second one would go to the target before the data has left. */
static bool tells_itself(const struct uccs_rma *rma)
{
    const struct uccs_op *op = rma->op;
    return op->nonblocking && !op->counter != !op->signal && !rma->blocks && !rma->pieces && rma->length;
}

static void start_get(const struct uccs_rma *rma, size_t offset, void *dest, size_t length, uccs_request_t *request,
                      struct uccs_request *local)
{
    struct uccs_far_with with[2];
    if (length)
        uccs_far_get_local(lanes_of(rma), rma->memory->owner, place_of(rma->memory, offset), dest, length,
                           tells_itself(rma) ? notice_of(rma, with) : 0, uccs_rma_ordered(rma), request, local);
}

static void start_gets(const struct uccs_rma *rma, uccs_request_t *request, struct uccs_request *local)
{
    const struct uccs_stride *s = rma->blocks;
    for (size_t i = 0; s && i < s->count && s->block;) {
        const struct pack pack = pack_of(rma, i);
        uccs_far_get_blocks_local(lanes_of(rma), rma->memory->owner, place_of(rma->memory, pack.offset), pack.local,
                                  &pack.blocks, uccs_rma_ordered(rma), request, local);
        i += pack.blocks.count;
    }
    for (size_t i = 0; rma->pieces && i < rma->n; i++)
        start_get(rma, rma->pieces[i].offset, rma->pieces[i].local, rma->pieces[i].length, request, local);
    if (!s && !rma->pieces)
        start_get(rma, rma->offset, rma->local, rma->length, request, local);
}

/* `all` has an owner and no parent, so nobody frees it. */
static bool get_all(const struct uccs_rma *rma)
{
    struct uccs_request all = {.pending = 1};
    uccs_request_handle handle = &all;
    struct link_lane *lane = link_lane_of(lanes_of(rma));
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
    start_gets(rma, &handle, 0);
    while (atomic_load_acquire(&all.pending) != 1) /* acqrel: uccs_request_finish */
        link_pause(lane, &wait);
    return !all.error;
}

static bool get_now(const struct uccs_rma *rma)
{
    if (rma->blocks || rma->pieces || uccs_rma_ordered(rma))
        return get_all(rma);
    return uccs_far_get(lanes_of(rma), rma->memory->owner, place_of(rma->memory, rma->offset), rma->local, rma->length,
                        0);
}

/* A fetching set is sent as a swap. */
static struct uccs_atomic_op sent_atomic(const struct uccs_rma *rma)
{
    struct uccs_atomic_op atomic = *rma->atomic;
    if (rma->result && atomic.what == UCCS_ATOMIC_SET)
        atomic.what = UCCS_ATOMIC_SWAP;
    return atomic;
}

static bool fetch_now(const struct uccs_rma *rma)
{
    if (rma->change)
        return uccs_far_change_fetch(lanes_of(rma), rma->memory->owner, place_of(rma->memory, rma->offset), rma->change,
                                     rma->local, rma->result);
    const struct uccs_atomic_op a = sent_atomic(rma);
    uint64_t old;
    bool good = uccs_far_amo_fetch(lanes_of(rma), rma->memory->owner, a.what, place_of(rma->memory, rma->offset),
                                   a.size, a.operand, a.compare, &old);
    if (good && rma->result)
        uccs_far_give(rma->result, a.size, old);
    return good;
}

/* A change of no element is no message. */
static void tell_of_change(const struct uccs_rma *rma)
{
    if (!rma->change->n)
        tell_behind(rma);
}

static int fetch_later(const struct uccs_rma *rma)
{
    struct uccs_far_with with[2];
    struct uccs_request *local = local_of(rma);
    if (rma->change) {
        uccs_far_change(lanes_of(rma), rma->memory->owner, place_of(rma->memory, rma->offset), rma->change, rma->local,
                        rma->result, true, notice_of(rma, with), rma->request, local);
        tell_of_change(rma);
    } else if (rma->atomic) {
        const struct uccs_atomic_op a = sent_atomic(rma);
        uccs_far_amo_local(lanes_of(rma), rma->memory->owner, &a, place_of(rma->memory, rma->offset), rma->result,
                           notice_of(rma, with), rma->request, local);
    } else {
        start_gets(rma, rma->request, local);
    }
    /* Without a byte to fetch nothing comes: the handles must say so. */
    if (rma->request)
        uccs_request_loaded(rma->request);
    return put_issued(rma, 0);
}

static int fetch(struct uccs_rma *rma)
{
    const bool get = rma->kind == RMA_GET;
    if (rma->op->nonblocking && (!get || !uccs_rma_tells(rma) || tells_itself(rma)))
        return fetch_later(rma);
    if (!(get ? get_now(rma) : fetch_now(rma)))
        return refused(rma->memory);
    uccs_rma_done(rma);
    tell_behind(rma);
    return UCCS_OK;
}

static int post_atomic(const struct uccs_rma *rma)
{
    const struct uccs_atomic_op *a = rma->atomic;
    struct uccs_far_with with[2];
    uccs_far_amo_post(lanes_of(rma), rma->memory->owner, a->what, place_of(rma->memory, rma->offset), a->size,
                      a->operand, a->compare, rma->op->nonblocking, notice_of(rma, with), rma->request);
    return put_issued(rma, 0);
}

static int post_change(const struct uccs_rma *rma)
{
    struct uccs_far_with with[2];
    uccs_far_change(lanes_of(rma), rma->memory->owner, place_of(rma->memory, rma->offset), rma->change, rma->local, 0,
                    rma->op->nonblocking, notice_of(rma, with), rma->request, 0);
    tell_of_change(rma);
    return put_issued(rma, 0);
}

static int issue(struct uccs_rma *rma)
{
    const bool fetches = rma->kind == RMA_GET || (rma->atomic && rma->atomic->what == UCCS_ATOMIC_FETCH) || rma->result;
    before(rma);
    if (fetches)
        return fetch(rma);
    if (rma->change)
        return post_change(rma);
    return rma->atomic ? post_atomic(rma) : put(rma);
}

/* Returns true, after some progress, when the operation would wait for room, or for reads that it must stay behind. */
static bool would_wait(const struct uccs_rma *rma)
{
    struct link_track *track = link_track_of(lanes_of(rma));
    if (link_track_busy(track))
        return true;
    if (!uccs_rma_ordered(rma) || rma->kind == RMA_GET || !link_track_reads(track, rma->endpoint->pe))
        return false;
    (void)link_look(link_lane_of(lanes_of(rma)));
    return true;
}

/* With nowait, an operation of many messages may go beyond the room, which was there when it began. */
int uccs_rma_far(struct uccs_rma *rma)
{
    if (lat_likely(!rma->op->nowait))
        return issue(rma);
    if (would_wait(rma))
        return UCCS_AGAIN;
    link_never_waits = true;
    int status = issue(rma);
    link_never_waits = false;
    return status;
}
