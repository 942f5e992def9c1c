/* The origin's half of one-sided operations on other nodes: makes one message, or the transport's operation, of a descriptor
 * (initiator.h). Any thread, without a lock. Everything that can lack memory is allocated before anything is issued. */
#include "base/copy.h"
#include "net/transport.h"
#include "uccs/proto/target.h"

#include <stdlib.h>
#include <string.h>

/* --- The way of an operation, in one table. docs/internals/onesided.md has the reasons.
 *
 * What the table does not list goes by messages: counting gets that do not wait, and atomics on memory of the processor's domain;
 * strided operations and accumulates, which one message carries whole; internal puts. Proto keeps to messages, too, while order
 * demands it or a key is missing (proto/direct.c). */
enum shape { PUTS, GETS, PUTS_AND_TELLS, GETS_AND_TELLS };

static const struct {
    enum shape shape;
    enum proto_path way;
    size_t from; /* bytes */
} ways[] = {
    {PUTS, PROTO_DIRECT, 1},
    {GETS, PROTO_DIRECT, 1},
    /* Data and word in one message cost less than a put, its flush and a message, as long as the message leaves at once. Longer
     * data would wait for the target, which fetches it. */
    {PUTS_AND_TELLS, PROTO_DIRECT_NOTIFY, TRANSPORT_SHORT + 1},
    /* A get that waits; the message that counts follows. A short get and its count are one round trip by message. */
    {GETS_AND_TELLS, PROTO_DIRECT, TRANSPORT_SHORT + 1},
};

/* Rows of the group area are the library's own: short, and written by messages alone. */
static bool has_keys(uint32_t segment)
{
    return segment == PROTO_HEAP || segment == PROTO_IMAGE || segment == PROTO_REGION;
}

static enum proto_path select_way(enum shape shape, const struct proto_op *op)
{
    if (lat_likely(!proto_has_direct) || !has_keys(op->at.segment))
        return PROTO_BY_MESSAGE;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].shape == shape && op->bytes >= ways[i].from)
            return ways[i].way;
    return PROTO_BY_MESSAGE;
}

/* --- Messages */

static struct proto_message message_of(const struct proto_op *op, enum proto_wire_kind kind)
{
    return (struct proto_message){.header = {.kind = (uint8_t)kind,
                                             .segment = (uint8_t)op->at.segment,
                                             .at = {op->at.offset, op->at.region}},
                                  .log = proto_log_of(op->on),
                                  .later = op->nonblocking && !op->with};
}

static int no_memory(struct proto_message *message)
{
    free(message->buffer);
    return UCCS_ERR_NO_MEMORY;
}

/* Without memory the request is as it was before the operation joined it. */
static int leave_request(const struct proto_op *op, struct proto_message *message, uccs_request_handle before)
{
    if (op->request && !uccs_request_object(before) && uccs_request_object(*op->request)) {
        uccs_request_free(op->request);
        *op->request = before;
    }
    return no_memory(message);
}

/* Notes that the source of a put is not needed any more. */
static void source_left(void *request)
{
    uccs_request_finish_use(request, false);
}

/* The request of a put that is not copied counts the use of its source as an operation of its own, since the message's
 * end may come after the answer of the target. */
static void count_source(struct proto_message *message)
{
    if (!message->request || message->flag || message->buffer || !message->bytes || proto_copies(message))
        return;
    uccs_request_begin_use(message->request);
    message->left = source_left;
    message->cookie = message->request;
}

/* Sends a message that brings nothing back. */
static int post(const struct proto_op *op, struct proto_message *message)
{
    struct proto_worker *worker = proto_worker_of(op->on);
    const uccs_request_handle before = op->request ? *op->request : 0;
    message->counts = true;
    message->request = op->request ? uccs_request_materialise(op->request) : 0;
    if (lat_unlikely(op->request && !message->request))
        return leave_request(op, message, before);
    count_source(message);
    proto_make_room(worker);
    if (message->local)
        uccs_request_begin(message->local);
    if (lat_likely(proto_try_issue(worker, op->pe, message)))
        return UCCS_OK;
    if (message->local)
        uccs_request_finish(message->local, false);
    if (message->left)
        message->left(message->cookie);
    return leave_request(op, message, before);
}

static int ask_and_wait(const struct proto_op *op, struct proto_message *message, struct proto_fetch *ask)
{
    struct proto_worker *worker = proto_worker_of(op->on);
    uint32_t flag = 0;
    ask->ask.flag = &flag;
    if (lat_unlikely(!proto_pending_try(worker, op->pe, message, &ask->ask)))
        return no_memory(message);
    proto_await(worker, &flag);
    return ask->ask.failed ? UCCS_ERR_STALE : UCCS_OK;
}

