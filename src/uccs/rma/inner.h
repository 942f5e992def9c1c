/* Functions that the files of this folder share. Any thread. */
#ifndef UCCS_RMA_INNER_H
#define UCCS_RMA_INNER_H

#include "uccs/proto/initiator.h"
#include "uccs/mem/accumulate.h"
#include "uccs/mem/cma.h"
#include "uccs/mem/region.h"
#include "uccs/rma/rma.h"

/* --- One operation on its way through this folder (op.c) */

enum uccs_rma_kind { RMA_PUT, RMA_GET, RMA_ATOMIC, RMA_CHANGE };

struct uccs_rma {
    enum uccs_rma_kind kind;
    struct uccs_endpoint *endpoint;
    const struct uccs_region *memory;
    size_t offset;
    /* Of a put or get: `length` bytes at `local`, or blocks from there on, or `n` pieces. */
    char *local;
    size_t length;
    const struct uccs_stride *blocks; /* null: not blocks */
    const struct uccs_piece *pieces;  /* null: not pieces */
    size_t n;
    const struct uccs_atomic_op *atomic;
    const struct uccs_accumulate_op *change; /* with the operand at `local` */
    void *result;                            /* receives the old values; may be null */
    const struct uccs_op *op;                /* null at first: no options */
    /* uccs_rma_run sets these: */
    uccs_request_handle own; /* an object, when something follows the operation */
    uccs_request_t *request; /* completes at the target: of the options, or `own`, whose parent is that one; or null */
};

/* Checks, does or starts an operation. Returns UCCS_OK or an error, or UCCS_AGAIN. */
int uccs_rma_run(struct uccs_rma *rma);

/* Returns UCCS_OK when endpoint, memory and range belong together, and what the options name is alive; else an
 * error. */
int uccs_rma_check(const struct uccs_endpoint *endpoint, const struct uccs_region *memory, size_t offset, size_t length,
                   const struct uccs_op *op);

static inline bool uccs_rma_ordered(const struct uccs_rma *rma)
{
    return rma->endpoint->ordered || rma->op->ordered;
}

/* Returns true when the counter or the signal of an operation must wait for its data. */
static inline bool uccs_rma_tells(const struct uccs_rma *rma)
{
    return rma->op->counter || rma->op->signal;
}

/* near.c: does or starts a checked operation on memory of this node. */
int uccs_rma_near(struct uccs_rma *rma);
/* Marks the requests of an operation that is done as complete. */
void uccs_rma_done(struct uccs_rma *rma);
/* apply.c: applies an atomic to memory of this node. */
int uccs_rma_apply(struct uccs_stream *stream, const struct uccs_atomic_op *atomic, const struct uccs_region *memory,
                   size_t offset, uint64_t *old);
/* The same for accumulates and compare-and-swaps. */
int uccs_rma_change(struct uccs_stream *stream, const struct uccs_accumulate_op *change,
                    const struct uccs_region *memory, size_t offset, const void *operand, void *result);

/* A call that waits for all of its parts together. */
struct uccs_remote_wait {
    uint32_t pending; /* parts under way; release by their end, acquire by the waiter */
    int32_t status;   /* of a part that failed */
};

/* What completes with an operation that outlasts the function that starts it. All may be null. */
struct uccs_rma_later {
    struct uccs_remote_wait *wait; /* of the call, which ends in uccs_remote_finish */
    struct uccs_request *request;  /* when the target has executed it */
    struct uccs_request *local;    /* when the data of a get, or the old value, is here */
    bool nowait;                   /* the first piece returns UCCS_AGAIN instead of waiting for room */
};

/* dynamic.c: puts bytes to memory of this node, or gets them. The caller has checked that memory, or its ranges, cover the bytes. */
int uccs_rma_move(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset, char *local,
                  size_t length, bool put, const struct uccs_rma_later *later);

/* --- Operations that the target executes (remote.c). They reach memory that is neither mapped nor open to the kernel's
 * copy (a container refuses it, or the PE is in another pid namespace). A block of the origin's region carries the
 * call, and the data in both directions. Handlers may use them: a thread that waits here executes the peers' calls
 * meanwhile. The target has to make progress. */

/* When `later` is null these return when the target has executed the operation. Else they return when the source has
 * been copied. */
int uccs_remote_move(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset, char *local,
                     size_t length, bool put, const struct uccs_rma_later *later);
/* Returns when the target has executed all parts: `status`, when it is an error, or that of a part. */
int uccs_remote_finish(struct uccs_remote_wait *wait, int status);
/* `result` receives the old value, of the atomic's size; it may be null. */
int uccs_remote_atomic(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset,
                       const struct uccs_atomic_op *atomic, void *result, const struct uccs_rma_later *later);
int uccs_remote_change(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset,
                       const struct uccs_accumulate_op *change, const void *operand, void *result,
                       const struct uccs_rma_later *later);

/* --- One-sided operations on memory of other nodes (nodes.c). The arguments have been checked, and by uccs_region_check
 * the region's generation. The target's own processor or progress thread executes them.
 *
 * When a region is released meanwhile, gets and fetching atomics return UCCS_ERR_STALE, and requests of other
 * operations fail. */

static inline bool uccs_region_far(const struct uccs_region *region)
{
    return lat_unlikely(!region->near) && uccs_far_pe(region->owner);
}

int uccs_rma_far(struct uccs_rma *rma);

#endif
