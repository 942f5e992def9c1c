/* Locks of uccs.h, which includes this file. */
#ifndef UCCS_H
#include <uccs.h>
#endif
#ifndef UCCS_LOCK_H
#define UCCS_LOCK_H

/* UCCS_LOCK_BYTES zeroed bytes in memory that the node maps (UCCS_DOMAIN_CPU), at a multiple of 64 bytes, are
 * a lock for readers and one writer. It is fair: whoever asks first enters first, and readers who follow each other are
 * inside together. Fewer than 2^20 askers may wait or be inside at a time. Any threads of any processes use it alike; a
 * thread that asks for a lock that it holds waits for ever. On the node, entering a free lock and leaving it are one
 * atomic each, which also brings a waiter its turn; the more are before a waiter, the less often it looks (the ticket
 * lock of Mellor-Crummey and Scott). From another node, entering costs a message and its answer, and the network is not
 * polled; the owner's process grants the lock, so it has to make progress.
 * A guest is a reader that enters whenever no writer is inside, though writers wait. Whoever asks for a lock while it holds
 * others asks as a guest: else two readers that hold a lock each, and ask for the other's, wait for the writers in line
 * there, who wait for them. The owner admits guests to a lock before anybody uses it; writers then pay an atomic more.
 * Errors: UCCS_ERR_INVALID for memory that can hold no lock or, as a guest, has none admitted; UCCS_ERR_STATE for
 * uccs_lock and uccs_lock_mapped inside of a handler. */
#define UCCS_LOCK_BYTES 128
enum uccs_lock_mode { UCCS_LOCK_SHARED, UCCS_LOCK_EXCLUSIVE, UCCS_LOCK_GUEST };
/* `memory` is the caller's own. */
int uccs_lock_admit_guests(uccs_memory_t memory, size_t offset);
int uccs_lock(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode);
/* The request completes when the lock is held; the caller unlocks after that. Tests and waits of this process let it
 * in. */
int uccs_lock_nb(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode,
                 uccs_request_t *request);
/* Returns at once. `mode` is the lock's. Operations that must be complete before the lock is free: flush first. */
int uccs_unlock(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, enum uccs_lock_mode mode);
/* Take and release a lock by its address in this process, which maps it (uccs_memory_query). They check nothing but `endpoint`, which
 * leads to the owner: the quickest form. */
int uccs_lock_mapped(uccs_endpoint_t endpoint, void *lock, enum uccs_lock_mode mode);
int uccs_unlock_mapped(uccs_endpoint_t endpoint, void *lock, enum uccs_lock_mode mode);

#endif
