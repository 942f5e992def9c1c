/* Operations on peers of other nodes, as the rest of the library sees them.
 *
 * The origin sends each operation as a message to the target's process, whose processor executes it. So one atomicity
 * domain (CPU) holds near and far, and a counting put or a put with signal is one message. Data flow:
 *
 *   origin: put.c, get.c -> link/issue.c -> link/send.c -> transport ... target: link/arrive.c -> serve.c -> memory
 *
 * Any thread may call these functions, but not for a peer on this node. They issue an operation on the lanes `on`;
 * null: on the service lane. link/link.h explains lanes, order and completion. */
#ifndef UCCS_FAR_FAR_H
#define UCCS_FAR_FAR_H

#include "uccs/link/link.h"
#include "uccs/mem/accumulate.h"
#include "uccs/comp/counter.h"

/* A place in the target's memory. */
struct uccs_far_place {
    uint32_t segment; /* enum uccs_far_segment */
    uint64_t offset;
    uint64_t region; /* uccs_region_id; used by FAR_REGION only */
};

/* Returns the place of my symmetric address, the same at every PE; its segment is FAR_NOWHERE when the address is not
 * symmetric. */
struct uccs_far_place uccs_far_place(const void *addr);

/* Returns this PE's address of a place in FAR_HEAP or FAR_IMAGE. */
const void *uccs_far_address(struct uccs_far_place place);

/* The target does this once an operation is applied: a put's data is there, an atomic is done, a get's data has left. One
 * message brings both. Null, where it may be: nothing. */
struct uccs_far_with {
    enum uccs_far_what what;
    struct uccs_far_place place; /* of the signal */
    uint64_t value;              /* the signal's value, or the counter */
    int64_t weight;
    const struct uccs_far_with *also; /* done after it; null: nothing. A put or a get has room for one alone */
};

/* Blocks that lie a stride apart, both at the target and here. */
struct uccs_far_blocks {
    size_t block, count;
    ptrdiff_t there, here; /* bytes from the start of a block to the start of the next */
};

/* Puts, and returns when the caller may reuse the source. `with` and `request` may be null. */
void uccs_far_put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                  const struct uccs_far_with *with, uccs_request_handle *request);
/* Starts a put. The caller must not change the source until a quiet, or until one of the requests completes; `local`
 * completes when the source is free. It may be null, and so in the functions below, where it completes with the
 * data. */
void uccs_far_put_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                        const struct uccs_far_with *with, uccs_request_handle *request, struct uccs_request *local);
void uccs_far_put_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                     const struct uccs_far_with *with, uccs_request_handle *request);
/* Gets, and returns true when the data is there. Raises the target's counter (0: none). Returns false when the region
 * has been released. */
bool uccs_far_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                  uccs_counter counter);
/* Starts a get. The data is there after a quiet, or when the request completes. `ordered`: the target reads it after the
 * operations issued before on the lane. */
void uccs_far_get_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                        const struct uccs_far_with *with, bool ordered, uccs_request_handle *request,
                        struct uccs_request *local);
void uccs_far_get_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                     uccs_counter counter, uccs_request_handle *request);
/* Puts and gets of blocks. put_blocks copies the blocks, so the caller may reuse the source on return. With `later` a short
 * message leaves with the next one, unless it has a notice. get_blocks and get_blocks_nb complete as uccs_far_get and
 * uccs_far_get_nb do. */
void uccs_far_put_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                         const struct uccs_far_blocks *blocks, bool later, const struct uccs_far_with *with,
                         uccs_request_handle *request);
bool uccs_far_get_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                         const struct uccs_far_blocks *blocks);
void uccs_far_get_blocks_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                               const struct uccs_far_blocks *blocks, bool ordered, uccs_request_handle *request,
                               struct uccs_request *local);
void uccs_far_get_blocks_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                            const struct uccs_far_blocks *blocks, uccs_request_handle *request);
/* Does an atomic operation and returns the old value. UCCS_ATOMIC_SET does not fetch: it returns 0 at once. */
uint64_t uccs_far_amo(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                      uint64_t value, uint64_t cond);
/* Starts an atomic operation. The old value is at `fetch`, `size` bytes, after a quiet, or when the request
 * completes. */
void uccs_far_amo_local(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op, struct uccs_far_place at,
                        void *fetch, const struct uccs_far_with *with, uccs_request_handle *request,
                        struct uccs_request *local);
void uccs_far_amo_nb(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                     uint64_t value, uint64_t cond, void *fetch, uccs_request_handle *request);
/* Stores the low `size` bytes of a value. */
static inline void uccs_far_give(void *to, size_t size, uint64_t value)
{
    if (size == sizeof(uint32_t))
        *(uint32_t *)to = (uint32_t)value;
    else
        *(uint64_t *)to = value;
}
/* Does any atomic operation and waits for its answer. Returns true with the old value in `old`, or false when the
 * region has been released. */
