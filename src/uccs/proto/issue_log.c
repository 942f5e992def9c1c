/* Issue logs (proto.h; inner.h has their invariants): start, end, fences and flushes. Any thread. */
#include "uccs/proto/inner.h"

#include <stdlib.h>

/* --- Life */

static void list_log(struct proto_issue_log *log, struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->numbered = (uint16_t)(worker->numbered % (PROTO_REQUEST - 1) + 1); /* 0 is no log */
    log->number = worker->numbered;
    log->next = worker->logs;
    worker->logs = log;
    pthread_mutex_unlock(&worker->lock);
}

static void unlist_log(struct proto_issue_log *log, struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct proto_issue_log **at = &worker->logs;
    while (*at != log)
        at = &(*at)->next;
    *at = log->next;
    pthread_mutex_unlock(&worker->lock);
}

struct proto_issue_log *proto_log_open(void)
{
    struct proto_issue_log *log = calloc(1, sizeof *log);
    if (!log)
        return 0;
    log->workers.log = log;
    list_log(log, proto_worker_of(&log->workers));
    return log;
}

struct proto_worker_set *proto_log_workers(struct proto_issue_log *log)
{
    return &log->workers;
}

/* --- Fences and flushes */

static bool is_reading(struct proto_issue_log *log, int pe)
{
    const struct proto_log_peer *log_peer = proto_log_peer_find(log, pe);
    return log_peer && log_peer->reading;
}

bool proto_log_fence(struct proto_issue_log *log, int pe)
{
    struct proto_worker *worker = log->workers.own;
    pthread_mutex_lock(&worker->lock);
    worker->epoch++;
    bool reads = is_reading(log, pe);
    pthread_mutex_unlock(&worker->lock);
    return reads;
}

/* Returns false without memory. */
static bool flush_mark(struct proto_log_peer *log_peer, struct uccs_request *request, bool waits)
{
    if (!proto_asks_watch(&log_peer->asks, log_peer->peer->worker, request))
        return false;
    if (!proto_log_peer_applied(log_peer)) {
        proto_flush_peer(log_peer->peer, log_peer->number, request, log_peer, waits);
    } else if (!log_peer->asks.count && log_peer->refused) {
        uccs_request_begin(request);
        uccs_request_finish(request, proto_log_peer_take_nacked(log_peer));
    }
    return true;
}

/* Goes through the active peer states: all of the log, or those of some PEs. */
struct walk {
    const int *pes; /* null: all */
    size_t npes, i;
    struct proto_log_peer *next;
};

static struct walk walk_of(const struct proto_issue_log *log, const int *pes, size_t npes)
{
    return (struct walk){pes, npes, 0, log->active};
}

/* Returns null at the end. */
static struct proto_log_peer *next_log_peer(struct proto_issue_log *log, struct walk *walk)
{
    struct proto_log_peer *log_peer = 0;
    while (walk->pes && walk->i < walk->npes && !log_peer) {
        log_peer = proto_log_peer_find(log, walk->pes[walk->i++]);
        log_peer = log_peer && log_peer->active ? log_peer : 0;
    }
    if (!walk->pes && walk->next) {
        log_peer = walk->next;
        walk->next = log_peer->next_active;
    }
    return log_peer;
}

static bool flush_log(struct proto_issue_log *log, const int *pes, size_t npes, struct uccs_request *request,
                      bool waits)
{
    struct proto_worker *worker = log->workers.own;
    pthread_mutex_lock(&worker->lock);
    proto_log_tidy(log);
    struct walk walk = walk_of(log, pes, npes);
    bool good = true;
    for (struct proto_log_peer *log_peer; good && (log_peer = next_log_peer(log, &walk));)
        good = proto_send_reserve(worker) && flush_mark(log_peer, request, waits);
    proto_flush_touched(worker, 0, false);
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    return good;
}

bool proto_log_flush(struct proto_issue_log *log, const int *pes, size_t npes, struct uccs_request *request)
{
    return flush_log(log, pes, npes, request, false);
}

static bool is_local(struct proto_issue_log *log, const int *pes, size_t npes)
{
    struct proto_worker *worker = log->workers.own;
    uint32_t busy = 0;
    pthread_mutex_lock(&worker->lock);
    struct walk walk = walk_of(log, pes, npes);
    for (struct proto_log_peer *log_peer; (log_peer = next_log_peer(log, &walk));)
        busy |= log_peer->asks.count | log_peer->holding;
    pthread_mutex_unlock(&worker->lock);
    return !busy;
}

void proto_log_wait_local(struct proto_issue_log *log, const int *pes, size_t npes)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    while (!is_local(log, pes, npes))
        proto_pause(log->workers.own, &wait);
}

bool proto_log_quiet(struct proto_issue_log *log, const int *pes, size_t npes)
{
    struct uccs_request all = {.pending = 1};
    struct proto_worker *worker = log->workers.own;
    if (!flush_log(log, pes, npes, &all, true))
        uccs_fail("no memory for a flush");
    proto_await(worker, &all.pending);
    pthread_mutex_lock(&worker->lock);
    proto_log_tidy(log);
    proto_flush_touched(worker, 0, false);
    pthread_mutex_unlock(&worker->lock);
    return !all.error; /* the count published it */
}

bool proto_log_idle(struct proto_issue_log *log)
{
    struct proto_worker *worker = log->workers.own;
    pthread_mutex_lock(&worker->lock);
    proto_log_tidy(log);
    bool idle = !log->active;
    pthread_mutex_unlock(&worker->lock);
    return idle;
}

bool proto_log_reads(struct proto_issue_log *log, int pe)
{
    struct proto_worker *worker = log->workers.own;
    pthread_mutex_lock(&worker->lock);
    bool reads = is_reading(log, pe);
    pthread_mutex_unlock(&worker->lock);
    return reads;
}

void proto_log_wait_reads(struct proto_issue_log *log, int pe)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    while (proto_log_reads(log, pe))
        proto_pause(log->workers.own, &wait);
}

bool proto_log_busy(struct proto_issue_log *log)
{
    struct proto_worker *worker = log->workers.own;
    if (!proto_busy(worker) && !proto_pending_busy(worker))
        return false;
    (void)proto_progress(worker); /* so that a caller who tries again makes progress */
    return true;
}

void proto_log_close(struct proto_issue_log *log)
{
    (void)proto_log_quiet(log, 0, 0);
    proto_log_wait_local(log, 0, 0); /* the transport may hold a message longer than its target needs to apply it */
    unlist_log(log, log->workers.own);
    proto_pool_leave(log->workers.used);
    for (struct proto_log_peer *next; log->first; log->first = next) {
        next = log->first->next;
        free(log->first);
    }
    free(log->peers);
    free(log);
}
