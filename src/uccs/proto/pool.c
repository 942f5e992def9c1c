/* Chooses the workers on which a context issues, and begins messages there. Any thread.
 *
 * The pool opens a worker when it is first needed and keeps it open until the end of the life, so that a context made and
 * destroyed in a loop costs no connections. A context of one worker takes the least used worker, counting from the last one
 * down; the threads of a context that spreads take workers by their number, counting from the first one up. So the two
 * kinds keep apart while there are enough workers.
 *
 * Invariants: a thread's worker of a context that spreads never changes, so that a later call finds the thread's
 * operations there. When a worker cannot be opened, the service worker takes its place for the rest of the life. */
#include "uccs/proto/inner.h"

#include "base/env.h"
#include "base/log.h"
#include "uccs/core/core.h"

#include <sched.h>

#define SENDING_MOST 512                /* messages that the transport may hold before issuing waits */
#define ASKING_MOST ((uint32_t)4 << 20) /* bytes that the targets of a worker may hold in answers before asking waits */

_Static_assert(PROTO_WORKERS == 64, "a bit for each in struct proto_worker_set");

static uint32_t limit; /* number of workers that this process may have, with the service worker */
static struct proto_worker
    *made[PROTO_WORKERS];             /* release. Null: not opened yet; the service worker: could not be opened */
static uint32_t users[PROTO_WORKERS]; /* number of contexts on the worker; under `pool` */
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
uint32_t proto_others;

static uint32_t count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

void proto_pool_open(void)
{
    const int64_t wanted = env_number(ENV_LANES);
    uccs_waiting_cores = count_cores();
    const int64_t workers = wanted > 0 ? wanted : (int64_t)uccs_waiting_cores + 1;
    limit = (uint32_t)(workers < PROTO_WORKERS ? workers : PROTO_WORKERS);
    made[0] = proto_service_worker();
}

void proto_pool_close(void)
{
    for (int i = 0; i < PROTO_WORKERS; i++) {
        made[i] = 0;
        users[i] = 0;
    }
    proto_others = 0;
}

/* Under `pool`. */
static struct proto_worker *open_worker(uint32_t number)
{
    struct proto_worker *worker = atomic_load_relaxed(&made[number]);
    if (worker)
        return worker;
    const char *why = proto_worker_open(number);
    if (why)
        log_debug("no worker %u over %s: %s", number, proto_transport->name, why);
    else
        atomic_store_release(&proto_others,
                             number > proto_others ? number : proto_others); /* acquire: proto_next_busy */
    worker = why ? proto_service_worker() : &proto_workers[number];
    atomic_store_release(&made[number], worker); /* acquire: proto_worker_of, proto_next_busy */
    return worker;
}

static uint32_t least_used(void)
{
    uint32_t best = limit - 1;
    for (uint32_t number = limit - 1; number > 0; number--)
        if (users[number] < users[best])
            best = number;
    return best;
}

lat_cold static struct proto_worker *take_worker(struct proto_worker_set *on)
{
    pthread_mutex_lock(&pool);
    struct proto_worker *worker = on->own;
    if (!worker) {
        worker = open_worker(least_used());
        users[worker->number]++;
        if (on->notes)
            proto_log_begin(&on->log, worker);
        atomic_store_seqcst(&on->used, UINT64_C(1) << worker->number);
        atomic_store_release(&on->own, worker); /* acquire: proto_worker_of */
    }
    pthread_mutex_unlock(&pool);
    return worker;
}

/* Adds a worker to a context. Operations on it must stay behind operations that a fence has ordered on the other workers:
 * either the fence sees this worker, or this thread sees the fence (both sequentially consistent). */
lat_cold static struct proto_worker *join_worker(struct proto_worker_set *on, uint32_t number)
{
    pthread_mutex_lock(&pool);
    struct proto_worker *worker = open_worker(number);
    const uint64_t bit = UINT64_C(1) << worker->number;
    users[worker->number] += !(on->used & bit);
    uint64_t before = atomic_fetch_or_seqcst(&on->used, bit);
    pthread_mutex_unlock(&pool);
    if (atomic_load_seqcst(&on->fenced))
        (void)proto_quiet_workers(on, before & ~bit, 0, 0);
    return worker;
}

struct proto_worker *proto_worker_of(struct proto_worker_set *on)
{
    if (!on)
        return proto_service_worker();
    if (!on->spread) {
        struct proto_worker *own = atomic_load_acquire(&on->own);
        return lat_likely(own != 0) ? own : take_worker(on);
    }
    const uint32_t number = limit > 1 ? 1 + uccs_thread() % (limit - 1) : 0;
    struct proto_worker *worker = atomic_load_acquire(&made[number]);
    if (lat_unlikely(!worker || !(atomic_load_relaxed(&on->used) >> worker->number & 1)))
        return join_worker(on, number);
    return worker;
}

