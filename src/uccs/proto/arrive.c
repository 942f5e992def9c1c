/* Passes an arriving message to the handler of its kind (proto.h), after its predecessors.
 *
 * The transport calls this under the lock of the worker, on any thread that polls, be it the program's or the library's.
 * So nothing here waits. `applied` changes under the lock. */
#include "uccs/proto/inner.h"

#include <stdlib.h>
#include <string.h>

static const struct proto_handler *handlers[WIRE_KINDS]; /* constant while workers are open */

void proto_handle(enum proto_wire_kind kind, const struct proto_handler *handler)
{
    handlers[kind] = handler;
}

/* Long data on its way into place. */
struct receive {
    struct proto_sent_token token;
    struct proto_arrival arrival;
    void *buffer; /* takes data without a landing buffer; null: the data goes to its place */
};

static const struct proto_handler *handler_of(const struct proto_arrival *arrival)
{
    return handlers[arrival->header.kind];
}

/* Ends an arrival whose data is in place (`taken`) or refused. */
static void finish_arrival(struct proto_arrival *arrival, bool taken)
{
    const struct proto_handler *handler = handler_of(arrival);
    struct proto_origin *origin = arrival->origin;
    if (lat_unlikely(!taken))
        proto_nack(arrival);
    else if (handler->landed)
        handler->landed(arrival);
    if (origin)
        origin->applied += handler->counts;
}

static bool land_data(struct proto_arrival *arrival, const void *data)
{
    const struct proto_handler *handler = handler_of(arrival);
    return !handler->land || handler->land(arrival, data);
}

static void finish_receive(struct receive *receive)
{
    bool taken = !receive->buffer || land_data(&receive->arrival, receive->buffer);
    finish_arrival(&receive->arrival, taken);
    free(receive->buffer);
    free(receive);
}

static void take_kept(struct proto_origin *origin);

static void end_receive(struct proto_sent_token *token, bool failed)
{
    struct receive *receive = (struct receive *)token;
    struct proto_origin *origin = receive->arrival.origin;
    if (failed)
        return; /* `broken` ends the job */
    finish_receive(receive);
    if (origin)
        take_kept(origin);
}

/* Returns the place for long data: its own room if it has one, else a buffer. Data that will be refused is fetched too,
 * into a buffer. */
static void *room_for(struct receive *receive)
{
    struct proto_arrival *arrival = &receive->arrival;
    const struct proto_handler *handler = handler_of(arrival);
    void *place = handler->room ? handler->room(arrival) : 0;
    if (place)
        return place;
    return receive->buffer = uccs_must_have(malloc(arrival->bytes), "data of", (int)arrival->header.from);
}

static void fetch_data(const struct proto_arrival *arrival, void *rest)
{
    struct receive *receive = uccs_must_have(malloc(sizeof *receive), "data of", (int)arrival->header.from);
    *receive = (struct receive){.token.done = end_receive, .arrival = *arrival};
    atomic_fence_release(); /* the transport's stores, too, stay behind earlier stores */
    switch (proto_transport->receive(arrival->worker->at, rest, room_for(receive), arrival->bytes, receive)) {
    case TRANSPORT_PENDING: break;
    case TRANSPORT_DONE: finish_receive(receive); break;
    default:
        uccs_fail_process_lost((int)arrival->header.from, "the data of PE %u%s did not come: the connection is lost",
                               arrival->header.from, uccs_keepalive_host((int)arrival->header.from));
    }
}

static void take_message(struct proto_arrival *arrival, const void *data, void *rest)
{
    if (rest)
        fetch_data(arrival, rest);
    else
        finish_arrival(arrival, land_data(arrival, data));
}

/* Returns true when the message must wait for its predecessors, or for the hello of its worker: until then this PE cannot
 * answer that worker. */
static bool must_wait(const struct proto_origin *origin, const struct wire_header *header)
{
    if (lat_unlikely(header->worker && !origin->to))
        return header->kind != WIRE_HELLO;
    return header->after > origin->applied;
}

static struct proto_delayed *take_first_kept(struct proto_origin *origin)
{
    struct proto_delayed *kept = origin->kept;
    origin->kept = kept->next;
    *(kept->next ? &kept->next->before : &origin->last_kept) = 0;
    return kept;
}

/* Handles the kept messages whose predecessors have been applied. Handling one may keep further messages. */
static void take_kept(struct proto_origin *origin)
{
    while (origin->kept && !must_wait(origin, &origin->kept->arrival.header)) {
        struct proto_delayed *kept = take_first_kept(origin);
        take_message(&kept->arrival, kept->data, kept->rest);
        free(kept);
    }
}

