/* Functions that the files of this folder share. Any thread. */
#ifndef UCCS_RMA_INNER_H
#define UCCS_RMA_INNER_H

#include "uccs/proto/initiator.h"
#include "uccs/am/am.h"
#include "uccs/mem/accumulate.h"
#include "uccs/mem/dynamic.h"
#include "uccs/mem/region.h"

/* --- One operation on its way through this folder (rma.c) */

enum uccs_rma_kind { RMA_PUT, RMA_GET, RMA_CHANGE };

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
    const struct uccs_accumulate_op *change; /* with the operand at `local`; of pieces, in each, to another node */
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

/* A part of an operation: bytes that lie together on both sides, or blocks. */
struct uccs_rma_part {
    size_t offset, bytes;
    char *local;
    struct proto_blocks blocks; /* count 0: bytes */
    bool last;
    size_t next; /* number of the piece or block behind the part */
};

/* near.c: goes to the next part, from one that starts zeroed. A part has blocks of at most `pack` bytes together; 0: one block, as bytes.
 * Returns false when no bytes are left. */
bool uccs_rma_next(const struct uccs_rma *rma, size_t pack, struct uccs_rma_part *part);

/* Does or starts a checked operation on memory of this node. */
int uccs_rma_near(struct uccs_rma *rma);
/* Marks the requests of an operation that is done as complete. */
void uccs_rma_done(struct uccs_rma *rma);

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
