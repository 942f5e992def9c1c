/* Teams: an ordered set of PEs, and the group with which it synchronises.
 *
 * Member i is world PE start + i * stride: every team comes from the world by strided splits.
 * A team handle is the address of this. Created and destroyed by one thread at a time. */
#ifndef SHMEM_TEAM_H
#define SHMEM_TEAM_H

#include "uccs/group.h"

#include <shmem.h>

struct shmem_team_impl {
    struct uccs_group group;
    int rank; /* mine, or -1 */
    int size;
    int start, stride; /* in world PEs */
    shmem_team_config_t config;
    struct shmem_ctx_impl *contexts; /* made from this team, for team_destroy */
};

extern struct shmem_team_impl lat_team_world, lat_team_shared;

/* The team behind a handle: the predefined handles are small numbers, so that they can initialise
 * static variables; null for SHMEM_TEAM_INVALID. */
static inline struct shmem_team_impl *lat_team_of(shmem_team_t handle)
{
    if (handle == SHMEM_TEAM_WORLD)
        return &lat_team_world;
    if (handle == SHMEM_TEAM_SHARED)
        return &lat_team_shared;
    return handle;
}

shmem_team_t lat_team_handle(struct shmem_team_impl *team);

/* The world and shared teams; called by init and finalize. */
void lat_team_open(void);
void lat_team_close(void);

#endif
