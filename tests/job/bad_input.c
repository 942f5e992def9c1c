/* Each mistake ends the job with one clear line and a non-zero status; no PE hangs.
 * pes: 2
 * status: 1
 * timeout: 20
 * case: before_init
 * args: before_init
 * fails: ^lateral: shmem_my_pe: called before shmem_init
 * case: put_before_init
 * args: put_before_init
 * fails: ^lateral: shmem_long_p: called before shmem_init
 * case: after_finalize
 * args: after_finalize
 * fails: ^lateral: PE [01]: shmem_barrier_all: called after the last shmem_finalize
 * case: pe_high
 * args: pe_high
 * fails: ^lateral: PE 1: shmem_long_p: pe 2 is out of range, the job has PEs 0 to 1
 * case: pe_negative
 * args: pe_negative
 * fails: ^lateral: PE 1: shmem_getmem: pe -1 is out of range
 * case: atomic_pe
 * args: atomic_pe
 * fails: ^lateral: PE 1: shmem_int_atomic_fetch_add: pe 99 is out of range
 * case: private_dest
 * args: private_dest
 * fails: ^lateral: PE 1: shmem_putmem: dest 0x[0-9a-f]+ is not a symmetric address
 * case: private_source
 * args: private_source
 * fails: ^lateral: PE 1: shmem_double_g: source 0x[0-9a-f]+ is not a symmetric address
 * case: private_signal
 * args: private_signal
 * fails: ^lateral: PE 1: shmem_signal_set: sig_addr 0x[0-9a-f]+ is not a symmetric address
 * case: private_lock
 * args: private_lock
 * fails: ^lateral: PE [01]: shmem_set_lock: lock 0x[0-9a-f]+ is not a symmetric address
 * case: globals_off
 * args: globals_off
 * env: LATERAL_GLOBALS=0
 * fails: ^lateral: PE 1: shmem_long_p: dest 0x[0-9a-f]+ is not a symmetric address \(global variables are private here: LATERAL_GLOBALS is off\)
 * case: double_free
 * args: double_free
 * fails: ^lateral: PE [01]: shmem_free: ptr 0x[0-9a-f]+ .*free
 * case: free_inside
 * args: free_inside
 * fails: ^lateral: PE [01]: shmem_free: ptr 0x[0-9a-f]+ points into the block at
 * case: free_foreign
 * args: free_foreign
 * fails: ^lateral: PE [01]: shmem_free: ptr 0x[0-9a-f]+ \(word\) is not an address of the symmetric heap
 * case: heap_word
 * env: SHMEM_SYMMETRIC_SIZE=plenty
 * fails: ^lateral: SHMEM_SYMMETRIC_SIZE=plenty is not a size such as 512m or 1.5g
 * case: heap_negative
 * env: SMA_SYMMETRIC_SIZE=-5
 * fails: ^lateral: SMA_SYMMETRIC_SIZE=-5 is not a size
 * case: heap_huge
 * env: SHMEM_SYMMETRIC_SIZE=4000000t
 * fails: ^lateral: .*SHMEM_SYMMETRIC_SIZE
 * case: lanes_word
 * env: LATERAL_LANES=fast
 * fails: ^lateral: LATERAL_LANES=fast is not a whole number
 * case: ctx_invalid
 * args: ctx_invalid
 * fails: ^lateral: PE 1: shmem_ctx_long_p: ctx is SHMEM_CTX_INVALID
 * case: ctx_destroyed
 * args: ctx_destroyed
 * fails: ^lateral: PE 1: shmem_ctx_long_p: ctx 0x[0-9a-f]+ was destroyed, or its team was
 * case: ctx_of_gone_team
 * args: ctx_of_gone_team
 * fails: ^lateral: PE [01]: shmem_ctx_getmem: ctx 0x[0-9a-f]+ was destroyed, or its team was
 * case: ctx_destroyed_twice
 * args: ctx_destroyed_twice
 * fails: ^lateral: PE 1: shmem_ctx_destroy: ctx 0x[0-9a-f]+ was destroyed, or its team was
 * case: odd_far
 * args: odd_far
 * env: LATERAL_NODE_SIZE=1
 * fails: ^lateral: PE 1: shmem_long_atomic_inc: dest 0x[0-9a-f]+ is not aligned to the 8 bytes
 * case: lock_not_set
 * args: lock_not_set
 * fails: ^lateral: PE 1: shmem_clear_lock: lock 0x[0-9a-f]+ \(word\) is not set by this PE
 * case: finalize_unstarted
 * args: finalize_unstarted
 * fails: ^lateral: shmem_finalize: called before shmem_init
 * case: finalize_twice
 * args: finalize_twice
 * status: 0
 */