static void end_uses(const struct proto_fetch *ask)
{
    if (ask->ask.request)
        uccs_request_finish_use(ask->ask.request, false);
    if (ask->ask.local)
        uccs_request_finish(ask->ask.local, false);
}

/* Returns a copy of the pending request that outlives the call: the answer completes its requests and frees it. Null without memory. */
static struct proto_fetch *later(const struct proto_op *op, const struct proto_fetch *what)
{
    struct proto_fetch *ask = malloc(sizeof *ask);
    struct uccs_request *request = ask && op->request ? uccs_request_materialise(op->request) : 0;
    if (lat_unlikely(!ask || (op->request && !request))) {
        free(ask);
        return 0;
    }
    *ask = *what;
    ask->ask.request = request;
    ask->ask.local = op->local;
    if (request)
        uccs_request_begin_use(request);
    if (op->local)
        uccs_request_begin(op->local);
    return ask;
}

static int ask_later(const struct proto_op *op, struct proto_message *message, const struct proto_fetch *what)
{
    const uccs_request_handle before = op->request ? *op->request : 0;
    struct proto_fetch *ask = later(op, what);
    if (lat_likely(ask && proto_pending_try(proto_worker_of(op->on), op->pe, message, &ask->ask)))
        return UCCS_OK;
    if (ask)
        end_uses(ask);
    free(ask);
    return leave_request(op, message, before);
}

/* Sends a message whose answer brings so many bytes to the destination. */
static int ask_for(const struct proto_op *op, struct proto_message *message, size_t bytes)
{
    struct proto_fetch ask = {.ask.bytes = bytes, .dest = op->dest};
    if (op->blocks)
        ask.blocks = *op->blocks;
    return op->nonblocking ? ask_later(op, message, &ask) : ask_and_wait(op, message, &ask);
}

/* --- Puts */

static int put_whole(const struct proto_op *op)
{
    uint32_t left = 0;
    struct proto_message message = message_of(op, WIRE_PUT);
    message.data = op->source;
    message.bytes = op->bytes;
    message.way = (uint8_t)select_way(op->with ? PUTS_AND_TELLS : PUTS, op);
    message.flag = op->nonblocking ? 0 : &left;
    message.local = op->nonblocking ? op->local : 0;
    message.joins = !op->nonblocking && !op->with;
    if (op->with)
        message.header.put = proto_notify_wire(op->with);
    const int status = post(op, &message);
    if (status == UCCS_OK && !op->nonblocking)
        proto_await(proto_worker_of(op->on), &left);
    return status;
}

/* Packs the blocks into one message, which the target unpacks. The operation owns the packed copy. */
static int put_blocks(const struct proto_op *op, const struct proto_blocks *blocks)
{
    struct proto_message message = message_of(op, WIRE_PUT_BLOCKS);
    message.bytes = blocks->block * blocks->count;
    message.data = message.buffer = malloc(message.bytes);
    message.header.put_blocks.block = blocks->block;
    message.header.put_blocks.stride =
        blocks->count > 1 ? blocks->there : 0; /* one block may have any, and targets refuse one that wraps */
    if (!message.buffer)
        return UCCS_ERR_NO_MEMORY;
    copy_blocks(message.buffer, (ptrdiff_t)blocks->block, op->source, blocks->here, blocks->block, blocks->count);
    if (!proto_notify_append(&message, op->with, &message.header.put_blocks.notices))
        return no_memory(&message);
    return post(op, &message);
}

/* A put has room for one notification; with two it goes as a block. */
static int put(const struct proto_op *op)
{
    const struct proto_blocks whole = {.block = op->bytes, .count = 1};
    if (op->blocks)
        return put_blocks(op, op->blocks);
    return lat_unlikely(op->with && op->with->also) ? put_blocks(op, &whole) : put_whole(op);
}

/* Notes that the source of an internal put is not needed any more. */
static void drop_hold(void *held)
{
    (void)atomic_fetch_sub_acqrel((uint32_t *)held, 1); /* acquire: the sender, which waits until it is 0 */
}

