/* Waits for messages on workers. What a waiter does when it has found nothing: core/wait.h. Any thread, without a lock. */
#include "uccs/proto/inner.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/wait_record.h"

#include <poll.h>
#include <stdio.h>

_Static_assert(PROTO_WORKERS <= UCCS_REST_FILES, "a descriptor for each worker");

/* Asks the transport to make the worker's descriptor readable when something happens. Returns 0 when something has
 * happened already. Else it returns 1, and stores the descriptor, or -1 when another thread has the worker. */
static int arm_worker(struct proto_worker *worker, int *descriptor)
{
    *descriptor = -1;
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return 1;
    int armed = worker->at && !worker->coalescing ? proto_transport->arm(worker->at) : 0;
    if (armed)
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
    for (workers = woken_by(workers); workers; workers &= workers - 1) {
        files[count].events = POLLIN;
        if (!arm_worker(&proto_workers[__builtin_ctzll(workers)], &files[count].fd))
            return -1;
        count += files[count].fd >= 0;
    }
    return count;
}

void proto_rest(uint64_t workers, struct uccs_wait *wait)
{
    uccs_rest_on(wait, arm_workers, workers);
}

void proto_pause(struct proto_worker *worker, struct uccs_wait *wait)
{
    if (!proto_progress(worker))
        proto_rest(UINT64_C(1) << worker->number, wait);
}

/* Looks at the worker, unless another thread leads, and rests. */
static void follow_leader(struct uccs_follower *me, struct proto_worker *worker, struct uccs_wait *wait)
{
    if (uccs_follower_may_look(me, wait))
        proto_pause(worker, wait);
}

void proto_wait_for(struct proto_worker *worker, const struct uccs_request *all)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    struct uccs_follower me;
    uccs_follower_begin(&me, &worker->events, &worker->lock);
    while (atomic_load_acquire(&all->pending) != 1) /* acqrel: uccs_request_finish */
        follow_leader(&me, worker, &wait);
    uccs_follower_end(&me);
}

void proto_await(struct proto_worker *worker, const uint32_t *flag)
{
    if (lat_likely(atomic_load_acquire(flag))) /* release: proto_send_free, proto_pending_settle */
        return;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    struct uccs_follower me;
    uccs_follower_begin(&me, &worker->events, &worker->lock);
    while (!atomic_load_acquire(flag)) /* the same */
        follow_leader(&me, worker, &wait);
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
