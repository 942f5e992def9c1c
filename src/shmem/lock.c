/* Distributed locks: PEs queue, so the first to come is the first served, and every PE spins on a word of its own.
 *
 * A lock is a symmetric long, zero when free (OpenSHMEM 1.6, section 9.13), used as two 32-bit words:
 *   tail: on the lock's home PE, 1 + the last PE in the queue; 0 when the lock is free
 *   node: on every PE, its place in the queue and the turns of its threads (lock_turn.h)
 * The home comes from the lock's offset, so that many locks spread over the PEs.
 *
 * Invariants: a PE is in the queue of one lock at most once, by the thread that has the PE's turn. Only the PE ahead
 * clears my LOCK_WAITING, and only the PE behind writes my LOCK_BEHIND bits, each once per stay. clear_lock passes the
 * turn last, so the node word is 0 again unless a further thread of this PE has the turn then.
 * Orders: taking a lock acquires (swap, load), leaving it releases (swap, and), so the next holder sees the section's
 * stores. A lock belongs to the PE: any of its threads may clear it. */
#include "shmem/amo.h"
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/lock_turn.h"
#include "shmem/place.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"

struct lock {
    uint32_t tail;
    uint32_t node;
};
_Static_assert(sizeof(struct lock) == sizeof(long), "a lock is a long");

static inline uint32_t lock_amo(const char *call, enum uccs_atomic op, uint32_t *word, uint32_t value, uint32_t cond,
                                int pe)
{
    uint32_t *near = uccs_near(word, pe);
    if (lat_unlikely(!near))
        return (uint32_t)lat_amo_processor(call, op, word, sizeof *word, value, cond, pe);
    return uccs_atomic_apply32(op, near, value, cond);
}

static int lock_home(const char *call, const struct lock *lock)
{
    size_t offset;
    lat_require(call);
    if (uccs_memory_find(lock, &offset) == UCCS_NOWHERE)
        lat_resolve(call, "lock", lock, uccs_core.me); /* names the mistake */
    return (int)(offset / sizeof *lock % (size_t)uccs_core.npes);
}

/* Leaves the queue when nobody is behind. Returns false when somebody is. */
static bool lock_leave(const char *call, struct lock *lock, int home)
{
    uint32_t me = (uint32_t)uccs_core.me + 1;
    return lock_amo(call, UCCS_ATOMIC_CSWAP, &lock->tail, 0, me, home) == me;
}

void lat_set_lock(long *word)
{
    static const char call[] = "shmem_set_lock";
    struct lock *lock = (struct lock *)word;
    int home = lock_home(call, lock), me = uccs_core.me;
    lat_lock_turn_wait(&lock->node); /* makes it LOCK_WAITING; no other PE knows me until the swap */
    uint32_t ahead = lock_amo(call, UCCS_ATOMIC_SWAP, &lock->tail, (uint32_t)me + 1, 0, home);
    if (ahead == 0)
        return;
    lock_amo(call, UCCS_ATOMIC_OR, &lock->node, ((uint32_t)me + 1) * LOCK_BEHIND, 0, (int)ahead - 1);
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_pe((int)ahead - 1)};
    while (atomic_load_acquire(&lock->node) & LOCK_WAITING) /* release: lat_clear_lock of the PE ahead */
        uccs_pause(&wait);
}

/* LOCK_WAITING may still be set: a PE that finds nobody ahead leaves it. */
void lat_clear_lock(long *word)
{
    static const char call[] = "shmem_clear_lock";
    struct lock *lock = (struct lock *)word;
    int home = lock_home(call, lock);
    lat_quiet();
    uint32_t node = atomic_load_acquire(&lock->node);
    if (lat_unlikely(!(node & LOCK_TAKEN)))
        lat_fail(call, "lock %p is not set by this PE", (void *)word);
    if (node < LOCK_BEHIND && lock_leave(call, lock, home)) {
        lat_lock_turn_pass(&lock->node, node & ~(uint32_t)LOCK_CROWD);
        return;
    }
    struct uccs_wait wait uccs_scoped = {0};
    while ((node = atomic_load_acquire(&lock->node)) < LOCK_BEHIND) /* acqrel: the PE behind, in lat_set_lock */
        uccs_pause(&wait);
    lock_amo(call, UCCS_ATOMIC_AND, &lock->node, ~(uint32_t)LOCK_WAITING, 0, (int)(node / LOCK_BEHIND) - 1);
    lat_lock_turn_pass(&lock->node, node & ~(uint32_t)LOCK_CROWD);
}

/* Returns 0 when the lock was free and is the caller's now, 1 when somebody has it or waits for it. */
int lat_test_lock(long *word)
{
    static const char call[] = "shmem_test_lock";
    struct lock *lock = (struct lock *)word;
    int home = lock_home(call, lock);
    bool turn = lat_lock_turn_try(&lock->node, LOCK_TAKEN);
    if (turn && lock_amo(call, UCCS_ATOMIC_CSWAP, &lock->tail, (uint32_t)uccs_core.me + 1, 0, home) == 0)
        return 0;
    if (turn)
        lat_lock_turn_pass(&lock->node, LOCK_TAKEN);
    uccs_missed();
    return 1;
}
