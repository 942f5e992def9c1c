/* Active messages between nodes (far.c).
 *
 * Data flow: send.c finds no ring for the peer and calls uccs_far_am_try, which takes a credit of the flow (peer,
 * context, ring number) and gives the message the flow's next number; the lane carries it (WIRE_AM). At the target the
 * transport's event makes a packet of it, fetching long payloads, and puts it into the queue of context and ring
 * number in the order of the numbers. receive.c takes packets out beside the rings, runs the handlers, and tells the
 * sender what has been handled (WIRE_AM_DONE): credits back, counts for flushes, blocks done.
 *
 * Invariants:
 * - A flow has at most FLOW_MESSAGES messages and FLOW_BYTES bytes (or one message) that are not handled. A slow
 *   receiver keeps at most these for each sender. Requests and replies of each class are flows of their own. A reply
 *   waits for replies alone, and a reply of user class for nothing: its receiver keeps all replies that it asked for.
 * - A credit comes back when the handler has returned, a block when its holder is done with it. So letters that nobody
 *   has taken yet delay no other message.
 * - The transport sends a payload from its block. The block is done when the peer has reported it done and the
 *   transport no longer uses it.
 * - Messages count as operations of the peer (issued, applied when queued), so a fence orders them behind puts, and a
 *   quiet means that they have arrived.
 * - The event holds the lane's lock and takes a queue's; who holds a queue's lock takes no other. */
#ifndef UCCS_AM_FAR_H
#define UCCS_AM_FAR_H

#include "uccs/am/contexts.h"
#include "uccs/proto/proto.h"

/* A message that has arrived. The payload of a staged message follows it. */
struct uccs_far_packet {
    struct uccs_far_packet *next;
    uint64_t number; /* in its flow */
    uint64_t token;  /* of the sender's block; 0: it has none */
    struct uccs_message message;
    uint16_t context;
    uint8_t which;
    struct uccs_bounce block; /* for hold and done */
};

/* Handled messages of one sender and lane, told in one message. */
struct uccs_far_tally {
    int to;
    uint32_t context, which, lane, count;
    uint64_t bytes;
};

/* Number of packets in queues; relaxed, a hint. */
extern uint32_t uccs_far_am_waiting;

/* Sends a message on these lanes (null: the service lane). Returns false when there is no credit at the moment; then it
 * has done nothing. */
bool uccs_far_am_try(struct proto_worker_set *on, int pe, uint32_t context, uint32_t which,
                     const struct uccs_message *head, const void *payload, struct uccs_bounce *block);

/* Takes the first packet if its handler is registered by now; else returns null. */
struct uccs_far_packet *uccs_far_am_take(struct uccs_context *context, uint32_t which);
/* Returns true when uccs_far_am_take would find one. */
bool uccs_far_am_is_ready(const struct uccs_context *context, uint32_t which);
/* Takes the first packet, registered handler or not. Returns null when there is none. */
struct uccs_far_packet *uccs_far_am_take_any(uint32_t context, uint32_t which);
/* Returns a PE of another node that has not handled all messages of this PE in the context; -1 when there is none. */
int uccs_far_am_debtor(uint32_t context);

/* Returns the packet's block for the handler; null when it has none. */
static inline struct uccs_bounce *uccs_far_am_block(struct uccs_far_packet *packet)
{
    return packet->message.staged || packet->token ? &packet->block : 0;
}

/* Counts a message whose handler has returned, and frees its packet. `packet` is null when the handler holds the
 * packet. */
void uccs_far_am_handled(struct uccs_far_tally *tally, const struct uccs_message *message,
                         struct uccs_far_packet *packet);
void uccs_far_am_tell(struct uccs_far_tally *tally);

/* Ends the hold of a packet's block. */
void uccs_far_am_done(struct uccs_bounce *block);
/* Ends the handling of a pending message: counts it, and tells its sender. */
void uccs_far_am_end(struct uccs_bounce *block);

#endif
