/* Locks whose owner is on another node: mem/rwlock.h has the lock. The owner takes a ticket for the origin when its
 * message arrives, and grants the lock by a message when it is the ticket's turn. So an origin waits for one message and
 * never polls the network.
 *
 * A step that may bring the turn of such a waiter is followed by proto_lock_grant in the owner's process; another
 * process of the node sends it a message for that (rma/lock.c). Grants are no pending requests, so that a quiet does not wait for
 * them. */
#include "uccs/proto/inner.h"
#include "uccs/proto/target.h"

#include "uccs/mem/region.h"
#include "uccs/mem/rwlock.h"

#include <pthread.h>
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

/* Waiters in the order of their tickets. The lock is taken last. */
static struct waiter *first, **last = &first;
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;

/* --- The origin */

static struct proto_send *begin_lock(int pe, enum proto_wire_kind kind, struct proto_address at,
                                     enum uccs_lock_mode mode)
{
    struct proto_send *send = proto_send_begin(0, pe, kind, 0, 0);
    if (!send)
        uccs_fail("no memory for a lock of PE %d", pe);
    send->header.segment = (uint8_t)at.segment;
    send->header.at = (struct wire_memory){at.offset, at.region};
    send->header.amo.what = (uint8_t)mode;
    return send;
}

void proto_lock(int pe, struct proto_address at, enum uccs_lock_mode mode, struct uccs_request *request)
{
    struct proto_send *send = begin_lock(pe, WIRE_LOCK, at, mode);
    uccs_request_begin(request);
    send->header.handle = proto_handle_of(send->worker, request, pe, WIRE_LOCK);
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

static void fill_grant(struct proto_send *send, uint64_t handle, bool good)
{
    send->header.answer.handle = handle;
    send->header.answer.failed = !good;
}

static void answer_grant(struct proto_origin *origin, uint64_t handle, bool good)
{
    struct proto_send *answer = proto_answer_new(WIRE_LOCKED);
    fill_grant(answer, handle, good);
    proto_answer(origin, answer);
}

/* Under `waiting`. Takes the marks off a lock for which nobody waits any more, or no guest. */
static void unmark_lock(struct uccs_ticket_lock *lock)
{
    bool tickets = false, guests = false;
    for (const struct waiter *waiter = first; waiter; waiter = waiter->next) {
        tickets |= waiter->lock == lock && waiter->mode != UCCS_LOCK_GUEST;
        guests |= waiter->lock == lock && waiter->mode == UCCS_LOCK_GUEST;
    }
    if (!tickets)
        (void)atomic_fetch_and_acqrel(&lock->word, ~TICKET_FAR); /* acqrel: all of rwlock.h */
    if (!guests && atomic_load_relaxed(&lock->guests))
        (void)atomic_fetch_and_acqrel(&lock->guests, ~TICKET_GUESTS_WAIT); /* the same */
}

static bool enter_waiter(const struct waiter *waiter)
{
    bool more;
    if (waiter->mode == UCCS_LOCK_GUEST)
        return uccs_ticket_visit(waiter->lock);
    if (!uccs_ticket_enter(waiter->lock, waiter->ticket, waiter->mode, &more))
        return false;
    if (waiter->mode == UCCS_LOCK_EXCLUSIVE)
        uccs_ticket_sign(waiter->lock, waiter->pe);
    return true;
}

/* Takes the waiters off the list whose turn it is, and returns them. Waiters of a lock are in the order of their
 * tickets, so one that enters brings the turn to those behind it in the same round. */
static struct waiter *take_ready(void)
{
    struct waiter *ready = 0, **end = &ready;
    pthread_mutex_lock(&waiting);
    for (struct waiter **at = &first; *at;) {
        struct waiter *waiter = *at;
        if (!enter_waiter(waiter)) {
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        waiter->next = 0;
        *end = waiter;
        end = &waiter->next;
    }
    for (last = &first; *last;)
        last = &(*last)->next;
    for (const struct waiter *waiter = ready; waiter; waiter = waiter->next)
        unmark_lock(waiter->lock);
    pthread_mutex_unlock(&waiting);
    return ready;
}

void proto_lock_grant(void)
{
    for (struct waiter *next, *ready = take_ready(); ready; ready = next) {
        struct proto_send *send = proto_send_begin_now(0, ready->pe, WIRE_LOCKED);
        next = ready->next;
        fill_grant(send, ready->handle, true);
        proto_issue(send);
        free(ready);
    }
}

/* The same inside of an event, where answers leave with the poll. */
static void grant_in_event(void)
{
    for (struct waiter *next, *ready = take_ready(); ready; ready = next) {
        next = ready->next;
        answer_grant(ready->origin, ready->handle, true);
        free(ready);
    }
}

/* Returns the lock that a message names; null when its memory is gone or cannot hold a lock. */
static struct uccs_ticket_lock *lock_of(const struct wire_header *header)
{
    char *at = proto_target_address(header, header->at.offset, UCCS_LOCK_BYTES);
    bool fine = at && (uintptr_t)at % CACHE_LINE == 0 &&
                (header->amo.what != UCCS_LOCK_GUEST || ((struct uccs_ticket_lock *)at)->guests) &&
                (header->segment != PROTO_REGION || !uccs_region_locked(header->at.region, at));
    return fine ? (struct uccs_ticket_lock *)at : 0;
}

/* Sets the mark before the next look at the turn: the step that brings the turn sees the mark, or the look sees the
 * turn. */
static void wait_in_line(struct waiter *waiter)
{
    struct uccs_ticket_lock *lock = waiter->lock;
    pthread_mutex_lock(&waiting);
    if (waiter->mode == UCCS_LOCK_GUEST) {
        (void)atomic_fetch_or_acqrel(&lock->guests, TICKET_GUESTS_WAIT); /* acqrel: all of rwlock.h */
    } else {
        waiter->ticket = uccs_ticket_draw(lock);               /* take_ready lets it in */
        (void)atomic_fetch_or_acqrel(&lock->word, TICKET_FAR); /* the same */
    }
    *last = waiter;
    last = &waiter->next;
    pthread_mutex_unlock(&waiting);
    grant_in_event();
}

static bool enter_now(struct uccs_ticket_lock *lock, enum uccs_lock_mode mode)
{
    return mode == UCCS_LOCK_GUEST ? uccs_ticket_visit(lock) : mode == UCCS_LOCK_SHARED && uccs_ticket_read_now(lock);
}

static void hear_lock(struct proto_arrival *arrival)
{
    const struct wire_header *header = &arrival->header;
    const enum uccs_lock_mode mode = (enum uccs_lock_mode)header->amo.what;
    struct uccs_ticket_lock *lock = lock_of(header);
    if (!lock || enter_now(lock, mode)) {
        answer_grant(arrival->origin, header->amo.handle, lock);
        return;
    }
    struct waiter *waiter = malloc(sizeof *waiter);
    if (!waiter)
        uccs_fail("no memory for a lock of PE %u", header->from);
    *waiter = (struct waiter){.lock = lock,
                              .mode = mode,
                              .origin = arrival->origin,
                              .pe = (int)header->from,
                              .handle = header->amo.handle};
    wait_in_line(waiter);
}

static void hear_unlock(struct proto_arrival *arrival)
{
    struct uccs_ticket_lock *lock = lock_of(&arrival->header);
    if (lock && uccs_ticket_leave(lock, (enum uccs_lock_mode)arrival->header.amo.what))
        grant_in_event();
}

void proto_lock_close(void)
{
    for (struct waiter *next; first; first = next) {
        next = first->next;
        free(first);
    }
    last = &first;
}

const struct proto_handler proto_on_lock = {.landed = hear_lock};
const struct proto_handler proto_on_unlock = {.counts = true, .landed = hear_unlock};
const struct proto_handler proto_on_locked = {.loose = true, .landed = hear_locked};
