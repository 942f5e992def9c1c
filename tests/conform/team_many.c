/* Teams: as many as possible. A split that cannot succeed returns nonzero on all members and sets every handle
 * invalid; the parent stays usable, and destroyed teams make room again. A context creation that fails leaves an
 * invalid handle.
 * prints: ^PASS$
 */
#include "check.h"

enum { MOST = 400 };
static shmem_team_t team[MOST];
static int result[2], worst[2];

/* Everybody got the same answer. */
static int agreed(int answer)
{
    result[0] = answer != 0;
    result[1] = answer == 0;
    CHECK_EQ(shmem_int_max_reduce(SHMEM_TEAM_WORLD, worst, result, 2), 0);
    CHECK_EQ(worst[0] + worst[1], 1);
    CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
    return answer;
}

/* Members differ from team to team, so that what each PE has left differs as well. */
static int create(int i)
{
    int size = 1 + i % npes, start = i * 3 % (npes - size + 1);
    team[i] = SHMEM_TEAM_WORLD;
    int answer = agreed(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &team[i]));
    int member = answer == 0 && me >= start && me < start + size;
    CHECK_EQ(team[i] != SHMEM_TEAM_INVALID, member);
    CHECK_EQ(shmem_team_n_pes(team[i]), member ? size : -1);
    return answer;
}

static int fill(void)
{
    int made = 0;
    while (made < MOST && create(made) == 0)
        made++;
    for (int i = 0; i < made; i++)
        if (team[i] != SHMEM_TEAM_INVALID)
            CHECK_EQ(shmem_team_sync(team[i]), 0);
    return made;
}

static void many_contexts(void)
{
    enum { CONTEXTS = 2000 };
    static shmem_ctx_t ctx[CONTEXTS];
    static long word;
    int made = 0;
    while (made < CONTEXTS && shmem_ctx_create(0, &ctx[made]) == 0)
        made++;
    CHECK(made > 0 && (made == CONTEXTS || ctx[made] == SHMEM_CTX_INVALID));
    shmem_ctx_long_atomic_inc(ctx[made - 1], &word, next_pe);
    while (made > 0)
        shmem_ctx_destroy(ctx[--made]);
    shmem_barrier_all();
    CHECK_EQ(word, 1);
}

int main(void)
{
    check_start();
    int first = fill();
    CHECK(first >= 1);
    for (int i = 0; i < first; i++)
        shmem_team_destroy(team[i]);
    int second = fill();
    CHECK_EQ(second, first); /* nothing was lost */
    for (int i = second - 1; i >= 0; i--)
        shmem_team_destroy(team[i]);
    many_contexts();
    return check_pass();
}
