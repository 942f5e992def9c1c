/* Doorbells: a process of the node wakes the progress thread of another one.
 *
 * A doorbell is a pipe of its owner, who stores process, descriptor and inode in its struct uccs_pe_shared; a peer opens it by
 * /proc/PID/fd when it rings for the first time. So the thread sleeps in one poll() on its doorbell and on the descriptors
 * of transports, a process holds few descriptors however many peers it has, and nobody but the job's own user can reach the
 * doorbell: the kernel asks of who opens it what it asks of a debugger that reads. A socket with a name would take
 * descriptors from anybody, and who drops the last one of another user's may sleep in its close. (A futex in the node's
 * memory cannot wait for descriptors too; eventfds would have to be passed to every peer.)
 *
 * No lost wake-up. `asleep` is 1 while the owner's thread wants to be woken. A process that leaves something for the PE loads
 * `asleep` after that store, and only who changes it to 0 rings. The load may pass the store before it, since a fence would
 * cost each sender: the thread looks once more SETTLE nanoseconds after it has gone to sleep (progress_thread.c), when the
 * store is visible. What is written stays in the pipe until the owner reads it, so a ring before the poll() is not lost. A
 * process that cannot open the doorbell (no /proc, no descriptor left, an owner whose program has privileges of its own)
 * marks the owner deaf; that one sleeps for a millisecond at most from then on.
 *
 * Any thread may ring. */
#ifndef UCCS_CORE_DOORBELL_H
#define UCCS_CORE_DOORBELL_H

#include "uccs/core/pe_shared.h"

/* True when this process has a progress thread. Relaxed: uccs_event_descriptor may start it while other threads look, which learn of it a
 * little later. */
extern bool uccs_progress_thread_on;
/* True on the progress thread, which does not ring its own doorbell. */
extern _Thread_local bool uccs_progress_thread_me;

/* Opens this PE's doorbell. Without one (no descriptor is left) the PE is deaf. One thread. */
void uccs_doorbell_open(void);

/* Closes it, and the peers' doorbells that are open here. One thread. */
void uccs_doorbell_close(void);

/* Returns a descriptor that is readable when a process has rung; -1: there is none. */
int uccs_doorbell_descriptor(void);

/* Takes all rings, so that the descriptor is not readable any more. */
void uccs_doorbell_drain(void);

/* Wakes this PE's progress thread, asleep or not. */
void uccs_doorbell_ring_mine(void);

void uccs_doorbell_wake_slow(struct uccs_pe_shared *shared);

/* Wakes the progress thread of a PE of this node if it sleeps. Call it after storing what the thread shall find. */
static inline void uccs_doorbell_wake(uint32_t index)
{
    struct uccs_pe_shared *shared = uccs_pe_shared_of(index);
    if (lat_unlikely(atomic_load_relaxed(&shared->asleep)))
        uccs_doorbell_wake_slow(shared);
}

/* Wakes the PE's progress thread if tasks of that PE are pending. */
static inline void uccs_doorbell_wake_if_tasks(uint32_t index)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_pe_shared_of(index)->wants_rings)))
        uccs_doorbell_wake(index);
}

void uccs_doorbell_wake_peers_slow(void);

/* Returns true when a peer of the node may have tasks pending. Makes earlier stores visible before it looks. */
static inline bool uccs_doorbell_peers_have_tasks(void)
{
    atomic_fence_seqcst(); /* partner: uccs_doorbell_tasks_begin */
    return lat_unlikely(atomic_load_relaxed(&uccs_pe_shared_of(0)->wanting) != 0);
}

/* Wakes the progress threads of the other PEs of this node that sleep while tasks of theirs are pending. Call it after a store
 * that such tasks wait for. */
static inline void uccs_doorbell_wake_peers(void)
{
    if (uccs_doorbell_peers_have_tasks())
        uccs_doorbell_wake_peers_slow();
}

/* From here to uccs_doorbell_tasks_end this PE wants its peers to ring behind their stores. The caller looks at what they have
 * stored after this call. */
void uccs_doorbell_tasks_begin(void);
void uccs_doorbell_tasks_end(void);

#endif
