/* Collectives in two phases: started with a request, completed by test or wait (Dinan et al. 2014 ask for split-phase
 * synchronisation). The thunks call these functions; rules as for the blocking ones, and every member starts the same ones in
 * the same order. */
#ifndef SHMEM_COLL_NBE_H
#define SHMEM_COLL_NBE_H

#include "base/kind.h"

#include <shmemx.h>

void lat_barrier_all_nbe(shmemx_request_t *req);
int lat_team_sync_nbe(shmem_team_t team, shmemx_request_t *req);
int lat_broadcast_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes, int root,
                      shmemx_request_t *req);
int lat_fcollect_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                     shmemx_request_t *req);
int lat_alltoall_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                     shmemx_request_t *req);
int lat_reduce_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
                   enum fold_op op, shmemx_request_t *req);

#endif
