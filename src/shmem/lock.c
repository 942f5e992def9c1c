/* Distributed locks: a queue, so first come, first served, and every waiter spins on its own word.
 *
 * The lock is a symmetric long, zero when free (OpenSHMEM 1.6, section 9.13), used as two 32-bit words:
 *   tail: on the lock's home PE, 1 + PE of the last in the queue; 0 when free
 *   node: on every PE, 1 + PE of the one behind me (bits 1..31) and "I wait" (bit 0)
 * The home comes from the lock's offset, so that many locks spread over the PEs.
 *
 * Invariants: a PE is in the queue of one lock at most once; only the PE in front clears my bit 0, only the
 * PE behind sets my bits 1..31, each once per stay. After clear_lock my node word is 0 again.
 * Orders: taking acquires (swap, load), leaving releases (swap, and), so the section's stores are
 * seen by the next holder. One thread of a PE at a time per lock, as the standard's locks belong to PEs. */
#include "shmem/amo.h"
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/place.h"
#include "uccs/far.h"
#include "uccs/core/wait.h"

struct lock {
    uint32_t tail;
    uint32_t node;
};
_Static_assert(sizeof(struct lock) == sizeof(long), "a lock is a long");

#define WAITING 1u

static uint32_t amo(const char *call, enum uccs_atomic op, uint32_t *word, uint32_t value, uint32_t cond, int pe)
{
    uint32_t *near = uccs_near(word, pe);
    if (lat_unlikely(!near))
        return (uint32_t)lat_amo_far(call, LAT_CTX_DEFAULT, op, word, sizeof *word, value, cond, pe);
    switch (op) {
    case UCCS_ATOMIC_SWAP: return atomic_exchange_acqrel(near, value);
    case UCCS_ATOMIC_CSWAP: (void)atomic_cas_acqrel(near, &cond, value); return cond;
    case UCCS_ATOMIC_OR: return atomic_fetch_or_acqrel(near, value);
    default: return atomic_fetch_and_acqrel(near, value);
    }
}

static int home_of(const char *call, const struct lock *lock)
{
    size_t offset;
    lat_require(call);
    if (uccs_memory_find(lock, &offset) == UCCS_NOWHERE)
        lat_resolve(call, "lock", lock, uccs_core.me); /* says what is wrong */
    return (int)(offset / sizeof *lock % (size_t)uccs_core.npes);
}

void lat_set_lock(long *word)
{
    static const char call[] = "shmem_set_lock";
    struct lock *lock = (struct lock *)word;
    int home = home_of(call, lock), me = uccs_core.me;
    atomic_store_relaxed(&lock->node, WAITING); /* nobody knows me until the swap */
    uint32_t ahead = amo(call, UCCS_ATOMIC_SWAP, &lock->tail, (uint32_t)me + 1, 0, home);
    if (ahead == 0)
        return;
    amo(call, UCCS_ATOMIC_OR, &lock->node, ((uint32_t)me + 1) << 1, 0, (int)ahead - 1);
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(&lock->node) & WAITING) /* release: lat_clear_lock of the one ahead */
        uccs_pause(&wait);
}

void lat_clear_lock(long *word)
{
    static const char call[] = "shmem_clear_lock";
    struct lock *lock = (struct lock *)word;
    int home = home_of(call, lock), me = uccs_core.me;
    lat_quiet();
    if (atomic_load_acquire(&lock->node) >> 1 == 0 &&
        amo(call, UCCS_ATOMIC_CSWAP, &lock->tail, 0, (uint32_t)me + 1, home) == (uint32_t)me + 1) {
        atomic_store_relaxed(&lock->node, 0);
        return;
    }
    struct uccs_wait wait = {0};
    uint32_t node;
    while ((node = atomic_load_acquire(&lock->node)) >> 1 == 0) /* the one behind is just telling me */
        uccs_pause(&wait);
    atomic_store_relaxed(&lock->node, 0); /* before the next holder can let me in again */
    amo(call, UCCS_ATOMIC_AND, &lock->node, ~WAITING, 0, (int)(node >> 1) - 1);
}

/* 0 when it was free and is now the caller's, 1 when it was taken. */
int lat_test_lock(long *word)
{
    static const char call[] = "shmem_test_lock";
    struct lock *lock = (struct lock *)word;
    int home = home_of(call, lock);
    if (amo(call, UCCS_ATOMIC_CSWAP, &lock->tail, (uint32_t)uccs_core.me + 1, 0, home) == 0)
        return 0;
    uccs_missed();
    return 1;
}