/* Returns the open workers with unanswered operations in turns. */
struct proto_worker *proto_next_busy(void)
{
    static _Thread_local uint32_t turn;
    uint32_t others = atomic_load_acquire(&proto_others); /* the highest number */
    for (uint32_t i = 0; i < others; i++) {
        struct proto_worker *worker = atomic_load_acquire(&made[1 + turn++ % others]);
        if (worker && worker != proto_service_worker() && atomic_load_relaxed(&worker->some))
            return worker;
    }
    return 0;
}

uint64_t proto_workers_open(void)
{
    uint64_t open = 1;
    for (uint32_t number = 1; number <= atomic_load_acquire(&proto_others); number++)
        if (atomic_load_acquire(&made[number]) == &proto_workers[number])
            open |= UINT64_C(1) << number;
    return open;
}

static void leave_worker(uint32_t number)
{
    pthread_mutex_lock(&pool);
    users[number]--;
    pthread_mutex_unlock(&pool);
}

void proto_release(struct proto_worker_set *on)
{
    (void)proto_quiet(on, 0, 0);
    if (on->notes && on->own) {
        proto_wait_local(on, 0, 0); /* the transport may hold a message longer than its target needs to apply it */
        proto_log_end(&on->log, on->own);
    }
    for (uint64_t left = on->used; left; left &= left - 1)
        leave_worker((uint32_t)__builtin_ctzll(left));
    *on = (struct proto_worker_set){.spread = on->spread, .notes = on->notes};
}

void proto_quiet_all(void)
{
    (void)proto_quiet_workers(0, proto_workers_open(), 0, 0);
}

void proto_fence_all(void)
{
    if (atomic_load_relaxed(&proto_others))
        proto_quiet_all();
    else
        proto_fence(0);
}

/* --- Messages begin */

_Thread_local bool proto_never_waits;

bool proto_busy(const struct proto_worker *worker)
{
    return lat_unlikely(atomic_load_relaxed(&worker->sending) > SENDING_MOST);
}

/* Returns true when issuing a pending request without a flag would wait for answers. */
static bool proto_pending_busy(const struct proto_worker *worker)
{
    return lat_unlikely(atomic_load_relaxed(&worker->asking) > ASKING_MOST);
}

bool proto_set_busy(struct proto_worker_set *on)
{
    struct proto_worker *worker = proto_worker_of(on);
    if (!proto_busy(worker) && !proto_pending_busy(worker))
        return false;
    (void)proto_progress(worker); /* so that a caller who tries again makes progress */
    return true;
}

/* A target holds an answer until it has left. */
static bool has_room(const struct proto_worker *worker, const struct proto_pending *ask)
{
    return !proto_busy(worker) && (!ask || ask->flag || !proto_pending_busy(worker));
}

lat_cold static void wait_for_room(struct proto_worker *worker, const struct proto_pending *ask)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (!has_room(worker, ask) && !proto_never_waits)
        proto_pause(worker, &wait);
}

/* Takes the memory that a message may need, so that nothing behind this lacks any. Returns false when there is none. A connection
 * that is not made yet, and an operation that the network does by itself, need more. */
static lat_hot bool reserve_send(struct proto_peer *peer, struct proto_issue_log *log,
                                 const struct uccs_request *request)
{
    struct proto_worker *worker = peer->worker;
    return proto_send_reserve(worker) && proto_coalesce_reserve(worker) && proto_handle_reserve(&worker->handles) &&
           (!log || proto_log_reserve(log, peer)) && ((!request && !peer->alone) || proto_hang_reserve(peer));
}

static lat_hot struct proto_send *begin_send(struct proto_worker *worker, struct proto_worker_set *on, int pe,
                                             enum proto_wire_kind kind, struct uccs_request *request)
{
    struct proto_issue_log *log = on && on->notes ? &on->log : 0;
    pthread_mutex_lock(&worker->lock);
    struct proto_peer *peer = proto_peer_try(worker, pe);
    if (lat_unlikely(!peer || !reserve_send(peer, log, request))) {
        pthread_mutex_unlock(&worker->lock);
        return 0;
    }
    struct proto_send *send = proto_send_new(worker, peer, kind);
    send->log = log;
    send->request = request;
    return send;
}

struct proto_send *proto_send_begin(struct proto_worker_set *on, int pe, enum proto_wire_kind kind,
                                    struct uccs_request *request, const struct proto_pending *ask)
{
    struct proto_worker *worker = proto_worker_of(on);
    if (lat_unlikely(!has_room(worker, ask)))
        wait_for_room(worker, ask);
    return begin_send(worker, on, pe, kind, request);
}

struct proto_send *proto_send_begin_now(struct proto_worker_set *on, int pe, enum proto_wire_kind kind)
{
    return uccs_must_have(begin_send(proto_worker_of(on), on, pe, kind, 0), "a message to", pe);
}
