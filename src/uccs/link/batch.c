/* Batches let small messages leave together, since over TCP a message costs a system call at both ends, whatever its
 * size.
 *
 * A message that nobody waits for yet (an nbi put, an answer while more arrives) is copied to the outbox of its
 * receiver. It leaves with the next message to that receiver, when the outbox is full, or when any thread polls; else
 * the progress thread sends it within a millisecond. A message that somebody waits for leaves at once and takes the
 * outbox along.
 *
 * Under the lane's lock. Order: small messages to a receiver leave in the order of issuing, since a small message
 * bypasses the receiver's outbox only when the outbox is empty. */
#include "uccs/link/inner.h"

#include <stdlib.h>
#include <string.h>

#define BOXES_MOST 64 /* at most this many outboxes hold messages, which bounds the memory */

/* A message within a batch; its data follows, padded to whole words. */
struct entry {
    struct link_header header;
    uint64_t bytes;
};

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void put_on(struct link_outbox *box, struct link_lane *lane)
{
    lane->open++;
    box->next = lane->boxes;
    lane->boxes = box;
}

bool link_batch_reserve(struct link_lane *lane)
{
    return lane->spare || (lane->spare = malloc(LINK_BATCH_BYTES));
}

static void open_box(struct link_outbox *box, struct link_lane *lane)
{
    if (lane->open == BOXES_MOST)
        link_batch_push_all(lane);
    box->send = link_send_new(lane);
    box->send->header.kind = LINK_BATCH;
    if (!link_batch_reserve(lane))
        uccs_fail("no memory for messages");
    box->send->buffer = lane->spare;
    lane->spare = 0;
    box->send->batch = true;
    box->bytes = box->count = 0;
    if (!box->kept)
        put_on(box, lane);
}

/* Sends the batch; a batch of a single message leaves as that message. */
static void empty(struct link_outbox *box)
{
    struct link_send *send = box->send;
    const char *data = send->buffer;
    size_t bytes = box->bytes;
    if (box->count == 1) {
        const struct entry *only = send->buffer;
        send->header = only->header;
        bytes = only->bytes;
        data += sizeof *only;
    }
    box->send = 0;
    (void)link_hand_over(box, send, bytes ? data : 0, bytes);
}

static void take_off(struct link_outbox *box, struct link_lane *lane)
{
    struct link_outbox **at = &lane->boxes;
    while (*at != box)
        at = &(*at)->next;
    *at = box->next;
    lane->open--;
}

bool link_batch_fits(size_t bytes)
{
    return bytes <= LINK_BATCH_BYTES / 4;
}

void link_batch_add(struct link_outbox *box, struct link_send *send, const void *data, size_t bytes)
{
    struct link_lane *lane = send->lane;
    size_t whole = sizeof(struct entry) + padded(bytes);
    if (box->send && box->bytes + whole > LINK_BATCH_BYTES)
        link_batch_push(box, lane);
    if (!box->send)
        open_box(box, lane);
    char *to = (char *)box->send->buffer + box->bytes;
    const struct entry entry = {send->header, bytes};
    memcpy(to, &entry, sizeof entry);
    if (bytes)
        memcpy(to + sizeof entry, data, bytes);
    box->bytes += whole;
    box->count++;
    link_send_free(send);
}

void link_batch_push(struct link_outbox *box, struct link_lane *lane)
{
    if (!box->send)
        return;
    if (!box->kept)
        take_off(box, lane);
    empty(box);
}

void link_batch_keep(struct link_outbox *box, struct link_lane *lane, bool keep)
{
    if (box->kept == keep)
        return;
    box->kept = keep;
    if (box->send && keep)
        take_off(box, lane);
    else if (box->send)
        put_on(box, lane);
}

void link_batch_push_all(struct link_lane *lane)
{
    while (lane->boxes) {
        struct link_outbox *box = lane->boxes;
        lane->boxes = box->next;
        lane->open--;
        empty(box);
    }
}

/* --- At the receiver -------------------------------------------------------------------------------------- */

/* Takes the next entry of a batch, of which `left` bytes are left, and checks that the batch holds all of it. */
static struct entry take_entry(const struct link_header *batch, const char *data, size_t left)
{
    struct entry entry = {.bytes = SIZE_MAX};
    if (left >= sizeof entry)
        memcpy(&entry, data, sizeof entry);
    if (lat_unlikely(left < sizeof entry || entry.bytes > left - sizeof entry ||
                     padded(entry.bytes) > left - sizeof entry))
        uccs_fail("PE %u sent a BATCH that is cut off: %zu bytes are left of it", batch->from, left);
    if (lat_unlikely(entry.header.kind == LINK_BATCH || entry.header.from != batch->from ||
                     entry.header.lane != batch->lane))
        uccs_fail("PE %u sent a BATCH with a message of kind %u of PE %u, lane %u, in it", batch->from,
                  entry.header.kind, entry.header.from, entry.header.lane);
    return entry;
}

static bool land_batch(struct link_arrival *arrival, const void *messages)
{
    const char *data = messages;
    for (const char *end = data + arrival->bytes; data < end;) {
        const struct entry entry = take_entry(&arrival->header, data, (size_t)(end - data));
        data += sizeof entry;
        const struct transport_message message = {.header = &entry.header,
                                                  .header_bytes = sizeof entry.header,
                                                  .data = data,
                                                  .bytes = entry.bytes};
        link_arrived(arrival->lane, &message);
        data += padded(entry.bytes);
    }
    return true;
}

const struct link_handler link_on_batch = {.loose = true, .land = land_batch};
