/* The teams over which the collectives are tested: the world, the world backwards, every second PE, all but the first, and the
 * predefined shared team. A PE outside of a team holds SHMEM_TEAM_INVALID for it and stays away. */
#ifndef CONFORM_TEAMS_H
#define CONFORM_TEAMS_H
#include "check.h"

enum { TEAMS = 5 };
static shmem_team_t teams[TEAMS];

static inline void teams_create(void)
{
    teams[0] = SHMEM_TEAM_WORLD;
    teams[1] = SHMEM_TEAM_SHARED;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &teams[2]), 0);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &teams[3]), 0);
    teams[4] = SHMEM_TEAM_INVALID;
    if (npes > 1)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes - 1, NULL, 0, &teams[4]), 0);
}

static inline void teams_destroy(void)
{
    for (int i = 2; i < TEAMS; i++)
        shmem_team_destroy(teams[i]);
}

/* Run a test on every team of which this PE is a member. */
#define ON_EACH_TEAM(team)                               \
    for (int i_##team = 0; i_##team < TEAMS; i_##team++) \
        for (shmem_team_t team = teams[i_##team]; team != SHMEM_TEAM_INVALID; team = SHMEM_TEAM_INVALID)

/* Everybody's destination is ready, as the standard wants it before a collective. */
static inline void ready(shmem_team_t team)
{
    CHECK_EQ(shmem_team_sync(team), 0);
}

#endif
