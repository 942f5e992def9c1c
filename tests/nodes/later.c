/* Without a thread of the library (LATERAL_PROGRESS=poll): a non-blocking fetch returns while its target is outside of
 * the library. Loops of tests are waits: they serve peers and take arrivals.
 * pes: 2
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self LATERAL_PROGRESS=poll
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <signal.h>
#include <time.h>

enum { N = 5000 };

static long word = 40, pids[2], strided[2 * N], flags[3];
static int narrow = 7;
static float real = 2.5f;
static uint64_t signals[2];

/* Whatever waits for the other PE here would never return. */
static void fetch_from_sleeper(int pe)
{
    long old = 0, swapped = 0, seen = 0;
    int small = 0;
    float part = 0;
    static long back[3 * N];
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, 0);
    shmem_long_atomic_fetch_inc_nbi(&old, &word, pe);
    shmem_int_atomic_fetch_add_nbi(&small, &narrow, 3, pe);
    shmem_float_atomic_fetch_nbi(&part, &real, pe);
    shmemx_long_atomic_swap_nbe(&swapped, &flags[0], 5, pe, &request);
    shmemx_long_atomic_compare_swap_nbe(&seen, &flags[1], 0, 6, pe, &request);
    shmemx_long_iget_nbe(back, strided, 3, 2, N, pe, &request);
    CHECK_EQ(old, 0);
    CHECK_EQ(back[3], 0);
    CHECK(!shmemx_request_test(&request));
    kill((pid_t)pids[pe], SIGUSR1);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
    CHECK_EQ(swapped, 3);
    CHECK_EQ(seen, 0);
    for (long i = 0; i < N; i++)
        CHECK_EQ(back[3 * i], 2 * i + 1);
    CHECK_EQ(back[1], 0);
    shmem_quiet();
    CHECK_EQ(old, 40);
    CHECK_EQ(small, 7);
    CHECK(part == 2.5f);
    CHECK_EQ(shmem_long_g(&word, pe), 41);
    CHECK_EQ(shmem_int_g(&narrow, pe), 10);
    CHECK_EQ(shmem_long_g(&flags[1], pe), 6);
}

static void sleep_until_told(void)
{
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, &got);
}

/* Each loop ends by what the other PE sends, and nothing else takes it in. */
static void test_in_loops(int pe, shmemx_ct_t ct)
{
    size_t indices[3];
    long value = 1;
    shmem_long_p(&flags[2], 9, pe);
    while (!shmem_long_test(&flags[2], SHMEM_CMP_GE, 9))
        ;
    shmem_long_p(&flags[2], 10, pe);
    while (!shmem_long_test_all(&flags[2], 1, NULL, SHMEM_CMP_GE, 10))
        ;
    shmem_long_p(&flags[2], 11, pe);
    while (shmem_long_test_any(&flags[2], 1, NULL, SHMEM_CMP_GE, 11) != 0)
        ;
    shmem_long_p(&flags[2], 12, pe);
    while (shmem_long_test_some(&flags[2], 1, indices, NULL, SHMEM_CMP_GE, 12) != 1)
        ;
    shmem_long_put_signal(&flags[0], &value, 1, &signals[0], 3, SHMEM_SIGNAL_SET, pe);
    while (shmem_signal_fetch(&signals[0]) != 3)
        ;
    shmemx_long_put_ct(ct, &flags[0], &value, 1, pe);
    while (shmemx_ct_get(ct) < 1)
        ;
    shmemx_long_put_ct(ct, &flags[0], &value, 1, pe);
    while (!shmemx_ct_test(ct, 2))
        ;
    CHECK_EQ(flags[0], 1);
}

int main(void)
{
    sigset_t set;
    shmemx_ct_t ct;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    check_start();
    for (long i = 0; i < 2 * N; i++)
        strided[i] = i + 1;
    flags[0] = 3;
    shmemx_ct_create(&ct);
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&pids[me], getpid(), pe);
    shmem_barrier_all();
    if (me == 0)
        fetch_from_sleeper(1);
    else
        sleep_until_told();
    shmem_barrier_all();
    test_in_loops(1 - me, ct);
    shmem_barrier_all();
    shmemx_ct_free(&ct);
    return check_pass();
}
