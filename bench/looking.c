/* What looking costs: processor time of PE 0 for a call, and for a load or store, in nanoseconds. looking.py compiles and runs it. */
#include <shmem.h>
#include <stdio.h>
#include <time.h>

#define CALLS 200000
#define PUTS 50000
#define BLOCKS 128
#define WORDS 4096
#define ROUNDS 500

static long words[WORDS];
static char blocks[BLOCKS][512], from[512];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* A load and a store of each word, which stays in memory. */
static double sweep(long *at)
{
    double begin = now();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WORDS; i++) {
            at[i] += i;
            __asm__ volatile("" ::: "memory");
        }
    return (now() - begin) / (2.0 * ROUNDS * WORDS);
}

int main(void)
{
    long other[WORDS] = {0};
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        double begin = now();
        for (long i = 0; i < CALLS; i++) {
            if (i % WORDS == 0) /* the same word is stored to again, in order */
                shmem_quiet();
            shmem_long_p(&words[i % WORDS], i, 1);
        }
        double p = (now() - begin) / CALLS;
        begin = now();
        for (long i = 0; i < PUTS; i++) {
            if (i % BLOCKS == 0)
                shmem_quiet();
            shmem_putmem(blocks[i % BLOCKS], from, sizeof from, 1);
        }
        double put = (now() - begin) / PUTS;
        shmem_quiet();
        printf("%.2f %.2f %.2f %.2f\n", p, put, sweep(words), sweep(other));
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
