/* Small messages that leave together: over TCP a message costs a system call at both ends, whatever its size.
 *
 * What nobody waits for yet (an nbi put, answers while more arrives) is copied to the outbox of its receiver and leaves
 * with the next message to it, when the outbox is full, or when any thread polls; else the progress thread sends it
 * within a millisecond. What somebody waits for takes the outbox along and leaves at once.
 *
 * Under the lane's lock. Order: everything small to one receiver goes through its outbox, in the order of issuing. */
#include "uccs/far_lane.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES ((size_t)32 << 10) /* below where transports begin to ask before they send */
#define BOXES_MOST 64                  /* that hold messages at a time: memory for batches is bounded */

/* A message within a batch; its data follows, padded to whole words. */
struct entry {
    struct far_header header;
    uint64_t bytes;
};

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void open_box(struct far_outbox *box, struct far_lane *lane)
{
    if (lane->open == BOXES_MOST)
        far_batch_push_all(lane);
    lane->open++;
    box->send = far_send_new(lane);
    box->send->header.kind = FAR_BATCH;
    box->send->buffer = lane->spare ? lane->spare : malloc(BATCH_BYTES);
    if (!box->send->buffer)
        far_fail("no memory for messages");
    lane->spare = 0;
    box->send->batch = true;
    box->bytes = box->count = 0;
    box->next = lane->boxes;
    lane->boxes = box;
}

/* The batch leaves; one that holds a single message leaves as that. */
static void empty(struct far_outbox *box)
{
    struct far_send *send = box->send;
    const char *data = send->buffer;
    size_t bytes = box->bytes;
    if (box->count == 1) {
        const struct entry *only = send->buffer;
        send->header = only->header;
        bytes = only->bytes;
        data += sizeof *only;
    }
    box->send = 0;
    far_hand_over(box->to, box->pe, send, bytes ? data : 0, bytes);
}

static void take_off(struct far_outbox *box, struct far_lane *lane)
{
    struct far_outbox **at = &lane->boxes;
    while (*at != box)
        at = &(*at)->next;
    *at = box->next;
    lane->open--;
}

bool far_batch_fits(size_t bytes)
{
    return bytes <= BATCH_BYTES / 4;
}

void far_batch_add(struct far_outbox *box, struct far_send *send, const void *data, size_t bytes)
{
    struct far_lane *lane = send->lane;
    size_t whole = sizeof(struct entry) + padded(bytes);
    if (box->send && box->bytes + whole > BATCH_BYTES)
        far_batch_push(box, lane);
    if (!box->send)
        open_box(box, lane);
    char *to = (char *)box->send->buffer + box->bytes;
    const struct entry entry = {send->header, bytes};
    memcpy(to, &entry, sizeof entry);
    if (bytes)
        memcpy(to + sizeof entry, data, bytes);
    box->bytes += whole;
    box->count++;
    far_send_free(send);
}

void far_batch_push(struct far_outbox *box, struct far_lane *lane)
{
    if (!box->send)
        return;
    take_off(box, lane);
    empty(box);
}

void far_batch_push_all(struct far_lane *lane)
{
    while (lane->boxes) {
        struct far_outbox *box = lane->boxes;
        lane->boxes = box->next;
        lane->open--;
        empty(box);
    }
}

/* --- At the receiver -------------------------------------------------------------------------------------- */

/* A batch that the transport keeps at the sender until it is fetched. */
struct late {
    struct far_token token;
    struct far_lane *lane;
    size_t bytes;
    char data[];
};

static void unpack(struct far_lane *lane, const char *data, size_t bytes)
{
    for (const char *end = data + bytes; data < end;) {
        struct entry entry;
        memcpy(&entry, data, sizeof entry);
        data += sizeof entry;
        const struct transport_message message = {.header = &entry.header,
                                                  .header_bytes = sizeof entry.header,
                                                  .data = data,
                                                  .bytes = entry.bytes};
        far_arrived(lane, &message);
        data += padded(entry.bytes);
    }
}

static void received(struct far_token *token, bool failed)
{
    struct late *late = (struct late *)token;
    if (!failed) /* else `broken` ends the job */
        unpack(late->lane, late->data, late->bytes);
    free(late);
}

void far_batch_arrived(struct far_lane *lane, const struct transport_message *message)
{
    if (!message->rest) {
        unpack(lane, message->data, message->bytes);
        return;
    }
    struct late *late = malloc(sizeof *late + message->bytes);
    if (!late)
        far_fail("no memory for messages");
    *late = (struct late){.token.done = received, .lane = lane, .bytes = message->bytes};
    switch (far_transport->receive(lane->at, message->rest, late->data, message->bytes, late)) {
    case TRANSPORT_PENDING: break;
    case TRANSPORT_DONE: received(&late->token, false); break;
    default: far_fail("messages did not come: the connection is lost");
    }
}
