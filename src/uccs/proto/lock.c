/* Locks whose owner is on another node: mem/rwlock.h has the lock. The owner takes a ticket for the origin when its
 * message arrives, and grants the lock by a message when it is the ticket's turn. So an origin waits for one message and
 * never polls the network.
 *
 * The owner looks at its waiters' turns when a message about locks arrives, when a thread of it leaves a lock, and at every look
 * of its waits; who takes such a step in another process of the node rings the owner's doorbell. Grants are no pending
 * requests, so that a quiet does not wait for them. */
#include "uccs/proto/inner.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/mem/region.h"
#include "uccs/mem/rwlock.h"

#include <stdlib.h>

/* A process that waits for its turn, at the owner. */
struct waiter {
    struct uccs_ticket_lock *lock;
    uint32_t ticket;
    enum uccs_lock_mode mode;
    struct proto_origin *origin; /* the origin's service worker */
    int pe;
    uint64_t handle; /* the origin's handle */
    struct waiter *next;
};

/* Waiters in the order of their tickets, under the service worker's lock. A hint to those who load `first` without it. */
static struct waiter *first, **last = &first;

/* --- The origin */

static struct proto_send *begin_lock(int pe, enum proto_wire_kind kind, struct proto_address at,
                                     enum uccs_lock_mode mode)
{
    struct proto_send *send = uccs_must_have(proto_send_begin(0, pe, kind, 0, 0), "a lock of", pe);
    send->header.segment = (uint8_t)at.segment;
    send->header.at = (struct wire_memory){at.offset, at.region};
    send->header.lock.mode = (uint8_t)mode;
    return send;
}

void proto_lock(int pe, struct proto_address at, enum uccs_lock_mode mode, struct uccs_request *request)
{
    struct proto_send *send = begin_lock(pe, WIRE_LOCK, at, mode);
    uccs_request_begin(request);
    send->header.lock.handle = proto_handle_of(send->worker, request, pe, WIRE_LOCK);
    proto_issue(send);
}

void proto_unlock(int pe, struct proto_address at, enum uccs_lock_mode mode)
{
    struct proto_send *send = begin_lock(pe, WIRE_UNLOCK, at, mode);
    send->counts = true;
    proto_issue(send);
}

static void hear_locked(struct proto_arrival *arrival)
{
    const struct wire_header *header = &arrival->header;
    uccs_request_finish(proto_pending_take(arrival), header->answer.failed);
}

/* --- The owner */

static void answer_grant(struct proto_origin *origin, uint64_t handle, bool good)
{
    struct proto_send *answer = proto_answer_new(WIRE_LOCKED);
    answer->header.answer.handle = handle;
    answer->header.answer.failed = !good;
    proto_answer(origin, answer);
}

/* A guest takes the mark of those that wait off: the others enter behind it, in the same round. */
static bool enter_waiter(const struct waiter *waiter)
{
    const bool guest = waiter->mode == UCCS_LOCK_GUEST;
    if (guest ? !uccs_ticket_visit(waiter->lock) : !uccs_ticket_enter(waiter->lock, waiter->ticket, waiter->mode))
        return false;
    if (guest)
        (void)atomic_fetch_and_acqrel(&waiter->lock->guests, ~TICKET_GUESTS_WAIT); /* acqrel: all of rwlock.h */
    if (waiter->mode == UCCS_LOCK_EXCLUSIVE)
        uccs_ticket_sign(waiter->lock, waiter->pe);
    return true;
}

/* Grants the lock to waiters whose turn it is. Those of one lock are in the order of their tickets, so one that enters brings the turn to
 * those behind it in the same round. Under the service worker's lock. */
static void grant_ready(void)
{
    struct waiter **at = &first;
    while (*at) {
        struct waiter *waiter = *at;
        if (!enter_waiter(waiter)) {
            at = &waiter->next;
            continue;
        }
        atomic_store_relaxed(at, waiter->next);
        answer_grant(waiter->origin, waiter->handle, true);
        free(waiter);
        if (!first)
            uccs_doorbell_tasks_end();
    }
    last = at;
}

static void grant_and_unlock(struct proto_worker *worker)
{
    grant_ready();
    proto_coalesce_push_all(worker);
    pthread_mutex_unlock(&worker->lock);
}

void proto_lock_grant(void)
{
    struct proto_worker *worker = proto_service_worker();
    if (lat_likely(!atomic_load_relaxed(&first)))
        return;
    pthread_mutex_lock(&worker->lock);
    grant_and_unlock(worker);
}

