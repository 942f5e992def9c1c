/* The origin's half of one-sided operations on other nodes: makes one message, or the transport's operation, of a descriptor
 * (initiator.h). Any thread, without a lock. Everything that can lack memory is taken before a message begins, or as it begins;
 * behind that nothing fails. */
#include "base/copy.h"
#include "net/transport.h"
#include "uccs/proto/inner.h"

#include <stdlib.h>
#include <string.h>

/* --- The way of an operation; docs/internals/onesided.md has the reasons. Puts and gets of whole memory go by what the network does by
 * itself, if it can. Everything else goes by messages: counting gets that do not wait, and atomics on memory of the processor's domain;
 * strided operations and accumulates, which one message carries whole; internal puts. Proto keeps to messages, too, while order
 * demands it or a key is missing (proto/direct.c). */

/* Rows of the group area are the library's own: short, and written by messages alone. */
static bool has_keys(uint32_t segment)
{
    return segment == PROTO_HEAP || segment == PROTO_IMAGE || segment == PROTO_REGION;
}

/* Returns the way, or PROTO_BY_MESSAGE for fewer bytes and where the network does not do it. */
static enum proto_path select_way(const struct proto_op *op, enum proto_path way, size_t from)
{
    return lat_unlikely(proto_has_direct) && op->bytes >= from && has_keys(op->at.segment) ? way : PROTO_BY_MESSAGE;
}

/* A put that counts one at a counter of the job, and does nothing else, the network may count. */
static enum proto_path select_notify(const struct proto_op *op)
{
    const struct proto_notify *with = op->with;
    const bool counts = with->what == PROTO_NOTIFY_COUNT && with->weight == 1 && uccs_counter_of_job(with->value) &&
                        op->at.segment != PROTO_REGION;
    return counts ? select_way(op, PROTO_DIRECT_COUNT, 1) : select_way(op, PROTO_DIRECT_NOTIFY, TRANSPORT_BULK);
}

/* --- Notifications */

/* The origin decides whether a counter of the job is usable, since the target may not have created it yet; the target for those that a
 * group or a PE has opened. */
static uint8_t count_kind(uccs_counter counter)
{
    if (!counter)
        return PROTO_NOTIFY_NONE;
    return uccs_counter_of_job(counter) || uccs_counter_opened(counter) ? PROTO_NOTIFY_COUNT : PROTO_NOTIFY_STALE;
}

/* Describes what the target does behind an operation. */
static struct wire_notify wire_of(const struct proto_notify *with)
{
    if (with->what == PROTO_NOTIFY_COUNT)
        return (struct wire_notify){.what = count_kind(with->value), .counter = with->value, .weight = with->weight};
    return (struct wire_notify){.what = (uint8_t)with->what,
                                .signal_segment = (uint8_t)with->place.segment,
                                .signal_offset = with->place.offset,
                                .signal_value = with->value,
                                .signal_region = with->place.region};
}

/* The data of a message, and the notifications behind it. */
struct payload {
    const void *data;
    void *buffer; /* holds the data; null: the caller's memory does */
    size_t bytes;
    uint8_t notices; /* 0 to 2 */
};

/* Puts notifications, if any, behind the data, which is in the buffer. Returns false without memory. */
static bool append_notices(struct payload *payload, const struct proto_notify *with)
{
    for (; with; with = with->also, payload->notices++) {
        const struct wire_notify notice = wire_of(with);
        char *all = realloc(payload->buffer, payload->bytes + sizeof notice);
        if (!all)
            return false;
        memcpy(all + payload->bytes, &notice, sizeof notice);
        payload->data = payload->buffer = all;
        payload->bytes += sizeof notice;
    }
    return true;
}

/* --- Messages */

/* Without memory the request is as it was before the operation joined it. */
static void leave_request(const struct proto_op *op, uccs_request_handle before)
{
    if (!op->request || uccs_request_object(before) || !uccs_request_object(*op->request))
        return;
    uccs_request_free(op->request);
    *op->request = before;
}

