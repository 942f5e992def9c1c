/* Blocks flow through all PEs, each adding one to every element: a pipeline with put_signal.
 * Shows: put_signal (data, then a signal that announces it), signal_wait_until, signal_fetch, and credits that flow back
 * by atomics, so that a fast PE cannot overwrite a block that a slow one still reads.
 * Needs OpenSHMEM 1.5 or later.
 *   oshcc pipeline.c -o pipeline && oshrun -n 4 ./pipeline [blocks]
 *
 * The tests run it so:
 *   args: 50
 *   prints: verified
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 4, LENGTH = 1024 };

static int slot[SLOTS][LENGTH]; /* where the neighbour on the left puts blocks */
static uint64_t arrived;        /* blocks put here so far */
static uint64_t credits;        /* blocks that the neighbour on the right has finished with */

/* Puts the block into the right neighbour's next slot, once that slot is free. */
static void pass_on(const int *block, long number, int right)
{
    if (number >= SLOTS)
        shmem_uint64_wait_until(&credits, SHMEM_CMP_GE, (uint64_t)(number - SLOTS + 1));
    shmem_int_put_signal(slot[number % SLOTS], block, LENGTH, &arrived, 1, SHMEM_SIGNAL_ADD, right);
}

static void first_stage(long number, int *block)
{
    for (int i = 0; i < LENGTH; i++)
        block[i] = (int)number + i;
}

/* Takes a block from the slot, adds one, and gives the slot back to the left. */
static void next_stage(long number, int *block, int left)
{
    shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, (uint64_t)number + 1);
    for (int i = 0; i < LENGTH; i++)
        block[i] = slot[number % SLOTS][i] + 1;
    shmem_uint64_atomic_inc(&credits, left);
}

static long count_wrong(const int *block, long number, int pes)
{
    long wrong = 0;
    for (int i = 0; i < LENGTH; i++)
        wrong += block[i] != (int)number + i + pes - 1;
    return wrong;
}

int main(int argc, char **argv)
{
    long blocks = argc > 1 ? atol(argv[1]) : 1000, wrong = 0;
    static int block[LENGTH];
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes(), last = pes - 1;

    for (long number = 0; number < blocks; number++) {
        if (me == 0)
            first_stage(number, block);
        else
            next_stage(number, block, me - 1);
        if (me == last)
            wrong += count_wrong(block, number, pes);
        else
            pass_on(block, number, me + 1);
    }
    if (me == last)
        printf("pipeline: %ld blocks through %d PEs, %llu arrived at the last, %s\n", blocks, pes,
               (unsigned long long)shmem_signal_fetch(&arrived), wrong ? "WRONG" : "verified");
    shmem_finalize();
    return wrong != 0;
}
