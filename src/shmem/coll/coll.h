/* Collectives: what the thunks call, before those of uccs/coll/coll.h. One thread at a time per team. */
#ifndef SHMEM_COLL_COLL_H
#define SHMEM_COLL_COLL_H

#include "shmem/place.h"
#include "uccs/coll/coll.h"

#include <shmemx.h>

/* Returns the group of a team, or null for SHMEM_TEAM_INVALID. Ends the job when the library does not run. */
struct uccs_team *lat_team_group(const char *call, shmem_team_t team);

/* Returns the group of an active set, made by the first call. Ends the job when an argument is wrong. */
struct uccs_team *lat_set_group(const char *call, int start, int logstride, int size, long *psync);

/* Ends the job unless the group has this root. */
void lat_require_root(const char *call, const struct uccs_team *group, int root);

#endif
