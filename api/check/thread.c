/* Which thread may call: what the program has asked of shmem_init_thread holds for every call. */
#include "rules.h"

#include <pthread.h>

static uintptr_t initial; /* the thread that has initialized first; written before others may call */
static int level = SHMEM_THREAD_MULTIPLE;
static uintptr_t caller; /* at SHMEM_THREAD_SERIALIZED: the thread that is in a call; 0: none */

static uintptr_t this_thread(void)
{
    return (uintptr_t)pthread_self();
}

void check_thread_begun(void)
{
    if (!initial)
        initial = this_thread();
    pshmem_query_thread(&level);
}

static _Noreturn void fail_thread(const char *call, const char *how)
{
    static const char *const names[] = {"SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE"};
    lat_check_fail(call, "thread",
                   "%s, but the program runs at SHMEM_THREAD_%s; ask shmem_init_thread for SHMEM_THREAD_MULTIPLE", how,
                   level >= 0 && level < 4 ? names[level] : "?");
}

uintptr_t check_enter(const char *call)
{
    uintptr_t none = 0, me = this_thread();
    lat_check_running(call);
    if (level == SHMEM_THREAD_MULTIPLE)
        return 0;
    if (level < SHMEM_THREAD_SERIALIZED && me != initial)
        fail_thread(call, "called by another thread than the one that initialized");
    if (level < SHMEM_THREAD_SERIALIZED)
        return 0;
    if (__atomic_compare_exchange_n(&caller, &none, me, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) /* release: check_leave */
        return me;
    if (none != me) /* else a call from within a call, by a poller of the program */
        fail_thread(call, "called while another thread is in a call");
    return 0;
}

void check_leave(const uintptr_t *inside)
{
    if (*inside)
        __atomic_store_n(&caller, 0, __ATOMIC_RELEASE); /* acquire: check_enter */
}
