/* Collectives: what the thunks call. Sizes in bytes unless named n (elements).
 *
 * One thread at a time per team. Team forms return 0, or non-zero for an invalid team. */
#ifndef SHMEM_COLL_COLL_H
#define SHMEM_COLL_COLL_H

#include "base/kind.h"
#include "uccs/team/team.h"

#include <shmem.h>
#include <stddef.h>

int lat_broadcast(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes, int root);
int lat_collect(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes);
int lat_fcollect(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes);
int lat_alltoall(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes);
int lat_alltoalls(const char *call, shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                  size_t nelems, size_t size);
int lat_reduce(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
               enum fold_op op);
int lat_scan(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
             int inclusive);

/* Returns the group of an active set, made by the first call. Ends the job when an argument is wrong. */
struct uccs_team *lat_set_group(const char *call, int start, int logstride, int size, long *psync);

void lat_set_broadcast(const char *call, void *dest, const void *source, size_t bytes, int root, int start,
                       int logstride, int size, long *pSync);
void lat_set_collect(const char *call, void *dest, const void *source, size_t bytes, int start, int logstride, int size,
                     long *pSync);
void lat_set_fcollect(const char *call, void *dest, const void *source, size_t bytes, int start, int logstride,
                      int size, long *pSync);
void lat_set_alltoall(const char *call, void *dest, const void *source, size_t bytes, int start, int logstride,
                      int size, long *pSync);
void lat_set_alltoalls(const char *call, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                       size_t elem, int start, int logstride, int size, long *pSync);
void lat_set_reduce(const char *call, void *dest, const void *source, size_t n, enum kind kind, enum fold_op op,
                    int start, int logstride, int size, void *pWrk, long *pSync);

#endif
