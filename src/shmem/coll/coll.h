/* Collectives: what the thunks call. Sizes in bytes unless named n (elements).
 *
 * One thread at a time per team. Team forms return 0, or non-zero for an invalid team. With a request they only start the
 * collective, and test or wait of the request completes it (Dinan et al. 2014 ask for split-phase synchronisation); every
 * member starts the same ones in the same order. */
#ifndef SHMEM_COLL_COLL_H
#define SHMEM_COLL_COLL_H

#include "base/kind.h"
#include "uccs/coll/coll.h"

#include <shmemx.h>
#include <stddef.h>

int lat_broadcast(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes, int root,
                  shmemx_request_t *req);
int lat_collect(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes);
int lat_fcollect(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                 shmemx_request_t *req);
int lat_alltoall(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                 shmemx_request_t *req);
int lat_alltoalls(const char *call, shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                  size_t nelems, size_t size);
int lat_reduce(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
               enum fold_op op, shmemx_request_t *req);
int lat_scan(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
             int inclusive);

/* Returns the group of an active set, made by the first call. Ends the job when an argument is wrong. */
struct uccs_team *lat_set_group(const char *call, int start, int logstride, int size, long *psync);

/* Collectives on the group of an active set whose arguments need a check. */
void lat_set_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes,
                       int root);
void lat_set_alltoalls(const char *call, struct uccs_team *group, void *dest, const void *source, ptrdiff_t dst,
                       ptrdiff_t sst, size_t nelems, size_t size);
void lat_set_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n, enum kind kind,
                    enum fold_op op);

#endif
