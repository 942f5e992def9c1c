/* OpenSHMEM's waits and tests call the pollers of the program (uccs.h) when they find nothing: here the pollers store
 * what the waits are for. A poller may call OpenSHMEM.
 * pes: 1 2
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <uccs.h>

static long word; /* symmetric */
static long rounds, calls;

/* Stores on the way in, so a wait for `word` ends only if it calls pollers. */
static int store(void *unused)
{
    (void)unused;
    calls++;
    shmem_long_atomic_set(&word, rounds, me);
    return 1;
}

int main(void)
{
    check_start();
    CHECK(uccs_poller_add(store, 0) == UCCS_OK);
    rounds = 1;
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    rounds = 2;
    while (!shmem_long_test(&word, SHMEM_CMP_EQ, 2))
        ;
    CHECK(calls >= 2);
    CHECK(uccs_poller_remove(store, 0) == UCCS_OK);
    long before = calls;
    shmem_barrier_all();
    CHECK(!shmem_long_test(&word, SHMEM_CMP_EQ, 3));
    CHECK(calls == before);
    return check_pass();
}
