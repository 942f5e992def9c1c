/* Collectives: barrier_all, sync_all, team_sync. No PE leaves before all have come; barrier_all completes the default
 * context's operations, sync makes stores visible; both synchronise the world team in the same way.
 * prints: ^PASS$
 */
#include "teams.h"

enum { ROUNDS = 60 };
static long came[TEAMS + 1]; /* on the first PE of each team: arrivals, counted before each synchronisation */

/* Arrive late by turns; whoever leaves finds everybody counted. */
static void nobody_leaves_early(void)
{
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        if (round % npes == me)
            usleep(100);
        shmem_long_atomic_inc(&came[TEAMS], 0);
        shmem_quiet();
        /* Every fourth time not all call it by one name, which --check reports. */
        switch ((round + (round % 4 == 3 && !getenv("LATERAL_CHECK") ? me : 0)) % 3) {
        case 0: shmem_barrier_all(); break;
        case 1: shmem_sync_all(); break;
        default: CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
        }
        CHECK(shmem_long_atomic_fetch(&came[TEAMS], 0) >= round * npes);
    }
    shmem_barrier_all();
}

static void teams_too(void)
{
    for (int t = 0; t < TEAMS; t++) {
        shmem_team_t team = teams[t];
        if (team == SHMEM_TEAM_INVALID)
            continue;
        int first = shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD), n = shmem_team_n_pes(team);
        for (long round = 1; round <= ROUNDS; round++) {
            if (round % n == shmem_team_my_pe(team))
                usleep(50);
            shmem_long_atomic_inc(&came[t], first);
            shmem_quiet();
            CHECK_EQ(shmem_team_sync(team), 0);
            CHECK(shmem_long_atomic_fetch(&came[t], first) >= round * n);
        }
    }
    shmem_barrier_all();
}

/* Puts, non-blocking puts, gets and atomics before the barrier are done after it. */
static void barrier_completes(void)
{
    static long word[4], got;
    for (long round = 1; round <= ROUNDS; round++) {
        long value = round * 100 + me;
        shmem_long_p(&word[0], value, next_pe);
        shmem_long_put_nbi(&word[1], &value, 1, next_pe);
        shmem_long_atomic_inc(&word[2], next_pe);
        shmem_long_get_nbi(&got, &word[3], 1, next_pe);
        shmem_barrier_all();
        CHECK(word[0] == round * 100 + prev_pe && word[1] == word[0]);
        CHECK_EQ(word[2], round);
        CHECK_EQ(got, 0);
        shmem_barrier_all();
    }
}

/* A store through a pointer is visible to its owner after a sync; also to a third. Where there are such pointers: on
 * other nodes there are none, but all take part in the syncs. */
static void sync_shows_stores(void)
{
    static long word;
    long *there = shmem_ptr(&word, next_pe), *third = shmem_ptr(&word, prev_pe);
    for (long round = 1; round <= ROUNDS; round++) {
        if (there != NULL)
            *(volatile long *)there = round * 10 + me;
        else
            shmem_long_p(&word, round * 10 + me, next_pe);
        shmem_quiet();
        if (round & 1)
            shmem_sync_all();
        else
            CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
        CHECK_EQ(word, round * 10 + prev_pe);
        if (third != NULL)
            CHECK_EQ(*(volatile long *)third, round * 10 + (prev_pe + npes - 1) % npes);
        shmem_sync_all();
    }
}

int main(void)
{
    check_start();
    teams_create();
    nobody_leaves_early();
    teams_too();
    barrier_completes();
    sync_shows_stores();
    teams_destroy();
    return check_pass();
}
