/* Unexpected messages, by context and ring. Any thread. They have been taken out of their ring and wait, because their
 * handler is not registered yet, or because they are replies of user class that came while only the network class was
 * served. They stay over the lives of a context, as the messages in its rings do. */
#ifndef UCCS_AM_UNEXPECTED_H
#define UCCS_AM_UNEXPECTED_H

#include "uccs/am/contexts.h"

/* Number of unexpected messages of one ring, a hint; almost always 0. Release: unexpected.c. */
extern uint32_t uccs_unexpected_count[PE_SHARED_CONTEXTS][PE_SHARED_RINGS];

static inline bool uccs_unexpected_empty(uint32_t context, uint32_t which)
{
    return atomic_load_acquire(&uccs_unexpected_count[context][which]) == 0;
}

/* Keeps a message. `ticket` is its place in its ring. `copy` is a private copy of a payload that was in a block, or
 * null. */
void uccs_unexpected_add(uint32_t context, uint32_t which, uint64_t ticket, const struct uccs_message *message,
                         struct uccs_bounce *copy);

/* Takes the first message if its handler is registered by now. Returns false when there is none. The caller frees
 * *copy, which may be null. */
bool uccs_unexpected_take(struct uccs_context *context, uint32_t which, struct uccs_message *message,
                          struct uccs_bounce **copy);
/* Returns true when uccs_unexpected_take would find one. */
bool uccs_unexpected_is_ready(const struct uccs_context *context, uint32_t which);
/* Takes the first message. Returns false when there is none. */
bool uccs_unexpected_take_any(uint32_t context, uint32_t which, struct uccs_message *message,
                              struct uccs_bounce **copy);

#endif
