/* Rounds of progress: a call of uccs_progress, a wait, a handler that waits, the progress thread. Any thread. */
#include "uccs/am/inner.h"

#include "uccs/core/thread.h"
#include "uccs/core/wait.h"
#include "uccs/mem/bounce.h"
#include "uccs/comp/threshold.h"

#include <sched.h>

#define MISSES \
    64 /* rounds that find nothing before a thread in progress gives its core away, as threads may outnumber cores */
#define LOOK 31 /* a round of progress costs as much as this many looks at memory */

static _Thread_local int allowed; /* what the outer poll of this thread may handle */

/* --- Threads in progress that share a core take turns at the messages.
 *
 * Where such threads outnumber the cores, one of them finds all messages, because the others run only when it has none.
 * So a thread that has handled SHARE_AFTER messages gives its core away if others have been in progress on that core.
 * Otherwise it keeps the core: a computing thread would hold the core for a whole time slice, and where every thread
 * has a core of its own the call would achieve nothing. */

#define SHARE_AFTER 128 /* messages */
#define SHARE_BELIEF 2  /* turns for which others are believed to be there still */
#define CORES 64        /* further cores share entries */

/* The last thread in progress on each core, number + 1. Threads on that core write it, so the line stays in its cache.
 * Relaxed, a hint. */
static struct {
    cache_aligned uint32_t thread;
} latest[CORES];

static bool has_company(void)
{
    static _Thread_local uint32_t believed;
    uint32_t mine = uccs_thread() + 1, *there = &latest[(unsigned)sched_getcpu() % CORES].thread;
    if (atomic_load_relaxed(there) == mine)
        return believed && believed--;
    atomic_store_relaxed(there, mine);
    believed = SHARE_BELIEF;
    return true;
}

/* Counts `handled` more messages for this thread. Returns true when it has given its core away. */
static bool share_core(int handled)
{
    static _Thread_local int had;
    if ((had += handled) < SHARE_AFTER)
        return false;
    had = 0;
    if (!has_company())
        return false;
    sched_yield();
    return true;
}

/* Records that this thread is in progress on its core. It has found nothing and will give the core away. */
static void show_on_core(void)
{
    (void)has_company();
}

/* --- Rounds */

/* Looks at the contexts of the mask. */
static struct uccs_am_found poll_contexts(int what, uint64_t contexts)
{
    int before = allowed;
    uint32_t *inside = uccs_am_enter();
    allowed = what;
    struct uccs_am_found found = uccs_am_look(what, contexts);
    allowed = before;
    uccs_am_leave(inside);
    return found;
}

/* Makes one round of progress. Returns false when there was nothing to do. */
static bool round_of(int what, uint64_t contexts, int *handlers)
{
    if (what & UCCS_AM_USERS)
        (void)uccs_progress_look();
    int collected = uccs_bounce_collect() + uccs_call_serve();
    struct uccs_am_found found = poll_contexts(what, contexts);
    *handlers = found.users;
    return collected + found.users + found.own > 0;
}

/* rests: gives the core away where there is nothing to do, or much is done beside others. */
static int make_progress(uint64_t contexts, bool rests)
{
    static _Thread_local uint8_t misses;
    int handlers = 0;
    if (lat_unlikely(!uccs_core.pes || uccs_handlers_running))
        return 0;
    if (round_of(UCCS_AM_REQUESTS | UCCS_AM_USERS, contexts, &handlers)) {
        misses = 0;
        if (rests)
            (void)share_core(handlers);
    } else if (uccs_progress_poll_program()) {
        misses = 0;
    } else if (rests && (++misses >= MISSES || uccs_core.oversubscribed)) {
        misses = 0;
        show_on_core();
        (void)uccs_yield_core(false);
    }
    return handlers;
}

int uccs_progress(void)
{
    return make_progress(UINT64_MAX, true);
}

int uccs_poll(void)
{
    return make_progress(UINT64_MAX, false);
}

/* Peers wait for what the library's own context does for them, so it comes along. */
int uccs_context_progress(uccs_context_t context)
{
    return context ? make_progress(UINT64_C(1) << context->attr.id | UINT64_C(1) << PE_SHARED_LIBRARY_CONTEXT, true)
                   : 0;
}

static void rest_after(bool found, struct uccs_wait *wait)
{
    if (found)
        return;
    if (wait->looks < uccs_core.spin)
        wait->looks += LOOK < uccs_core.spin - wait->looks ? LOOK : uccs_core.spin - wait->looks;
    else
        show_on_core();
    uccs_rest(wait);
}

/* Serves messages in a handler that waits for a one-sided operation. */
static lat_cold void serve_inner(struct uccs_wait *wait)
{
    int found = uccs_progress_poll(UCCS_PROGRESS_LOOK);
    found += uccs_bounce_collect() + uccs_call_serve() + uccs_am_look_inner();
    rest_after(found, wait);
}

void uccs_am_serve(struct uccs_wait *wait)
{
    int handlers;
    if (lat_unlikely(uccs_handlers_running)) {
        serve_inner(wait);
        return;
    }
    rest_after(round_of(UCCS_AM_REQUESTS | UCCS_AM_USERS, UINT64_MAX, &handlers), wait);
    (void)share_core(handlers);
}

/* The outer poll has counted this thread in, so no thread turns two phases meanwhile. */
void uccs_am_serve_replies(struct uccs_wait *wait)
{
    (void)uccs_progress_poll(UCCS_PROGRESS_LOOK); /* credits of other nodes */
    struct uccs_am_found found = uccs_am_look(allowed & UCCS_AM_USERS, UINT64_MAX);
    /* The receiver of the reply may be in a handler that waits for a one-sided operation to be executed here. */
    rest_after(uccs_bounce_collect() + uccs_call_serve() + uccs_am_look_inner() + found.users > 0, wait);
}

void uccs_am_drain(void)
{
    int handlers;
    while (round_of(UCCS_AM_REQUESTS | UCCS_AM_USERS, UINT64_MAX, &handlers))
        ;
}

/* Called in waits that are not the substrate's own, and by the progress thread. */
int uccs_am_poll_network(void)
{
    int handlers;
    return !uccs_handlers_running && round_of(UCCS_AM_REQUESTS, UINT64_MAX, &handlers);
}

/* --- Who calls: waits of OpenSHMEM, and the progress thread while the program computes, run handlers of the network class */

static enum uccs_served serve_network(void)
{
    return uccs_am_poll_network() ? UCCS_SERVED_SOME : UCCS_SERVED_NOTHING;
}

static struct uccs_progress_source served = {.serve = serve_network,
                                             .polls = uccs_am_polls,
                                             .descriptor = -1,
                                             .alarm = -1,
                                             .rung = true};

static int poll_network(void *unused)
{
    (void)unused;
    return uccs_am_poll_network();
}

static struct uccs_progress_source polled = {.poll = poll_network, .when = UCCS_PROGRESS_IDLE};

void uccs_am_prepare(void)
{
    (void)uccs_progress_add(&served);
    (void)uccs_progress_add(&uccs_event_source);
    uccs_request_reason_add(uccs_bounce_tell);
    uccs_request_reason_add(uccs_threshold_tell);
}

void uccs_am_start(void)
{
    (void)uccs_progress_add(&polled);
}

void uccs_am_stop(void)
{
    uccs_progress_remove(&polled);
}