/* A word of the target's rows that is set without data goes as a flag. */
static int put_internal(const struct proto_op *op)
{
    const struct proto_notify *with = op->with;
    const bool flag = !op->bytes && with->what == PROTO_SIGNAL_SET && with->place.segment == PROTO_ROWS;
    struct proto_message message = message_of(op, flag ? WIRE_FLAG : WIRE_PARCEL);
    message.later = false;
    if (flag) {
        message.header.segment = PROTO_ROWS;
        message.header.at.offset = with->place.offset;
        message.header.flag.value = with->value;
        return proto_try_issue(proto_service_worker(), op->pe, &message) ? UCCS_OK : UCCS_ERR_NO_MEMORY;
    }
    message.header.put = proto_notify_wire(with);
    message.data = op->source;
    message.bytes = op->bytes;
    message.left = drop_hold;
    message.cookie = op->held;
    (void)atomic_fetch_add_relaxed(op->held, 1); /* released by drop_hold */
    if (lat_likely(proto_try_issue(proto_service_worker(), op->pe, &message)))
        return UCCS_OK;
    drop_hold(op->held);
    return UCCS_ERR_NO_MEMORY;
}

/* --- Gets */

static int get_whole(const struct proto_op *op, const struct proto_notify *with)
{
    struct proto_message message = message_of(op, WIRE_GET);
    message.header.get.bytes = op->bytes;
    message.into = op->dest;
    message.ordered = op->ordered;
    message.way = (uint8_t)(with ? PROTO_BY_MESSAGE : select_way(GETS, op));
    if (!proto_notify_append(&message, with, &message.header.get.notices))
        return no_memory(&message);
    return ask_for(op, &message, op->bytes);
}

static int get_blocks(const struct proto_op *op)
{
    const struct proto_blocks *blocks = op->blocks;
    struct proto_message message = message_of(op, WIRE_GET_BLOCKS);
    message.header.get_blocks.block = blocks->block;
    message.header.get_blocks.count = blocks->count;
    message.header.get_blocks.stride = blocks->count > 1 ? blocks->there : 0; /* as of a put */
    message.ordered = op->ordered;
    return ask_for(op, &message, blocks->block * blocks->count);
}

/* Behind long data that the network brings by itself, a message does what is to be done at the target. */
static int get(const struct proto_op *op)
{
    if (op->blocks)
        return get_blocks(op);
    if (lat_likely(!op->with || op->nonblocking || select_way(GETS_AND_TELLS, op) == PROTO_BY_MESSAGE))
        return get_whole(op, op->with);
    const int status = get_whole(op, 0);
    return status != UCCS_OK ? status
                             : put_whole(&(struct proto_op){.kind = PROTO_PUT,
                                                            .nonblocking = true,
                                                            .pe = op->pe,
                                                            .on = op->on,
                                                            .at.segment = PROTO_HEAP,
                                                            .with = op->with});
}

/* --- Atomics */

static bool fetches(const struct proto_op *op)
{
    return op->dest || op->atomic->what == UCCS_ATOMIC_FETCH;
}

/* A set that fetches is a swap. */
static int apply_there(const struct proto_op *op)
{
    const struct uccs_atomic_op *atomic = op->atomic;
    struct proto_message message = message_of(op, WIRE_AMO);
    message.header.amo.operand = atomic->operand;
    message.header.amo.compare = atomic->compare;
    message.header.amo.what = (uint8_t)(atomic->what == UCCS_ATOMIC_SET && op->dest ? UCCS_ATOMIC_SWAP : atomic->what);
    message.header.amo.size = (uint8_t)atomic->size;
    message.counts = true;
    if (!proto_notify_append(&message, op->with, &message.header.amo.notices))
        return no_memory(&message);
    return fetches(op) ? ask_for(op, &message, atomic->size) : post(op, &message);
}

/* A fetch adds nothing, and a set swaps. */
static struct transport_word word_of(const struct uccs_atomic_op *op)
{
    static const uint8_t names[] =
        {[UCCS_ATOMIC_FETCH] = TRANSPORT_ADD,   [UCCS_ATOMIC_SET] = TRANSPORT_SWAP, [UCCS_ATOMIC_SWAP] = TRANSPORT_SWAP,
         [UCCS_ATOMIC_CSWAP] = TRANSPORT_CSWAP, [UCCS_ATOMIC_ADD] = TRANSPORT_ADD,  [UCCS_ATOMIC_AND] = TRANSPORT_AND,
         [UCCS_ATOMIC_OR] = TRANSPORT_OR,       [UCCS_ATOMIC_XOR] = TRANSPORT_XOR};
    struct transport_word word = {.what = (enum transport_atomic)names[op->what], .size = op->size};
    proto_store_value(&word.operand, op->size, op->what == UCCS_ATOMIC_FETCH ? 0 : op->operand);
    proto_store_value(&word.compare, op->size, op->compare);
    return word;
}

