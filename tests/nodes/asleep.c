/* The target sleeps outside of the library. Put, get, atomic and counting put to it complete meanwhile, because a
 * thread of the library serves.
 * pes: 2
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <signal.h>

enum { MEGABYTE = 1 << 17 }; /* longs */

static long word, counted, pid;
static long *large;

static void work_on(int pe, shmemx_ct_t ct)
{
    static long mine[MEGABYTE], back[MEGABYTE];
    for (long i = 0; i < MEGABYTE; i++)
        mine[i] = i + 7;
    shmem_long_p(&word, 41, pe);
    shmem_long_put(large, mine, MEGABYTE, pe);
    shmem_quiet();
    CHECK_EQ(shmem_long_atomic_fetch_inc(&word, pe), 41);
    CHECK_EQ(shmem_long_g(&word, pe), 42);
    shmem_long_get(back, large, MEGABYTE, pe);
    CHECK(back[0] == 7 && back[MEGABYTE - 1] == MEGABYTE + 6);
    long value = 99;
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    shmemx_long_put_ct_nbe(ct, &counted, &value, 1, pe, &request);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
}

int main(void)
{
    shmemx_ct_t ct;
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    sigprocmask(SIG_BLOCK, &told, 0);
    check_start();
    shmemx_ct_create(&ct);
    large = shmem_malloc(MEGABYTE * sizeof *large);
    if (me == 1)
        shmem_long_p(&pid, getpid(), 0);
    shmem_barrier_all();
    if (me == 0) {
        work_on(1, ct);
        kill((pid_t)pid, SIGUSR1); /* until then PE 1 sleeps */
    } else {
        CHECK_EQ(sigtimedwait(&told, 0, &(struct timespec){30, 0}), SIGUSR1);
        CHECK_EQ(shmemx_ct_get(ct), 1);
        CHECK_EQ(counted, 99);
    }
    shmem_barrier_all();
    return check_pass();
}
