/* Rounds of progress: a call of uccs_progress, a wait, a handler that waits, the progress thread. Any thread. */
#include "base/env.h"
#include "uccs/am/inner.h"
#include "uccs/comp/counter.h"
#include "uccs/core/core.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/core/wait.h"
#include "uccs/mem/bounce.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

/* The descriptor to sleep on (uccs_event_descriptor of uccs.h): the progress thread writes to it.
 *
 * No wake-up is lost. The program stores `armed` and rings the thread's doorbell, so the thread makes a whole round after that: it
 * lets all servers serve, this one last, asks to be woken, and makes another round before it sleeps. What came before the round is found by
 * it, and what comes later rings. While threads of the program poll, the thread leaves the servers to them; then a sleeper may wait for
 * what they find, so it is woken once they are seen to poll twice. */

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static int event = -1;
static uint32_t armed;  /* 1: a thread is about to sleep; release: uccs_event_arm; acqrel: raise_event */
static uint32_t others; /* rounds since then in which other threads polled; relaxed */

/* Takes `armed` back. Returns false when another thread has done so. */
static bool disarm_event(void)
{
    if (!atomic_exchange_acqrel(&armed, 0))
        return false;
    uccs_doorbell_tasks_end();
    return true;
}

/* The progress thread's, behind its other servers. */
static enum uccs_served serve_sleeper(void)
{
    static uint64_t finds; /* seen so far */
    const bool found = finds != uccs_progress_finds;
    finds = uccs_progress_finds;
    if (!atomic_load_acquire(&armed)) /* release: uccs_event_arm */
        return UCCS_SERVED_NOTHING;
    const bool polled = uccs_progress_attended && atomic_fetch_add_relaxed(&others, 1) > 0;
    if ((found || polled || uccs_am_user_waits()) && disarm_event())
        (void)!write(event, &(uint64_t){1}, sizeof(uint64_t));
    return UCCS_SERVED_NOTHING;
}

static uint64_t count_polls(void)
{
    return 0;
}

struct uccs_progress_source uccs_event_source = {.serve = serve_sleeper,
                                                 .polls = count_polls,
                                                 .descriptor = -1,
                                                 .alarm = -1};

static int make_event(void)
{
    if (strcmp(env_text(ENV_PROGRESS), "poll") == 0)
        return UCCS_ERR_STATE;
    const int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0)
        return UCCS_ERR_NO_MEMORY;
    if (uccs_progress_thread_start() != 0) {
        close(made);
        return UCCS_ERR_NO_MEMORY;
    }
    event = made;
    return UCCS_OK;
}

int uccs_event_descriptor(int *descriptor)
{
    int status = UCCS_OK;
    if (!descriptor)
        return UCCS_ERR_INVALID;
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    pthread_mutex_lock(&making);
    if (event < 0)
        status = make_event();
    if (status == UCCS_OK)
        *descriptor = event;
    pthread_mutex_unlock(&making);
    return status;
}

int uccs_event_arm(void)
{
    uint64_t count;
    if (event < 0 || uccs_handlers_running)
        return UCCS_ERR_STATE;
    (void)disarm_event();
    (void)!read(event, &count, sizeof count);
    atomic_store_relaxed(&others, 0);
    uccs_doorbell_tasks_begin(); /* receivers ring when they have handled a message of this process */
    atomic_store_seqcst(&armed, 1);
    if (uccs_am_user_waits()) {
        (void)disarm_event();
        return UCCS_AGAIN;
    }
    uccs_doorbell_ring_mine();
    return UCCS_OK;
}

void uccs_event_close(void)
{
    if (event >= 0)
        close(event);
    event = -1;
    atomic_store_relaxed(&armed, 0);
}
