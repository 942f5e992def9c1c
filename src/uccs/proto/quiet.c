/* Completes the operations issued on a set of workers. Any thread, without a lock, unless a comment says otherwise. */
#include "uccs/proto/inner.h"

#define EACH_WORKER(worker, left, workers) \
    uint64_t left = (workers);             \
    for (struct proto_worker *worker = 0; left && (worker = &proto_workers[__builtin_ctzll(left)]); left &= left - 1)

/* A touched peer stays on the list until it has answered for all operations, so that other threads' quiets find it. */
void proto_flush_touched(struct proto_worker *worker, struct uccs_request *all, bool waits)
{
    struct proto_peer **at = &worker->touched;
    while (*at) {
        struct proto_peer *peer = *at;
        if (proto_point_reaches(peer->answered, peer->issued)) {
            *at = peer->next_touched;
            peer->touched = false;
            continue;
        }
        if (all)
            proto_flush_peer(peer, peer->issued, all, 0, waits);
        at = &peer->next_touched;
    }
    proto_untouch(worker);
}

static void flush_pes(struct proto_worker *worker, struct uccs_request *all, const int *pes, size_t npes)
{
    for (size_t i = 0; i < npes; i++) {
        struct proto_peer *peer = worker->peers[pes[i]];
        if (peer && !proto_point_reaches(peer->answered, peer->issued))
            proto_flush_peer(peer, peer->issued, all, 0, true);
    }
}

/* Returns true while gets or fetching atomics are under way that were issued before a quiet began (numbers below
 * `before`). `pes` null: to any PE. */
static bool awaits_answers(struct proto_worker *worker, uint64_t before, const int *pes, size_t npes)
{
    if (atomic_load_acquire(&worker->oldest) >=
        before) /* release: pending.c; so this thread sees the data they brought */
        return false;
    if (!pes)
        return true;
    bool found = false;
    pthread_mutex_lock(&worker->lock);
    for (struct proto_pending *ask = worker->first; ask && ask->number < before && !found; ask = ask->next)
        for (size_t i = 0; i < npes && !found; i++)
            found = ask->pe == pes[i];
    pthread_mutex_unlock(&worker->lock);
    return found;
}

static uint64_t start_quiet(struct proto_worker *worker, struct uccs_request *all, const int *pes, size_t npes)
{
    pthread_mutex_lock(&worker->lock);
    if (pes)
        flush_pes(worker, all, pes, npes);
    else
        proto_flush_touched(worker, all, true);
    uint64_t before = worker->asked;
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    return before;
}

static void end_quiet(struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    proto_flush_touched(worker, 0, false);
    pthread_mutex_unlock(&worker->lock);
}

/* acqrel: uccs_request_finish */
static bool quiet_there(struct proto_worker *worker, const struct uccs_request *all, uint64_t before, const int *pes,
                        size_t npes)
{
    return atomic_load_acquire(&all->pending) == 1 && !awaits_answers(worker, before, pes, npes);
}

static void wait_for_one(struct proto_worker *worker, const struct uccs_request *all, uint64_t before, const int *pes,
                         size_t npes)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    struct uccs_follower me;
    uccs_follower_begin(&me, &worker->events, &worker->lock);
    while (!quiet_there(worker, all, before, pes, npes))
        proto_follow(&me, worker, &wait);
    uccs_follower_end(&me);
}

/* Looks at all the workers, since a thread that waits for one must serve the others, too. */
static void wait_for_some(uint64_t workers, const struct uccs_request *all, const uint64_t *before, const int *pes,
                          size_t npes)
{
    uccs_waiting_count(1);
    EACH_WORKER(worker, left, workers)
    {
        struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
        while (!quiet_there(worker, all, before[worker->number], pes, npes))
            if (!proto_progress_all(workers))
                proto_rest(workers, &wait);
    }
    uccs_waiting_count(-1);
}

/* `all` has an owner and no parent, so nobody frees it. */
void proto_quiet_workers(uint64_t workers, const int *pes, size_t npes)
{
    uint64_t before[PROTO_WORKERS], wanted = 0;
    struct uccs_request all = {.pending = 1};
    EACH_WORKER(worker, left, workers)
    {
        if (!atomic_load_relaxed(&worker->some))
            continue;
        before[worker->number] = start_quiet(worker, &all, pes, npes);
        wanted |= UINT64_C(1) << worker->number;
    }
    if (wanted && !(wanted & (wanted - 1))) {
        struct proto_worker *only = &proto_workers[__builtin_ctzll(wanted)];
        wait_for_one(only, &all, before[only->number], pes, npes);
    } else {
        wait_for_some(wanted, &all, before, pes, npes);
    }
    EACH_WORKER(worker, done, wanted)
    end_quiet(worker);
}
