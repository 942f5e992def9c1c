/* A PE that is blocked in some other call does its share of a split-phase collective: PE 0 completes each collective
 * first and only then lets the others go on.
 * pes: 2 4
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { EACH = 1000 };

static long from[EACH], to[EACH * 8], go, lock;
static uint64_t signal_word;
static shmemx_ct_t ct;

enum blocked {
    IN_WAIT_UNTIL,
    IN_WAIT_ANY,
    IN_SIGNAL,
    IN_COUNTER,
    IN_CONSUME,
    IN_BARRIER,
    IN_SYNC,
    IN_REQUEST,
    IN_LOCK,
    KINDS
};

/* The others sit in a call that PE 0 alone can end. */
static void block(enum blocked kind, long round)
{
    shmemx_request_t none = SHMEMX_REQUEST_NULL;
    switch (kind) {
    case IN_WAIT_UNTIL: shmem_long_wait_until(&go, SHMEM_CMP_EQ, round); break;
    case IN_WAIT_ANY: shmem_long_wait_until_any(&go, 1, NULL, SHMEM_CMP_EQ, round); break;
    case IN_SIGNAL: shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, (uint64_t)round); break;
    case IN_COUNTER:
        shmemx_ct_wait(ct, 1);
        shmemx_ct_consume(ct, 1);
        break;
    case IN_CONSUME: shmemx_ct_consume(ct, 1); break;
    case IN_BARRIER: shmem_barrier_all(); break;
    case IN_SYNC: shmem_team_sync(SHMEM_TEAM_WORLD); break;
    case IN_REQUEST:
        shmemx_barrier_all_nbe(&none);
        shmemx_request_wait(&none);
        shmemx_request_free(&none);
        break;
    default: shmem_set_lock(&lock); shmem_clear_lock(&lock);
    }
}

static void release(enum blocked kind, long round)
{
    for (int pe = 1; pe < npes; pe++) {
        shmem_long_p(&go, kind <= IN_WAIT_ANY ? round : 0, pe);
        shmem_signal_set(&signal_word, kind == IN_SIGNAL ? (uint64_t)round : 0, pe);
        if (kind == IN_COUNTER || kind == IN_CONSUME)
            shmemx_ct_add(ct, 1, pe);
    }
    if (kind >= IN_BARRIER && kind <= IN_REQUEST)
        block(kind, round);
    if (kind == IN_LOCK)
        shmem_clear_lock(&lock);
}

static void round_of(enum blocked kind, long round)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    for (int i = 0; i < EACH; i++)
        from[i] = round * 100 + me;
    if (kind == IN_LOCK && me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    CHECK_EQ(shmemx_long_fcollect_nbe(SHMEM_TEAM_WORLD, to, from, EACH, &one), 0);
    if (me) {
        block(kind, round);
        if (shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes)
            CHECK_EQ(shmemx_request_test(&one), 1); /* PE 0 has seen everybody's share done */
        shmemx_request_wait(&one);
    } else {
        shmemx_request_wait(&one);
        release(kind, round);
    }
    for (int i = 0; i < EACH * npes; i++)
        CHECK_EQ(to[i], round * 100 + i / EACH);
    shmemx_request_free(&one);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    shmemx_ct_create(&ct);
    for (long round = 1; round <= 20 * KINDS; round++)
        round_of((enum blocked)(round % KINDS), round);
    return check_pass();
}
