/* The state behind core.h, and what its inline functions need besides. */
#include "uccs/core/core.h"

#include "base/atomic.h"
#include "base/log.h"
#include "rte/node.h"
#include "rte/rte.h"
#include "rte/watch.h"
#include "uccs/core/progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <time.h>

struct uccs_core uccs_core;
int uccs_users;
uint32_t uccs_progress_due, uccs_progress_sources, uccs_progress_idle, uccs_progress_program;
_Thread_local int uccs_progress_barred;

uint32_t uccs_index_in_table(int pe)
{
    if ((uint32_t)pe >= (uint32_t)uccs_core.npes)
        return (uint32_t)pe - UCCS_PE_BY_INDEX < uccs_core.pes ? (uint32_t)pe - UCCS_PE_BY_INDEX : UINT32_MAX;
    uint32_t place = uccs_core.index_of[pe];
    return place & NODE_NEAR ? place & ~NODE_NEAR : uccs_core.pes + (uint32_t)pe;
}

/* ---- numbers of threads ---- */

#define WORDS (UCCS_THREAD_NUMBERS / 64)

_Thread_local uint32_t uccs_thread_mine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards these: */
static uint64_t taken[WORDS];                            /* a bit for each number */
static uint32_t most;                                    /* relaxed readers */
static pthread_key_t key;
static bool has_key;

/* A thread that calls again while it ends takes another number. */
static void give_back(void *number)
{
    const uint32_t mine = (uint32_t)(uintptr_t)number - 1;
    uccs_thread_mine = 0;
    pthread_mutex_lock(&lock);
    taken[mine / 64] &= ~(UINT64_C(1) << mine % 64);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. Returns the lowest free number; without one, a number that another thread has. */
static uint32_t take_number(bool *shared)
{
    for (uint32_t word = 0; word < WORDS; word++)
        if (~taken[word]) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(~taken[word]);
            taken[word] |= UINT64_C(1) << bit;
            return 64 * word + bit;
        }
    *shared = true;
    return UCCS_THREAD_NUMBERS - 1;
}

lat_cold uint32_t uccs_thread_new(void)
{
    bool shared = false;
    pthread_mutex_lock(&lock);
    if (!has_key)
        has_key = pthread_key_create(&key, give_back) == 0;
    const uint32_t mine = take_number(&shared);
    if (mine >= most)
        atomic_store_relaxed(&most, mine + 1);
    const bool returns = has_key && !shared;
    pthread_mutex_unlock(&lock);
    uccs_thread_mine = mine + 1;
    if (returns)
        (void)pthread_setspecific(key, (void *)(uintptr_t)uccs_thread_mine); /* else the number is never free again */
    return mine;
}

/* The library may be unloaded while threads go on. Runs behind its other destructors (rte/end.c), which may need the key. */
static __attribute__((destructor(101))) void forget_key(void)
{
    if (has_key)
        (void)pthread_key_delete(key);
}

uint32_t uccs_threads(void)
{
    return atomic_load_relaxed(&most);
}

/* ---- the end of a job for a fault between nodes ---- */

#define SECONDS_FOR_LAUNCHER 1

static uint32_t ending; /* uccs_end_note exchanges it (acqrel), uccs_end_noted loads it (acquire) */

bool uccs_end_note(void)
{
    return atomic_exchange_acqrel(&ending, 1) == 0;
}

bool uccs_end_noted(void)
{
    return atomic_load_acquire(&ending);
}

void uccs_end_forget(void)
{
    atomic_store_release(&ending, 0);
}

/* Prints the line and returns in the first PE of the node only; in the others it waits for the end of the job. */
static void say_first(const char *format, va_list arguments)
{
    if (uccs_end_noted() || !rte_claim_end(NODE_ABORTED, LAT_EXIT))
        rte_await_end();
    log_vmistake(format, arguments);
}

_Noreturn void uccs_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_first(format, arguments);
    rte_abort(LAT_EXIT);
}

void *uccs_must_have(void *memory, const char *what, int pe)
{
    if (lat_unlikely(!memory))
        uccs_fail("no memory for %s PE %d", what, pe);
    return memory;
}

/* The launcher sees by itself how a process has ended, and ends the job with its status; the watcher sees which host is gone. */
static void let_launcher_see(int pe)
{
    rte_watch_note_lost(pe);
    nanosleep(&(struct timespec){.tv_sec = SECONDS_FOR_LAUNCHER}, 0);
}

_Noreturn void uccs_fail_process_lost(int pe, const char *format, ...)
{
    va_list arguments;
    let_launcher_see(pe);
    va_start(arguments, format);
    say_first(format, arguments);
    rte_abort(LAT_EXIT);
}

_Noreturn void uccs_fail_host_lost(int pe, const char *format, ...)
{
    va_list arguments;
    let_launcher_see(pe);
    va_start(arguments, format);
    say_first(format, arguments);
    rte_abandon(LAT_EXIT);
}
