/* A lock protects two values that must change together.
 * Shows: set_lock, clear_lock, and why quiet is not needed before clear_lock.
 *   oshcc lock.c -o lock && oshrun -n 4 ./lock [rounds]
 *
 * The tests run it so:
 *   args: 20
 *   prints: verified
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long lock; /* zero is the unlocked state */
static struct {
    long sum, turns;
} box; /* PE 0's copy is the one that counts */

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();

    for (int i = 0; i < rounds; i++) {
        shmem_set_lock(&lock);
        long sum = shmem_long_g(&box.sum, 0), turns = shmem_long_g(&box.turns, 0);
        shmem_long_p(&box.sum, sum + me, 0);
        shmem_long_p(&box.turns, turns + 1, 0);
        shmem_clear_lock(&lock); /* completes this PE's earlier puts first */
    }
    shmem_barrier_all();

    int wrong = 0;
    if (me == 0) {
        long expected = (long)rounds * pes * (pes - 1) / 2;
        wrong = box.sum != expected || box.turns != (long)rounds * pes;
        printf("lock: %ld turns on %d PEs, %s\n", box.turns, pes, wrong ? "WRONG" : "verified");
    }
    shmem_finalize();
    return wrong;
}