/* Begins the message of an operation. Returns null without memory. */
static lat_hot struct proto_send *begin_message(const struct proto_op *op, enum proto_wire_kind kind,
                                                struct uccs_request *request, const struct proto_pending *ask,
                                                const struct payload *payload)
{
    struct proto_send *send = proto_send_begin(op->on, op->pe, kind, request, ask);
    if (lat_unlikely(!send))
        return 0;
    send->header.segment = (uint8_t)op->at.segment;
    send->header.at = (struct wire_memory){op->at.offset, op->at.region};
    send->data = payload->data;
    send->bytes = payload->bytes;
    send->buffer = payload->buffer;
    send->later = op->nonblocking && !op->with;
    return send;
}

/* Begins a message that brings nothing back. */
static lat_hot struct proto_send *begin_put(const struct proto_op *op, enum proto_wire_kind kind,
                                            const struct payload *payload)
{
    const uccs_request_handle before = op->request ? *op->request : 0;
    struct uccs_request *request = op->request ? uccs_request_materialise(op->request) : 0;
    struct proto_send *send = 0;
    if (lat_likely(request || !op->request))
        send = begin_message(op, kind, request, 0, payload);
    if (lat_likely(send != 0))
        send->counts = true;
    else
        leave_request(op, before);
    return send;
}

/* An operation that may bring something back: its message, and the pending request. */
struct call {
    struct payload payload;
    struct proto_send *send;
    struct proto_pending here; /* of a blocking operation */
    struct proto_pending *ask; /* null: nothing comes back */
    uint32_t flag;
};

/* Begins a message whose answer brings `bytes` bytes to the destination. The answer to a nonblocking operation completes its requests
 * and frees the pending request. */
static bool begin_ask(const struct proto_op *op, enum proto_wire_kind kind, size_t bytes, struct call *call)
{
    const bool counts = op->nonblocking && op->request;
    const uccs_request_handle before = counts ? *op->request : 0;
    struct proto_pending *ask = op->nonblocking ? malloc(sizeof *ask) : &call->here;
    struct uccs_request *request = ask && counts ? uccs_request_materialise(op->request) : 0;
    call->here = (struct proto_pending){.bytes = bytes, .dest = op->dest};
    call->flag = 0;
    if (op->blocks)
        call->here.blocks = *op->blocks;
    if (!op->nonblocking)
        call->here.flag = &call->flag;
    call->send = ask && (request || !counts) ? begin_message(op, kind, 0, &call->here, &call->payload) : 0;
    call->ask = ask;
    if (!op->nonblocking)
        return call->send;
    if (lat_unlikely(!call->send)) {
        free(ask);
        leave_request(op, before);
        return false;
    }
    *ask = call->here;
    if ((ask->request = request))
        uccs_request_begin_use(request);
    if ((ask->local = op->local))
        uccs_request_begin(op->local);
    return true;
}

/* Begins the message of an operation, with notifications behind its data; its answer, when it `fetches`, brings `bytes` bytes.
 * Returns false without memory, after it has freed the payload. */
static lat_hot bool begin_call(const struct proto_op *op, enum proto_wire_kind kind, bool fetches, size_t bytes,
                               struct call *call)
{
    call->ask = 0;
    const bool good =
        (lat_likely(!op->with) || append_notices(&call->payload, op->with)) &&
        (fetches ? begin_ask(op, kind, bytes, call) : (call->send = begin_put(op, kind, &call->payload)) != 0);
    if (lat_unlikely(!good))
        free(call->payload.buffer);
    else
        call->send->ordered = op->ordered;
    return good;
}

/* Waits for the answer to a blocking operation. */
static int end_call(const struct proto_op *op, struct proto_worker *worker, const struct call *call)
{
    if (!call->ask || op->nonblocking)
        return UCCS_OK;
    proto_await(worker, &call->flag);
    return call->here.failed ? UCCS_ERR_STALE : UCCS_OK;
}

static lat_hot int issue_call(const struct proto_op *op, struct call *call)
{
    struct proto_worker *worker = call->send->worker;
    if (call->ask)
        proto_issue_ask(call->send, call->ask);
    else
        proto_issue(call->send);
    return end_call(op, worker, call);
}

/* --- Puts */

