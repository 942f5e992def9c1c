/* Operations on peers of other nodes, as the rest of the library sees them.
 *
 * The origin sends each operation as a message to the target's process, whose processor executes it. So one atomicity
 * domain (CPU) holds near and far, and a counting put or a put with signal is one message. Data flow:
 *
 *   origin: initiator.c -> pool.c -> issue.c -> send.c -> transport ... target: proto/arrive.c -> target.c -> memory
 *
 * Any thread may call these functions, but not for a peer on this node. They issue an operation on the workers `on`;
 * null: on the service worker. proto/proto.h explains workers, order and completion. */
#ifndef UCCS_PROTO_INITIATOR_H
#define UCCS_PROTO_INITIATOR_H

#include "uccs/proto/proto.h"
#include "uccs/mem/accumulate.h"
#include "uccs/comp/counter.h"

/* A place in the target's memory. */
struct proto_address {
    uint32_t segment; /* enum proto_segment */
    uint64_t offset;
    uint64_t region; /* uccs_region_id; used by PROTO_REGION only */
};

/* Returns the place of my symmetric address, the same at every PE; its segment is PROTO_NOWHERE when the address is not
 * symmetric. */
struct proto_address proto_address(const void *addr);

/* The target does this once an operation is applied: a put's data is there, an atomic is done, a get's data has left. One
 * message brings both. Null, where it may be: nothing. */
struct proto_notify {
    enum proto_notify_kind what;
    struct proto_address place; /* of the signal */
    uint64_t value;             /* the signal's value, or the counter */
    int64_t weight;
    const struct proto_notify *also; /* done after it; null: nothing. A put or a get has room for one alone */
};

enum proto_kind {
    PROTO_PUT,
    PROTO_INTERNAL_PUT, /* of the library: neither ordered nor counted; only its `with` tells of the data. On the service worker */
    PROTO_GET,
    PROTO_ATOMIC,
    PROTO_ACCUMULATE, /* elements, or a compare and swap */
};

/* Several pieces in one message: `source`, which proto frees, holds one of these for each, then their bytes. */
struct proto_piece {
    uint64_t offset, bytes;
};
#define PROTO_PIECES_MOST (16u << 10) /* bytes of a message, but that the last piece may lead beyond it by as many */

/* One operation on memory of another PE. What is not set is null, and asks for nothing. */
struct proto_op {
    enum proto_kind kind;
    bool
        nonblocking; /* the caller keeps its buffers as they are until a quiet, or until a request tells; else a put returns when
                         it has read them, and what brings something back when that is there */
    bool ordered; /* of a get, or an adapter's atomic: behind what was issued to the PE before, on the worker */
    bool adapter; /* of an atomic: the network's adapter does it; also on a PE of this node, if it fetches */
    int pe;
    struct proto_worker_set *on; /* null: the service worker */
    struct proto_address at;
    const void *source; /* of a put; the operand of an accumulate */
    void *dest;         /* of a get; of the old values. An atomic or accumulate without it does not fetch */
    size_t bytes;       /* of a put or get without blocks */
    const struct proto_blocks *blocks; /* of a put or get */
    uint32_t pieces;                   /* of a put or accumulate: pieces in `source`, or 0 */
    const struct uccs_atomic_op *atomic;
    const struct uccs_accumulate_op *accumulate;
    const struct proto_notify *with;
    uccs_request_handle *request; /* completes at the target, and with what comes back */
    struct uccs_request *local; /* completes when source and dest are the caller's again; of a nonblocking operation */
    uint32_t *held;             /* of an internal put: one higher until it has left this process */
};

/* Starts an operation, or does it. Returns UCCS_OK; UCCS_ERR_STALE when something was to come back and the region has been
 * released; or UCCS_ERR_NO_MEMORY, and has done nothing, or the first pieces of an accumulate. */
int proto_rma(const struct proto_op *op);
/* Like proto_rma, for callers that have no status to return: without memory it ends the job. Returns true unless the region has been
 * released. */
bool proto_rma_or_end(const struct proto_op *op);

/* Atomics on the adapter's part of the heap (direct.c), also for PEs of this node and this one. proto_adapter returns true
 * when this PE's network has all of them; it may wait for a connection. share makes a part of it accessible for peers and
 * returns false when the network cannot. An atomic waits for the key of the place, once, and for what a fence has put before it. */
bool proto_adapter(void);
bool proto_adapter_share(size_t offset, size_t bytes);
/* Calls uccs_counter_clear while no message arrives here, since a message that has checked the generation before must
 * not count afterwards. */
void proto_counter_clear(uccs_counter counter);

/* Registered memory (import.c). proto_import returns false when the memory has been released; else it returns true,
 * and the owner will tell this PE of the release (uccs_import_end). proto_memory_invalidate tells all of these PEs, a bit
 * for each, that this PE has released the memory, and returns when they know. */
bool proto_import(int pe, uint64_t region);
void proto_memory_invalidate(uint64_t region, const uint64_t *importers);

/* Locks (lock.c) at a place of the target. proto_lock adds one to the request's count until the owner has granted the
 * lock; it fails when the memory is gone or holds no locks. proto_unlock returns at once. proto_lock_grant grants
 * this process's locks to waiters of other nodes whose turn it is; no thread that handles a message calls it. */
void proto_lock(int pe, struct proto_address at, enum uccs_lock_mode mode, struct uccs_request *request);
void proto_unlock(int pe, struct proto_address at, enum uccs_lock_mode mode);
void proto_lock_grant(void);

/* Opens private memory for internal puts. Returns its place (never PROTO_NOWHERE), which no other room of this PE has until
 * this one is closed. */
#define PROTO_LANDING_MOST (UINT64_C(1) << 48) /* bytes */
struct proto_address proto_landing_open(void *start, size_t bytes);
void proto_landing_close(struct proto_address room);

/* One thread of every PE of the job calls these (collective). open returns 0, or -1 after a line. settle comes before
 * the barrier that ends a life and completes all operations of this PE; the PE still serves its peers while it sleeps. settle_end
 * comes behind it.
 * close comes after that barrier, when no peer asks any more. */
int proto_open(void);
void proto_settle(void);
void proto_settle_end(void);
/* Returns the name of the network's transport, as LATERAL_TRANSPORTS has it. Any thread, while proto_active. */
const char *proto_network(void);
void proto_close(void);

#endif
