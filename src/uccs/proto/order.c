/* Fences and quiets of contexts, which are sets of workers. Any thread. */
#include "uccs/proto/inner.h"

#define EACH_WORKER(worker, left, workers) \
    uint64_t left = (workers);             \
    for (struct proto_worker *worker = 0; left && (worker = &proto_workers[__builtin_ctzll(left)]); left &= left - 1)

void proto_flush(struct proto_worker_set *on, struct uccs_request *request)
{
    EACH_WORKER(worker, left, proto_workers_of(on))
    {
        pthread_mutex_lock(&worker->lock);
        proto_flush_touched(worker, request, false);
        proto_pending_watch(worker, request);
        uccs_eventcount_unlock(&worker->events, &worker->lock);
    }
}

void proto_quiet(struct proto_worker_set *on)
{
    proto_quiet_workers(proto_workers_of(on), 0, 0);
}

void proto_quiet_pes(struct proto_worker_set *on, const int *pes, size_t npes)
{
    proto_quiet_workers(proto_workers_of(on), pes, npes);
}

void proto_quiet_all(void)
{
    proto_quiet_workers(proto_workers_open(), 0, 0);
}

/* A fence on one worker only increments a number; each peer takes it over with the next operation to it. */
static void fence_worker(struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->epoch++;
    pthread_mutex_unlock(&worker->lock);
}

/* Numbers do not order operations across workers, so with several workers a fence completes the operations. A worker that
 * joins later must know of the fence (pool.c). */
void proto_fence(struct proto_worker_set *on)
{
    if (on)
        atomic_store_seqcst(&on->fenced, 1);
    uint64_t workers = proto_workers_of(on);
    if (workers & (workers - 1))
        proto_quiet_workers(workers, 0, 0);
    else if (workers)
        fence_worker(&proto_workers[__builtin_ctzll(workers)]);
}

void proto_fence_all(void)
{
    if (atomic_load_relaxed(&proto_others))
        proto_quiet_all();
    else
        fence_worker(proto_service_worker());
}

void proto_release(struct proto_worker_set *on)
{
    proto_quiet(on);
    proto_pool_leave(on->used);
    *on = (struct proto_worker_set){.spread = on->spread};
}
