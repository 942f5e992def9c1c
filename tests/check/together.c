/* Mistakes that only show between PEs or over time; mistakes.c runs them. */
#include "mistakes.h"

/* What PEs do differently. */
static void job_calls(void)
{
    if (me == 0)
        shmem_barrier_all();
    else
        shmem_sync_all();
}
static void job_roots(void)
{
    shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, me);
}
static void job_counts(void)
{
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, (size_t)(4 + me));
}
static void job_types(void)
{
    if (me == 0)
        shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    else
        shmem_float_sum_reduce(SHMEM_TEAM_WORLD, (float *)dest, (float *)source, 4);
}
static void job_order(void)
{
    for (int i = 0; i < 2; i++)
        if (i == me)
            shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, source, 4);
        else
            shmem_int_alltoall(SHMEM_TEAM_WORLD, dest, source, 4);
}
static void job_team(void)
{
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
    shmem_int_max_reduce(team, dest, source, (size_t)(1 + me));
}
static void job_set(void)
{
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        words[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_broadcast32(dest, source, (size_t)(2 - me), 0, 0, 0, 2, words);
}
static void job_finalize(void)
{
    if (me == 1)
        shmem_barrier_all();
    shmem_finalize();
}
static void job_malloc(void)
{
    shmem_malloc((size_t)(100 + me));
}
static void job_malloc_order(void)
{
    if (me == 0)
        shmem_free(dest);
    else
        shmem_free(source);
}
/* Split-phase collectives are compared at the next call of all. */
static void job_split(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    shmemx_int_broadcast_nbe(SHMEM_TEAM_WORLD, dest, source, 4, 0, &one);
    shmemx_int_broadcast_nbe(SHMEM_TEAM_WORLD, dest + 8, source, 4, me, &one);
    shmem_barrier_all();
}
static void job_split_order(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    for (int i = 0; i < 2; i++)
        if (i == me)
            shmemx_int_fcollect_nbe(SHMEM_TEAM_WORLD, dest, source, 4, &one);
        else
            shmemx_int_alltoall_nbe(SHMEM_TEAM_WORLD, dest + 8, source, 4, &one);
    shmem_sync_all();
}
static void job_split_fewer(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
    if (me == 1)
        shmemx_team_sync_nbe(team, &one);
    shmem_barrier_all(); /* of another team */
    shmem_team_destroy(team);
}
static void job_split_many(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    for (int i = 0; i < 100; i++)
        shmemx_int_sum_reduce_nbe(SHMEM_TEAM_WORLD, dest, source, (size_t)(i == 99 ? 1 + me : 1), &one);
    shmem_barrier_all();
}
static void job_split_fine(void) /* no mistake: PE 1 begins when PE 0 has told it to, and others begin meanwhile */
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL, other = SHMEMX_REQUEST_NULL;
    for (int i = 0; i < 2; i++) {
        if (me == 1)
            shmem_signal_wait_until(signal_word, SHMEM_CMP_EQ, 1 + (uint64_t)i);
        shmemx_barrier_all_nbe(&one);
        shmemx_int_max_reduce_nbe(SHMEM_TEAM_WORLD, dest, source, 2, &other);
        if (me == 0)
            shmem_put_signal(signal_word, signal_word, 0, signal_word, 1, SHMEM_SIGNAL_ADD, 1);
        shmemx_request_wait(&one);
        shmemx_request_wait(&other);
        shmem_sync_all();
    }
}
static void job_collect(void) /* no mistake: a collect takes what each PE has; equal types have several names */
{
    shmem_int_collect(SHMEM_TEAM_WORLD, dest, source, (size_t)(1 + me));
    if (me == 0)
        shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    else
        shmem_int32_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
}