/* Returns true when a message that leaves later is copied, so that the caller may change the data at once. */
static bool is_copied(const struct proto_op *op, enum proto_path way, size_t bytes)
{
    return op->nonblocking && !op->with && way == PROTO_BY_MESSAGE && proto_coalesce_fits(bytes);
}

/* Notes that the source of a put is not needed any more. */
static void source_left(void *request)
{
    uccs_request_finish_use(request, false);
}

/* The request of a put that is not copied counts the use of its source as an operation of its own, since the message's
 * end may come after the answer of the target. */
static void count_source(const struct proto_op *op, struct proto_send *send)
{
    if (op->local)
        uccs_request_begin(op->local);
    send->local = op->local;
    if (!send->request || !send->bytes || is_copied(op, (enum proto_path)send->way, send->bytes))
        return;
    uccs_request_begin_use(send->request);
    send->left = source_left;
    send->cookie = send->request;
}

static int put_whole(const struct proto_op *op)
{
    uint32_t left = 0;
    struct proto_send *send = begin_put(op, WIRE_PUT, &(struct payload){.data = op->source, .bytes = op->bytes});
    if (lat_unlikely(!send))
        return UCCS_ERR_NO_MEMORY;
    struct proto_worker *worker = send->worker;
    send->way = (uint8_t)(op->with ? select_notify(op) : select_way(op, PROTO_DIRECT, 1));
    if (op->with)
        send->header.put = wire_of(op->with);
    send->tells = op->with;
    if (op->nonblocking) {
        count_source(op, send);
        proto_issue(send);
        return UCCS_OK;
    }
    send->flag = &left;
    send->joins = !op->with;
    proto_issue(send);
    proto_await(worker, &left);
    return UCCS_OK;
}

/* Packs the blocks into one message, which the target unpacks. The operation owns the packed copy. */
static int put_blocks(const struct proto_op *op, const struct proto_blocks *blocks)
{
    struct call call = {.payload.bytes = blocks->block * blocks->count};
    call.payload.data = call.payload.buffer = malloc(call.payload.bytes);
    if (!call.payload.buffer)
        return UCCS_ERR_NO_MEMORY;
    copy_blocks(call.payload.buffer, (ptrdiff_t)blocks->block, op->source, blocks->here, blocks->block, blocks->count);
    if (!begin_call(op, WIRE_PUT_BLOCKS, false, 0, &call))
        return UCCS_ERR_NO_MEMORY;
    struct wire_header *header = &call.send->header;
    header->put_blocks.block = blocks->block;
    header->put_blocks.stride =
        blocks->count > 1 ? blocks->there : 0; /* one block may have any, and targets refuse one that wraps */
    header->put_blocks.notices = call.payload.notices;
    return issue_call(op, &call);
}

/* The message owns the data. */
static int issue_pieces(const struct proto_op *op)
{
    struct call call = {.payload = {.data = op->source, .buffer = (void *)op->source, .bytes = op->bytes}};
    if (!begin_call(op, WIRE_PIECES, false, 0, &call))
        return UCCS_ERR_NO_MEMORY;
    const bool puts = op->kind == PROTO_PUT;
    struct wire_header *header = &call.send->header;
    header->pieces.n = op->pieces;
    header->pieces.type = puts ? UCCS_UINT8 : op->accumulate->type;
    header->pieces.how = puts ? UCCS_REPLACE : op->accumulate->how;
    header->pieces.notices = call.payload.notices;
    header->pieces.puts = puts;
    return issue_call(op, &call);
}
_Static_assert(2 * PROTO_PIECES_MOST <= TRANSPORT_SHORT, "such a message keeps the order");

/* A message of a put has room for one notification; with two the put goes as a block. */
static int issue_put(const struct proto_op *op)
{
    if (lat_unlikely(op->blocks != 0))
        return put_blocks(op, op->blocks);
    if (lat_unlikely(op->with && op->with->also))
        return put_blocks(op, &(struct proto_blocks){.block = op->bytes, .count = 1});
    return put_whole(op);
}

/* Notes that the transport has an internal put and its source. */
static void drop_hold(void *held)
{
    (void)atomic_fetch_sub_acqrel((uint32_t *)held, 1); /* acquire: the sender, which waits until it is 0 */
}