#include <shmem.h>
#include <string.h>

static long word;

/* Contexts come and go until this one's memory would have been used again. */
static shmem_ctx_t destroyed(void)
{
    shmem_ctx_t ctx, others[8];
    shmem_ctx_create(0, &ctx);
    shmem_ctx_destroy(ctx);
    for (int i = 0; i < 8; i++)
        shmem_ctx_create(0, &others[i]);
    for (int i = 0; i < 8; i++)
        shmem_ctx_destroy(others[i]);
    return ctx;
}

static void mistake(const char *what, char *block)
{
    long here = 0;
    double real = 0;
    if (!strcmp(what, "pe_high"))
        shmem_long_p(&word, 1, 2);
    else if (!strcmp(what, "pe_negative"))
        shmem_getmem(&here, &word, sizeof here, -1);
    else if (!strcmp(what, "atomic_pe"))
        shmem_int_atomic_fetch_add((int *)block, 1, 99);
    else if (!strcmp(what, "private_dest"))
        shmem_putmem(&here, &word, sizeof here, 0);
    else if (!strcmp(what, "private_source"))
        (void)shmem_double_g(&real, 0);
    else if (!strcmp(what, "private_signal"))
        shmem_signal_set((uint64_t *)&here, 1, 0);
    else if (!strcmp(what, "globals_off"))
        shmem_long_p(&word, 1, 0);
    else if (!strcmp(what, "ctx_invalid"))
        shmem_ctx_long_p(SHMEM_CTX_INVALID, &word, 1, 0);
    else if (!strcmp(what, "ctx_destroyed"))
        shmem_ctx_long_p(destroyed(), &word, 1, 0);
    else if (!strcmp(what, "ctx_destroyed_twice"))
        shmem_ctx_destroy(destroyed());
    else if (!strcmp(what, "odd_far"))
        shmem_long_atomic_inc((long *)(block + 4), 0);
    else if (!strcmp(what, "lock_not_set"))
        shmem_clear_lock(&word);
}

static void everybodys_mistake(const char *what, char *block)
{
    long here = 0;
    if (!strcmp(what, "after_finalize")) {
        shmem_finalize();
        shmem_barrier_all();
    } else if (!strcmp(what, "double_free")) {
        shmem_free(block);
        shmem_free(block);
    } else if (!strcmp(what, "ctx_of_gone_team")) {
        shmem_team_t team;
        shmem_ctx_t ctx;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), 0, 0, &team);
        shmem_team_create_ctx(team, 0, &ctx);
        shmem_team_destroy(team);
        shmem_ctx_getmem(ctx, &here, &word, sizeof here, 0);
    } else if (!strcmp(what, "free_inside"))
        shmem_free(block + 64);
    else if (!strcmp(what, "free_foreign"))
        shmem_free(&word);
    else if (!strcmp(what, "private_lock"))
        shmem_set_lock(&here);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "before_init"))
        return shmem_my_pe();
    if (!strcmp(what, "put_before_init"))
        shmem_long_p(&word, 1, 0);
    if (!strcmp(what, "finalize_unstarted"))
        shmem_finalize();
    shmem_init();
    char *block = shmem_malloc(256);
    everybodys_mistake(what, block);
    if (shmem_my_pe() == 1)
        mistake(what, block);
    shmem_barrier_all();
    shmem_finalize();
    if (!strcmp(what, "finalize_twice"))
        shmem_finalize();
    return 0;
}
