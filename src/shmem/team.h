/* Teams: an ordered set of PEs, and the group with which it synchronises.
 *
 * Member i is world PE start + i * stride: every team comes from the world by strided splits. Where a launcher dealt PEs
 * out neither in a row nor in turn, SHMEM_TEAM_SHARED and its splits list their PEs instead (group.pes).
 * A team handle is the address of this struct; the predefined handles are small numbers. Each team holds one area of
 * the node's memory (src/uccs/team/team.h).
 *
 * Different teams may be made, used and destroyed in different threads at once; one team by one
 * thread at a time. */
#ifndef SHMEM_TEAM_H
#define SHMEM_TEAM_H

#include "uccs/team/team.h"

#include <shmem.h>
#include <stdbool.h>

struct shmem_team_impl {
    struct uccs_team group;
    shmem_team_config_t config;
    struct shmem_ctx_impl *contexts; /* made from this team, for team_destroy */
};

extern struct shmem_team_impl lat_team_world, lat_team_shared;

/* Returns the team of a handle, null for SHMEM_TEAM_INVALID. The predefined handles are small numbers, so that they can
 * initialise static variables. */
static inline struct shmem_team_impl *lat_team_of(shmem_team_t handle)
{
    if (handle == SHMEM_TEAM_WORLD)
        return &lat_team_world;
    if (handle == SHMEM_TEAM_SHARED)
        return &lat_team_shared;
    return handle;
}

shmem_team_t lat_team_handle(struct shmem_team_impl *team);

/* The join of struct uccs_members (comp/counter.h); `team` is a struct uccs_team. Collective. */
int lat_team_join(void *team, uint64_t *words, size_t n, bool maximum);

/* The world and shared teams; called by init and finalize. Close destroys what the program left. */
void lat_team_open(void);
void lat_team_close(void);

#endif
