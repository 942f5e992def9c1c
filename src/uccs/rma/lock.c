/* Locks of the public interface. mem/rwlock.h has the lock, proto/lock.c the locks of other nodes. */
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/mem/dynamic.h"
#include "uccs/mem/rwlock.h"
#include "uccs/rma/inner.h"

#include <stdio.h>
#include <stdlib.h>

/* A lock that a request waits for. */
struct pending {
    struct uccs_task task;
    struct uccs_ticket_lock *lock;
    uint32_t ticket;
    int owner;
    enum uccs_lock_mode mode;
    struct uccs_request *request;
};

static bool lock_fits(const char *at, enum uccs_lock_mode mode)
{
    return (unsigned)mode <= UCCS_LOCK_GUEST && (uintptr_t)at % CACHE_LINE == 0;
}

static bool lock_admits(const struct uccs_ticket_lock *lock, enum uccs_lock_mode mode)
{
    return mode != UCCS_LOCK_GUEST || atomic_load_relaxed(&lock->guests); /* set before the lock is used */
}

/* Finds any lock. Returns UCCS_OK, with `lock` null when it is on another node, or an error. */
static int find_lock(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode,
                     struct uccs_ticket_lock **lock)
{
    struct uccs_dynamic_piece at;
    *lock = 0;
    if (!endpoint || (unsigned)mode > UCCS_LOCK_GUEST)
        return UCCS_ERR_INVALID;
    int status = uccs_rma_check(endpoint, memory, offset, UCCS_LOCK_BYTES, 0);
    if (status != UCCS_OK || uccs_region_far(memory))
        return status;
    at = (struct uccs_dynamic_piece){.bytes = UCCS_LOCK_BYTES,
                                     .near = memory->near ? memory->near + offset : 0,
                                     .mapped = memory->domain == UCCS_DOMAIN_CPU};
    if (memory->dynamic)
        status = uccs_dynamic_find(memory->attached, memory->owner, offset, UCCS_LOCK_BYTES, &at);
    if (status == UCCS_OK && (!at.mapped || at.bytes < UCCS_LOCK_BYTES || !lock_fits(at.near, mode) ||
                              !lock_admits((struct uccs_ticket_lock *)at.near, mode)))
        status = UCCS_ERR_INVALID;
    *lock = (struct uccs_ticket_lock *)at.near;
    return status;
}

/* Finds a lock in mapped memory by a few instructions; returns null for all others and for errors. */
static inline struct uccs_ticket_lock *find_mapped(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                                   enum uccs_lock_mode mode)
{
    const bool fine = endpoint && memory && mode != UCCS_LOCK_GUEST && memory->near &&
                      memory->domain == UCCS_DOMAIN_CPU && memory->owner == endpoint->pe &&
                      lock_fits(memory->near + offset, mode) &&
                      uccs_region_check(memory, offset, UCCS_LOCK_BYTES) == UCCS_OK;
    return lat_likely(fine) ? (struct uccs_ticket_lock *)(memory->near + offset) : 0;
}

static struct proto_address place_of(const struct uccs_region *memory, size_t offset)
{
    return (struct proto_address){PROTO_REGION, offset, uccs_region_id(memory->slot, memory->generation)};
}

/* A step may have brought the turn of a waiter of another node, for whom the owner's process looks. */
static inline void tell_owner(int owner)
{
    if (owner == uccs_core.me)
        proto_lock_grant();
    else
        uccs_doorbell_wake_if_tasks(uccs_index(owner));
}

/* --- Waiting: a waiter looks the less often the more tickets are before its own, since each look takes the line of the
 * lock away from those who change it. From CROWD tickets on, it lets other threads have its core. */

enum { LOOKS_BEFORE_SERVING = 32, PAUSES_A_TICKET = 8, CROWD = 4 };

static bool enter_soon(struct uccs_ticket_lock *lock, uint32_t ticket, enum uccs_lock_mode mode)
{
    for (int looks = 0; looks < LOOKS_BEFORE_SERVING && uccs_core.spin; looks++) {
        if (uccs_ticket_enter(lock, ticket, mode))
            return true;
        const uint32_t before = uccs_ticket_before(lock, ticket, mode);
        if (before >= CROWD)
            return false;
        for (uint32_t pauses = 1; pauses < before * PAUSES_A_TICKET; pauses++)
            atomic_relax();
    }
    return false;
}

