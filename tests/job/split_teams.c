/* Split-phase collectives on several overlapping teams at once, teams destroyed and made again around them; requests
 * and counters through contexts of teams, whose PE numbers are the team's.
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { TEAMS = 5, EACH = 40, ROUNDS = 30, MOST_PES = 16 };

struct part {
    shmem_team_t team;
    int start, stride, size, rank; /* rank -1: not a member */
    shmemx_request_t request;
};

static struct part parts[TEAMS];
static int from[TEAMS][EACH * MOST_PES], gathered[TEAMS][EACH * MOST_PES], swapped[TEAMS][EACH * MOST_PES];
static int sums[TEAMS][EACH], cast[TEAMS][EACH];

static void split(struct part *part, int start, int stride, int size)
{
    *part = (struct part){.start = start, .stride = stride, .size = size, .request = SHMEMX_REQUEST_NULL};
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &part->team), 0);
    part->rank = shmem_team_my_pe(part->team);
}

static void make_teams(void)
{
    split(&parts[0], 0, 1, npes);
    split(&parts[1], 0, 2, (npes + 1) / 2);
    split(&parts[2], npes - 1, -1, npes);
    split(&parts[3], npes / 2, 1, npes - npes / 2);
    split(&parts[4], npes - 1, 1, 1);
}

static int element(int team, int pe, int i, int round)
{
    return team * 1000000 + pe * 10000 + i * 100 + round;
}

static void start(int t, int round)
{
    struct part *part = &parts[t];
    if (part->rank < 0)
        return;
    for (int i = 0; i < EACH * part->size; i++)
        from[t][i] = element(t, me, i, round);
    int root = round % part->size;
    CHECK_EQ(shmemx_int_fcollect_nbe(part->team, gathered[t], from[t], EACH, &part->request), 0);
    CHECK_EQ(shmemx_int_alltoall_nbe(part->team, swapped[t], from[t], EACH, &part->request), 0);
    CHECK_EQ(shmemx_int_sum_reduce_nbe(part->team, sums[t], from[t], EACH, &part->request), 0);
    CHECK_EQ(shmemx_int_broadcast_nbe(part->team, cast[t], from[t], EACH, root, &part->request), 0);
    CHECK_EQ(shmemx_team_sync_nbe(part->team, &part->request), 0);
}

static void check(int t, int round)
{
    const struct part *part = &parts[t];
    for (int i = 0; part->rank >= 0 && i < EACH; i++) {
        int sum = 0, root = part->start + round % part->size * part->stride;
        for (int rank = 0; rank < part->size; rank++) {
            int pe = part->start + rank * part->stride;
            sum += element(t, pe, i, round);
            CHECK_EQ(gathered[t][rank * EACH + i], element(t, pe, i, round));
            CHECK_EQ(swapped[t][rank * EACH + i], element(t, pe, part->rank * EACH + i, round));
        }
        CHECK_EQ(sums[t][i], sum);
        CHECK_EQ(cast[t][i], element(t, root, i, round));
    }
}

/* Started in one order everywhere, waited for in another on each PE, with blocking calls of teams between. */
static void overlapping(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < TEAMS; t++) {
            start(t, round);
            if (t == 2 && parts[1].rank >= 0)
                CHECK_EQ(shmem_team_sync(parts[1].team), 0);
        }
        for (int n = 0; n < TEAMS; n++) {
            int t = (n + me + round) % TEAMS;
            shmemx_request_wait(&parts[t].request);
            check(t, round);
        }
        shmem_barrier_all();
    }
}

/* destroy waits for what is under way. */
static void destroy_pending(void)
{
    for (int t = 0; t < TEAMS; t++)
        start(t, 7);
    for (int t = 0; t < TEAMS; t++)
        shmem_team_destroy(parts[t].team);
    for (int t = 0; t < TEAMS; t++) {
        CHECK_EQ(shmemx_request_test(&parts[t].request), 1);
        check(t, 7);
        shmemx_request_free(&parts[t].request);
    }
    shmem_barrier_all();
}

/* In the reversed team, PE 0 is the last of the world. */
static void contexts(void)
{
    static int words[MOST_PES];
    static long adds;
    shmem_ctx_t ctx;
    shmemx_ct_t ct;
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    split(&parts[2], npes - 1, -1, npes);
    CHECK_EQ(shmem_team_create_ctx(parts[2].team, 0, &ctx), 0);
    shmemx_ct_create(&ct);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        int value = 1000 * me + pe, got = -1;
        shmemx_ctx_int_put_nbe(ctx, &words[me], &value, 1, pe, &one);
        shmemx_ctx_long_atomic_add_nbe(ctx, &adds, pe, pe, &one);
        shmemx_request_wait(&one);
        shmemx_ctx_int_get_nbe(ctx, &got, &words[me], 1, pe, &one);
        shmemx_request_wait(&one);
        CHECK_EQ(got, value);
        shmemx_ctx_ct_add(ctx, ct, pe, pe);
        shmemx_ctx_int_put_ct(ctx, ct, &words[me], &value, 1, pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(words[pe], 1000 * pe + npes - 1 - me);
    CHECK_EQ(adds, (long)(npes - 1 - me) * npes);
    CHECK_EQ(shmemx_ct_get(ct), (long)(npes - 1 - me + 1) * npes);
    shmemx_request_free(&one);
    shmemx_ct_free(&ct);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(parts[2].team);
}

int main(void)
{
    check_start();
    make_teams();
    overlapping();
    destroy_pending();
    make_teams();
    overlapping();
    destroy_pending();
    contexts();
    return check_pass();
}
