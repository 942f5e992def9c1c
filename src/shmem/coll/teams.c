/* Collectives on teams: the arguments are checked, then the team's group does it. */
#include "shmem/coll/coll.h"

#include "base/fold.h"
#include "shmem/calls.h"
#include "shmem/place.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/coll/coll.h"

static struct uccs_team *group_of(const char *call, shmem_team_t handle)
{
    lat_require(call);
    struct shmem_team_impl *team = lat_team_of(handle);
    return team ? &team->group : 0;
}

int lat_team_sync_nbe(shmem_team_t team, shmemx_request_t *req)
{
    const char *call = "shmemx_team_sync_nbe";
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    uccs_team_barrier_nb(call, group, false, req);
    return 0;
}

int lat_broadcast(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes, int root,
                  shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    if (root < 0 || root >= group->size)
        lat_fail(call, "PE_root %d is out of range, the team has PEs 0 to %d", root, group->size - 1);
    uccs_team_broadcast(call, group, dest, source, bytes, root, true, req);
    return 0;
}

int lat_collect(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    uccs_team_collect(call, group, dest, source, bytes);
    return 0;
}

int lat_fcollect(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                 shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    uccs_team_allgather(call, group, dest, source, bytes, req);
    return 0;
}

int lat_alltoall(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                 shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    uccs_team_alltoall(call, group, dest, source, bytes, req);
    return 0;
}

int lat_alltoalls(const char *call, shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                  size_t nelems, size_t size)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    lat_require_strides(call, dst, sst, nelems, size);
    uccs_team_alltoalls(call, group, dest, source, dst, sst, nelems, size);
    return 0;
}

int lat_reduce(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
               enum fold_op op, shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    (void)lat_bytes(call, n, kind_size(kind));
    uccs_team_reduce(call, group, dest, source, n, kind, op, req);
    return 0;
}

int lat_scan(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
             int inclusive)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    (void)lat_bytes(call, n, kind_size(kind));
    uccs_team_scan(call, group, dest, source, n, kind, inclusive != 0);
    return 0;
}
