/* Progress of workers, and waits for messages on them. The progress thread (core/progress_thread.c) moves the service worker on, so that
 * the process serves peers while the program is outside of the library, and sends what a computing program has left on other workers.
 * What a waiter does when it has found nothing: core/wait.h. Any thread, without a lock. */
#include "uccs/proto/inner.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/core/wait_record.h"

#include <poll.h>
#include <stdio.h>

/* Handles what waits on the worker: all of it, or what one look finds. Returns how many messages came in or left. */
static int look_at(struct proto_worker *worker, bool all)
{
    int count, sum = 0;
    if (worker->hung)
        proto_nudge(worker);
    proto_land_wanted(worker);
    do {
        if (worker->coalescing)
            proto_coalesce_push_all(worker);
        sum += count = proto_transport->progress(worker->at);
    } while (all && count);
    if (worker->coalescing)
        proto_coalesce_push_all(worker);
    if (sum)
        uccs_eventcount_tell(&worker->events);
    return sum;
}

/* Returns true when the transport holds none of the worker's messages any more; false: the thread must look again. From settle on no
 * thread of the program does, and a network whose receivers confirm (rxd) may need the worker, so that a peer's message to it counts
 * as sent. */
static bool poll_clear(struct proto_worker *worker)
{
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return false;
    look_at(worker, false);
    bool clear = worker->sending == 0 && !atomic_load_seqcst(&proto_settled);
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    return clear;
}

/* Sends the messages that a computing program has left on other workers. A worker keeps its bit while another thread holds
 * the worker, or while the transport still holds its messages (a connection takes several looks). */
static void send_left(void)
{
    uint64_t again = 0;
    for (uint64_t workers = atomic_exchange_seqcst(&proto_workers_left, 0); workers; workers &= workers - 1)
        if (!poll_clear(&proto_workers[__builtin_ctzll(workers)]))
            again |= workers & -workers;
    if (again)
        (void)atomic_fetch_or_seqcst(&proto_workers_left, again);
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
    int count = look_at(worker, true);
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

/* --- Progress of one worker, and of some. Any thread */

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
    int count = look_at(worker, false);
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    if (lat_unlikely(uccs_keepalive_due(polls)))
        uccs_keepalive_poll();
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

/* --- Waits */

_Static_assert(PROTO_WORKERS <= UCCS_REST_FILES, "a descriptor for each worker");

/* Asks the transport to make the worker's descriptor readable when something happens. Returns 0 when something has
 * happened already. Else it returns 1, and stores the descriptor, or -1 when another thread has the worker. */
static int arm_worker(struct proto_worker *worker, int *descriptor)
{
    *descriptor = -1;
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return 1;
    int armed = !worker->at || (!worker->coalescing && proto_transport->arm(worker->at));
    if (armed && worker->at) /* else closed, and nothing comes any more */
        *descriptor = proto_transport->descriptor(worker->at);
    pthread_mutex_unlock(&worker->lock);
    return armed;
}

/* A waiter that sleeps looks too rarely to serve peers, so it leaves the service worker to the progress thread. That thread itself
 * serves it in the waits of handlers, since nobody else may. */
static uint64_t woken_by(uint64_t workers)
{
    return !atomic_load_relaxed(&uccs_progress_thread_on) || uccs_progress_thread_me ? workers | 1 : workers;
}

static int arm_workers(uint64_t workers, struct pollfd *files)
{
    int count = 0;
    if (!atomic_load_relaxed(&uccs_progress_thread_on))
        uccs_keepalive_poll(); /* on a busy machine thousands of polls with sleeps between them take minutes */
    for (; workers; workers &= workers - 1) {
        files[count].events = POLLIN;
        if (!arm_worker(&proto_workers[__builtin_ctzll(workers)], &files[count].fd))
            return -1;
        count += files[count].fd >= 0;
    }
    return count;
}

void proto_thread_prepare(void)
{
    proto_asleep = proto_reminded = 0;
    proto_workers_left = 0;
    uccs_wait_arm = arm_workers;
    served.descriptor = proto_transport->descriptor(proto_service_worker()->at);
    served.alarm = uccs_keepalive_descriptor();
    (void)uccs_progress_add(&served);
}

void proto_rest(uint64_t workers, struct uccs_wait *wait)
{
    uccs_rest_on(wait, arm_workers, woken_by(workers));
}

void proto_pause(struct proto_worker *worker, struct uccs_wait *wait)
{
    if (!proto_progress(worker))
        proto_rest(UINT64_C(1) << worker->number, wait);
}

void proto_await(struct proto_worker *worker, const uint32_t *word)
{
    if (lat_likely(atomic_load_acquire(word) ==
                   1)) /* release: proto_send_free, proto_pending_settle, uccs_request_finish */
        return;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    struct uccs_follower me;
    uccs_follower_begin(&me, &worker->events, &worker->lock);
    while (atomic_load_acquire(word) != 1)      /* release: as above */
        if (uccs_follower_may_look(&me, &wait)) /* else another thread leads */
            proto_pause(worker, &wait);
    uccs_follower_end(&me);
}

/* --- Who owes this PE an answer, for those who ask what a wait is for */

/* Returns a PE, or -1 when it knows none, or another thread has the worker. */
static int awaited_on(struct proto_worker *worker, const struct uccs_request *request)
{
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return -1;
    const int pe = worker->at ? proto_handle_awaited(&worker->handles, request) : -1;
    pthread_mutex_unlock(&worker->lock);
    return pe;
}

bool proto_request_reason(const struct uccs_request *request, struct uccs_reason *reason)
{
    for (int i = 0; i < PROTO_WORKERS && proto_active; i++) {
        const int pe = awaited_on(&proto_workers[i], request);
        if (pe < 0)
            continue;
        reason->on = uccs_reason_pe(pe);
        snprintf(reason->text, sizeof reason->text, "an answer");
        return true;
    }
    return false;
}

void proto_reason(const void *unused, struct uccs_reason *reason)
{
    (void)unused;
    (void)proto_request_reason(0, reason);
}