struct lock_wanted {
    const struct uccs_ticket_lock *lock; /* null: it is on another node */
    int owner;
};

/* For uccs_reason_function. */
static void tell_lock(const void *what, struct uccs_reason *reason)
{
    const struct lock_wanted *wanted = what;
    const int writer = wanted->lock ? uccs_ticket_writer(wanted->lock) : -1;
    if (writer >= 0)
        reason->on = uccs_reason_pe(writer);
    snprintf(reason->text, sizeof reason->text, "a lock of PE %d%s", wanted->owner,
             wanted->lock && writer < 0 ? " that others share" : "");
}

static lat_cold void await_turn(struct uccs_ticket_lock *lock, uint32_t ticket, enum uccs_lock_mode mode, int owner)
{
    const struct lock_wanted wanted = {lock, owner};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(tell_lock, &wanted)};
    if (!enter_soon(lock, ticket, mode))
        while (!uccs_ticket_enter(lock, ticket, mode)) {
            if (uccs_ticket_before(lock, ticket, mode) >= CROWD && wait.looks < uccs_core.spin)
                wait.looks = uccs_core.spin;
            uccs_am_serve(&wait);
        }
    tell_owner(owner);
}

/* A guest has no ticket. Writers here and at the owner may be faster, but each that leaves gives it a chance. */
static lat_cold void await_writers(struct uccs_ticket_lock *lock, int owner)
{
    const struct lock_wanted wanted = {lock, owner};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(tell_lock, &wanted)};
    while (!uccs_ticket_visit(lock))
        uccs_am_serve(&wait);
}

/* Runs under the list's lock. */
static bool advance_lock(struct uccs_task *task)
{
    struct pending *pending = (struct pending *)task;
    if (pending->mode == UCCS_LOCK_GUEST ? !uccs_ticket_visit(pending->lock)
                                         : !uccs_ticket_enter(pending->lock, pending->ticket, pending->mode))
        return false;
    tell_owner(pending->owner);
    if (pending->mode == UCCS_LOCK_EXCLUSIVE)
        uccs_ticket_sign(pending->lock, uccs_core.me);
    uccs_request_finish(pending->request, false);
    free(pending);
    return true;
}

static bool tell_pending(const struct uccs_task *task, const struct uccs_request *request, struct uccs_reason *reason)
{
    const struct pending *pending = (const struct pending *)task;
    if (!uccs_request_counts(request, pending->request))
        return false;
    tell_lock(&(struct lock_wanted){pending->lock, pending->owner}, reason);
    return true;
}

static int lock_near_nb(struct uccs_ticket_lock *lock, enum uccs_lock_mode mode, int owner, uccs_request_t *handle)
{
    if (mode == UCCS_LOCK_GUEST ? uccs_ticket_visit(lock) : mode == UCCS_LOCK_SHARED && uccs_ticket_read_now(lock))
        return UCCS_OK;
    struct pending *pending = malloc(sizeof *pending);
    struct uccs_request *request = pending ? uccs_request_materialise(handle) : 0;
    if (!request) {
        free(pending);
        return UCCS_ERR_NO_MEMORY;
    }
    *pending = (struct pending){.task = {.advance = advance_lock, .reason = tell_pending},
                                .lock = lock,
                                .owner = owner,
                                .mode = mode,
                                .request = request};
    if (mode != UCCS_LOCK_GUEST)
        pending->ticket = uccs_ticket_draw(lock); /* the first advance lets it in */
    uccs_request_begin(request);
    uccs_task_add(&pending->task);
    return UCCS_OK;
}

int uccs_lock_nb(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode,
                 uccs_request_t *request)
{
    struct uccs_ticket_lock *lock;
    int status = request ? find_lock(endpoint, memory, offset, mode, &lock) : UCCS_ERR_INVALID;
    if (status != UCCS_OK || lock)
        return status == UCCS_OK ? lock_near_nb(lock, mode, memory->owner, request) : status;
    struct uccs_request *object = uccs_request_materialise(request);
    if (!object)
        return UCCS_ERR_NO_MEMORY;
    proto_lock(memory->owner, place_of(memory, offset), mode, object);
    return UCCS_OK;
}

