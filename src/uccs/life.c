#include "uccs/life.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "rte/watch.h"
#include "uccs/comp/counter.h"
#include "uccs/proto/initiator.h"
#include "uccs/am/am.h"
#include "uccs/core/memory.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/globals.h"
#include "uccs/core/progress.h"
#include "uccs/mem/region.h"
#include "uccs/mem/bounce.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
static int users;

#define SPIN_LOOKS 4000                /* a waiter looks so often before it yields its core */
#define ADAPTER_MOST ((size_t)1 << 30) /* bytes of the adapter's part of a heap: address space until they are used */

/* Only where the network may do atomics by itself. */
static size_t adapter_bytes(void)
{
    const size_t heap = env_size(ENV_SYMMETRIC_SIZE);
    if (strcmp(env_text(ENV_WIRE), "messages") == 0)
        return 0;
    return heap < ADAPTER_MOST ? heap : ADAPTER_MOST;
}

static bool is_child(void)
{
    const bool child = rte.node && !rte_is_pe();
    if (child)
        log_line("a child of a PE is not a PE: let it execute a program that starts the library");
    return child;
}

/* Begins a life. Returns 0, or -1 on failure. */
static int begin(void)
{
    const char *why;
    if (env_load(&why) != 0) {
        log_line("%s", why);
        return -1;
    }
    log_debug_enable(env_flag(ENV_DEBUG));
    uccs_core.spin = SPIN_LOOKS;
    struct uccs_memory_want want = {.heap_bytes = env_size(ENV_SYMMETRIC_SIZE),
                                    .adapter_bytes = adapter_bytes(),
                                    .region_bytes = uccs_arena_want,
                                    .globals = env_flag(ENV_GLOBALS)};
    if (want.globals && rte_launcher_is_there())
        uccs_globals_move(); /* before anything here starts a thread */
    uccs_far_am_open();
    if (rte_init() != 0 || uccs_memory_open(&want) != 0 || proto_open() != 0)
        return -1;
    uccs_am_prepare();
    if (uccs_progress_thread_open(proto_active) != 0)
        return -1;
    if (proto_active && !rte_job_barrier()) /* all PEs answer after this */
        return -1;
    if (!proto_active || !atomic_load_relaxed(&uccs_progress_thread_on))
        rte_launcher_watch();
    rte_watch_admit();
    return 0;
}

int uccs_life_embed(const struct uccs_environment *environment)
{
    const char *why;
    pthread_mutex_lock(&life);
    int status = users ? -1 : 0;
    if (status == 0 && environment && env_load(&why) != 0) {
        log_line("%s", why);
        status = -2;
    }
    if (status == 0)
        status = rte_host_bootstrap(environment);
    pthread_mutex_unlock(&life);
    return status;
}

int uccs_life_begin(void)
{
    if (is_child())
        return -2;
    pthread_mutex_lock(&life);
    int status = users ? 0 : begin();
    users += status == 0;
    if (status != 0 && !rte_break_start())
        status = -2;
    pthread_mutex_unlock(&life);
    return status;
}

/* After the barrier nothing is under way, so this PE may clear its memory. A new life begins with a barrier, so no peer
 * finds memory that is not cleared yet. */
bool uccs_life_end(int seconds)
{
    bool all = true;
    pthread_mutex_lock(&life);
    proto_settle();
    if (seconds)
        all = rte_job_barrier_within(seconds);
    else
        rte_job_barrier();
    proto_settle_end();
    if (all && --users == 0) {
        uccs_progress_thread_close();
        uccs_event_close();
        const bool links = proto_active;
        proto_close();
        if (links)
            uccs_far_am_close();
        uccs_threshold_close();
        uccs_counter_close();
        uccs_bounce_close();
        uccs_region_close();
        uccs_memory_close();
        rte_launcher_unwatch();
        rte_finalize();
    }
    pthread_mutex_unlock(&life);
    return all;
}
