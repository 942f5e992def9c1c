/* A PE whose memory comes to be mapped while messages to it are under way is reached once these are answered, in programs that never
 * wait for all of their operations, too. Then it receives while it computes, with nobody to serve messages.
 * pes: 2
 * env: LATERAL_PROGRESS=poll LATERAL_NODE_SIZE=1 UCX_TLS=posix,self
 * env: LATERAL_TRANSPORTS=sim:fault:ucx LATERAL_SIM=seed=1,reach=1 LATERAL_FAULT=seed=2,hold=60
 * prints: ^PASS$
 * case: fetch
 * args: 0
 * case: signal
 * args: 1
 * case: count
 * args: 2
 * case: posix
 * needs: ucx
 * env: LATERAL_TRANSPORTS=ucx
 * args: 1
 * labels: again
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <time.h>

enum { ROUNDS = 500 };

static long word, left, flag;
static uint64_t bell;
static shmemx_ct_t count;

static void by_fetch(long round)
{
    if (me == 0)
        CHECK_EQ(shmem_long_atomic_fetch_inc(&word, 1), round - 1);
}

/* The PEs answer each other, and wait for nothing else. */
static void by_signal(long round)
{
    if (me == 1)
        shmem_signal_wait_until(&bell, SHMEM_CMP_EQ, (uint64_t)round);
    shmem_long_put_signal(&word, &round, 1, &bell, (uint64_t)round, SHMEM_SIGNAL_SET, next_pe);
    if (me == 0)
        shmem_signal_wait_until(&bell, SHMEM_CMP_EQ, (uint64_t)round);
}

static void by_count(long round)
{
    if (me == 1)
        shmemx_ct_wait(count, round);
    shmemx_long_put_ct(count, &word, &round, 1, next_pe);
    if (me == 0)
        shmemx_ct_wait(count, round);
}

/* Calls nothing of the library until the flag is there. */
static void compute(void)
{
    const time_t end = time(NULL) + 10;
    shmem_long_wait_until(&left, SHMEM_CMP_EQ, 1);
    while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0 && time(NULL) < end) {
    }
    CHECK_EQ(flag, 1);
    CHECK_EQ(word, ROUNDS + 1);
}

static void (*const ways[])(long round) = {by_fetch, by_signal, by_count};

int main(int argc, char **argv)
{
    check_start();
    CHECK(argc == 2);
    shmemx_ct_create(&count);
    for (long round = 1; round <= ROUNDS; round++)
        ways[atoi(argv[1])](round);
    if (me == 1) {
        compute();
    } else {
        shmem_long_atomic_set(&left, 1, 1);
        shmem_long_atomic_inc(&word, 1);
        shmem_long_atomic_set(&flag, 1, 1);
    }
    shmemx_ct_free(&count);
    return check_pass();
}
