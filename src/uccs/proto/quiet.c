/* Fences and quiets of contexts, which are sets of workers. Any thread, without a lock, unless a comment says otherwise. */
#include "uccs/proto/inner.h"

#define EACH_WORKER(worker, left, workers) \
    uint64_t left = (workers);             \
    for (struct proto_worker *worker = 0; left && (worker = &proto_workers[__builtin_ctzll(left)]); left &= left - 1)

/* Returns the workers on which the context has issued. Sets of workers have a bit per number. */
static uint64_t workers_of(struct proto_worker_set *on)
{
    return on ? atomic_load_seqcst(&on->used) : 1;
}

/* --- Fences */

/* A fence on one worker only increments a number; each peer takes it over with the next operation to it. Numbers do not order
 * operations across workers, so with several workers a fence completes the operations. A worker that joins later must know of the
 * fence (pool.c). */
void proto_fence(struct proto_worker_set *on)
{
    if (on)
        atomic_store_seqcst(&on->fenced, 1);
    const uint64_t workers = workers_of(on);
    struct proto_worker *only = workers ? &proto_workers[__builtin_ctzll(workers)] : 0;
    if (workers & (workers - 1)) {
        proto_quiet_workers(workers, 0, 0);
    } else if (only) {
        pthread_mutex_lock(&only->lock);
        only->epoch++;
        pthread_mutex_unlock(&only->lock);
    }
}

/* --- Quiets. A touched peer stays on the list until it has answered for all operations, so that other threads' quiets find it */

static bool is_quiet(const struct proto_peer *peer)
{
    return proto_point_reaches(peer->answered, peer->issued) && !peer->asks.count;
}

static void flush_peer(struct proto_peer *peer, struct uccs_request *all, bool waits)
{
    if (!proto_asks_watch(&peer->asks, peer->worker, all))
        uccs_fail("no memory for a flush of PE %d", peer->pe);
    if (!proto_point_reaches(peer->answered, peer->issued))
        proto_flush_peer(peer, peer->issued, all, 0, waits);
}

void proto_flush_touched(struct proto_worker *worker, struct uccs_request *all, bool waits)
{
    struct proto_peer **at = &worker->touched;
    while (*at) {
        struct proto_peer *peer = *at;
        if (is_quiet(peer)) {
            *at = peer->next_touched;
            peer->touched = false;
            continue;
        }
        if (all)
            flush_peer(peer, all, waits);
        at = &peer->next_touched;
    }
    proto_untouch(worker);
}

void proto_flush(struct proto_worker_set *on, struct uccs_request *request)
{
    EACH_WORKER(worker, left, workers_of(on))
    {
        pthread_mutex_lock(&worker->lock);
        proto_flush_touched(worker, request, false);
        uccs_eventcount_unlock(&worker->events, &worker->lock);
    }
}

static void start_quiet(struct proto_worker *worker, struct uccs_request *all, const int *pes, size_t npes)
{
    pthread_mutex_lock(&worker->lock);
    if (!pes)
        proto_flush_touched(worker, all, true);
    for (size_t i = 0; i < npes; i++) {
        struct proto_peer *peer = worker->peers[pes[i]];
        if (peer)
            flush_peer(peer, all, true);
    }
    uccs_eventcount_unlock(&worker->events, &worker->lock);
}

/* Looks at all the workers, since a thread that waits for one must serve the others, too. */
static void wait_for_some(uint64_t workers, const struct uccs_request *all)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    uccs_waiting_count(1);
    while (atomic_load_acquire(&all->pending) != 1) /* acqrel: uccs_request_finish */
        if (!proto_progress_all(workers))
            proto_rest(workers, &wait);
    uccs_waiting_count(-1);
}

/* `all` has an owner and no parent, so nobody frees it. */
void proto_quiet_workers(uint64_t workers, const int *pes, size_t npes)
{
    uint64_t wanted = 0;
    struct uccs_request all = {.pending = 1};
    EACH_WORKER(worker, left, workers)
    {
        if (!atomic_load_relaxed(&worker->some))
            continue;
        start_quiet(worker, &all, pes, npes);
        wanted |= UINT64_C(1) << worker->number;
    }
    if (wanted && !(wanted & (wanted - 1)))
        proto_await(&proto_workers[__builtin_ctzll(wanted)], &all.pending);
    else
        wait_for_some(wanted, &all);
    EACH_WORKER(worker, done, wanted)
    {
        pthread_mutex_lock(&worker->lock);
        proto_flush_touched(worker, 0, false);
        pthread_mutex_unlock(&worker->lock);
    }
}

void proto_quiet(struct proto_worker_set *on)
{
    proto_quiet_workers(workers_of(on), 0, 0);
}

void proto_quiet_pes(struct proto_worker_set *on, const int *pes, size_t npes)
{
    proto_quiet_workers(workers_of(on), pes, npes);
}
