/* Mistakes that the checking layer must name, one per run: `mistakes NAME`. `mistakes --list` prints
 * each name and the line that must stand behind "lateral: PE n: ", as a regular expression; run.py
 * runs them all with oshrun --check; a line with "warning" leaves the run alone. Two PEs. */
#include "mistakes.h"

int *dest, *source;
uint64_t *signal_word;
int peer, me, npes;
long words[SHMEM_SYNC_SIZE];
static int *freed;
static int global[16];

static void fine(void)
{
    shmem_int_put(dest, source, 100, peer);
    shmem_int_put(dest, dest, 100, peer); /* own dest to a peer's: no overlap */
    shmem_int_put(NULL, NULL, 0, peer);   /* nothing to move: any address */
}

static void fine_requests(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL, other, set[3] = {SHMEMX_REQUEST_NULL};
    shmemx_ct_t ct;
    const long value = 1;
    size_t index;
    shmemx_request_create(SHMEMX_REQUEST_SHARED, &other);
    shmemx_int_put_nbe(dest, source, 1, peer, &one);
    shmemx_barrier_all_nbe(&set[0]);
    shmemx_barrier_all_nbe(&set[2]);
    shmemx_request_merge(&other, 3, set);
    shmemx_request_merge(&set[1], 1, &one);
    one = other; /* a copy of a shared one */
    shmemx_request_wait(&one);
    shmemx_request_wait_all(set, 3, NULL);
    shmemx_request_wait_some(set, 3, &index, (int[]){1, 0, 1});
    shmemx_request_wait_any(NULL, 0, NULL);
    shmemx_request_wait_free(&other);
    shmemx_request_wait_all_free(set, 3, NULL);
    shmemx_ct_create(&ct);
    one = SHMEMX_REQUEST_NULL;
    shmemx_ct_wait_nbe(ct, 1, &one);
    shmemx_ct_add_nbe(ct, 1, peer, &set[0]);
    shmemx_request_wait_free(&one);
    shmemx_request_wait_free(&set[0]);
    shmemx_ct_wait_any(&ct, &value, 1);
    shmemx_ct_consume(ct, 0);
    shmemx_ct_free(&ct);
}
static void request_bogus(void)
{
    shmemx_request_t request = (shmemx_request_t)words;
    shmemx_request_wait(&request);
}
static void request_freed_copy(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL, copy;
    shmemx_barrier_all_nbe(&request);
    copy = request;
    shmemx_request_wait_free(&request);
    shmemx_request_test(&copy);
}
static void request_private_copy(void)
{
    shmemx_request_t request, copy;
    shmemx_request_create(SHMEMX_REQUEST_PRIVATE, &request);
    copy = request;
    shmemx_int_put_nbe(dest, source, 1, peer, &request);
    shmemx_request_wait(&copy);
    shmemx_request_wait(&copy);
    shmemx_request_wait_free(&request);
}
static void requests_null(void)
{
    shmemx_request_wait_any(NULL, 2, NULL);
}
static void counter_bogus(void)
{
    shmemx_ct_add((shmemx_ct_t)0x700001, 1, peer);
}
static void counter_freed(void)
{
    shmemx_ct_t ct, copy;
    shmemx_ct_create(&ct);
    copy = ct;
    shmemx_ct_free(&ct);
    shmemx_int_put_ct(copy, dest, source, 1, peer);
}
static void counters_null(void)
{
    shmemx_ct_wait_any(NULL, NULL, 1);
}
static void consume_negative(void)
{
    shmemx_ct_t ct;
    shmemx_ct_create(&ct);
    shmemx_ct_consume(ct, -5);
}