static uint64_t looks; /* by threads of the program while somebody waits; relaxed, a hint */

static int look_for_turns(void *unused)
{
    struct proto_worker *worker = proto_service_worker();
    (void)unused;
    if (lat_likely(!atomic_load_relaxed(&first)) || pthread_mutex_trylock(&worker->lock) != 0)
        return 0;
    atomic_store_relaxed(&looks, looks + 1);
    grant_and_unlock(worker);
    return 0;
}

static enum uccs_served serve_turns(void)
{
    proto_lock_grant();
    return UCCS_SERVED_NOTHING; /* who brings the next turn rings */
}

static uint64_t count_looks(void)
{
    return atomic_load_relaxed(&looks);
}

static struct uccs_progress_source source = {.poll = look_for_turns,
                                             .when = UCCS_PROGRESS_LOOK,
                                             .serve = serve_turns,
                                             .polls = count_looks,
                                             .descriptor = -1,
                                             .alarm = -1,
                                             .rung = true};

void proto_lock_open(void)
{
    (void)uccs_progress_add(&source);
}

/* Returns the lock that a message names; null when its memory is gone or cannot hold a lock. */
static struct uccs_ticket_lock *lock_of(const struct wire_header *header)
{
    char *at = proto_target_address(header, header->at.offset, UCCS_LOCK_BYTES);
    bool fine =
        at && (uintptr_t)at % CACHE_LINE == 0 &&
        (header->lock.mode != UCCS_LOCK_GUEST || ((struct uccs_ticket_lock *)at)->guests) &&
        (header->segment != PROTO_REGION || uccs_region_home(header->at.region, at, 1).domain == UCCS_DOMAIN_CPU);
    return fine ? (struct uccs_ticket_lock *)at : 0;
}

/* Peers ring from here on; then the waiter looks. */
static void wait_in_line(struct waiter *waiter)
{
    if (waiter->mode == UCCS_LOCK_GUEST)
        (void)atomic_fetch_or_acqrel(&waiter->lock->guests, TICKET_GUESTS_WAIT); /* acqrel: all of rwlock.h */
    if (!first)
        uccs_doorbell_tasks_begin();
    atomic_store_relaxed(last, waiter);
    last = &waiter->next;
    grant_ready();
    uccs_doorbell_wake(uccs_core.index); /* the progress thread looks from now on */
}

/* Returns true when a lock is granted at once; else stores the ticket of one who waits, who is no guest. */
static bool enter_now(struct uccs_ticket_lock *lock, enum uccs_lock_mode mode, int pe, uint32_t *ticket)
{
    if (mode == UCCS_LOCK_GUEST)
        return uccs_ticket_visit(lock);
    if (mode == UCCS_LOCK_SHARED && uccs_ticket_read_now(lock))
        return true;
    if (!uccs_ticket_take(lock, mode, ticket))
        return false;
    uccs_ticket_sign(lock, pe);
    return true;
}

static void hear_lock(struct proto_arrival *arrival)
{
    const struct wire_header *header = &arrival->header;
    const enum uccs_lock_mode mode = (enum uccs_lock_mode)header->lock.mode;
    struct uccs_ticket_lock *lock = lock_of(header);
    uint32_t ticket = 0;
    if (!lock || enter_now(lock, mode, (int)header->from, &ticket)) {
        answer_grant(arrival->origin, header->lock.handle, lock);
        return;
    }
    struct waiter *waiter = uccs_must_have(malloc(sizeof *waiter), "a lock of", (int)header->from);
    *waiter = (struct waiter){.lock = lock,
                              .ticket = ticket,
                              .mode = mode,
                              .origin = arrival->origin,
                              .pe = (int)header->from,
                              .handle = header->lock.handle};
    wait_in_line(waiter);
}

static void hear_unlock(struct proto_arrival *arrival)
{
    struct uccs_ticket_lock *lock = lock_of(&arrival->header);
    if (lock)
        uccs_ticket_leave(lock, (enum uccs_lock_mode)arrival->header.lock.mode);
    grant_ready();
}

void proto_lock_close(void)
{
    uccs_progress_remove(&source);
    if (first)
        uccs_doorbell_tasks_end();
    for (struct waiter *next; first; first = next) {
        next = first->next;
        free(first);
    }
    last = &first;
}

const struct proto_handler proto_on_lock = {.landed = hear_lock};
const struct proto_handler proto_on_unlock = {.counts = true, .landed = hear_unlock};
const struct proto_handler proto_on_locked = {.loose = true, .landed = hear_locked};