static void zone_behind(void)
{
    volatile char *block = shmem_malloc(100);
    if (me == 1)
        block[102] = block[103] = 1;
    shmem_barrier_all();
}
static void zone_before(void)
{
    volatile long *block = shmem_calloc(3, sizeof *block);
    block[-1] = 1;
    shmem_free((void *)block);
}
static void zone_moved(void)
{
    volatile char *block = shmem_realloc(shmem_align(256, 10), 20);
    for (int i = 0; i < 20; i++)
        block[i] = 1;
    shmem_barrier_all();
    block[20] = 1;
    shmem_sync_all();
}
static void zone_put(void)
{
    char *block = shmem_malloc(10);
    shmem_putmem(block, source, 11, peer);
}
static void zone_fine(void)
{
    char *block = shmem_align(1024, 1000);
    if ((uintptr_t)block % 1024)
        shmem_global_exit(9);
    memset(block, 3, 1000);
    block = shmem_realloc(block, 5000);
    for (int i = 0; i < 1000; i++)
        if (block[i] != 3)
            shmem_global_exit(9);
    memset(block, 0, 5000);
    shmem_free(block);
    long *zero = shmem_calloc(4, sizeof *zero);
    if (zero[0] || zero[3])
        shmem_global_exit(9);
    shmem_free(shmem_malloc(1));
    shmem_free(NULL);
    shmem_free(zero);
    if (shmem_malloc(0) || shmem_malloc((size_t)1 << 60))
        shmem_global_exit(9);
}
static void free_inside(void)
{
    shmem_free(dest + 1);
}
static void free_twice(void)
{
    int *block = shmem_malloc(64);
    shmem_free(block);
    shmem_free(block);
}

static void source_changed(void)
{
    source[3] = 0;
    shmem_int_put_nbi(dest, source, 4, peer);
    source[3] = 1;
    shmem_quiet();
}
static void source_in_barrier(void)
{
    int local[4] = {0};
    shmem_int_put_signal_nbi(dest, local, 4, signal_word, 1, SHMEM_SIGNAL_SET, peer);
    local[0] = 1;
    shmem_barrier_all();
}
static void source_of_context(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    shmem_ctx_int_put_nbi(ctx, dest, source, 4, peer);
    shmem_quiet(); /* completes another context */
    source[0]++;
    shmem_ctx_quiet(ctx);
}
static void source_fine(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    shmem_ctx_int_put_nbi(ctx, dest, source, 4, peer);
    shmem_ctx_quiet(ctx);
    source[0]++;
    shmem_int_put_nbi(dest, source, 4, peer);
    shmem_pe_quiet(&peer, 1);
    source[0]++;
    shmem_int_put_nbi(dest, source, 4, peer);
    shmem_ctx_destroy(ctx);
}

static void lock_twice(void)
{
    if (me == 0) {
        shmem_set_lock(words);
        shmem_set_lock(words);
    }
    shmem_barrier_all();
}
static void lock_of_other(void)
{
    if (me == 0)
        shmem_set_lock(words);
    shmem_barrier_all();
    if (me == 1)
        shmem_clear_lock(words);
    shmem_barrier_all();
}
static void lock_kept(void)
{
    shmem_set_lock(&words[me]);
    while (shmem_test_lock(&words[4]))
        continue;
    shmem_clear_lock(&words[4]);
}

/* The object of a freed request must not serve a new one. */
static void request_reused(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL, copy, other;
    shmemx_request_create(SHMEMX_REQUEST_SHARED, &request);
    copy = request;
    shmemx_request_free(&request);
    for (int i = 0; i < 100; i++)
        shmemx_request_create(SHMEMX_REQUEST_SHARED, &other);
    shmemx_request_test(&copy);
}

