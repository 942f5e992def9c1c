/* Teams: my_pe, n_pes, translate_pe, get_config, ptr on predefined, created and invalid teams.
 * prints: ^PASS$
 */
#include "check.h"

static void predefined(void)
{
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes);
    int shared = shmem_team_n_pes(SHMEM_TEAM_SHARED), mine = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    CHECK(shared >= 1 && shared <= npes && mine >= 0 && mine < shared);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_SHARED, mine, SHMEM_TEAM_WORLD), me);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, me, SHMEM_TEAM_SHARED), mine);
}

static void invalid(void)
{
    shmem_team_config_t config = {.num_contexts = 77};
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_INVALID), -1);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, NULL) != 0);
    CHECK_EQ(config.num_contexts, 77);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, &config, 0) == NULL);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

/* Evens and odds: each PE is in one of them; numbers translate only within. */
static void translation(void)
{
    static long object;
    shmem_team_t even, odd = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &even), 0);
    if (npes > 1)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd), 0);
    shmem_team_t mine = me % 2 ? odd : even;
    CHECK((me % 2 ? even : odd) == SHMEM_TEAM_INVALID);
    int n = shmem_team_n_pes(mine);
    for (int pe = -2; pe <= npes + 1; pe++) {
        int in = pe >= 0 && pe < npes && pe % 2 == me % 2;
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, mine), in ? pe / 2 : -1);
        CHECK_EQ(shmem_team_translate_pe(mine, pe, SHMEM_TEAM_WORLD), pe >= 0 && pe < n ? 2 * pe + me % 2 : -1);
        CHECK_EQ(shmem_team_translate_pe(mine, pe, mine), pe >= 0 && pe < n ? pe : -1);
    }
    object = me;
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        long *there = shmem_team_ptr(mine, &object, pe);
        CHECK(there == shmem_ptr(&object, 2 * pe + me % 2));
        if (there != NULL)
            CHECK_EQ(*there, 2 * pe + me % 2);
    }
    shmem_barrier_all();
    shmem_team_destroy(mine);
}

static void configuration(void)
{
    shmem_team_config_t ask = {.num_contexts = 3}, got = {.num_contexts = -1};
    shmem_team_t team, plain;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &ask, SHMEM_TEAM_NUM_CONTEXTS, &team), 0);
    CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK(got.num_contexts >= 0);
    CHECK_EQ(shmem_team_get_config(team, 0, NULL), 0);
    got.num_contexts = -5;
    CHECK_EQ(shmem_team_get_config(team, 0, &got), 0);
    CHECK_EQ(got.num_contexts, -5); /* a mask of nothing: no action */
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_SHARED, 0, NULL), 0);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &ask, 0, &plain), 0); /* masked out */
    CHECK_EQ(shmem_team_get_config(plain, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    shmem_team_destroy(plain);
    shmem_team_destroy(team);
}

int main(void)
{
    check_start();
    predefined();
    invalid();
    translation();
    configuration();
    return check_pass();
}
