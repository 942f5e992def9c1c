/* The library's own context: letters, operations executed by the target, out-of-band messages. It exists as long
 * as uccs.h is in use, and with it polls in OpenSHMEM's waits and the progress thread. */
#ifndef UCCS_INNER_H
#define UCCS_INNER_H

#include <stdbool.h>

/* Its handlers. */
enum { UCCS_INNER_LETTER, UCCS_INNER_REMOTE, UCCS_INNER_OOB };

/* All PEs of the job; waiters make progress, of the network class alone or of both. Nothing when the substrate
 * is not in use. Collective, one thread at a time. */
void uccs_inner_meet(bool user);

#endif
