/* Bells: a process of the node wakes the progress thread of another one.
 *
 * A bell is a pipe of its owner, who writes process, descriptor and inode into its struct uccs_pe_shared; a peer opens it by
 * /proc/PID/fd when it rings for the first time. So the thread sleeps in one poll() on its bell and on the descriptors of
 * transports, a process holds few descriptors however many peers it has, and nobody but the job's own user can reach the
 * bell: the kernel asks of who opens it what it asks of a debugger that reads. A socket with a name would take
 * descriptors from anybody, and who drops the last one of somebody else's may sleep in its close.
 * (A futex in the node's memory cannot wait for descriptors too; eventfds would have to be passed to every peer.) Any thread
 * rings.
 *
 * `asleep` is 1 while the owner's thread wants to be woken. Whoever leaves something for the PE loads it afterwards, and
 * only who changes it to 0 rings. The load may pass the store before it, which costs senders no fence: the thread looks
 * once more a little after it has gone to sleep (progress.c). What is written stays in the pipe until the owner reads it, so a
 * ring before the poll() is not lost. A process that cannot open the bell (no /proc, no descriptor left, an owner whose
 * program has privileges of its own) marks the owner deaf; that one naps from then on. */
#ifndef UCCS_CORE_DOORBELL_H
#define UCCS_CORE_DOORBELL_H

#include "uccs/core/pe_shared.h"

/* True when this process has a progress thread. Relaxed: uccs_event_descriptor may start it while other threads look, which learn of it a
 * little later. */
extern bool uccs_progress_thread_on;
/* True on the progress thread, which does not ring its own bell. */
extern _Thread_local bool uccs_progress_thread_me;

/* Opens this PE's bell. Without one (no descriptor is left) the PE is deaf. uccs_doorbell_close also frees what ringing
 * needed. One thread. */
void uccs_doorbell_open(void);
void uccs_doorbell_close(void);

/* Returns a descriptor that is readable when somebody has rung; -1: there is none. uccs_doorbell_drain takes the rings. */
int uccs_doorbell_descriptor(void);
void uccs_doorbell_drain(void);

/* Wakes this PE's progress thread, asleep or not. */
void uccs_doorbell_ring_mine(void);

void uccs_doorbell_wake_slow(struct uccs_pe_shared *own);

/* Wakes the progress thread of a PE of this node if it sleeps. Call it after storing what the thread shall find. */
static inline void uccs_doorbell_wake(uint32_t index)
{
    struct uccs_pe_shared *own = uccs_pe_shared_of(index);
    if (lat_unlikely(atomic_load_relaxed(&own->asleep)))
        uccs_doorbell_wake_slow(own);
}

/* The same, but only if split-phase work of that PE is pending. */
static inline void uccs_doorbell_wake_if_tasks(uint32_t index)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_pe_shared_of(index)->working)))
        uccs_doorbell_wake(index);
}

/* Wakes the threads of the other PEs of this node that sleep while split-phase work of theirs is pending. Call it after
 * a store that such work waits for. It makes that store visible before it looks. */
void uccs_doorbell_wake_peers_slow(void);

/* Returns true when there may be such threads. */
static inline bool uccs_doorbell_peers_have_tasks(void)
{
    atomic_fence_seqcst(); /* partner: uccs_doorbell_tasks_begin */
    return lat_unlikely(atomic_load_relaxed(&uccs_pe_shared_of(0)->workers) != 0);
}

static inline void uccs_doorbell_wake_peers(void)
{
    if (uccs_doorbell_peers_have_tasks())
        uccs_doorbell_wake_peers_slow();
}

/* This PE has split-phase work pending, and has none any more. Between the two, its thread is woken by others' posts.
 * The caller looks at what others have posted after uccs_doorbell_tasks_begin. Not at the same time. */
void uccs_doorbell_tasks_begin(void);
void uccs_doorbell_tasks_end(void);

#endif
