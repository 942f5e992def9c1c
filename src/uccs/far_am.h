/* Active messages between nodes (am.h has those on a node, and the rules who may run what).
 *
 * Data flow: am_send.c finds no ring for the peer and calls uccs_far_am_try, which takes a credit of the flow (peer,
 * context, ring number) and gives the message the flow's next number; the lane carries it (FAR_AM). At the target the
 * transport's event makes a packet of it, fetching long payloads, and puts it into the queue of context and ring
 * number in the order of the numbers. am_poll.c takes packets out beside the rings, runs the handlers, and tells the
 * sender what has been handled (FAR_AM_DONE): credits back, counts for flushes, blocks done.
 *
 * Invariants:
 * - A flow has at most FLOW_MESSAGES messages and FLOW_BYTES bytes (or one message) that are not handled, so that is
 *   what a slow receiver keeps for each sender. Requests, replies and classes are flows of their own; a reply waits
 *   for replies alone.
 * - A credit comes back when the handler has returned, a block when its holder is done with it: letters that nobody
 *   has taken yet hold up nobody else.
 * - A payload in a block leaves from there: the block is done when the peer has said so and the transport has let go.
 * - Messages count as operations of the peer (issued, applied when queued), so a fence orders them behind puts, and a
 *   quiet means that they have arrived.
 * - The event holds the lane's lock and takes a queue's; who holds a queue's lock takes no other. */
#ifndef UCCS_FAR_AM_H
#define UCCS_FAR_AM_H

#include "uccs/am.h"

/* One that has arrived; the payload of a staged one follows. */
struct uccs_far_packet {
    struct uccs_far_packet *next;
    uint64_t number; /* in its flow */
    uint64_t token;  /* the sender's block; 0: none */
    struct uccs_message message;
    uint16_t context;
    uint8_t which;
    struct uccs_block block; /* for hold and done: its `far` is set */
};

/* Handled messages of one sender and lane, told in one message. */
struct uccs_far_tally {
    int to;
    uint32_t context, which, lane, count;
    uint64_t bytes;
};

/* Packets in queues; relaxed: a hint. */
extern uint32_t uccs_far_am_waiting;

/* Sends. False: no credit just now; nothing has happened. */
bool uccs_far_am_try(int pe, uint32_t context, uint32_t which, const struct uccs_message *head, const void *payload,
                     struct uccs_block *block);

/* The first packet, if its handler is registered by now; else null. */
struct uccs_far_packet *uccs_far_am_take(struct uccs_context *context, uint32_t which);

/* Its block for the handler; null when it has none. */
static inline struct uccs_block *uccs_far_am_block(struct uccs_far_packet *packet)
{
    return packet->message.staged || packet->token ? &packet->block : 0;
}

/* Its handler has returned, and is done with the packet; null: it holds it. */
void uccs_far_am_handled(struct uccs_far_tally *tally, const struct uccs_message *message,
                         struct uccs_far_packet *packet);
void uccs_far_am_tell(struct uccs_far_tally *tally);

/* The holder of a packet's block is done with it. */
void uccs_far_am_done(struct uccs_block *block);

#endif