/* Without data its place is that of its word. */
static int put_internal(const struct proto_op *op)
{
    const struct proto_address *at = op->bytes ? &op->at : &op->with->place;
    struct proto_send *send = proto_send_begin_now(0, op->pe, WIRE_INTERNAL_PUT);
    send->header.segment = (uint8_t)at->segment;
    send->header.at = (struct wire_memory){at->offset, at->region};
    send->header.put = wire_of(op->with);
    send->data = op->bytes ? op->source : 0;
    send->bytes = op->bytes;
    send->left = drop_hold;
    send->cookie = op->held;
    (void)atomic_fetch_add_relaxed(op->held, 1); /* released by drop_hold */
    proto_issue(send);
    return UCCS_OK;
}

/* --- Gets */

static int get_whole(const struct proto_op *op)
{
    struct call call;
    call.payload = (struct payload){0};
    if (!begin_call(op, WIRE_GET, true, op->bytes, &call))
        return UCCS_ERR_NO_MEMORY;
    call.send->header.get.bytes = op->bytes;
    call.send->header.get.notices = call.payload.notices;
    call.send->into = op->dest;
    call.send->way = (uint8_t)(op->with ? PROTO_BY_MESSAGE : select_way(op, PROTO_DIRECT, 1));
    return issue_call(op, &call);
}

static int get_blocks(const struct proto_op *op)
{
    const struct proto_blocks *blocks = op->blocks;
    struct proto_op plain = *op;
    struct call call = {0};
    plain.with = 0;
    if (!begin_call(&plain, WIRE_GET_BLOCKS, true, blocks->block * blocks->count, &call))
        return UCCS_ERR_NO_MEMORY;
    call.send->header.get_blocks.block = blocks->block;
    call.send->header.get_blocks.count = blocks->count;
    call.send->header.get_blocks.stride = blocks->count > 1 ? blocks->there : 0; /* as of a put */
    return issue_call(op, &call);
}

/* Behind long data that the network brings by itself, a message does what is to be done at the target. */
lat_cold static int get_then_tell(const struct proto_op *op)
{
    struct proto_op part = *op;
    part.with = 0;
    const int status = get_whole(&part);
    if (status != UCCS_OK)
        return status;
    part = (struct proto_op){.kind = PROTO_PUT, .nonblocking = true, .pe = op->pe, .on = op->on, .with = op->with};
    part.at.segment = PROTO_HEAP;
    return put_whole(&part);
}

static int issue_get(const struct proto_op *op)
{
    if (op->blocks)
        return get_blocks(op);
    if (lat_likely(!op->with || op->nonblocking || select_way(op, PROTO_DIRECT, PROTO_TELLS_FROM) == PROTO_BY_MESSAGE))
        return get_whole(op);
    return get_then_tell(op);
}

/* --- Atomics by the network's adapter */

/* The adapter's old value goes to the destination, without an answer that this process would handle. */
static int apply_by_adapter(const struct proto_op *op)
{
    struct call call = {0};
    if (!begin_call(op, WIRE_CHANGE, op->dest, op->atomic->size, &call))
        return UCCS_ERR_NO_MEMORY;
    struct proto_worker *worker = call.send->worker;
    call.send->bytes = call.send->header.get.bytes = op->atomic->size;
    call.send->into = op->dest;
    proto_atomic(call.send, op->atomic, call.ask);
    return end_call(op, worker, &call);
}

/* --- Changes by the target: an atomic, or an accumulate in pieces. A piece is at most TRANSPORT_SHORT bytes, so that pieces arrive in
 * the order of sending and keep the target's worker busy for some microseconds only. */

#define PIECE (TRANSPORT_SHORT - 2 * UCCS_TYPE_MOST) /* leaves room for two notifications */
_Static_assert(PIECE % UCCS_TYPE_MOST == 0 && PIECE <= UINT32_MAX, "pieces end between elements; n fits the header");
_Static_assert(PIECE + 2 * sizeof(struct wire_notify) <= TRANSPORT_SHORT, "a piece with its notices keeps the order");

/* An operand that is copied anyhow when it leaves later needs no copy here, when it is all of the data and nothing comes back. Returns
 * false without memory. */
