#include "shmem/coll/nbe.h"

#include "base/fold.h"
#include "shmem/bytes.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/coll/coll.h"

static struct uccs_team *group_of(const char *call, shmem_team_t handle)
{
    lat_require(call);
    struct shmem_team_impl *team = lat_team_of(handle);
    return team ? &team->group : 0;
}

void lat_barrier_all_nbe(shmemx_request_t *req)
{
    const char *call = "shmemx_barrier_all_nbe";
    uccs_team_barrier_nb(call, group_of(call, SHMEM_TEAM_WORLD), true, req);
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

int lat_broadcast_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes, int root,
                      shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    if (root < 0 || root >= group->size)
        lat_fail(call, "PE_root %d is out of range, the team has PEs 0 to %d", root, group->size - 1);
    uccs_team_broadcast_nb(call, group, dest, source, bytes, root, req);
    return 0;
}

int lat_fcollect_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                     shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    uccs_team_allgather_nb(call, group, dest, source, bytes, req);
    return 0;
}

int lat_alltoall_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                     shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    uccs_team_alltoall_nb(call, group, dest, source, bytes, req);
    return 0;
}

int lat_reduce_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
                   enum fold_op op, shmemx_request_t *req)
{
    struct uccs_team *group = group_of(call, team);
    if (!group)
        return -1;
    (void)lat_bytes(call, n, kind_size(kind));
    uccs_team_reduce_nb(call, group, dest, source, n, kind, op, req);
    return 0;
}
