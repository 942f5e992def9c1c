/* The functions that come in one form only, called by hand under their C names.
 * pes: 1 2
 * flags: -fno-strict-aliasing
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"

static void library(void)
{
    int provided = -1, initialized = -1, major = 0, minor = 0;
    char name[SHMEM_MAX_NAME_LEN] = "";
    shmem_query_initialized(&initialized);
    expect("shmem_query_initialized", initialized != 0, "says no between init and finalize");
    expect("shmem_init_thread", shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "a second init failed");
    expect("shmem_init_thread", provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE, "odd level");
    shmem_query_thread(&initialized);
    expect("shmem_query_thread", initialized == provided, "another level than init gave");
    shmem_finalize(); /* matches the second init: the library goes on */
    expect("shmem_my_pe", shmem_my_pe() == me && _my_pe() == me, "changed");
    expect("shmem_n_pes", shmem_n_pes() == npes && _num_pes() == npes, "changed");
    expect("shmem_pe_accessible", shmem_pe_accessible(peer) == 1 && shmem_pe_accessible(npes) == 0, "wrong answer");
    int local = 0;
    expect("shmem_addr_accessible", shmem_addr_accessible(heap_dest, peer) == 1, "denies the heap");
    expect("shmem_addr_accessible", shmem_addr_accessible(&local, peer) == 0, "allows the stack");
    shmem_info_get_version(&major, &minor);
    expect("shmem_info_get_version", major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION,
           "differs from the header");
    shmem_info_get_name(name);
    expect("shmem_info_get_name", strcmp(name, SHMEM_VENDOR_STRING) == 0, "differs from the header");
    shmem_pcontrol(1);
    shmem_pcontrol(1, 2, "three");
}

static void pointers(void)
{
    ready();
    int *theirs = (int *)shmem_ptr(dest, peer);
    expect("shmem_ptr", theirs != NULL, "null on one node");
    if (theirs)
        *theirs = 1000 + me;
    settle();
    expect("shmem_ptr", *(int *)dest == 1000 + origin, "a store through it did not arrive");
}

static void memory(void)
{
    struct {
        const char *call;
        void *at;
    } got[] = {{"shmem_malloc", shmem_malloc(100)},
               {"shmem_calloc", shmem_calloc(10, 10)},
               {"shmem_align", shmem_align(256, 100)},
               {"shmem_malloc_with_hints", shmem_malloc_with_hints(100, SHMEM_MALLOC_SIGNAL_REMOTE)},
               {"shmalloc", shmalloc(100)},
               {"shmemalign", shmemalign(128, 100)}};
    for (size_t i = 0; i < sizeof got / sizeof *got; i++) {
        expect(got[i].call, shmem_addr_accessible(got[i].at, peer), "not symmetric");
        if (i != 1)
            memset(got[i].at, 7, 100);
    }
    for (int i = 0; i < 100; i++)
        expect("shmem_calloc", ((char *)got[1].at)[i] == 0, "not zero");
    expect("shmem_align", (uintptr_t)got[2].at % 256 == 0, "not aligned");
    expect("shmemalign", (uintptr_t)got[5].at % 128 == 0, "not aligned");
    char *grown = (char *)shmem_realloc(got[0].at, 5000), *old = (char *)shrealloc(got[4].at, 3000);
    expect("shmem_realloc", grown && grown[99] == 7, "lost the contents");
    expect("shrealloc", old && old[99] == 7, "lost the contents");
    shmem_free(grown);
    shfree(old);
    for (int i = 1; i < 6; i++)
        if (i != 4)
            shmem_free(got[i].at);
}

static void contexts(void)
{
    shmem_ctx_t mine = SHMEM_CTX_INVALID, second = SHMEM_CTX_INVALID;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_ctx_session_config_t session = {10};
    expect("shmem_ctx_create", shmem_ctx_create(SHMEM_CTX_PRIVATE, &mine) == 0, "failed");
    expect("shmem_team_create_ctx", shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, &second) == 0, "failed");
    expect("shmem_ctx_get_team", shmem_ctx_get_team(second, &team) == 0 && team == SHMEM_TEAM_WORLD, "another team");
    shmem_ctx_session_start(mine, SHMEM_CTX_SESSION_BATCH, &session, SHMEM_CTX_SESSION_TOTAL_OPS);
    ready();
    shmem_ctx_int_p(mine, (int *)dest, 77 + me, peer);
    shmem_ctx_fence(mine);
    shmem_ctx_int_p(mine, (int *)dest + 1, 78 + me, peer);
    shmem_ctx_session_stop(mine);
    shmem_ctx_quiet(mine);
    shmem_ctx_pe_quiet(mine, &peer, 1);
    settle();
    expect("shmem_ctx_quiet", ((int *)dest)[0] == 77 + origin && ((int *)dest)[1] == 78 + origin,
           "values did not arrive");
    shmem_ctx_destroy(mine);
    shmem_ctx_destroy(second);
}

static void order(void)
{
    ready();
    shmem_int_p((int *)dest, 1, peer);
    shmem_fence();
    shmem_int_p((int *)dest + 1, 2, peer);
    shmem_quiet();
    shmem_pe_quiet(&peer, 1);
    shmem_sync_all();
    expect("shmem_fence", ((int *)dest)[0] == 1 && ((int *)dest)[1] == 2, "values did not arrive");
    shmem_barrier_all();
    static long lock, count;
    for (int i = 0; i < 10; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&count, shmem_long_g(&count, 0) + 1, 0);
        shmem_quiet();
        shmem_clear_lock(&lock);
    }
    while (shmem_test_lock(&lock))
        continue;
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    expect("shmem_set_lock", shmem_long_g(&count, 0) == 10L * npes, "two PEs held it at once");
    shmem_barrier_all();
}

static void signals(void)
{
    ready();
    shmem_signal_add(&signal_word, 6, peer);
    expect("shmem_signal_wait_until", shmem_signal_wait_until(&signal_word, SHMEM_CMP_GT, 5) == 11, "wrong value");
    settle();
    shmem_ctx_signal_add(ctx, &signal_word, 6, peer);
    expect("shmem_ctx_signal_add", shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 17) == 17, "wrong value");
    settle();
    shmem_signal_set(&signal_word, 3, peer);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_NE, 17);
    expect("shmem_signal_fetch", shmem_signal_fetch(&signal_word) == 3, "wrong value");
    settle();
    shmem_ctx_signal_set(ctx, &signal_word, 4, peer);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 4);
    settle();
}

static void old_waits(void)
{
    ready();
    long *at = (long *)dest;
    shmem_long_p(at, 5, peer);
    shmem_wait(at, 0);
    expect("shmem_wait", *at == 5, "returned before the value changed");
    shmem_barrier_all();
    shmem_long_p(at, 6, peer);
    shmem_wait_until(at, SHMEM_CMP_GE, 6);
    (shmem_wait_until)(at, SHMEM_CMP_GE, 6); /* the function behind the generic of the same name */
    expect("shmem_wait_until", *at == 6, "returned before the value changed");
    settle();
}

int main(void)
{
    start_pes(0);
    begin();
    library();
    pointers();
    memory();
    contexts();
    order();
    signals();
    old_waits();
    shmem_finalize(); /* matches start_pes; end() matches begin() */
    return end(42);
}
