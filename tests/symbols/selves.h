/* The names that are a function and a generic (C++: overload) at once, both ways. Included by
 * selves_generic.c and selves_cxx.cpp. */
#include "harness.h"

static void names(void)
{
    ready();
    shmem_signal_add(&signal_word, 6, peer);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 11);
    settle();
    shmem_signal_add(ctx, &signal_word, 6, peer);
    expect("shmem_signal_add(ctx, ...)", shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 17) == 17, "wrong value");
    settle();
    shmem_signal_set(&signal_word, 1, peer);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1);
    settle();
    shmem_signal_set(ctx, &signal_word, 2, peer);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 2);
    settle();
    expect("shmem_sync(team)", shmem_sync(SHMEM_TEAM_WORLD) == 0, "failed");
    ready();
    shmem_p((long *)dest, 5L, peer);
    shmem_wait_until((long *)dest, SHMEM_CMP_EQ, 5); /* also the name of an old function on long */
    expect("shmem_wait_until", *(long *)dest == 5, "wrong value");
    settle();
}
