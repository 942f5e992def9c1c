/* Barrier and sync over an active set (deprecated, required), by their C names.
 * pes: 1 2 3
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"

int main(void)
{
    begin();
    for (int round = 1; round < 100; round++) {
        shmem_int_p((int *)heap_dest, round, peer);
        shmem_barrier(0, 0, npes, sync_words);
        expect("shmem_barrier", *(int *)heap_dest == round, "returned before the put arrived");
        shmem_sync(0, 0, npes, sync_words);
    }
    expect("shmem_barrier", sync_words[0] == SHMEM_SYNC_VALUE, "left pSync changed");
    return end(2);
}