/* The adapter's old value goes to the destination, without an answer that this process would handle. */
static int apply_by_adapter(const struct proto_op *op)
{
    struct proto_worker *worker = proto_worker_of(op->on);
    const struct transport_word word = word_of(op->atomic);
    struct proto_message message = message_of(op, WIRE_AMO);
    uint32_t flag = 0;
    struct proto_fetch what = {.ask = {.flag = op->nonblocking ? 0 : &flag, .bytes = op->atomic->size},
                               .dest = op->dest};
    message.bytes = message.header.get.bytes = op->atomic->size;
    message.into = op->dest;
    message.ordered = op->ordered;
    if (!fetches(op)) {
        message.request = op->request ? uccs_request_materialise(op->request) : 0;
        if (op->request && !message.request)
            return UCCS_ERR_NO_MEMORY;
        proto_atomic(worker, op->pe, &message, &word, 0);
        return UCCS_OK;
    }
    struct proto_fetch *ask = op->nonblocking ? later(op, &what) : &what;
    if (!ask)
        return UCCS_ERR_NO_MEMORY;
    proto_atomic(worker, op->pe, &message, &word, &ask->ask);
    if (!op->nonblocking)
        proto_await(worker, &flag);
    return UCCS_OK;
}

/* --- Accumulates. A piece is at most TRANSPORT_SHORT bytes, so that pieces arrive in the order of sending and keep the target's
 * worker busy for some microseconds only. */

#define PIECE (TRANSPORT_SHORT - 2 * UCCS_TYPE_MOST) /* leaves room for two notifications */
_Static_assert(PIECE % UCCS_TYPE_MOST == 0 && PIECE <= UINT32_MAX, "pieces end between elements; n fits the header");
_Static_assert(PIECE + 2 * sizeof(struct wire_notify) <= TRANSPORT_SHORT, "a piece with its notices keeps the order");

/* An operand that proto would copy anyhow needs no copy here, when it is all of the data and nothing comes back. */
static bool copy_operand(const struct proto_op *op, struct proto_message *message)
{
    message->data = op->source;
    message->bytes = uccs_accumulate_operand(op->accumulate);
    if (!message->bytes || (!op->with && !op->dest && proto_copies(message)))
        return true;
    message->data = message->buffer = malloc(message->bytes);
    if (message->buffer)
        memcpy(message->buffer, op->source, message->bytes);
    return message->buffer;
}

static int accumulate_piece(const struct proto_op *op)
{
    struct proto_message message = message_of(op, WIRE_CHANGE);
    message.header.change.n = (uint32_t)op->accumulate->n;
    message.header.change.type = op->accumulate->type;
    message.header.change.how = op->accumulate->how;
    message.counts = true;
    if (!copy_operand(op, &message) || !proto_notify_append(&message, op->with, &message.header.change.notices))
        return no_memory(&message);
    return op->dest ? ask_for(op, &message, uccs_accumulate_bytes(op->accumulate)) : post(op, &message);
}

/* The last piece brings what is to be done behind the operation. */
static int accumulate_pieces(const struct proto_op *op)
{
    const size_t size = uccs_type_size((enum uccs_type)op->accumulate->type), most = PIECE / size;
    struct uccs_accumulate_op some = *op->accumulate;
    struct proto_op piece = *op;
    int status = UCCS_OK;
    piece.accumulate = &some;
    for (size_t left = op->accumulate->n; left && status == UCCS_OK; left -= some.n) {
        some.n = left < most ? left : most;
        piece.with = some.n == left ? op->with : 0;
        status = accumulate_piece(&piece);
        piece.at.offset += some.n * size;
        piece.source = piece.source ? (const char *)piece.source + some.n * size : 0;
        piece.dest = piece.dest ? (char *)piece.dest + some.n * size : 0;
    }
    return status;
}

/* `all` has an owner and no parent, so nobody frees it. */
static int accumulate(const struct proto_op *op)
{
    if (op->nonblocking || !op->dest)
        return accumulate_pieces(op);
    struct proto_worker *worker = proto_worker_of(op->on);
    struct uccs_request all = {.pending = 1};
    uccs_request_handle handle = &all;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    struct proto_op started = *op;
    started.nonblocking = true;
    started.request = &handle;
    const int status = accumulate_pieces(&started);
    while (atomic_load_acquire(&all.pending) != 1) /* acqrel: uccs_request_finish */
        proto_pause(worker, &wait);
    return status == UCCS_OK && all.error ? UCCS_ERR_STALE : status;
}

int proto_rma(const struct proto_op *op)
{
    switch (op->kind) {
    case PROTO_PUT: return put(op);
    case PROTO_INTERNAL_PUT: return put_internal(op);
    case PROTO_GET: return get(op);
    case PROTO_ATOMIC: return op->adapter ? apply_by_adapter(op) : apply_there(op);
    case PROTO_ACCUMULATE: return accumulate(op);
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
