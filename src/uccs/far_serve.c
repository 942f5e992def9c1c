/* The target's side of far operations: what has arrived is applied to memory by this processor.
 *
 * Called by the transport, under the service lane's lock, on whatever thread polls: the program's or the library's own.
 * So nothing here waits.
 *
 * Orders: data is stored before what announces it (release of the counter, signal or flag; acquire in the program's
 * wait loops). `applied` counts under the lock. */
#include "uccs/far_lane.h"

#include "base/log.h"
#include "rte/node.h"
#include "uccs/core/memory.h"

#include <stdlib.h>
#include <string.h>

/* Long data on its way into place. */
struct receive {
    struct far_token token;
    struct far_origin *origin;
    struct far_header header;
    void *packed; /* of what is not stored as it is */
    size_t bytes;
    struct uccs_far_packet *packet; /* of an active message */
};

#define STORE(bits)                                                                  \
    static void store##bits(char *to, const void *from)                              \
    {                                                                                \
        uint##bits##_t value;                                                        \
        memcpy(&value, from, sizeof value);                                          \
        atomic_store_release((uint##bits##_t *)to, value); /* acquire: wait loops */ \
    }

STORE(8)
STORE(16)
STORE(32)
STORE(64)

/* Behind everything that was stored here before, since any of it may be a flag: an aligned element by one store, a
 * release; more than that by a fence and a copy. */
static void store(char *to, const void *from, size_t bytes)
{
    switch ((uintptr_t)to & (bytes - 1) ? 0 : bytes) {
    case 1: store8(to, from); return;
    case 2: store16(to, from); return;
    case 4: store32(to, from); return;
    case 8: store64(to, from); return;
    default: atomic_fence_release(); memcpy(to, from, bytes);
    }
}

/* False: the region has been released. */
static bool unpack(const struct far_header *header, const char *data, size_t bytes)
{
    size_t block = header->a;
    ptrdiff_t step = (ptrdiff_t)header->token;
    for (size_t i = 0; i * block < bytes; i++) {
        uint64_t offset = header->offset + (uint64_t)((ptrdiff_t)i * step);
        char *to = far_place(header, offset, block);
        if (!to)
            return false;
        store(to, data + i * block, block);
    }
    return true;
}

static void answer_amo(struct far_origin *origin, const struct far_header *header, uint64_t old, bool done)
{
    struct far_send *send = far_send_new(far_service());
    send->header.kind = FAR_AMO_ANSWER;
    send->header.op = !done;
    send->header.token = header->token;
    send->header.a = old;
    far_answer(origin, send, 0, 0);
}

static void apply_amo(struct far_origin *origin, const struct far_header *header)
{
    void *to = far_place(header, header->offset, header->size);
    uint64_t old = to ? far_apply(header, to) : 0;
    if (header->token)
        answer_amo(origin, header, old, to);
    else
        origin->refused += !to;
}

/* The data of a put is there: tells whom it concerns. */
static void announce(const struct far_header *header)
{
    if ((header->kind != FAR_PUT && header->kind != FAR_PARCEL) || header->op == FAR_NOTHING)
        return;
    if (header->op == FAR_COUNT) {
        uccs_counter_arrive_here(header->a, (int64_t)header->b);
        return;
    }
    if (header->op == FAR_LATE) {
        uccs_counter_late(header->a, uccs_core.me);
        return;
    }
    uint64_t *signal = (uint64_t *)far_place_in(header, header->size, header->a, sizeof *signal);
    if (header->op == FAR_SIGNAL_ADD)
        atomic_fetch_add_acqrel(signal, header->b); /* acquire: signal_wait_until */
    else
        atomic_store_release(signal, header->b);
}

static void answer_flush(struct far_origin *origin, const struct far_header *header)
{
    struct far_send *send = far_send_new(far_service());
    send->header.kind = FAR_FLUSHED;
    send->header.token = header->token;
    send->header.a = origin->refused;
    far_answer(origin, send, 0, 0);
}

/* Another lane of a PE tells where answers go. */
static void meet(struct far_origin *origin, const struct far_header *header, const void *address, size_t bytes)
{
    origin->to = far_transport->connect(far_service()->at, (int)header->from, address, bytes);
    if (!origin->to)
        far_fail("PE %d cannot be answered over %s", header->from, far_transport->name);
    origin->box.to = origin->to;
    origin->box.pe = (int)header->from;
}

/* An active message whose payload has come with it. */
static void take_message(const struct far_header *header, const void *data, size_t bytes)
{
    struct uccs_far_packet *packet = far_am_packet(header, bytes);
    if (bytes)
        memcpy(far_am_room(packet), data, bytes);
    far_am_arrived(packet);
}

static bool put(const struct far_header *header, const void *data, size_t bytes)
{
    char *to = far_place(header, header->offset, bytes);
    if (to && bytes)
        store(to, data, bytes);
    return to;
}

/* Data that has come and is not in its place yet. False: its region has been released. */
static bool land(struct far_origin *origin, const struct far_header *header, const void *data, size_t bytes)
{
    switch (header->kind) {
    case FAR_PUT:
    case FAR_PARCEL: return put(header, data, bytes);
    case FAR_PUT_BLOCKS: return unpack(header, data, bytes);
    case FAR_HELLO: meet(origin, header, data, bytes); return true;
    case FAR_AM: take_message(header, data, bytes); return true;
    default: return true;
    }
}

static void applied(struct far_origin *origin, const struct far_header *header, bool done)
{
    if (lat_likely(done))
        announce(header);
    else
        origin->refused++;
    origin->applied += header->kind != FAR_PARCEL;
}

static void go_on(struct far_origin *origin);

static void landed(struct receive *receive)
{
    struct far_origin *origin = receive->origin;
    bool done = true;
    if (receive->packet)
        far_am_arrived(receive->packet);
    else if (receive->packed)
        done = land(origin, &receive->header, receive->packed, receive->bytes);
    applied(origin, &receive->header, done);
    free(receive->packed);
    free(receive);
}

static void received(struct far_token *token, bool failed)
{
    struct receive *receive = (struct receive *)token;
    struct far_origin *origin = receive->origin;
    if (failed)
        return; /* `broken` ends the job */
    landed(receive);
    go_on(origin);
}

/* Where long data goes: its own place if it has one. What is to be refused is fetched, too. */
static void *room_for(struct receive *receive)
{
    const struct far_header *header = &receive->header;
    bool straight = header->kind == FAR_PUT || header->kind == FAR_PARCEL;
    char *place = straight ? far_place(header, header->offset, receive->bytes) : 0;
    if (place)
        return place;
    if (header->kind == FAR_AM)
        return far_am_room(receive->packet = far_am_packet(header, receive->bytes));
    receive->packed = malloc(receive->bytes);
    if (!receive->packed)
        far_fail("no memory for %zu bytes of PE %d", receive->bytes, header->from);
    return receive->packed;
}

static void fetch(struct far_origin *origin, const struct far_header *header, void *rest, size_t bytes)
{
    struct receive *receive = malloc(sizeof *receive);
    if (!receive)
        far_fail("no memory for data of PE %d", header->from);
    *receive = (struct receive){.token.done = received, .origin = origin, .header = *header, .bytes = bytes};
    atomic_fence_release(); /* the transport's stores, too, stay behind earlier ones */
    switch (far_transport->receive(far_service()->at, rest, room_for(receive), bytes, receive)) {
    case TRANSPORT_PENDING: break;
    case TRANSPORT_DONE: landed(receive); break;
    default: far_fail("the data of PE %d did not come: the connection is lost", header->from);
    }
}

/* Null `from`: the region has been released. */
static void answer_get(struct far_origin *origin, const struct far_header *header, const void *from, void *buffer,
                       uccs_counter counter)
{
    struct far_send *send = far_send_new(far_service());
    send->header.kind = FAR_DATA;
    send->header.op = !from;
    send->header.token = header->token;
    send->buffer = buffer;
    send->counter = counter;
    far_answer(origin, send, from, from ? header->b : 0);
}

/* The memory itself is what is sent: a get sees it as it is while it leaves. */
static void serve_get(struct far_origin *origin, const struct far_header *header)
{
    const char *from = far_place(header, header->offset, header->b);
    if (header->op == FAR_LATE)
        uccs_counter_late(header->a, uccs_core.me);
    atomic_fence_acquire(); /* data that an earlier flag announced */
    answer_get(origin, header, from, 0, header->op == FAR_COUNT ? header->a : 0);
}

static void serve_get_blocks(struct far_origin *origin, const struct far_header *header)
{
    size_t block = header->after, bytes = header->b;
    char *packed = malloc(bytes), *from = packed;
    if (!packed)
        far_fail("no memory for %zu bytes for PE %u", bytes, header->from);
    for (size_t i = 0; i * block < bytes && from; i++) {
        from = far_place(header, header->offset + (uint64_t)((ptrdiff_t)i * (ptrdiff_t)header->a), block);
        if (from)
            memcpy(packed + i * block, from, block);
    }
    answer_get(origin, header, from ? packed : 0, packed, 0);
}

/* Who holds handles of memory here, and who has released what I hold one of. */
static void answer_region(struct far_origin *origin, const struct far_header *header)
{
    answer_amo(origin, header, 0, far_region_heard(header));
}

static void handle(struct far_origin *origin, const struct far_header *header, const void *data, size_t bytes,
                   void *rest)
{
    switch (header->kind) {
    case FAR_GET: serve_get(origin, header); break;
    case FAR_GET_BLOCKS: serve_get_blocks(origin, header); break;
    case FAR_FLUSH: answer_flush(origin, header); break;
    case FAR_IMPORT:
    case FAR_GONE: answer_region(origin, header); break;
    case FAR_AMO:
        apply_amo(origin, header);
        origin->applied++;
        break;
    default:
        if (rest) {
            fetch(origin, header, rest, bytes);
            break;
        }
        applied(origin, header, land(origin, header, data, bytes));
    }
}

/* How many of the sender's operations must have been applied before this message. */
static uint64_t predecessors(const struct far_header *header)
{
    return header->kind == FAR_GET_BLOCKS ? 0 : header->after;
}

/* A lane that has not said hello yet cannot be answered. */
static bool must_wait(const struct far_origin *origin, const struct far_header *header)
{
    if (lat_unlikely(header->lane && !origin->to))
        return header->kind != FAR_HELLO;
    return predecessors(header) > origin->applied;
}

static struct far_kept *take_first_kept(struct far_origin *origin)
{
    struct far_kept *kept = origin->kept;
    origin->kept = kept->next;
    *(kept->next ? &kept->next->before : &origin->last_kept) = 0;
    return kept;
}

/* Handles the messages whose predecessors have just been applied. An event inside may keep further ones. */
static void go_on(struct far_origin *origin)
{
    while (origin->kept && !must_wait(origin, &origin->kept->header)) {
        struct far_kept *kept = take_first_kept(origin);
        handle(origin, &kept->header, kept->data, kept->bytes, kept->rest);
        free(kept);
    }
}

/* Messages with fewer predecessors first, else in the order of arrival. Fences only go up, and messages overtake few
 * others on their way, so that the place is at the end or near it. */
static void put_in_order(struct far_origin *origin, struct far_kept *kept)
{
    struct far_kept *before = origin->last_kept;
    while (before && predecessors(&before->header) > predecessors(&kept->header))
        before = before->before;
    kept->before = before;
    kept->next = before ? before->next : origin->kept;
    *(before ? &before->next : &origin->kept) = kept;
    *(kept->next ? &kept->next->before : &origin->last_kept) = kept;
}

static void keep(struct far_origin *origin, const struct far_header *header, const struct transport_message *message)
{
    size_t bytes = message->rest ? 0 : message->bytes;
    struct far_kept *kept = malloc(sizeof *kept + bytes);
    if (!kept)
        far_fail("no memory for a message of PE %d", header->from);
    *kept = (struct far_kept){.header = *header, .rest = message->rest, .bytes = message->bytes};
    if (bytes)
        memcpy(kept->data, message->data, bytes);
    put_in_order(origin, kept);
}

static struct far_origin *origin_of(const struct far_header *header)
{
    struct far_peer *peer = far_peer(far_service(), (int)header->from);
    if (lat_likely(header->lane == 0))
        return &peer->origin;
    if (!peer->others)
        peer->others = calloc(FAR_LANES, sizeof *peer->others);
    struct far_origin **origin = peer->others ? &peer->others[header->lane] : 0;
    if (origin && !*origin && (*origin = calloc(1, sizeof **origin)))
        (*origin)->peer = peer;
    if (!origin || !*origin)
        far_fail("no memory for a lane of PE %d", header->from);
    return *origin;
}

void far_origins_free(struct far_peer *peer)
{
    for (int lane = 0; peer->others && lane < FAR_LANES; lane++)
        free(peer->others[lane]);
    free(peer->others);
}

static bool is_of_this_job(const struct far_header *header, size_t bytes)
{
    return bytes == sizeof *header && (int)header->from < uccs_core.npes && header->lane < FAR_LANES;
}

void far_arrived(void *lane, const struct transport_message *message)
{
    struct far_header header = {0};
    memcpy(&header, message->header, message->header_bytes < sizeof header ? message->header_bytes : sizeof header);
    if (!is_of_this_job(&header, message->header_bytes))
        far_fail("a message that is none of this job has arrived");
    switch (header.kind) {
    case FAR_FLAG:
        store(far_place_in(&header, FAR_ROWS, header.offset, sizeof header.a), &header.a, sizeof header.a);
        return;
    case FAR_AM_DONE: far_am_told(&header); return;
    case FAR_AMO_ANSWER:
    case FAR_DATA:
    case FAR_FLUSHED: far_answered(&header, message); return;
    case FAR_BATCH: far_batch_arrived(lane, message); return;
    default: break;
    }
    struct far_origin *origin = origin_of(&header);
    if (lat_unlikely(must_wait(origin, &header))) {
        keep(origin, &header, message);
        return;
    }
    handle(origin, &header, message->data, message->bytes, message->rest);
    if (lat_unlikely(origin->kept != 0))
        go_on(origin);
}
