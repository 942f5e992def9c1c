/* A program whose start, run and end make calls that may fail: OpenSHMEM and uccs.h in one process, memory that the kernel
 * copies, messages of every length, a request, a team. It prints "fine" when all is well, and ends itself with status 3
 * after a line when a call tells it of a failure. With an argument it never ends by itself, and is named "busy for ever" once
 * it has started and met its peers. */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <uccs.h>

static long global[64];
static int handled;

static void given_up(const char *what)
{
    fprintf(stderr, "busy: %s has failed\n", what);
    fflush(stderr);
    shmem_global_exit(3);
}

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

static void shmem_part(int me, int n)
{
    const int next = (me + 1) % n;
    long *heap = shmem_malloc(1 << 16), value = me;
    shmem_team_t team;
    if (!heap)
        given_up("shmem_malloc");
    shmem_long_put(heap, global, 64, next);
    shmem_long_iput(heap, global, 2, 2, 16, next);
    shmem_barrier_all();
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team) != 0)
        given_up("shmem_team_split_strided");
    if (shmem_long_sum_reduce(team, heap + 8, &value, 1) != 0)
        given_up("shmem_long_sum_reduce");
    value = heap[8];
    if (value != (long)n * (n - 1) / 2)
        given_up("the sum");
    shmem_team_destroy(team);
    shmem_free(heap);
}

static void uccs_part(int me, int n)
{
    static char big[300000], copy[300000];
    struct uccs_context_attr attr = {.id = 3};
    uccs_context_t context;
    uccs_endpoint_t next;
    uccs_memory_t mine;
    if (uccs_init() != UCCS_OK)
        given_up("uccs_init");
    if (uccs_context_create(&attr, &context) != UCCS_OK ||
        uccs_am_register(context, 1, UCCS_AM_USER, take, NULL) != UCCS_OK ||
        uccs_endpoint_create(context, UCCS_GROUP_WORLD, (me + 1) % n, &next) != UCCS_OK)
        given_up("uccs_context_create");
    if (uccs_memory_register(context, copy, sizeof copy, &mine) != UCCS_OK)
        given_up("uccs_memory_register");
    if (uccs_am_short(context, next, 1, UCCS_AM_USER, big, 8, NULL) != UCCS_OK ||
        uccs_am_large(context, next, 1, UCCS_AM_USER, big, sizeof big, NULL) != UCCS_OK)
        given_up("a message");
    while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < 2)
        uccs_progress();
    shmem_barrier_all();
    uccs_memory_release(mine);
    uccs_context_destroy(context);
    uccs_finalize();
}

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_part(me, n);
    if (argc > 1)
        prctl(PR_SET_NAME, "busy for ever");
    while (argc > 1)
        shmem_part(me, n);
    uccs_part(me, n);
    printf("fine\n");
    fflush(stdout);
    shmem_finalize();
    return 0;
}
