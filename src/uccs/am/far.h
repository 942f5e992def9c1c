/* Active messages between nodes (far.c).
 *
 * Data flow: send.c finds no ring for the peer and calls uccs_far_am_try, which takes a credit of the flow (peer,
 * context, ring number) and gives the message the flow's next number; the worker carries it (WIRE_AM). At the target the
 * transport's event makes a packet of it (packet.h), fetching long payloads, and puts it into the queue of context and ring
 * number in the order of the numbers. receive.c takes packets out beside the rings, runs the handlers, and tells the
 * sender what has been handled (WIRE_AM_DONE): credits back, counts for flushes, blocks done.
 *
 * Invariants:
 * - A flow has at most FLOW_MESSAGES messages and FLOW_BYTES bytes (or one message) that are not handled. A slow
 *   receiver keeps at most these for each sender. Requests and replies of each class are flows of their own. A reply
 *   waits for replies alone, and a reply of user class for nothing: its receiver keeps all replies that it asked for.
 * - A credit comes back when the handler has returned, a block when its holder is done with it. So messages that nobody
 *   has taken yet delay no other message.
 * - The transport sends a payload from its block. The block is done when the peer has reported it done and the
 *   transport no longer uses it.
 * - Messages count as operations of the peer (issued, applied when queued), so a fence orders them behind puts, and a
 *   quiet means that they have arrived.
 * - The event holds the service worker's lock, which guards the receiver's half of a flow, and takes a queue's. */
#ifndef UCCS_AM_FAR_H
#define UCCS_AM_FAR_H

#include "uccs/am/packet.h"
#include "uccs/proto/proto.h"

/* Handled messages of one thread of a PE, which that PE is told of at once. */
struct uccs_tally {
    uint32_t context, which, source, thread, count;
    uint64_t bytes;
};

/* Sends a message on these workers (null: the service worker). Returns false when there is no credit at the moment; then it
 * has done nothing. */
bool uccs_far_am_try(struct proto_worker_set *on, int pe, uint32_t context, uint32_t which,
                     const struct uccs_message *head, const void *payload, struct uccs_bounce *block);

/* Returns a PE of another node that has not handled all messages of this PE in the context; -1 when there is none. */
int uccs_far_am_debtor(uint32_t context);

/* Tells the sender of the messages, and that the block with this token, if it is not 0, is done. */
void uccs_far_am_tell(const struct uccs_tally *tally, uint64_t token, bool failed);

/* Ends the hold of a packet's block. */
void uccs_far_am_done(struct uccs_bounce *block);
/* Ends the handling of a pending message: counts it, and tells its sender. */
void uccs_far_am_end(struct uccs_bounce *block);

#endif
