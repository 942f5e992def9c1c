/* Fences, flushes and quiets of sets of workers (proto.h). Any thread, without a lock, unless a comment says otherwise. */
#include "uccs/proto/inner.h"

#define EACH_WORKER(worker, left, workers) \
    uint64_t left = (workers);             \
    for (struct proto_worker *worker = 0; left && (worker = &proto_workers[__builtin_ctzll(left)]); left &= left - 1)

/* Returns the workers on which the set has issued. Sets of workers have a bit per number. */
static uint64_t workers_of(const struct proto_worker_set *on)
{
    return on ? atomic_load_seqcst(&on->used) : 1;
}

/* Returns the log of what a quiet of the set concerns on one of its workers. */
static struct proto_issue_log *log_of(struct proto_worker_set *on, struct proto_worker *worker)
{
    return on && on->notes ? &on->log : &worker->log;
}

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
        (void)proto_quiet_workers(on, workers, 0, 0);
    } else if (only) {
        pthread_mutex_lock(&only->lock);
        only->epoch++;
        pthread_mutex_unlock(&only->lock);
    }
}

/* --- Goes through the active peer states of a log: all, or those of some PEs */

struct walk {
    const struct proto_issue_log *log;
    const int *pes; /* null: all */
    size_t npes, i;
    struct proto_log_peer *next;
};

/* Under the worker's lock, as next_log_peer. */
static struct walk walk_of(struct proto_issue_log *log, const int *pes, size_t npes)
{
    proto_log_tidy(log);
    return (struct walk){log, pes, npes, 0, log->active};
}

/* Returns null at the end. */
static struct proto_log_peer *next_log_peer(struct walk *walk)
{
    struct proto_log_peer *log_peer = 0;
    while (walk->pes && walk->i < walk->npes && !log_peer) {
        log_peer = proto_log_peer_find(walk->log, walk->pes[walk->i++]);
        log_peer = log_peer && log_peer->active ? log_peer : 0;
    }
    if (!walk->pes && walk->next) {
        log_peer = walk->next;
        walk->next = log_peer->next_active;
    }
    return log_peer;
}

/* --- Flushes. A peer state stays active until the peer has answered for all of its operations, so that other threads' quiets find it */

/* Under the worker's lock. Returns false without memory. */
static bool flush_log_peer(struct proto_log_peer *log_peer, struct uccs_request *request, bool waits)
{
    if (!proto_asks_watch(log_peer, request))
        return false;
    if (!proto_log_peer_applied(log_peer)) {
        if (!proto_send_reserve(log_peer->peer->worker))
            return false;
        proto_flush_peer(log_peer, request, waits);
    } else if (!log_peer->asks.count && log_peer->refused) {
        uccs_request_begin(request);
        uccs_request_finish(request, proto_log_peer_take_nacked(log_peer));
    }
    return true;
}

static bool start_flush(struct proto_worker *worker, struct proto_worker_set *on, const int *pes, size_t npes,
                        struct uccs_request *request, bool waits)
{
    struct proto_issue_log *log = log_of(on, worker);
    bool good = true;
    pthread_mutex_lock(&worker->lock);
    struct walk walk = walk_of(log, pes, npes);
    for (struct proto_log_peer *log_peer; good && (log_peer = next_log_peer(&walk));)
        good = flush_log_peer(log_peer, request, waits);
    if (log != &worker->log)
        proto_log_tidy(&worker->log);
    proto_untouch(worker);
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    return good;
}

bool proto_flush(struct proto_worker_set *on, const int *pes, size_t npes, struct uccs_request *request)
{
    bool good = true;
    EACH_WORKER(worker, left, workers_of(on))
    good &= start_flush(worker, on, pes, npes, request, false);
    return good;
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

/* `all` has an owner and no parent, so nobody frees it. A log may have refused operations though the worker has nothing under way. */
bool proto_quiet_workers(struct proto_worker_set *on, uint64_t workers, const int *pes, size_t npes)
{
    uint64_t wanted = 0;
    struct uccs_request all = {.pending = 1};
    EACH_WORKER(worker, left, workers)
    {
        if (!atomic_load_relaxed(&worker->some) && !(on && on->notes))
            continue;
        if (!start_flush(worker, on, pes, npes, &all, true))
            uccs_fail("no memory for a flush");
        wanted |= UINT64_C(1) << worker->number;
    }
    if (wanted && !(wanted & (wanted - 1)))
        proto_await(&proto_workers[__builtin_ctzll(wanted)], &all.pending);
    else
        wait_for_some(wanted, &all);
    EACH_WORKER(worker, done, wanted)
    {
        pthread_mutex_lock(&worker->lock);
        proto_log_tidy(&worker->log);
        if (on && on->notes)
            proto_log_tidy(&on->log);
        proto_untouch(worker);
        pthread_mutex_unlock(&worker->lock);
    }
    return !all.error; /* the count published it */
}

bool proto_quiet(struct proto_worker_set *on, const int *pes, size_t npes)
{
    return proto_quiet_workers(on, workers_of(on), pes, npes);
}

/* --- What is under way. Of a set that notes, which has one worker, or none yet */

bool proto_is_idle(struct proto_worker_set *on)
{
    bool idle = true;
    EACH_WORKER(worker, left, workers_of(on))
    {
        pthread_mutex_lock(&worker->lock);
        proto_log_tidy(&on->log);
        idle &= !on->log.active;
        pthread_mutex_unlock(&worker->lock);
    }
    return idle;
}

static bool is_local(struct proto_worker_set *on, const int *pes, size_t npes)
{
    uint32_t busy = 0;
    EACH_WORKER(worker, left, workers_of(on))
    {
        pthread_mutex_lock(&worker->lock);
        struct walk walk = walk_of(&on->log, pes, npes);
        for (struct proto_log_peer *log_peer; (log_peer = next_log_peer(&walk));)
            busy |= log_peer->asks.count | log_peer->holding;
        pthread_mutex_unlock(&worker->lock);
    }
    return !busy;
}

void proto_wait_local(struct proto_worker_set *on, const int *pes, size_t npes)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    while (!is_local(on, pes, npes))
        proto_pause(on->own, &wait);
}

bool proto_reads(struct proto_worker_set *on, int pe)
{
    bool reads = false;
    EACH_WORKER(worker, left, workers_of(on))
    {
        pthread_mutex_lock(&worker->lock);
        const struct proto_log_peer *log_peer = proto_log_peer_find(&on->log, pe);
        reads |= log_peer && log_peer->reading;
        pthread_mutex_unlock(&worker->lock);
    }
    return reads;
}

void proto_wait_reads(struct proto_worker_set *on, int pe)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    while (proto_reads(on, pe))
        proto_pause(on->own, &wait);
}
