/* A program whose start, run and end make calls that may fail: OpenSHMEM and uccs.h in one process, memory that the kernel
 * copies, messages of every length, a request, teams, collectives; every operation that another node answers. It prints "fine" when all is well, and ends itself with status 3
 * after a line when a call tells it of a failure. With an argument it never ends by itself, and is named "busy for ever" once
 * it has started and met its peers. */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <uccs.h>

#define MANY 300

static long global[64], lock;
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

/* More operations at once than a connection sends, so that some of them wait in memory. */
static void many_part(int next)
{
    long *heap = shmem_malloc(MANY * sizeof *heap), got[MANY], packed[16];
    shmem_ctx_t ctx;
    if (!heap || shmem_ctx_create(0, &ctx) != 0)
        given_up("shmem_malloc or shmem_ctx_create");
    memset(heap, 0, MANY * sizeof *heap);
    shmem_barrier_all();
    for (long i = 0; i < MANY; i++)
        shmem_ctx_long_put_nbi(ctx, heap + i, &i, 1, next);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < MANY; i++)
        shmem_ctx_long_atomic_fetch_add_nbi(ctx, got + i, heap + i, 1, next);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < MANY; i++)
        if (got[i] != i)
            given_up("a fetch");
    shmem_long_iget(packed, heap, 1, 4, 16, next);
    shmem_long_get_nbi(got, heap, MANY, next);
    shmem_quiet();
    if (packed[15] != 61 || got[MANY - 1] != MANY)
        given_up("a get");
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_ctx_destroy(ctx);
    shmem_free(heap);
}

/* Every collective, of data too long for what is sent at once, on a team of its own; split-phase; with counters and signals. */
static void collectives_part(int me, int n, int next)
{
    enum { LONG = 20000 };
    long *from = shmem_malloc(2 * LONG * sizeof *from), *to = shmem_malloc(2 * LONG * sizeof *to);
    uint64_t *signal = shmem_calloc(1, sizeof *signal);
    shmem_team_t rows, columns;
    shmem_ctx_t ctx;
    shmemx_ct_t counter;
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    if (!from || !to || !signal || shmem_team_split_2d(SHMEM_TEAM_WORLD, n, NULL, 0, &rows, NULL, 0, &columns) != 0)
        given_up("shmem_team_split_2d");
    for (long i = 0; i < 2 * LONG; i++)
        from[i] = me + i;
    shmem_sync_all();
    if (shmem_long_alltoall(rows, to, from, LONG) != 0 || to[LONG] != me * LONG + 1 ||
        shmem_long_fcollect(rows, to, from, LONG) != 0 || to[LONG] != 1 ||
        shmem_long_collect(rows, to, from, LONG - (size_t)me) != 0 || to[LONG] != 1 ||
        shmem_long_broadcast(rows, to, from, LONG, 1) != 0 || to[0] != 1 ||
        shmem_long_max_reduce(rows, to, from, LONG) != 0 || to[LONG - 1] != LONG + n - 2)
        given_up("a collective");
    if (shmemx_long_sum_reduce_nbe(rows, to, from, LONG, &request) != 0 ||
        shmemx_long_alltoall_nbe(rows, to + LONG, from, LONG / 2, &request) != 0)
        given_up("a split-phase collective");
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
    if (to[1] != 3 || to[LONG + LONG / 2] != 1 + me * (LONG / 2))
        given_up("the result of a split-phase collective");
    shmemx_ct_create(&counter);
    if (shmem_team_create_ctx(rows, SHMEM_CTX_PRIVATE, &ctx) != 0)
        given_up("shmem_team_create_ctx");
    shmem_sync_all();
    shmem_ctx_long_put_signal_nbi(ctx, to, from, LONG, signal, 1, SHMEM_SIGNAL_ADD, next);
    shmemx_long_put_ct(counter, to + LONG, from, LONG, next);
    shmemx_ct_wait(counter, 1);
    if (shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1) != 1 || to[1] != 1 + (me + n - 1) % n || to[LONG + 1] != to[1])
        given_up("a signal");
    shmem_ctx_destroy(ctx);
    shmemx_ct_free(&counter);
    shmem_team_destroy(rows);
    shmem_team_destroy(columns);
    shmem_free(signal);
    shmem_free(to);
    shmem_free(from);
}

