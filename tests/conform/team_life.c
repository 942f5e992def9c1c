/* Teams: many at once, nested, destroyed and made again. A PE may use a team as soon as its split returns, while
 * others are still in the split; several teams may have equal members; finalize destroys the remaining teams.
 * prints: ^PASS$
 */
#include "check.h"

static long one = 1, sum;

/* A sign of life that must count the members. The sync after it says that everybody's sum may be written again. */
static void count_members(shmem_team_t team, int members)
{
    if (team == SHMEM_TEAM_INVALID)
        return;
    CHECK_EQ(shmem_long_sum_reduce(team, &sum, &one, 1), 0);
    CHECK_EQ(sum, members);
    CHECK_EQ(shmem_team_sync(team), 0);
}

/* Create, use at once, destroy, again: slots are reused, also when the members of the next team are others. */
static void again_and_again(void)
{
    for (int round = 0; round < 60; round++) {
        shmem_team_t team = SHMEM_TEAM_INVALID;
        int size = 1 + round % npes, start = round % (npes - size + 1);
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &team), 0);
        if (me % 3 == round % 3)
            usleep(50);
        count_members(team, size);
        shmem_team_destroy(team);
    }
}

/* A child of a child of a child, each one PE smaller, made without any synchronisation in between. */
static void nested(shmem_team_t parent, int depth)
{
    shmem_team_t child;
    int n = shmem_team_n_pes(parent);
    if (n == 1 || depth == 5)
        return;
    CHECK_EQ(shmem_team_split_strided(parent, 1, 1, n - 1, NULL, 0, &child), 0);
    count_members(child, n - 1);
    if (child != SHMEM_TEAM_INVALID)
        nested(child, depth + 1);
    count_members(parent, n); /* those outside are here already */
    count_members(child, n - 1);
    shmem_team_destroy(child);
}

/* Several teams of one set, and of overlapping sets, used in turn. */
static void several(void)
{
    enum { TEAMS = 8 };
    shmem_team_t team[TEAMS];
    int size[TEAMS];
    for (int i = 0; i < TEAMS; i++) {
        int start = i % 2 ? 0 : i % npes;
        size[i] = npes - start;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size[i], NULL, 0, &team[i]), 0);
        for (int k = 0; k < i; k++)
            CHECK(team[i] == SHMEM_TEAM_INVALID || team[i] != team[k]);
    }
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < TEAMS; i++)
            count_members(team[(i * 3 + round) % TEAMS], size[(i * 3 + round) % TEAMS]);
    for (int i = TEAMS - 1; i >= 0; i--)
        shmem_team_destroy(team[(i * 5) % TEAMS]);
}

/* Disjoint teams go on without each other: the teams of the evens and the odds work different amounts. */
static void independent(void)
{
    shmem_team_t mine, other = SHMEM_TEAM_INVALID;
    int evens = (npes + 1) / 2, odds = npes / 2;
    shmem_team_t even;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, evens, NULL, 0, &even), 0);
    if (odds > 0)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, odds, NULL, 0, &other), 0);
    mine = me % 2 ? other : even;
    for (int i = 0; i < (me % 2 ? 50 : 10); i++) {
        count_members(mine, me % 2 ? odds : evens);
        if (i % 10 == 9) {
            shmem_team_t half;
            int n = shmem_team_n_pes(mine);
            CHECK_EQ(shmem_team_split_strided(mine, 0, 1, (n + 1) / 2, NULL, 0, &half), 0);
            count_members(half, (n + 1) / 2);
            shmem_team_destroy(half);
        }
    }
    shmem_team_destroy(mine);
    count_members(SHMEM_TEAM_WORLD, npes);
}

int main(void)
{
    check_start();
    again_and_again();
    nested(SHMEM_TEAM_WORLD, 0);
    several();
    independent();
    shmem_team_t left_over;
    shmem_ctx_t ctx;
    shmem_team_config_t config = {.num_contexts = 1};
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &left_over), 0);
    if (shmem_team_create_ctx(left_over, 0, &ctx) != 0)
        CHECK(ctx == SHMEM_CTX_INVALID);
    check_all_passed();
    shmem_finalize(); /* with a team and a shareable context alive */
    shmem_init();     /* and a new life has room again */
    again_and_again();
    shmem_finalize();
    return 0;
}
