/* What the progress thread (core/progress_thread.h) does for the workers: it moves the service worker on, so that the process
 * serves peers while the program is outside of the library, and sends what a computing program has left on other
 * workers. */
#include "uccs/proto/inner.h"

#include "uccs/core/progress.h"

/* Sends the messages that a computing program has left on other workers. A worker keeps its bit while another thread holds
 * the worker, or while the transport still holds its messages (a connection takes several looks). */
static void send_left(void)
{
    uint64_t again = 0;
    for (uint64_t workers = atomic_exchange_seqcst(&proto_workers_left, 0); workers; workers &= workers - 1)
        if (!proto_poll_clear(&proto_workers[__builtin_ctzll(workers)]))
            again |= workers & -workers;
    if (again)
        (void)atomic_fetch_or_seqcst(&proto_workers_left, again);
}

/* Handles all waiting messages under the worker's lock. Returns how many came in or left. */
static int handle_all(struct proto_worker *worker)
{
    int count, all = 0;
    if (worker->hung)
        proto_nudge(worker);
    proto_land_wanted(worker);
    do {
        proto_coalesce_push_all(worker);
        count = proto_transport->progress(worker->at);
        all += count;
    } while (count);
    if (all)
        uccs_eventcount_tell(&worker->events);
    return all;
}

/* Messages that a thread of the program has just left may still leave together with its next ones, so they wait for the
 * next look. A thread of the program that holds the lock may be about to poll; or it is stuck on a dead launcher, which the lines
 * tell (their alarm wakes the progress thread). */
static enum uccs_served serve_worker(void)
{
    struct proto_worker *worker = proto_service_worker();
    if (atomic_exchange_seqcst(&proto_reminded, 0))
        return UCCS_SERVED_LATER;
    send_left();
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return UCCS_SERVED_SOON;
    int count = handle_all(worker);
    bool armed = !worker->coalescing && proto_transport->arm(worker->at);
    atomic_store_seqcst(&proto_asleep, armed); /* either I see the worker's bit, or it sees me asleep */
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    if (count || !armed)
        return UCCS_SERVED_SOME;
    return atomic_load_seqcst(&proto_workers_left) ? UCCS_SERVED_LATER : UCCS_SERVED_NOTHING;
}

static uint64_t count_polls(void)
{
    return atomic_load_relaxed(&proto_service_worker()->polls);
}

static struct uccs_progress_source served = {
    .serve = serve_worker,
    .polls = count_polls,
    .tend = send_left, /* a thread that polls the service worker may not poll the others */
    .alarmed = uccs_keepalive_poll,
};

void proto_thread_prepare(void)
{
    proto_asleep = proto_reminded = 0;
    proto_workers_left = 0;
    served.descriptor = proto_transport->descriptor(proto_service_worker()->at);
    served.alarm = uccs_keepalive_descriptor();
    (void)uccs_progress_add(&served);
}

/* --- Progress of one worker, and of some. Any thread */

#define POLLS_A_LOOK 4096 /* one poll in this many looks at the lines; polls may be 50 us apart */

/* Returns non-zero when something came in or has left, else 0. */
static int look_once(struct proto_worker *worker)
{
    if (worker->hung)
        proto_nudge(worker);
    proto_land_wanted(worker);
    if (worker->coalescing)
        proto_coalesce_push_all(worker);
    int count = proto_transport->progress(worker->at);
    if (worker->coalescing)
        proto_coalesce_push_all(worker);
    if (count)
        uccs_eventcount_tell(&worker->events);
    return count;
}

bool proto_poll_clear(struct proto_worker *worker)
{
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return false;
    look_once(worker);
    bool clear = worker->sending == 0;
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    return clear;
}

int proto_poll(struct proto_worker *worker)
{
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return 0;
    if (lat_unlikely(!worker->at)) { /* closed; this thread still waits for a message that will never come */
        pthread_mutex_unlock(&worker->lock);
        return 0;
    }
    uint32_t polls = worker->polls + 1;
    atomic_store_relaxed(&worker->polls, polls); /* a hint for progress.c */
    int count = look_once(worker);
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    if (lat_unlikely(polls % POLLS_A_LOOK == 0))
        uccs_keepalive_poll(); /* a process without the progress thread needs it */
    return count;
}

/* A waiter serves peers too, whether there is a progress thread or not: two PEs that wait for each other's answers would else
 * both wait for their threads, which the waiters keep from the cores. */
int proto_progress_all(uint64_t workers)
{
    int count = 0;
    for (workers |= 1; workers; workers &= workers - 1)
        count += proto_poll(&proto_workers[__builtin_ctzll(workers)]);
    return count;
}

int proto_progress(struct proto_worker *worker)
{
    return proto_progress_all(UINT64_C(1) << worker->number);
}