/* Keeps messages sorted: fewer predecessors first, then in the order of arrival. Searches from the end, since `after`
 * only grows at the sender and a message overtakes few others on its way. */
static void put_in_order(struct proto_origin *origin, struct proto_delayed *kept)
{
    struct proto_delayed *before = origin->last_kept;
    while (before && before->arrival.header.after > kept->arrival.header.after)
        before = before->before;
    kept->before = before;
    kept->next = before ? before->next : origin->kept;
    *(before ? &before->next : &origin->kept) = kept;
    *(kept->next ? &kept->next->before : &origin->last_kept) = kept;
}

static void delay_message(const struct proto_arrival *arrival, const struct transport_message *message)
{
    size_t bytes = message->rest ? 0 : message->bytes;
    struct proto_delayed *kept =
        uccs_must_have(malloc(sizeof *kept + bytes), "a message of", (int)arrival->header.from);
    *kept = (struct proto_delayed){.arrival = *arrival, .rest = message->rest};
    if (bytes)
        memcpy(kept->data, message->data, bytes);
    put_in_order(arrival->origin, kept);
}

static struct proto_origin *origin_of(struct proto_worker *worker, const struct wire_header *header)
{
    struct proto_peer *peer = proto_peer_of(worker, (int)header->from);
    if (lat_likely(header->worker == 0))
        return &peer->origin;
    if (!peer->others)
        peer->others = uccs_must_have(calloc(PROTO_WORKERS, sizeof *peer->others), "workers of", peer->pe);
    struct proto_origin **origin = &peer->others[header->worker];
    if (!*origin) {
        *origin = uccs_must_have(calloc(1, sizeof **origin), "a worker of", peer->pe);
        (*origin)->peer = peer;
    }
    return *origin;
}

void proto_arrived(void *worker, const struct transport_message *message)
{
    struct proto_arrival arrival = {.worker = worker, .bytes = message->bytes};
    struct wire_header *header = &arrival.header;
    if (lat_unlikely(message->header_bytes != sizeof *header))
        uccs_fail("a message of another program has arrived: its header has %zu bytes", message->header_bytes);
    memcpy(header, message->header, sizeof *header);
    proto_wire_check(header, message->bytes);
    const struct proto_handler *handler = handler_of(&arrival);
    if (lat_unlikely(!handler))
        uccs_fail("PE %u sent a message %s, which this PE has not asked for", header->from,
                  proto_wire_kind_name((enum proto_wire_kind)header->kind));
    if (handler->loose) {
        take_message(&arrival, message->data, message->rest);
        return;
    }
    struct proto_origin *origin = arrival.origin = origin_of(proto_service_worker(), header);
    if (lat_unlikely(must_wait(origin, header))) {
        delay_message(&arrival, message);
        return;
    }
    take_message(&arrival, message->data, message->rest);
    if (lat_unlikely(origin->kept != 0))
        take_kept(origin);
}

/* --- Refused operations: the memory that they name has been released. The target notes the number in their header, once, and
 * tells all noted numbers in its next answer to a flush (flush.c) */

struct proto_nacks {
    uint32_t count;
    uint64_t noted[(UINT16_MAX + 1) / 64]; /* a bit for each number */
};

static void note_nack(struct proto_origin *origin, uint16_t number)
{
    if (!origin->nacks)
        origin->nacks = uccs_must_have(calloc(1, sizeof *origin->nacks), "refused operations of", origin->peer->pe);
    uint64_t *word = &origin->nacks->noted[number / 64], bit = UINT64_C(1) << number % 64;
    origin->nacks->count += !(*word & bit);
    *word |= bit;
}

void proto_nack(const struct proto_arrival *arrival)
{
    arrival->origin->refused++;
    if (arrival->header.number)
        note_nack(arrival->origin, arrival->header.number);
}

uint16_t *proto_nacks_take(struct proto_origin *origin, size_t *bytes)
{
    struct proto_nacks *nacks = origin->nacks;
    *bytes = nacks ? nacks->count * sizeof(uint16_t) : 0;
    if (!*bytes)
        return 0;
    uint16_t *numbers = uccs_must_have(malloc(*bytes), "refused operations of", origin->peer->pe);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof nacks->noted / sizeof *nacks->noted; i++)
        for (uint64_t left = nacks->noted[i]; left; left &= left - 1)
            numbers[count++] = (uint16_t)(64 * i + (uint32_t)__builtin_ctzll(left));
    *nacks = (struct proto_nacks){0};
    return numbers;
}
