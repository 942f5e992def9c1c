/* For the wrappers of OpenSHMEM. Any thread. */
#ifndef STATS_OF_SHMEM_H
#define STATS_OF_SHMEM_H

#include "stats.h"

#include <shmem.h>

int stats_pe_of(shmem_ctx_t ctx, int pe); /* returns the world's number of a context's PE, or -1 */

#endif