const struct mistake mistakes_together[] = {
    {"job_calls", job_calls,
     "shmem_(barrier|sync)_all: the PEs differ: PE 0 shmem_barrier_all\\(\\) at together\\.c:\\d+; PE 1 shmem_sync_all\\(\\) at "
     "together\\.c:\\d+"},
    {"job_roots", job_roots,
     "shmem_int_broadcast: the PEs differ: PE 0 shmem_int_broadcast\\(nelems 4, PE_root 0\\) at .*; PE 1 .*PE_root 1"},
    {"job_counts", job_counts, "shmem_int_sum_reduce: the PEs differ: PE 0 .*nreduce 4.*; PE 1 .*nreduce 5"},
    {"job_types", job_types, "shmem_.*: the PEs differ: PE 0 shmem_int_sum_reduce.*; PE 1 shmem_float_sum_reduce"},
    {"job_order", job_order, "shmem_.*: the PEs differ: PE 0 shmem_int_fcollect.*; PE 1 shmem_int_alltoall"},
    {"job_team", job_team, "shmem_int_max_reduce: the PEs differ: PE 0 .*nreduce 1.*; PE 1 .*nreduce 2"},
    {"job_set", job_set, "shmem_broadcast32: the PEs differ: PE 0 .*nelems 2, PE_root 0.*; PE 1 .*nelems 1"},
    {"job_finalize", job_finalize, "shmem_.*: the PEs differ: PE 0 shmem_finalize.*; PE 1 shmem_barrier_all"},
    {"job_malloc", job_malloc, "shmem_malloc: the PEs differ: PE 0 .*size 100.*; PE 1 .*size 101"},
    {"job_malloc_order", job_malloc_order, "shmem_free: the PEs differ: PE 0 .*block 1.*; PE 1 .*block 2"},
    {"job_split", job_split,
     "shmem_barrier_all: the PEs differ in a split-phase collective before: PE 0 shmemx_int_broadcast_nbe\\(nelems 4, PE_root 0\\) "
     "at together\\.c:\\d+; PE 1 .*PE_root 1"},
    {"job_split_order", job_split_order,
     "shmem_sync_all: the PEs differ in .*: PE 0 shmemx_int_fcollect_nbe.*; PE 1 shmemx_int_alltoall_nbe"},
    {"job_split_fewer", job_split_fewer,
     "shmem_team_destroy: the PEs differ in .*: PE 0 no further one; PE 1 shmemx_team_sync_nbe"},
    {"job_split_many", job_split_many,
     "shmem_barrier_all: the PEs differ in split-phase collectives before: behind the first 64"},
    {"job_split_fine", job_split_fine, ""},
    {"job_collect", job_collect, ""},
    {"zone_behind", zone_behind,
     "shmem_barrier_all: heap block overrun: 2 bytes at offset 102 of the block of 100 bytes at 0x[0-9a-f]+, from shmem_malloc at "
     "together\\.c:\\d+"},
    {"zone_before", zone_before,
     "shmem_free: heap block overrun: 8 bytes at offset -8 of the block of 24 bytes at .*, from shmem_calloc at "},
    {"zone_moved", zone_moved,
     "shmem_sync_all: heap block overrun: 1 bytes at offset 20 of the block of 20 bytes .*shmem_realloc"},
    {"zone_put", zone_put, "shmem_putmem: dest: 11 bytes at .* run past the end of the heap block of 10 bytes"},
    {"zone_fine", zone_fine, ""},
    {"free_inside", free_inside, "shmem_free: ptr: 0x[0-9a-f]+ points into the block of 4096 bytes at"},
    {"free_twice", free_twice, "shmem_free: ptr: 0x[0-9a-f]+ was freed before; .* 64 bytes from shmem_malloc at toge"},
    {"source_changed", source_changed,
     "shmem_quiet: source: the 16 bytes at 0x[0-9a-f]+ for shmem_int_put_nbi to PE [01] at together\\.c:\\d+ have changed"},
    {"source_in_barrier", source_in_barrier, "shmem_barrier_all: source: the 16 bytes at .* shmem_int_put_signal_nbi"},
    {"source_of_context", source_of_context, "shmem_ctx_quiet: source: the 16 bytes at .* shmem_ctx_int_put_nbi"},
    {"source_fine", source_fine, ""},
    {"lock_twice", lock_twice,
     "shmem_set_lock: lock: 0x[0-9a-f]+ \\(words\\) was set before by this thread at together\\.c:\\d+"},
    {"lock_of_other", lock_of_other, "shmem_clear_lock: lock 0x[0-9a-f]+ \\(words\\) is not set by this PE"},
    {"lock_kept", lock_kept,
     "shmem_finalize: warning: lock 0x[0-9a-f]+ \\(words.*\\) is still set at together\\.c:\\d+"},
    {"request_reused", request_reused, "shmemx_request_test: req: 0x[0-9a-f]+ is not a request, or one that was freed"},
    {0},
};
