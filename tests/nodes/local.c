/* Local completion to other nodes: it comes while the target is away, for what is copied; for gets, fetching operations
 * and what is merged it comes with the data.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self LATERAL_PROGRESS=poll
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <signal.h>

enum { SMALL = 64, LONG = 1 << 18, ROUNDS = 20 };

static long cells[SMALL], large[LONG], word, pid;
static sigset_t told;

/* PE 1 makes no call until PE 0 tells it to. */
static void target_away(void)
{
    if (me == 1)
        shmem_long_p(&pid, getpid(), 0);
    shmem_barrier_all();
    if (me == 1) {
        CHECK_EQ(sigtimedwait(&told, 0, &(struct timespec){30, 0}), SIGUSR1);
    } else {
        long source[SMALL];
        shmemx_request_t put = SHMEMX_REQUEST_NULL, add = SHMEMX_REQUEST_NULL;
        for (int i = 0; i < SMALL; i++)
            source[i] = i + 1;
        shmemx_long_put_nbe(cells, source, SMALL, 1, &put);
        shmemx_long_atomic_add_nbe(&word, 5, 1, &add);
        shmemx_request_merge(&put, 1, &add);
        shmemx_request_wait_local(&put);
        for (int i = 0; i < SMALL; i++)
            source[i] = -1;
        CHECK_EQ(shmemx_request_test_local(&put), 1);
        CHECK_EQ(shmemx_request_test(&put), 0);
        kill((pid_t)pid, SIGUSR1);
        shmemx_request_wait_free(&put);
    }
    shmem_barrier_all();
    for (int i = 0; me == 1 && i < SMALL; i++)
        CHECK_EQ(cells[i], i + 1);
    CHECK_EQ(word, me == 1 ? 5 : 0);
}

/* The data is there after local completion of the request into which others were merged. */
static void results(void)
{
    static long got[LONG];
    for (int i = 0; i < LONG; i++)
        large[i] = i * 3 + me;
    for (int round = 0; round < ROUNDS; round++) {
        shmemx_request_t all = SHMEMX_REQUEST_NULL, parts[3] = {SHMEMX_REQUEST_NULL};
        long old = -1, small[SMALL] = {0};
        memset(got, 0, sizeof got);
        word = 40 + me;
        shmem_barrier_all();
        shmemx_long_get_nbe(got, large, LONG, next_pe, &parts[0]);
        shmemx_long_get_nbe(small, large, SMALL, next_pe, &parts[1]);
        shmemx_long_atomic_fetch_add_nbe(&old, &word, 1, next_pe, &parts[2]);
        if (round % 2)
            shmemx_request_create(SHMEMX_REQUEST_SHARED, &all);
        shmemx_request_merge(&all, 3, parts);
        shmemx_request_wait_local(&all);
        CHECK_EQ(old, 40 + next_pe);
        CHECK(small[SMALL - 1] == (SMALL - 1) * 3 + next_pe && got[LONG - 1] == (LONG - 1) * 3 + next_pe);
        shmemx_request_wait_free(&all);
        shmem_barrier_all();
    }
}

/* A large put leaves from its source: after local completion another one may leave from there. */
static void sources(void)
{
    static long source[LONG], there[LONG];
    for (long round = 1; round <= ROUNDS; round++) {
        shmemx_request_t put = SHMEMX_REQUEST_NULL;
        for (int i = 0; i < LONG; i++)
            source[i] = round * i;
        shmemx_long_put_nbe(there, source, LONG, next_pe, &put);
        shmemx_request_wait_local(&put);
        memset(source, 0xff, sizeof source);
        if (round % 2)
            shmemx_request_wait(&put);
        shmemx_request_free(&put); /* detached: the operation goes on */
        shmem_barrier_all();
        for (int i = 0; i < LONG; i++)
            if (there[i] != round * i)
                CHECK_EQ(there[i], round * i);
        shmem_barrier_all();
    }
}

/* An operation without bytes is complete at once, and leaves a request all the same. */
static void empty(void)
{
    shmemx_request_t get = SHMEMX_REQUEST_NULL, put = SHMEMX_REQUEST_NULL;
    long nothing = 7;
    shmemx_long_get_nbe(&nothing, large, 0, next_pe, &get);
    shmemx_long_put_nbe(large, &nothing, 0, next_pe, &put);
    CHECK(get != SHMEMX_REQUEST_NULL && put != SHMEMX_REQUEST_NULL);
    CHECK(shmemx_request_test(&get) && shmemx_request_test(&put) && nothing == 7);
    shmemx_request_free(&get);
    shmemx_request_free(&put);
}

int main(void)
{
    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    sigprocmask(SIG_BLOCK, &told, 0);
    check_start();
    empty();
    target_away();
    results();
    sources();
    return check_pass();
}
