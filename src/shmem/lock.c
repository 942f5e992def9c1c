/* Distributed locks: PEs queue, so the first to come is the first served, and every PE spins on a word of its own.
 *
 * A lock is a symmetric long, zero when free (OpenSHMEM 1.6, section 9.13), used as two 32-bit words:
 *   tail: on the lock's home PE, 1 + the last PE in the queue; 0 when the lock is free
 *   node: on every PE, its place in the queue and the turns of its threads (below)
 * The home comes from the lock's offset, so that many locks spread over the PEs.
 *
 * Invariants: a PE is in the queue of one lock at most once, by the thread that has the PE's turn. Only the PE ahead
 * clears my LOCK_WAITING, and only the PE behind writes my LOCK_BEHIND bits, each once per stay. clear_lock passes the
 * turn last, so the node word is 0 again unless a further thread of this PE has the turn then.
 * Orders: taking a lock acquires (swap, load), leaving it releases (swap, and), so the next holder sees the section's
 * stores. A lock belongs to the PE: any of its threads may clear it. */
#include "shmem/rma.h"
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/place.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"

#include <pthread.h>

struct lock {
    uint32_t tail;
    uint32_t node;
};
_Static_assert(sizeof(struct lock) == sizeof(long), "a lock is a long");

/* --- Turns: one thread of a PE at a time is in a lock's queue; further threads of the PE wait here, first come, first served.
 *
 * A PE's node word of a lock is 0 while none of its threads wants the lock. A thread takes the word from 0 to LOCK_TAKEN, and
 * only the thread that has the turn joins the queue of PEs. Threads that find the word taken set LOCK_CROWD and wait in a
 * private list; passing the turn then hands it to the first of them. A PE's threads get one place in the queue of PEs at
 * a time, so a PE with many threads does not keep others from the lock.
 *
 * Orders: taking a turn acquires (swap of the word, load of the waiter's flag), passing it releases. */

enum {
    LOCK_WAITING = 1, /* the PE waits for the one ahead of it, which clears the bit */
    LOCK_TAKEN = 2,   /* a thread of the PE has the turn: it waits for the lock or holds it */
    LOCK_CROWD = 4,   /* further threads of the PE wait for the turn */
    LOCK_BEHIND = 8   /* from here on: 1 + the PE behind, which writes it; 0 while nobody is behind */
};

/* Takes the turn when nobody has it, and makes the word `taken`. Returns false when somebody has it. */
static inline bool turn_try(uint32_t *node, uint32_t taken)
{
    uint32_t nobody = 0;
    return atomic_cas_acquire(node, &nobody, taken); /* release: turn_pass */
}

/* A thread that waits for its turn; it lies on that thread's stack. */
struct turn_waiter {
    uint32_t *node;
    struct turn_waiter *next;
    uint32_t called; /* its turn: release by turn_pass, acquire by the waiter */
};

/* The waiters of all locks, in the order in which they came. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static struct turn_waiter *turn_first, **turn_last = &turn_first;

/* Under turn_lock. Returns false when the turn was free after all; then the caller has it. */
static bool turn_enlist(struct turn_waiter *me)
{
    uint32_t before = atomic_fetch_or_acqrel(me->node, LOCK_CROWD); /* release: turn_pass */
    if (!(before & LOCK_TAKEN)) {
        atomic_store_relaxed(me->node, LOCK_TAKEN | LOCK_WAITING); /* CROWD kept everybody else away */
        return false;
    }
    me->next = 0;
    *turn_last = me;
    turn_last = &me->next;
    return true;
}

/* Waits for the turn; the word is LOCK_TAKEN | LOCK_WAITING then, perhaps with LOCK_CROWD. */
static void turn_wait(uint32_t *node)
{
    if (lat_likely(turn_try(node, LOCK_TAKEN | LOCK_WAITING)))
        return;
    struct turn_waiter me = {.node = node};
    pthread_mutex_lock(&turn_lock);
    bool enlisted = turn_enlist(&me);
    pthread_mutex_unlock(&turn_lock);
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_pe(uccs_core.me)}; /* some thread of this PE has it */
    while (enlisted && !atomic_load_acquire(&me.called))                      /* release: turn_call */
        uccs_pause(&wait);
}

