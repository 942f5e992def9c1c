/* A histogram spread over all PEs; all PEs fill it at once by atomics.
 * Shows: symmetric heap, atomic_inc on remote memory, get of a block.
 *   oshcc histogram.c -o histogram && oshrun -n 4 ./histogram [samples per PE]
 *
 * The tests run it so:
 *   args: 2000
 *   prints: verified
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINS_PER_PE = 64 };

/* splitmix64: a full-period generator whose state is a counter */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* PE 0 reads every PE's bins and counts what is in them. */
static long total_of_all(long *bins, int pes)
{
    long part[BINS_PER_PE], total = 0;
    for (int pe = 0; pe < pes; pe++) {
        shmem_long_get(part, bins, BINS_PER_PE, pe);
        for (int i = 0; i < BINS_PER_PE; i++)
            total += part[i];
    }
    return total;
}

int main(int argc, char **argv)
{
    long samples = argc > 1 ? atol(argv[1]) : 100000;
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    uint64_t state = (uint64_t)me << 32;

    long *bins = shmem_calloc(BINS_PER_PE, sizeof *bins); /* it ends with a barrier: all bins are zero */
    if (bins == NULL)
        shmem_global_exit(1);

    for (long i = 0; i < samples; i++) {
        uint64_t bin = random_next(&state) % ((uint64_t)BINS_PER_PE * (uint64_t)pes);
        shmem_long_atomic_inc(&bins[bin % BINS_PER_PE], (int)(bin / BINS_PER_PE));
    }
    shmem_barrier_all(); /* completes the atomics of all PEs */

    int wrong = 0;
    if (me == 0) {
        long total = total_of_all(bins, pes);
        wrong = total != samples * pes;
        printf("histogram: %ld samples in %d bins on %d PEs, %s\n", total, BINS_PER_PE * pes, pes,
               wrong ? "WRONG" : "verified");
    }
    shmem_barrier_all();
    shmem_free(bins);
    shmem_finalize();
    return wrong;
}