static lat_hot bool copy_operand(const struct proto_op *op, const void *operand, size_t bytes, struct payload *payload)
{
    *payload = (struct payload){.data = operand, .bytes = bytes};
    if (!bytes || (!op->dest && is_copied(op, PROTO_BY_MESSAGE, bytes)))
        return true;
    payload->data = payload->buffer = malloc(bytes);
    if (payload->buffer)
        memcpy(payload->buffer, operand, bytes);
    return payload->buffer;
}

static int issue_change(const struct proto_op *op, const struct uccs_accumulate_op *change, const void *operand)
{
    struct call call;
    const size_t whole = uccs_accumulate_operand(change), bytes = proto_operand_data(whole);
    if (!copy_operand(op, operand, bytes, &call.payload) ||
        !begin_call(op, WIRE_CHANGE, op->dest, op->dest ? uccs_accumulate_bytes(change) : 0, &call))
        return UCCS_ERR_NO_MEMORY;
    struct wire_header *header = &call.send->header;
    call.send->counts = true;
    call.send->tells = !op->dest;
    header->change.n = (uint32_t)change->n;
    header->change.type = change->type;
    header->change.how = change->how;
    header->change.notices = call.payload.notices;
    if (lat_likely(whole == sizeof(uint64_t)))
        memcpy(header->change.operand, operand, sizeof(uint64_t));
    else if (whole > bytes)
        memcpy(header->change.operand, operand, whole);
    return issue_call(op, &call);
}

static int issue_atomic(const struct proto_op *op)
{
    uint64_t operand[2];
    const struct uccs_accumulate_op change = uccs_accumulate_of_atomic(op->atomic, operand);
    return issue_change(op, &change, operand);
}

/* The last piece brings what is to be done behind the operation. */
static int accumulate_pieces(const struct proto_op *op)
{
    const size_t size = uccs_accumulate_size(op->accumulate->type), most = PIECE / size;
    struct uccs_accumulate_op some = *op->accumulate;
    struct proto_op piece = *op;
    int status = UCCS_OK;
    for (size_t left = op->accumulate->n; left && status == UCCS_OK; left -= some.n) {
        some.n = left < most ? left : most;
        piece.with = some.n == left ? op->with : 0;
        status = issue_change(&piece, &some, piece.source);
        piece.at.offset += some.n * size;
        piece.source = piece.source ? (const char *)piece.source + some.n * size : 0;
        piece.dest = piece.dest ? (char *)piece.dest + some.n * size : 0;
    }
    return status;
}

/* Several pieces whose old values are wanted are under way together. */
static int issue_accumulate(const struct proto_op *op)
{
    if (op->nonblocking || !op->dest || uccs_accumulate_bytes(op->accumulate) <= PIECE)
        return accumulate_pieces(op);
    struct proto_worker *worker = proto_worker_of(op->on);
    struct uccs_request all = {.pending = 1};
    uccs_request_handle handle = &all;
    struct proto_op started = *op;
    started.nonblocking = true;
    started.request = &handle;
    const int status = accumulate_pieces(&started);
    proto_await(worker, &all.pending);
    return status == UCCS_OK && all.error ? UCCS_ERR_STALE : status;
}

int proto_rma(const struct proto_op *op)
{
    if (lat_unlikely(op->pieces))
        return issue_pieces(op);
    switch (op->kind) {
    case PROTO_PUT: return issue_put(op);
    case PROTO_INTERNAL_PUT: return put_internal(op);
    case PROTO_GET: return issue_get(op);
    case PROTO_ATOMIC: return op->adapter ? apply_by_adapter(op) : issue_atomic(op);
    case PROTO_ACCUMULATE: return issue_accumulate(op);
    }
    return UCCS_ERR_INVALID;
}

bool proto_rma_or_end(const struct proto_op *op)
{
    const int status = proto_rma(op);
    if (lat_unlikely(status == UCCS_ERR_NO_MEMORY))
        uccs_fail("no memory for an operation on PE %d", op->pe);
    return status == UCCS_OK;
}

void proto_counter_clear(uccs_counter counter)
{
    proto_service_lock();
    uccs_counter_clear(counter);
    proto_service_unlock();
}
