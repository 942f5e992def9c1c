/* A look: what a thread that waits or tests does besides looking at its own variable. It calls pollers, runs errands and
 * advances work, as far as they are due. Any thread that holds no lock which a poller could need. */
#ifndef UCCS_CORE_LOOK_H
#define UCCS_CORE_LOOK_H

#include "uccs/core/due.h"

/* Both return non-zero when a poller or an callback was found, else 0. */
int uccs_look_slow(void);

static inline int uccs_look(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_due) != 0) ? uccs_look_slow() : 0;
}

#endif
