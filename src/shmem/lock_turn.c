#include "shmem/lock_turn.h"

#include "uccs/core/wait.h"

#include <pthread.h>

/* A thread that waits for its turn; it lies on that thread's stack. */
struct turn_waiter {
    uint32_t *node;
    struct turn_waiter *next;
    uint32_t called; /* its turn: release by lat_lock_turn_pass, acquire by the waiter */
};

/* The waiters of all locks, in the order in which they came. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static struct turn_waiter *turn_first, **turn_last = &turn_first;

/* Under turn_lock. Returns false when the turn was free after all; then the caller has it. */
static bool turn_enlist(struct turn_waiter *me)
{
    uint32_t before = atomic_fetch_or_acqrel(me->node, LOCK_CROWD); /* release: lat_lock_turn_pass */
    if (!(before & LOCK_TAKEN)) {
        atomic_store_relaxed(me->node, LOCK_TAKEN | LOCK_WAITING); /* CROWD kept everybody else away */
        return false;
    }
    me->next = 0;
    *turn_last = me;
    turn_last = &me->next;
    return true;
}

void lat_lock_turn_wait(uint32_t *node)
{
    if (lat_likely(lat_lock_turn_try(node, LOCK_TAKEN | LOCK_WAITING)))
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
    atomic_store_release(&waiter->called, 1); /* acquire: lat_lock_turn_wait; the waiter may be gone now */
}

void lat_lock_turn_pass(uint32_t *node, uint32_t node_is)
{
    if (lat_unlikely(!atomic_cas_acqrel(node, &node_is, 0))) /* acquire: lat_lock_turn_try, turn_enlist */
        turn_call(node);
}
