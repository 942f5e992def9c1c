/* Messages that came before their handler was registered, by context and ring; they stay over the lives of a
 * context, as what lies in its rings does. Any thread. */
#ifndef UCCS_PARK_H
#define UCCS_PARK_H

#include "uccs/am.h"

/* Messages of one ring, a hint: 0 almost always. Release by park.c. */
extern uint32_t uccs_parked[OWN_CONTEXTS][OWN_RINGS];

static inline bool uccs_park_empty(uint32_t context, uint32_t which)
{
    return atomic_load_acquire(&uccs_parked[context][which]) == 0;
}

/* `ticket` is the message's place in its ring. */
void uccs_park(uint32_t context, uint32_t which, uint64_t ticket, const struct uccs_message *message);

/* Takes the first one, if its handler is registered by now. */
bool uccs_park_take(struct uccs_context *context, uint32_t which, struct uccs_message *message);

/* At the end of a life. */
void uccs_park_close(void);

#endif
