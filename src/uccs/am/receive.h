/* Taking messages out of the rings, and what their handlers leave (receive.c, payload.c). Any thread. */
#ifndef UCCS_AM_RECEIVE_H
#define UCCS_AM_RECEIVE_H

#include "uccs/am/contexts.h"

#include <string.h>

/* Ends the job with a line when a word of the message leads to no PE, handler, thread or memory. */
void uccs_cell_check(const struct uccs_message *message);

/* True for a message without a block that is right; false says nothing. */
static inline bool uccs_cell_is_plain(const struct uccs_message *message)
{
    return message->block == UCCS_NO_BLOCK && message->length <= UCCS_SHORT_MAX && !message->staged &&
           message->id < UCCS_MESSAGE_SLOTS && message->thread < PE_SHARED_SENDERS &&
           message->source - uccs_core.first < uccs_core.pes && !uccs_core.index_of;
}

/* Takes the next message out of a ring of this PE. Every process of the node can write there, so the words that lead to memory are
 * checked in the copy, before anything follows them. Returns false when there is none. */
static inline bool uccs_cell_take(struct ring *ring, struct uccs_message *message, uint64_t *ticket)
{
    const struct uccs_message *cell = ring_take(ring, ticket);
    if (!cell)
        return false;
    const uint32_t length = atomic_load_relaxed(&cell->length); /* read once: the cell may change */
    size_t bytes = offsetof(struct uccs_message, payload) + (length <= UCCS_SHORT_MAX ? length : 0);
    __asm__("" : "+r"(bytes)); /* a compiler that knows how few they may be copies them by slower instructions */
    memcpy(message, cell, bytes);
    ring_release(ring, *ticket);
    /* Behind the release, because what has just been copied can only be read when the copy is complete. */
    if (lat_unlikely(!uccs_cell_is_plain(message)))
        uccs_cell_check(message);
    return true;
}

/* Returns the block, at the sender, of a message of this node; null when it has none. */
struct uccs_bounce *uccs_am_block_of(const struct uccs_message *message);
/* Gives a block of this node back to its sender. */
void uccs_am_mark_done(struct uccs_bounce *block);

/* Messages that a thread may handle besides replies of the network class. */
enum { UCCS_AM_REQUESTS = 1, UCCS_AM_USERS = 2 };

struct uccs_am_found {
    int users, own; /* handlers of the program run; messages of the library handled */
};
/* Polls the published contexts of the mask once, between uccs_am_enter and uccs_am_leave. The library's own context has network
 * requests alone. */
struct uccs_am_found uccs_am_look(int what, uint64_t contexts);
/* Returns true when a message waits whose handler only a thread of the program may run. */
bool uccs_am_user_waits(void);
/* Handles the library's messages alone: requests of peers to execute operations, and tagged messages. Their handlers do not
 * wait. Returns how many it handled. */
int uccs_am_look_inner(void);

#endif