static void pe_high(void)
{
    shmem_int_p(dest, 1, npes);
}
static void pe_low(void)
{
    shmem_int_g(dest, -1);
}
static void null_dest(void)
{
    shmem_int_put(NULL, source, 1, peer);
}
static void null_source(void)
{
    shmem_int_put(dest, NULL, 1, peer);
}
static void null_local_dest(void)
{
    shmem_get64(NULL, source, 1, peer);
}
static void stack_dest(void)
{
    int local[4];
    shmem_int_put(local, source, 4, peer);
}
static void stack_source_of_get(void)
{
    int local[4];
    shmem_int_get(dest, local, 4, peer);
}
static void past_block(void)
{
    shmem_int_put(dest, source, 2000, peer);
}
static void past_block_strided(void)
{
    shmem_int_iput(dest, source, 3, 1, 500, peer);
}
static void past_globals(void)
{
    shmem_int_get(dest, global, 1 << 28, peer);
}
static void in_freed(void)
{
    shmem_int_put(freed, source, 1, peer);
}
static void negative_size(void)
{
    shmem_long_put((long *)dest, (long *)source, (size_t)-5, peer);
}
static void huge_mem(void)
{
    shmem_putmem(dest, source, (size_t)-5, peer);
}
static void odd_address(void)
{
    shmem_int_p((int *)(void *)((char *)dest + 1), 1, peer);
}
static void odd_atomic(void)
{
    shmem_long_atomic_inc((long *)(void *)((char *)dest + 4), peer);
}
static void stride_zero(void)
{
    shmem_int_iget(dest, source, 0, 1, 4, peer);
}
static void stride_below_block(void)
{
    shmem_int_ibput(dest, source, 4, 2, 3, 2, peer);
}
static void overlap_self(void)
{
    shmem_int_put(dest, dest + 2, 4, me);
}
static void overlap_by_pointer(void)
{
    shmem_int_get((int *)shmem_ptr(dest, peer) + 1, dest, 4, peer);
}
static void fetch_is_dest(void)
{
    shmem_int_atomic_fetch_add_nbi(dest, dest, 1, me);
}
static void null_fetch(void)
{
    shmem_int_atomic_fetch_nbi(NULL, dest, peer);
}
static void ctx_invalid(void)
{
    shmem_ctx_int_put(SHMEM_CTX_INVALID, dest, source, 1, peer);
}
static void ctx_destroyed(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    shmem_ctx_destroy(ctx);
    shmem_ctx_quiet(ctx);
}
static void ctx_pe(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    shmem_ctx_int_p(ctx, dest, 1, 2);
}
static void ctx_options(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(1L << 20, &ctx);
}
static void ctx_null(void)
{
    shmem_ctx_create(0, NULL);
}
static void cmp_zero(void)
{
    shmem_int_wait_until(dest, 0, 1);
}
static void cmp_high(void)
{
    shmem_long_test_all((long *)dest, 2, NULL, 7, 1);
}
static void ivar_stack(void)
{
    int local = 0;
    shmem_int_wait_until(&local, SHMEM_CMP_EQ, 0);
}
static void indices_null(void)
{
    shmem_int_test_some(dest, 4, NULL, NULL, SHMEM_CMP_EQ, 1);
}
static void values_null(void)
{
    shmem_int_test_any_vector(dest, 4, NULL, SHMEM_CMP_EQ, NULL);
}
static void sig_op(void)
{
    shmem_int_put_signal(dest, source, 1, signal_word, 1, 0, peer);
}
static void sig_in_dest(void)
{
    shmem_int_put_signal(dest, source, 8, (uint64_t *)(void *)dest, 1, SHMEM_SIGNAL_SET, peer);
}
static void sig_null(void)
{
    shmem_signal_add(NULL, 1, peer);
}
static void sig_private(void)
{
    uint64_t local = 0;
    shmem_signal_fetch(&local);
}
static void lock_private(void)
{
    long local = 0;
    shmem_set_lock(&local);
}
static void quiet_pes(void)
{
    int pes[2] = {peer, 99};
    shmem_pe_quiet(pes, 2);
}
static void team_invalid(void)
{
    shmem_team_sync(SHMEM_TEAM_INVALID);
}
static void team_unknown(void)
{
    shmem_team_my_pe((shmem_team_t)(void *)dest);
}
static void root_high(void)
{
    shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, 1, 2);
}
static void coll_overlap(void)
{
    shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, dest + 8, 8);
}
static void coll_room(void)
{
    shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, source, 513);
}
static void coll_private(void)
{
    int local[4] = {0, 0, 0, 0};
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, local, 4);
}
static void reduce_partly(void)
{
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, dest, dest + 1, 4);
}
static void set_size(void)
{
    shmem_barrier(0, 0, 3, words);
}
static void set_stride(void)
{
    shmem_sync(0, -1, 2, words);
}
static void set_without_me(void)
{
    shmem_barrier(peer, 0, 1, words);
}
static void psync_private(void)
{
    long local[SHMEM_SYNC_SIZE];
    shmem_broadcast32(dest, source, 1, 0, 0, 0, 2, local);
}
static void provided_null(void)
{
    shmem_query_thread(NULL);
}
static void level(void)
{
    int provided;
    shmem_init_thread(9, &provided);
}
static void request_null(void)
{
    shmemx_int_put_nbe(dest, source, 1, peer, NULL);
}
static void counter_null(void)
{
    shmemx_int_put_ct(NULL, dest, source, 1, peer);
}
static void after_finalize(void)
{
    shmem_finalize();
    shmem_int_p(dest, 1, 0);
}

static void finalize_twice(void)
{
    shmem_finalize();
    shmem_finalize();
}
static void finalize_unstarted(void) {}
static void broadcast_in_place(void)
{
    for (int i = 0; i < 3; i++) {
        *dest = me == i % 2 ? 10 + i : 0;
        shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, dest, 1, i % 2);
        if (*dest != 10 + i)
            shmem_global_exit(9);
        shmem_barrier_all();
        shmem_broadcast32(dest, dest, 1, 0, 0, 0, 2, words);
        shmem_barrier_all();
    }
}
static void broadcast_partly(void)
{
    shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, dest + 2, 4, 0);
}

