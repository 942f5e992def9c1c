/* A program that hangs in the way that its argument names, once all PEs have told their process. check_hangs.py reads what is told of
 * it. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long flag, lock;
static volatile long steps;

static int me;

static void all(void)
{
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7); /* all */
}

static void one(void)
{
    if (me == 1)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7); /* one */
}

static void locked(void)
{
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == 1)
        shmem_set_lock(&lock); /* locked */
    if (me == 0)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7); /* holder */
}

static void computes(void)
{
    while (me == 2)
        steps++;
}

static void stops(void)
{
    usleep(200000); /* what the barrier sends has left */
    if (me == 3)
        raise(SIGSTOP); /* stops */
}

static void dies(void)
{
    if (me == 3)
        raise(SIGKILL);
}

static void crashes(void)
{
    if (me == 2)
        *(volatile int *)0 = 1; /* crashes */
}

static void leaves(void)
{
    if (me == 1)
        return;
    shmem_finalize(); /* leaves */
    exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*call)(void);
    } ways[] = {{"all", all},     {"one", one},   {"locked", locked},   {"computes", computes},
                {"stops", stops}, {"dies", dies}, {"crashes", crashes}, {"leaves", leaves}};
    shmem_init();
    me = shmem_my_pe();
    shmem_barrier_all();
    printf("ready %d %d\n", me, getpid());
    fflush(stdout);
    shmem_barrier_all();
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].call();
    shmem_barrier_all(); /* end */
    shmem_finalize();
    return 0;
}