bool uccs_far_amo_fetch(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                        uint64_t value, uint64_t cond, uint64_t *old);
/* Starts an atomic operation without fetching the old value, and returns at once. `later`: it may leave together with
 * others, since nobody waits for it yet. */
void uccs_far_amo_post(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                       uint64_t value, uint64_t cond, bool later, const struct uccs_far_with *with,
                       uccs_request_handle *request);
/* Atomics on the adapter's part of the heap (adapter.c), also for PEs of this node and this one. uccs_far_adapter returns true
 * when this PE's network has all of them; it may wait for a connection. share makes a part of it accessible for peers and
 * returns false when the network cannot. fetch waits for the old value and returns it. fetch_nb stores it at `fetch`, by the next
 * quiet or when the request completes. post starts an operation at a PE of another node; `behind`: it stays behind what was
 * issued to that PE before. These wait for the key of the place, once, and for what a fence has put before them. */
bool uccs_far_adapter(void);
bool uccs_far_adapter_share(size_t offset, size_t bytes);
uint64_t uccs_far_adapter_fetch(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op,
                                struct uccs_far_place at);
void uccs_far_adapter_fetch_nb(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op,
                               struct uccs_far_place at, void *fetch, uccs_request_handle *request);
void uccs_far_adapter_post(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op, struct uccs_far_place at,
                           bool behind, uccs_request_handle *request);
/* Starts accumulates or a compare and swap on FAR_REGION, by messages that keep their order on the lane. The caller may
 * reuse the operand at once. Without `result` the change is an operation like a put; with it, the old values are there
 * after a quiet, or when one of the requests completes; these fail if the region has been released. `later`: nobody
 * waits for it yet. */
void uccs_far_change(struct uccs_far_lanes *on, int pe, struct uccs_far_place at,
                     const struct uccs_accumulate_op *change, const void *operand, void *result, bool later,
                     const struct uccs_far_with *with, uccs_request_handle *request, struct uccs_request *local);
/* The same with a result, and waits for it. Returns false when the region has been released. */
bool uccs_far_change_fetch(struct uccs_far_lanes *on, int pe, struct uccs_far_place at,
                           const struct uccs_accumulate_op *change, const void *operand, void *result);
/* Raises the counter at the target by `weight`. */
void uccs_far_count(struct uccs_far_lanes *on, int pe, uccs_counter counter, int64_t weight);
/* Calls uccs_counter_clear while no message arrives here, since a message that has checked the generation before must
 * not count afterwards. */
void uccs_far_counter_clear(uccs_counter counter);

/* Registered memory (region.c). uccs_far_import returns false when the memory has been released; else it returns true,
 * and the owner will tell this PE of the release (uccs_region_gone). uccs_far_memory_gone tells all of these PEs, a bit
 * for each, that this PE has released the memory, and returns when they know. */
bool uccs_far_import(int pe, uint64_t region);
void uccs_far_memory_gone(uint64_t region, const uint64_t *importers);

/* Locks (lock.c) at a place of the target. uccs_far_lock adds one to the request's count until the owner has granted the
 * lock; it fails when the memory is gone or holds no locks. uccs_far_unlock returns at once. uccs_far_lock_grant grants
 * this process's locks to waiters of other nodes whose turn it is. */
void uccs_far_lock(int pe, struct uccs_far_place at, enum uccs_lock_mode mode, struct uccs_request *request);
void uccs_far_unlock(int pe, struct uccs_far_place at, enum uccs_lock_mode mode);
void uccs_far_lock_grant(void);

/* Stores to a word of the target's rows, at this offset of FAR_ROWS. The store is neither ordered nor flushed. */
void uccs_far_flag(int pe, uint64_t offset, uint64_t value);

/* Collectives send parcels. The target stores the data, and then a word that announces it (FAR_SIGNAL_SET or _ADD,
 * release). Parcels are neither ordered nor flushed, so only the word tells of the data. `held` is one higher while the
 * source is still needed. */
struct uccs_far_parcel {
    struct uccs_far_place to;
    const void *data;
    size_t bytes;
    struct uccs_far_with with;
};
void uccs_far_parcel(int pe, const struct uccs_far_parcel *parcel, uint32_t *held);

/* Opens private memory for parcels. Returns its place (never FAR_NOWHERE), which no other room of this PE has until
 * this one is closed. */
#define FAR_ROOM_MOST (UINT64_C(1) << 48) /* bytes */
struct uccs_far_place uccs_far_open_room(void *start, size_t bytes);
void uccs_far_close_room(struct uccs_far_place room);

/* One thread of every PE of the job calls these (collective). open returns 0, or -1 after a line. settle comes before
 * the barrier that ends a life and completes all operations of this PE; the PE still serves its peers while it sleeps.
 * close comes after that barrier, when no peer asks any more. */
int uccs_far_open(void);
void uccs_far_settle(void);
/* Returns the name of the network's transport, as LATERAL_TRANSPORTS has it. Any thread, while uccs_far_on. */
const char *uccs_far_network(void);
void uccs_far_close(void);

#endif
