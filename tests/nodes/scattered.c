/* PEs dealt out to nodes in turn, evenly and not: those of one node share memory, whatever their numbers. SHMEM_TEAM_SHARED
 * has exactly them, shmem_ptr and operations on their memory work while they compute, teams and their contexts find them,
 * and reductions of reals have the same bits at all PEs.
 * case: turn
 * pes: 6
 * env: LATERAL_NODE_SIZE=0,1,2 UCX_TLS=tcp,self LATERAL_PROGRESS=poll
 * prints: ^PASS$
 * case: uneven
 * pes: 7
 * env: LATERAL_NODE_SIZE=0,1,1,0,0 UCX_TLS=tcp,self LATERAL_PROGRESS=poll
 * prints: ^PASS$
 * case: rail
 * pes: 5
 * env: LATERAL_NODE_SIZE=0,1,0 UCX_TLS=tcp,self LATERAL_COLL=reduce:rail,fcollect:rail
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 40000 };

static long cells[8], *heap;
static uint64_t flag;
static double reals[LONG], sums[LONG];
static long whole[LONG], sums_whole[LONG];

static int node_of(int pe)
{
    const char *deal = getenv("LATERAL_NODE_SIZE");
    size_t nodes = strlen(deal) / 2 + 1; /* one digit each */
    return deal[2 * ((size_t)pe % nodes)] - '0';
}

static int near(int pe)
{
    return node_of(pe) == node_of(me);
}

static void members(void)
{
    int rank = 0;
    for (int pe = 0; pe < npes; pe++) {
        int member = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED);
        CHECK_EQ(member, near(pe) ? rank : -1);
        CHECK_EQ(shmem_ptr(cells, pe) != 0, near(pe));
        CHECK_EQ(shmem_ptr(heap, pe) != 0, near(pe));
        if (!near(pe))
            continue;
        CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, heap, rank) == shmem_ptr(heap, pe));
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_SHARED, rank, SHMEM_TEAM_WORLD), pe);
        CHECK_EQ(rank == shmem_team_my_pe(SHMEM_TEAM_SHARED), pe == me);
        rank++;
    }
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_SHARED), rank);
}

/* PE 0 makes no call until its neighbours have done: messages would wait for ever. */
static void without_help(void)
{
    uint64_t others = (uint64_t)shmem_team_n_pes(SHMEM_TEAM_SHARED) - 1;
    shmem_barrier_all();
    if (me == 0) {
        while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) < others)
            usleep(1000);
        for (int pe = 1; pe < npes; pe++)
            CHECK_EQ(heap[pe], near(pe) ? pe + 1 : 0);
    } else if (near(0)) {
        shmem_long_p(&heap[me], me, 0);
        CHECK_EQ(shmem_long_g(&heap[me], 0), me);
        shmem_quiet();
        CHECK_EQ(shmem_long_atomic_fetch_inc(&heap[me], 0), me);
        shmem_long_put_signal(&cells[1], (long[]){me}, 1, &flag, 1, SHMEM_SIGNAL_ADD, 0);
    }
    shmem_barrier_all();
}

/* Every PE adds one to every PE's cell, so far and near ones add to one word. */
static void from_everybody(void)
{
    for (int i = 0; i < npes; i++)
        shmem_long_atomic_inc(&cells[0], (me + i) % npes);
    shmem_barrier_all();
    CHECK_EQ(cells[0], npes);
    shmem_barrier_all();
}

/* Every second member of the node, in their own context, the last one first. */
static void part_of_node(void)
{
    int size = shmem_team_n_pes(SHMEM_TEAM_SHARED), half = (size + 1) / 2, last = (half - 1) * 2;
    shmem_team_t team;
    shmem_ctx_t ctx;
    shmem_team_split_strided(SHMEM_TEAM_SHARED, last, half > 1 ? -2 : 1, half, 0, 0, &team);
    CHECK_EQ(team != SHMEM_TEAM_INVALID, shmem_team_my_pe(SHMEM_TEAM_SHARED) % 2 == 0);
    if (team == SHMEM_TEAM_INVALID)
        return;
    int mine = shmem_team_my_pe(team);
    CHECK_EQ(mine, (last - shmem_team_my_pe(SHMEM_TEAM_SHARED)) / 2);
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_long_p(ctx, &cells[2], mine, (mine + 1) % half);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    CHECK_EQ(cells[2], (mine + half - 1) % half);
    CHECK_EQ(shmem_long_sum_reduce(team, &cells[3], &cells[2], 1), 0);
    CHECK_EQ(cells[3], half * (half - 1) / 2);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
}

/* Any other order of these terms gives other bits. */
static double term(int pe, int i)
{
    return (pe % 2 ? -1.0 : 1.0) * (1e16 + i) / (pe + 3.0) + 1.0 / (i + pe + 1);
}

static void reduce_alike(shmem_team_t team, int n)
{
    const int size = shmem_team_n_pes(team), next = (shmem_team_my_pe(team) + 1) % size;
    for (int i = 0; i < n; i++) {
        reals[i] = term(me, i);
        whole[i] = (long)me << 20 | i;
    }
    shmem_team_sync(team);
    CHECK_EQ(shmem_double_sum_reduce(team, sums, reals, (size_t)n), 0);
    CHECK_EQ(shmem_long_max_reduce(team, sums_whole, whole, (size_t)n), 0);
    for (int i = 0; i < n; i++) {
        double sum = 0, sizes = 0;
        long most = 0;
        for (int rank = 0; rank < size; rank++) {
            int pe = shmem_team_translate_pe(team, rank, SHMEM_TEAM_WORLD);
            sum += term(pe, i), sizes += fabs(term(pe, i));
            most = ((long)pe << 20 | i) > most ? ((long)pe << 20 | i) : most;
        }
        CHECK(fabs(sums[i] - sum) <= size * __DBL_EPSILON__ * sizes);
        CHECK_EQ(sums_whole[i], most);
    }
    shmem_team_sync(team);
    shmem_getmem(reals, sums, (size_t)n * sizeof *sums, shmem_team_translate_pe(team, next, SHMEM_TEAM_WORLD));
    CHECK(memcmp(reals, sums, (size_t)n * sizeof *sums) == 0);
    shmem_team_sync(team);
}

static void teams(void)
{
    shmem_team_t back;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, 0, 0, &back);
    for (int n = 1; n <= LONG; n *= 200) {
        reduce_alike(SHMEM_TEAM_WORLD, n);
        reduce_alike(SHMEM_TEAM_SHARED, n);
        reduce_alike(back, n);
    }
    CHECK_EQ(shmem_long_fcollect(back, sums_whole, (long[]){me * 10L}, 1), 0);
    for (int i = 0; i < npes; i++)
        CHECK_EQ(sums_whole[i], (npes - 1 - i) * 10L);
    shmem_team_destroy(back);
}

int main(void)
{
    check_start();
    heap = shmem_calloc(64, sizeof *heap);
    members();
    from_everybody();
    without_help();
    part_of_node();
    teams();
    check_all_passed();
    shmem_finalize();
    return 0;
}