/* Waits for the owner's grant. Returns UCCS_ERR_INVALID when it refuses: the memory is gone or holds no locks. */
static int lock_far(const struct uccs_region *memory, size_t offset, enum uccs_lock_mode mode)
{
    struct uccs_request mine = {.pending = 1}; /* it has an owner and no parent, so nobody frees it */
    const struct lock_wanted wanted = {0, memory->owner};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(tell_lock, &wanted)};
    proto_lock(memory->owner, place_of(memory, offset), mode, &mine);
    while (atomic_load_acquire(&mine.pending) != 1) /* acqrel: uccs_request_finish */
        uccs_am_serve(&wait);
    if (!mine.error)
        return UCCS_OK;
    return uccs_region_check(memory, 0, 0) == UCCS_OK ? UCCS_ERR_INVALID : UCCS_ERR_STALE;
}

static inline int lock_near(struct uccs_ticket_lock *lock, enum uccs_lock_mode mode, int owner)
{
    uint32_t ticket;
    if (mode == UCCS_LOCK_SHARED && lat_likely(uccs_ticket_read_now(lock)))
        return UCCS_OK;
    if (lat_unlikely(mode == UCCS_LOCK_GUEST))
        await_writers(lock, owner);
    else if (lat_unlikely(!uccs_ticket_take(lock, mode, &ticket)))
        await_turn(lock, ticket, mode, owner);
    if (mode == UCCS_LOCK_EXCLUSIVE)
        uccs_ticket_sign(lock, uccs_core.me);
    return UCCS_OK;
}

static lat_cold int lock_any(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode)
{
    struct uccs_ticket_lock *lock;
    int status = find_lock(endpoint, memory, offset, mode, &lock);
    if (status != UCCS_OK)
        return status;
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    return lock ? lock_near(lock, mode, memory->owner) : lock_far(memory, offset, mode);
}

int uccs_lock(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode)
{
    struct uccs_ticket_lock *lock = find_mapped(endpoint, memory, offset, mode);
    if (lat_unlikely(!lock || uccs_handlers_running))
        return lock_any(endpoint, memory, offset, mode);
    return lock_near(lock, mode, memory->owner);
}

int uccs_lock_mapped(uccs_endpoint_t endpoint, void *lock, enum uccs_lock_mode mode)
{
    if (lat_unlikely(!endpoint))
        return UCCS_ERR_INVALID;
    if (lat_unlikely(uccs_handlers_running))
        return UCCS_ERR_STATE;
    return lock_near(lock, mode, endpoint->pe);
}

int uccs_unlock_mapped(uccs_endpoint_t endpoint, void *lock, enum uccs_lock_mode mode)
{
    if (lat_unlikely(!endpoint))
        return UCCS_ERR_INVALID;
    uccs_ticket_leave(lock, mode);
    tell_owner(endpoint->pe);
    return UCCS_OK;
}

int uccs_lock_admit_guests(uccs_memory_t memory, size_t offset)
{
    if (!memory || !memory->own || memory->dynamic || !memory->near || memory->domain != UCCS_DOMAIN_CPU ||
        !lock_fits(memory->near + offset, UCCS_LOCK_GUEST))
        return UCCS_ERR_INVALID;
    int status = uccs_region_check(memory, offset, UCCS_LOCK_BYTES);
    if (status == UCCS_OK)
        atomic_store_release(&((struct uccs_ticket_lock *)(memory->near + offset))->guests, TICKET_ADMITTED);
    return status; /* release: whatever tells others that they may use it */
}

static lat_cold int unlock_any(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode)
{
    struct uccs_ticket_lock *lock;
    int status = find_lock(endpoint, memory, offset, mode, &lock);
    if (status != UCCS_OK)
        return status;
    if (!lock) {
        proto_unlock(memory->owner, place_of(memory, offset), mode);
        return UCCS_OK;
    }
    uccs_ticket_leave(lock, mode);
    tell_owner(memory->owner);
    return UCCS_OK;
}

int uccs_unlock(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode)
{
    struct uccs_ticket_lock *lock = find_mapped(endpoint, memory, offset, mode);
    if (lat_unlikely(!lock))
        return unlock_any(endpoint, memory, offset, mode);
    uccs_ticket_leave(lock, mode);
    tell_owner(memory->owner);
    return UCCS_OK;
}
