/* What the out-of-line halves share: places of symmetric addresses at peers of other nodes. Any thread. */
#ifndef SHMEM_FAR_H
#define SHMEM_FAR_H

#include "uccs/far.h"

/* The place at a peer of another node of my symmetric address; a mistake is named, and ends the job. */
struct uccs_far_place lat_far_place(const char *call, const char *argument, const void *addr, int pe);

#endif