/* Under turn_lock. Returns the first waiter at or behind *at, and moves *at to it; null when there is none. */
static struct turn_waiter *turn_find(struct turn_waiter ***at, const uint32_t *node)
{
    while (**at && (**at)->node != node)
        *at = &(**at)->next;
    return **at;
}

/* Hands the turn to the first waiter. There is one: LOCK_CROWD is set, and only this clears it. */
static lat_cold void turn_call(uint32_t *node)
{
    pthread_mutex_lock(&turn_lock);
    struct turn_waiter **at = &turn_first;
    struct turn_waiter *waiter = turn_find(&at, node);
    *at = waiter->next;
    if (turn_last == &waiter->next)
        turn_last = at;
    uint32_t crowd = turn_find(&at, node) ? LOCK_CROWD : 0;
    atomic_store_relaxed(node, LOCK_TAKEN | LOCK_WAITING | crowd); /* the mutex and `called` order it */
    pthread_mutex_unlock(&turn_lock);
    atomic_store_release(&waiter->called, 1); /* acquire: turn_wait; the waiter may be gone now */
}

/* Passes the turn on. `node_is`: the word's value, but for LOCK_CROWD. Nobody at other PEs writes the word meanwhile. */
static void turn_pass(uint32_t *node, uint32_t node_is)
{
    if (lat_unlikely(!atomic_cas_acqrel(node, &node_is, 0))) /* acquire: turn_try, turn_enlist */
        turn_call(node);
}

/* --- The queue of PEs */

static inline uint32_t lock_amo(const char *call, enum uccs_atomic op, uint32_t *word, uint32_t value, uint32_t cond,
                                int pe)
{
    uint32_t *near = uccs_near(word, pe);
    if (lat_unlikely(!near))
        return (uint32_t)lat_amo_far(call, 0, op, word, sizeof *word, value, cond, pe);
    return uccs_atomic_apply32(op, near, value, cond);
}

static int lock_home(const char *call, const struct lock *lock)
{
    size_t offset;
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
    turn_wait(&lock->node); /* makes it LOCK_WAITING; no other PE knows me until the swap */
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
    lat_quiet(call, SHMEM_CTX_DEFAULT);
    uint32_t node = atomic_load_acquire(&lock->node);
    if (lat_unlikely(!(node & LOCK_TAKEN)))
        lat_fail(call, "lock %p is not set by this PE", (void *)word);
    if (node < LOCK_BEHIND && lock_leave(call, lock, home)) {
        turn_pass(&lock->node, node & ~(uint32_t)LOCK_CROWD);
        return;
    }
    struct uccs_wait wait uccs_scoped = {0};
    while ((node = atomic_load_acquire(&lock->node)) < LOCK_BEHIND) /* acqrel: the PE behind, in lat_set_lock */
        uccs_pause(&wait);
    lock_amo(call, UCCS_ATOMIC_AND, &lock->node, ~(uint32_t)LOCK_WAITING, 0, (int)(node / LOCK_BEHIND) - 1);
    turn_pass(&lock->node, node & ~(uint32_t)LOCK_CROWD);
}

/* Returns 0 when the lock was free and is the caller's now, 1 when somebody has it or waits for it. */
int lat_test_lock(long *word)
{
    static const char call[] = "shmem_test_lock";
    struct lock *lock = (struct lock *)word;
    int home = lock_home(call, lock);
    bool turn = turn_try(&lock->node, LOCK_TAKEN);
    if (turn && lock_amo(call, UCCS_ATOMIC_CSWAP, &lock->tail, (uint32_t)uccs_core.me + 1, 0, home) == 0)
        return 0;
    if (turn)
        turn_pass(&lock->node, LOCK_TAKEN);
    uccs_missed();
    return 1;
}
