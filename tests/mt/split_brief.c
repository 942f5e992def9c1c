/* With progress threads the last member to start a brief split-phase collective copies for all of them. Each PE is the last
 * one of some; brief, long and empty ones follow each other, on two teams at a time, in any order of completion. The
 * brief ones end while all PEs compute.
 * pes: 2 3 7
 * env: LATERAL_PROGRESS=thread
 * timeout: 120
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <time.h>

enum { ROUNDS = 25, KINDS = 6, TEAMS = 2, BRIEF = 9, LONG = 20000, MOST_PES = 8, LIMIT = 60 };

static shmem_team_t teams[TEAMS];
static long from[TEAMS][KINDS][LONG], to[TEAMS][KINDS][LONG * 2]; /* symmetric */
static shmemx_request_t requests[TEAMS][KINDS];

static long element(long round, int kind, int rank, int i)
{
    return round * 1000000 + kind * 100000 + rank * 1000 + i % 100;
}

static void start(int which, int kind)
{
    shmem_team_t team = teams[which];
    shmemx_request_t *request = &requests[which][kind];
    long *dest = to[which][kind], *source = from[which][kind];
    int status = 0;
    switch (kind) {
    case 0: status = shmemx_long_sum_reduce_nbe(team, dest, source, BRIEF, request); break;
    case 1: status = shmemx_long_fcollect_nbe(team, dest, source, BRIEF, request); break;
    case 2: status = shmemx_long_sum_reduce_nbe(team, dest, source, LONG, request); break;
    case 3: status = shmemx_long_alltoall_nbe(team, dest, source, BRIEF, request); break;
    case 4: status = shmemx_team_sync_nbe(team, request); break;
    default: status = shmemx_long_max_reduce_nbe(team, source, source, 1, request); /* in place */
    }
    CHECK_EQ(status, 0);
}

static long sum_of(long round, int kind, int size, int i)
{
    long sum = 0;
    for (int rank = 0; rank < size; rank++)
        sum += element(round, kind, rank, i);
    return sum;
}

static void check(long round, int which, int kind)
{
    const int size = shmem_team_n_pes(teams[which]), rank = shmem_team_my_pe(teams[which]);
    const long *dest = to[which][kind];
    for (int i = 0; kind == 0 && i < BRIEF; i++)
        CHECK_EQ(dest[i], sum_of(round, kind, size, i));
    for (int i = 0; kind == 2 && i < LONG; i += 997)
        CHECK_EQ(dest[i], sum_of(round, kind, size, i));
    for (int i = 0; kind == 1 && i < BRIEF * size; i++)
        CHECK_EQ(dest[i], element(round, kind, i / BRIEF, i % BRIEF));
    for (int i = 0; kind == 3 && i < BRIEF * size; i++)
        CHECK_EQ(dest[i], element(round, kind, i / BRIEF, rank * BRIEF + i % BRIEF));
    if (kind == 5)
        CHECK_EQ(from[which][kind][0], element(round, kind, size - 1, 0));
}

/* Computes for a while, so that the PEs start in another order in each round. */
static void compute(long looks)
{
    volatile double x = 1;
    for (long i = 0; i < looks; i++)
        x = x * 1.0000001;
}

/* Reads what the library stores meanwhile, as a program may not, except to see that it does. */
__attribute__((noinline, no_sanitize("thread"))) static long look(const long *at)
{
    return *(const volatile long *)at;
}

static void fill(long round)
{
    for (int which = 0; which < TEAMS; which++)
        for (int kind = 0; kind < KINDS; kind++) {
            const int rank = shmem_team_my_pe(teams[which]);
            for (int i = 0; i < (kind == 2 ? LONG : BRIEF * MOST_PES); i++)
                from[which][kind][i] = element(round, kind, rank, i);
            memset(to[which][kind], 0, BRIEF * MOST_PES * sizeof(long));
        }
    shmem_barrier_all();
}

static void test_mixture(long round)
{
    fill(round);
    for (int kind = 0; kind < KINDS; kind++)
        for (int which = 0; which < TEAMS; which++) {
            compute((round + 3 * kind) % npes == me ? 20000 : 100 * me);
            start(which, (kind + (int)round) % KINDS);
        }
    for (int i = 0; i < TEAMS * KINDS; i++) {
        const int which = i % TEAMS, kind = (int)((5 * i + round) % KINDS);
        shmemx_request_wait(&requests[which][kind]);
    }
    for (int which = 0; which < TEAMS; which++)
        for (int kind = 0; kind < KINDS; kind++) {
            shmemx_request_wait(&requests[which][kind]);
            check(round, which, kind);
        }
    shmem_barrier_all();
}

/* The one who is late does it; nobody calls the library until the result of the last one is there. */
static void test_computing(long round)
{
    static const int order[] = {4, 0, 3, 1};
    const time_t end = time(0) + LIMIT;
    fill(round);
    compute(round % npes == me ? 20000 : 0);
    for (int i = 0; i < 4; i++)
        start(0, order[i]);
    while (look(&to[0][1][BRIEF * npes - 1]) == 0) {
        compute(1000);
        CHECK(time(0) < end);
    }
    for (int i = 3; i >= 0; i--) {
        shmemx_request_wait(&requests[0][order[i]]);
        check(round, 0, order[i]);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    for (int which = 0; which < TEAMS; which++)
        for (int kind = 0; kind < KINDS; kind++)
            requests[which][kind] = SHMEMX_REQUEST_NULL;
    for (int life = 0; life < 3; life++) { /* of the second team, whose slot is used again */
        teams[0] = SHMEM_TEAM_WORLD;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, 0, 0, &teams[1]), 0);
        for (long round = 1; round <= ROUNDS; round++) {
            test_mixture(round);
            test_computing(round);
        }
        shmem_team_destroy(teams[1]);
    }
    for (int which = 0; which < TEAMS; which++)
        for (int kind = 0; kind < KINDS; kind++)
            shmemx_request_free(&requests[which][kind]);
    return check_pass();
}
