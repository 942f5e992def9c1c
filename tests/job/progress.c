/* With a progress thread, split-phase collectives of OpenSHMEM end while all PEs compute: nobody calls the library
 * between the start and the moment at which the result is in its memory.
 * pes: 2 4 7
 * env: LATERAL_PROGRESS=thread
 * timeout: 120
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <time.h>

enum { MANY = 30000, LIMIT = 60, ROUNDS = 4 };

static long source[MANY], dest[MANY], word; /* symmetric */

static void compute_until(const long *at, long value)
{
    time_t end = time(0) + LIMIT;
    volatile double x = 1;
    while (__atomic_load_n(at, __ATOMIC_ACQUIRE) < value) {
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001;
        CHECK(time(0) < end);
    }
}

static void clear(void)
{
    for (int i = 0; i < MANY; i++)
        dest[i] = 0;
    shmem_barrier_all();
}

static void test_sum(size_t n)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    clear();
    shmemx_long_sum_reduce_nbe(SHMEM_TEAM_WORLD, dest, source, n, &request);
    compute_until(&dest[n - 1], npes);
    compute_until(&dest[0], npes);
    shmemx_request_wait(&request);
    for (size_t i = 0; i < n; i++)
        CHECK(dest[i] == npes);
    shmemx_request_free(&request);
}

static void test_broadcast(size_t n, int root)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    clear();
    shmemx_long_broadcast_nbe(SHMEM_TEAM_WORLD, dest, source, n, root, &request);
    compute_until(&dest[n - 1], 1);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
}

/* Several at once: the second one goes on behind the first. */
static void test_two(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    clear();
    shmemx_barrier_all_nbe(&request);
    shmemx_long_sum_reduce_nbe(SHMEM_TEAM_WORLD, dest, source, 1, &request);
    compute_until(&dest[0], npes);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
}

/* PE 0 waits for a barrier that the others have begun; they compute until it has told them. */
static void test_barrier(long round)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    shmemx_barrier_all_nbe(&request);
    if (me == 0)
        shmemx_request_wait(&request);
    for (int pe = 1; pe < npes && me == 0; pe++)
        shmem_long_p(&word, round, pe);
    if (me == 0)
        shmem_quiet();
    else
        compute_until(&word, round);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
}

int main(void)
{
    check_start();
    for (int i = 0; i < MANY; i++)
        source[i] = 1;
    for (long round = 1; round <= ROUNDS; round++) {
        test_sum(1);
        test_sum(MANY);
        test_broadcast(MANY, (int)round % npes);
        test_two();
        test_barrier(round);
    }
    return check_pass();
}