/* Returns the neighbour's memory for mine. */
static uccs_memory_t exchange(uccs_context_t context, uccs_memory_t mine, int next)
{
    char handles[2][UCCS_MEMORY_HANDLE_MAX], own[UCCS_MEMORY_HANDLE_MAX] = {0};
    size_t length = sizeof own;
    uccs_memory_t of_next;
    if (uccs_memory_export(mine, own, &length) != UCCS_OK ||
        uccs_allgather(UCCS_GROUP_WORLD, own, handles, sizeof own) != UCCS_OK ||
        uccs_memory_import(context, handles[next], length, &of_next) != UCCS_OK)
        given_up("memory of another PE");
    return of_next;
}

/* What the target answers: accumulates longer than a message, a lock in memory of the program, requests, a stream. */
static void answered_part(uccs_context_t context, uccs_endpoint_t endpoint, int next)
{
    static long there[20000], one[20000], old[20000];
    const struct uccs_stride rows = {.block = 24, .count = 40, .remote_stride = 64, .local_stride = 24};
    uccs_memory_t mine, theirs, locks, their_locks;
    uccs_request_t request = UCCS_REQUEST_NULL, held = UCCS_REQUEST_NULL;
    uccs_stream_t stream;
    uccs_endpoint_t along;
    if (uccs_memory_register(context, there, sizeof there, &mine) != UCCS_OK ||
        uccs_memory_allocate(context, UCCS_LOCK_BYTES, &locks) != UCCS_OK)
        given_up("memory");
    theirs = exchange(context, mine, next);
    their_locks = exchange(context, locks, next);
    one[0] = one[19999] = 1;
    const struct uccs_op asks = {.request = &request};
    if (uccs_accumulate(endpoint, theirs, 0, one, old, 20000, UCCS_INT64, UCCS_SUM, NULL) != UCCS_OK ||
        uccs_accumulate(endpoint, theirs, 0, one, NULL, 20000, UCCS_INT64, UCCS_SUM, &asks) != UCCS_OK ||
        uccs_wait(&request) != UCCS_OK || uccs_get(endpoint, theirs, 0, old, sizeof old, NULL) != UCCS_OK)
        given_up("an accumulate");
    if (old[0] != 2 || old[1] != 0 || old[19999] != 2)
        given_up("the accumulated");
    if (uccs_lock_nb(endpoint, their_locks, 0, UCCS_LOCK_EXCLUSIVE, &held) != UCCS_OK || uccs_wait(&held) != UCCS_OK ||
        uccs_unlock(endpoint, their_locks, 0, UCCS_LOCK_EXCLUSIVE) != UCCS_OK)
        given_up("a lock");
    if (uccs_put_blocks(endpoint, theirs, 16384, one, &rows, NULL) != UCCS_OK ||
        uccs_get_blocks(endpoint, theirs, 16384, old, &rows, NULL) != UCCS_OK || memcmp(old, one, 960) != 0)
        given_up("blocks");
    if (uccs_stream_create(context, &(struct uccs_stream_attr){.ordered = 1}, &stream) != UCCS_OK ||
        uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, next, &along) != UCCS_OK ||
        uccs_put(along, theirs, 40000, one, 40000, NULL) != UCCS_OK || uccs_stream_flush(stream, NULL, 0) != UCCS_OK ||
        uccs_stream_release(stream) != UCCS_OK)
        given_up("a stream");
    uccs_barrier(UCCS_GROUP_WORLD);
    uccs_memory_release(their_locks);
    uccs_memory_release(locks);
    uccs_memory_release(theirs);
    uccs_memory_release(mine);
}

static void uccs_stream_thread(int me, int n)
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
    answered_part(context, next, (me + 1) % n);
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
    many_part((me + 1) % n);
    collectives_part(me, n, (me + 1) % n);
    uccs_stream_thread(me, n);
    printf("fine\n");
    fflush(stdout);
    shmem_finalize();
    return 0;
}