static const struct mistake mistakes[] = {
    {"pe_high", pe_high, "shmem_int_p: pe: 2 is out of range, the job has PEs 0 to 1"},
    {"pe_low", pe_low, "shmem_int_g: pe: -1 is out of range"},
    {"null_dest", null_dest, "shmem_int_put: dest: is a null pointer"},
    {"null_source", null_source, "shmem_int_put: source: is a null pointer"},
    {"null_local_dest", null_local_dest, "shmem_get64: dest: is a null pointer"},
    {"stack_dest", stack_dest, "shmem_int_put: dest: 0x[0-9a-f]+ is not a symmetric address"},
    {"stack_source_of_get", stack_source_of_get, "shmem_int_get: source: 0x[0-9a-f]+ is not a symmetric address"},
    {"past_block", past_block,
     "shmem_int_put: dest: 8000 bytes at 0x[0-9a-f]+ run past the end of the heap block of 4096 bytes"},
    {"past_block_strided", past_block_strided,
     "shmem_int_iput: dest: 5992 bytes at .* run past the end of the heap block"},
    {"past_globals", past_globals,
     "shmem_int_get: source: 1073741824 bytes .* the variable of 64 bytes at .*global.: room for 64"},
    {"in_freed", in_freed, "shmem_int_put: dest: 0x[0-9a-f]+ is in a free part of the symmetric heap"},
    {"negative_size", negative_size,
     "shmem_long_put: nelems: [0-9]+ elements of 8 bytes are more than memory can hold"},
    {"huge_mem", huge_mem, "shmem_putmem: nelems: [0-9]+ elements of 1 bytes"},
    {"odd_address", odd_address, "shmem_int_p: dest: 0x[0-9a-f]+ is not aligned to the 4 bytes of its type"},
    {"odd_atomic", odd_atomic, "shmem_long_atomic_inc: dest: 0x[0-9a-f]+ is not aligned to the 8 bytes"},
    {"stride_zero", stride_zero, "shmem_int_iget: dst: a stride of 0; it must be at least 1"},
    {"stride_below_block", stride_below_block,
     "shmem_int_ibput: sst: a stride of 2 is less than the block of 3 elements"},
    {"overlap_self", overlap_self, "shmem_int_put: dest: 16 bytes at 0x[0-9a-f]+ of PE [01] are the memory of source"},
    {"overlap_by_pointer", overlap_by_pointer,
     "shmem_int_get: source: 16 bytes at 0x[0-9a-f]+ of PE [01] are the memory of dest"},
    {"fetch_is_dest", fetch_is_dest, "shmem_int_atomic_fetch_add_nbi: dest: 4 bytes .* are the memory of fetch"},
    {"null_fetch", null_fetch, "shmem_int_atomic_fetch_nbi: fetch: is a null pointer"},
    {"ctx_invalid", ctx_invalid, "shmem_ctx_int_put: ctx: is SHMEM_CTX_INVALID"},
    {"ctx_destroyed", ctx_destroyed, "shmem_ctx_quiet: ctx: 0x[0-9a-f]+ is not a context, or was destroyed"},
    {"ctx_pe", ctx_pe, "shmem_ctx_int_p: pe: 2 is out of range, the context's team has PEs 0 to 1"},
    {"ctx_options", ctx_options, "shmem_ctx_create: options: 0x100000 has bits that are no option"},
    {"ctx_null", ctx_null, "shmem_ctx_create: ctx: is a null pointer"},
    {"cmp_zero", cmp_zero, "shmem_int_wait_until: cmp: 0 is not one of SHMEM_CMP_EQ"},
    {"cmp_high", cmp_high, "shmem_long_test_all: cmp: 7 is not one of"},
    {"ivar_stack", ivar_stack, "shmem_int_wait_until: ivar: 0x[0-9a-f]+ is not a symmetric address"},
    {"indices_null", indices_null, "shmem_int_test_some: indices: is a null pointer"},
    {"values_null", values_null, "shmem_int_test_any_vector: cmp_values: is a null pointer"},
    {"sig_op", sig_op, "shmem_int_put_signal: sig_op: 0 is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD"},
    {"sig_in_dest", sig_in_dest, "shmem_int_put_signal: sig_addr: 8 bytes at .* overlap dest"},
    {"sig_null", sig_null, "shmem_signal_add: sig_addr: is a null pointer"},
    {"sig_private", sig_private, "shmem_signal_fetch: sig_addr: 0x[0-9a-f]+ is not a symmetric address"},
    {"lock_private", lock_private, "shmem_set_lock: lock: 0x[0-9a-f]+ is not a symmetric address"},
    {"quiet_pes", quiet_pes, "shmem_pe_quiet: target_pes: entry 1, 99, is out of range"},
    {"team_invalid", team_invalid, "shmem_team_sync: team: is SHMEM_TEAM_INVALID"},
    {"team_unknown", team_unknown, "shmem_team_my_pe: team: 0x[0-9a-f]+ is not a team, or was destroyed"},
    {"root_high", root_high, "shmem_int_broadcast: PE_root: 2 is out of range"},
    {"coll_overlap", coll_overlap, "shmem_int_fcollect: dest: 64 bytes at .* overlap source"},
    {"coll_room", coll_room, "shmem_int_fcollect: dest: 4104 bytes at .* run past the end of the heap block"},
    {"coll_private", coll_private, "shmem_int_sum_reduce: source: 0x[0-9a-f]+ is not a symmetric address"},
    {"reduce_partly", reduce_partly, "shmem_int_max_reduce: dest: 16 bytes at .* overlap source"},
    {"set_size", set_size, "shmem_barrier: PE_size: the last PE of the set would be 2, the job has PEs 0 to 1"},
    {"set_stride", set_stride, "shmem_sync: logPE_stride: -1 is not from 0 to 30"},
    {"set_without_me", set_without_me, "shmem_barrier: PE_start: this PE is not in the set"},
    {"psync_private", psync_private, "shmem_broadcast32: pSync: 0x[0-9a-f]+ is not a symmetric address"},
    {"provided_null", provided_null, "shmem_query_thread: provided: is a null pointer"},
    {"level", level, "shmem_init_thread: requested: 9 is not one of the SHMEM_THREAD_ levels"},
    {"fine_requests", fine_requests, ""},
    {"request_bogus", request_bogus,
     "shmemx_request_wait: req: 0x[0-9a-f]+ \\(words\\) is not a request, or one that was freed"},
    {"request_freed_copy", request_freed_copy,
     "shmemx_request_test: req: 0x[0-9a-f]+ is not a request, or one that was freed"},
    {"request_private_copy", request_private_copy, "shmemx_request_wait: warning: req: a copy of a private request"},
    {"requests_null", requests_null, "shmemx_request_wait_any: reqs: is a null pointer"},
    {"counter_bogus", counter_bogus, "shmemx_ct_add: ct: 0x700001 is not a counter"},
    {"counter_freed", counter_freed, "shmemx_int_put_ct: ct: 0x[0-9a-f]+ is a counter that was freed"},
    {"counters_null", counters_null, "shmemx_ct_wait_any: cts: is a null pointer"},
    {"consume_negative", consume_negative, "shmemx_ct_consume: n: -5 is negative"},
    {"request_null", request_null, "shmemx_int_put_nbe: req: is a null pointer"},
    {"counter_null", counter_null, "shmemx_int_put_ct: ct: is a null pointer"},
    {"after_finalize", after_finalize, "shmem_int_p: called after the last shmem_finalize"},
    {"broadcast_partly", broadcast_partly, "shmem_int_broadcast: dest: 16 bytes at .* overlap source"},
    {"broadcast_in_place", broadcast_in_place,
     "shmem_int_broadcast: warning: dest and source are both 0x[0-9a-f]+; the standard wants two objects"},
    {"finalize_twice", finalize_twice, "shmem_finalize: warning: called again after the last shmem_finalize"},
    {"finalize_unstarted", finalize_unstarted, "shmem_finalize: called before shmem_init"},
    {"fine", fine, ""},
    {0},
};

static int run(const struct mistake *mistake)
{
    if (mistake->make == finalize_unstarted)
        shmem_finalize();
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    peer = (me + 1) % npes;
    dest = (int *)shmem_malloc(4096);
    source = (int *)shmem_malloc(4096);
    signal_word = (uint64_t *)shmem_calloc(1, sizeof *signal_word);
    freed = (int *)shmem_malloc(1 << 20);
    shmem_free(freed);
    shmem_barrier_all();
    mistake->make();
    int running;
    shmem_query_initialized(&running);
    if (!running)
        return 0;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* Prints the mistakes of a table, or makes the one that is wanted. Returns -1 when it is none of them. */
static int look_through(const struct mistake *table, const char *wanted)
{
    for (; table->name; table++)
        if (strcmp(wanted, "--list") == 0)
            printf("%s\t%s\n", table->name, table->line);
        else if (strcmp(wanted, table->name) == 0)
            return run(table);
    return -1;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    int status = look_through(mistakes, wanted);
    status = status < 0 ? look_through(mistakes_together, wanted) : status;
    return status < 0 ? strcmp(wanted, "--list") != 0 : status;
}
