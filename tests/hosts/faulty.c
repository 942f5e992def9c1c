/* A program that computes, or waits in one of the possible ways, while a part of the machine fails. check_faults.py
 * runs it on hosts, breaks something, and checks how the job ends.
 *
 * The argument names what all PEs do for ever once all are ready; "rounds N": N exact rounds, then PASS. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGS = 1 << 17 }; /* a megabyte */

static long word, never, *large, *mine;
static int me, npes, other; /* the PE at the same place of the next half: on another host */

static void stream(void)
{
    shmem_long_put_nbi(large, mine, LONGS, other);
    shmem_quiet();
}

static void small(void)
{
    for (int i = 0; i < 100; i++)
        shmem_long_put(large, mine, 8, other);
    shmem_fence();
}

static void get(void)
{
    shmem_long_get(mine, large, LONGS, other);
}

static void atomics(void)
{
    (void)shmem_long_atomic_fetch_inc(&word, other);
}

/* The last PE never comes. */
static void barrier(void)
{
    if (me == npes - 1)
        pause();
    shmem_barrier_all();
}

static void barriers(void)
{
    shmem_barrier_all();
}

static void wait(void)
{
    shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
}

/* Outside of the library. */
static void idle(void)
{
    pause();
}

/* Every value is checked at the target, in rounds. */
static int rounds(int count)
{
    for (long round = 1; round <= count; round++) {
        for (long i = 0; i < LONGS; i++)
            mine[i] = round * LONGS + i + me;
        shmem_long_put(large, mine, LONGS, other);
        shmem_long_atomic_inc(&word, other);
        shmem_barrier_all();
        int from = (me + npes - npes / 2) % npes;
        for (long i = 0; i < LONGS; i++)
            if (large[i] != round * LONGS + i + from)
                shmem_global_exit(3);
        if (word != round)
            shmem_global_exit(4);
        shmem_barrier_all();
    }
    if (me == 0)
        puts("PASS");
    shmem_finalize();
    return 0;
}

static const struct {
    const char *name;
    void (*once)(void);
} ways[] = {{"stream", stream},   {"small", small},       {"get", get},   {"atomics", atomics},
            {"barrier", barrier}, {"barriers", barriers}, {"wait", wait}, {"idle", idle}};

int main(int argc, char **argv)
{
    char host[64];
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    other = (me + npes / 2) % npes;
    large = shmem_malloc(LONGS * sizeof *large);
    mine = calloc(LONGS, sizeof *mine);
    if (!large || !mine || argc < 2)
        shmem_global_exit(2);
    shmem_long_p(&word, 0, other);
    shmem_barrier_all();
    gethostname(host, sizeof host);
    printf("ready %d %d %s\n", me, (int)getpid(), host);
    fflush(stdout);
    if (strcmp(argv[1], "rounds") == 0)
        return rounds(atoi(argv[2]));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (; strcmp(argv[1], ways[i].name) == 0;)
            ways[i].once();
    shmem_global_exit(2);
}
