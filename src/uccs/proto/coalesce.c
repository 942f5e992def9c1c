/* Batches let small messages leave together, since over TCP a message costs a system call at both ends, whatever its
 * size.
 *
 * A message that nobody waits for yet (an nbi put, an answer while more arrives) is copied to the coalescer of its
 * receiver. It leaves with the next message to that receiver, when the coalescer is full, or when any thread polls; else
 * the progress thread sends it within a millisecond. A blocking put leaves at once while nothing of its receiver is under way, else it
 * joins the coalescer (Nagle's rule). What tells the target something joins it in a stream (issue.c). A message that somebody waits
 * for leaves at once and takes the coalescer along.
 *
 * Under the worker's lock. Order: small messages to a receiver leave in the order of issuing, since a small message
 * bypasses the receiver's coalescer only when the coalescer is empty. */
#include "uccs/proto/inner.h"

#include <stdlib.h>
#include <string.h>

#define BOXES_MOST 64 /* at most this many coalescers hold messages, which bounds the memory */

/* A message within a batch; its data follows, padded to whole words. */
struct entry {
    struct wire_header header;
    uint64_t bytes;
};

static size_t pad_bytes(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void put_on(struct proto_coalescer *coalescer, struct proto_worker *worker)
{
    worker->open++;
    coalescer->next = worker->coalescing;
    worker->coalescing = coalescer;
}

bool proto_coalesce_reserve_slow(struct proto_worker *worker)
{
    return (worker->spare = malloc(PROTO_BATCH_BYTES)) != 0;
}

static void open_box(struct proto_coalescer *coalescer, struct proto_worker *worker)
{
    if (worker->open == BOXES_MOST)
        proto_coalesce_push_all(worker);
    coalescer->send = proto_send_new(worker, 0, WIRE_BATCH);
    if (!proto_coalesce_reserve(worker))
        uccs_fail("no memory for messages");
    coalescer->send->buffer = worker->spare;
    worker->spare = 0;
    coalescer->send->batch = true;
    coalescer->bytes = coalescer->count = 0;
    if (!coalescer->kept)
        put_on(coalescer, worker);
}

/* Sends the batch; a batch of a single message leaves as that message. */
static void send_batch(struct proto_coalescer *coalescer)
{
    struct proto_send *send = coalescer->send;
    send->data = send->buffer;
    send->bytes = coalescer->bytes;
    if (coalescer->count == 1) {
        const struct entry *only = send->buffer;
        send->header = only->header;
        send->bytes = only->bytes;
        send->data = only->bytes ? only + 1 : 0;
    }
    coalescer->send = 0;
    (void)proto_hand_over(coalescer, send);
}

static void take_off(struct proto_coalescer *coalescer, struct proto_worker *worker)
{
    struct proto_coalescer **at = &worker->coalescing;
    while (*at != coalescer)
        at = &(*at)->next;
    *at = coalescer->next;
    worker->open--;
}

bool proto_coalesce_fits(size_t bytes)
{
    return bytes <= PROTO_BATCH_BYTES / 4;
}

bool proto_coalesce_fits_flush(size_t bytes)
{
    return bytes <= PROTO_BATCH_BYTES - 2 * sizeof(struct entry);
}

void proto_coalesce_add(struct proto_coalescer *coalescer, struct proto_send *send)
{
    struct proto_worker *worker = send->worker;
    const size_t bytes = send->bytes, whole = sizeof(struct entry) + pad_bytes(bytes);
    if (coalescer->send && coalescer->bytes + whole > PROTO_BATCH_BYTES)
        proto_coalesce_push(coalescer, worker);
    if (!coalescer->send)
        open_box(coalescer, worker);
    char *to = (char *)coalescer->send->buffer + coalescer->bytes;
    *(struct entry *)to = (struct entry){send->header, bytes};
    if (bytes)
        memcpy(to + sizeof(struct entry), send->data, bytes);
    coalescer->bytes += whole;
    coalescer->count++;
    proto_send_free(send);
}

void proto_coalesce_push(struct proto_coalescer *coalescer, struct proto_worker *worker)
{
    if (!coalescer->send)
        return;
    if (!coalescer->kept)
        take_off(coalescer, worker);
    send_batch(coalescer);
}

void proto_coalesce_keep(struct proto_coalescer *coalescer, struct proto_worker *worker, bool keep)
{
    if (coalescer->kept == keep)
        return;
    coalescer->kept = keep;
    if (coalescer->send && keep)
        take_off(coalescer, worker);
    else if (coalescer->send)
        put_on(coalescer, worker);
}

void proto_coalesce_push_all(struct proto_worker *worker)
{
    while (worker->coalescing) {
        struct proto_coalescer *coalescer = worker->coalescing;
        worker->coalescing = coalescer->next;
        worker->open--;
        send_batch(coalescer);
    }
}

/* --- At the receiver -------------------------------------------------------------------------------------- */

/* Takes the next entry of a batch, of which `left` bytes are left, and checks that the batch holds all of it. */
static struct entry take_entry(const struct wire_header *batch, const char *data, size_t left)
{
    struct entry entry = {.bytes = SIZE_MAX};
    if (left >= sizeof entry)
        memcpy(&entry, data, sizeof entry);
    if (lat_unlikely(left < sizeof entry || entry.bytes > left - sizeof entry ||
                     pad_bytes(entry.bytes) > left - sizeof entry))
        uccs_fail("PE %u sent a BATCH that is cut off: %zu bytes are left of it", batch->from, left);
    if (lat_unlikely(entry.header.kind == WIRE_BATCH || entry.header.from != batch->from ||
                     entry.header.worker != batch->worker))
        uccs_fail("PE %u sent a BATCH with a message of kind %u of PE %u, worker %u, in it", batch->from,
                  entry.header.kind, entry.header.from, entry.header.worker);
    return entry;
}

static bool land_batch(struct proto_arrival *arrival, const void *messages)
{
    const char *data = messages;
    for (const char *end = data + arrival->bytes; data < end;) {
        const struct entry entry = take_entry(&arrival->header, data, (size_t)(end - data));
        data += sizeof entry;
        const struct transport_message message = {.header = &entry.header,
                                                  .header_bytes = sizeof entry.header,
                                                  .data = data,
                                                  .bytes = entry.bytes};
        proto_arrived(arrival->worker, &message);
        data += pad_bytes(entry.bytes);
    }
    return true;
}

const struct proto_handler proto_on_batch = {.loose = true, .land = land_batch};
