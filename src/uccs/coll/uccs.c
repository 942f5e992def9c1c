/* Group communication of uccs.h: arguments are checked, a collective is described, and the engine (inner.h) does it. Any
 * thread; different groups at once. */
#include "uccs/am/am.h"
#include "uccs/coll/inner.h"
#include "uccs/mem/accumulate.h"

#include <stdlib.h>
#include <string.h>

/* In place of the address of a request: the call waits. */
static uccs_request_t no_request;
#define BLOCKING (&no_request)

/* Checks the arguments that all collectives have. Returns UCCS_OK and sets the group, rank and size, or returns an error. */
static int check_call(struct uccs_coll *c, uccs_group_t group, const uccs_request_t *desc)
{
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!group || !desc)
        return UCCS_ERR_INVALID;
    c->messages.group = uccs_group_of(group);
    c->messages.user = true;
    c->rank = c->messages.group->rank;
    c->size = c->messages.group->size;
    return c->root >= 0 && c->root < c->size ? UCCS_OK : UCCS_ERR_INVALID;
}

/* Starts a checked collective, and waits for it in the blocking form. The member's own part is in place already. */
static int start_checked(struct uccs_coll *c, uccs_request_t *desc)
{
    c->family = &uccs_coll_by_messages;
    c->call = "a collective";
    c->messages.plan = uccs_coll_plan(c->kind, uccs_coll_choose_messages(c->kind, c->size, c->bytes));
    int status = UCCS_OK;
    if (desc != BLOCKING)
        status = uccs_coll_start(c, desc);
    else
        uccs_coll_run(c);
    if (status != UCCS_OK)
        free(c->owned);
    return status;
}

static int start_barrier(uccs_group_t group, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_BARRIER};
    int status = check_call(&c, group, desc);
    return status == UCCS_OK ? start_checked(&c, desc) : status;
}

static int start_broadcast(uccs_group_t group, void *buffer, size_t length, int root, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_BROADCAST, .dest = buffer, .bytes = length, .root = root};
    int status = check_call(&c, group, desc);
    if (status == UCCS_OK && length && !buffer)
        status = UCCS_ERR_INVALID;
    return status == UCCS_OK ? start_checked(&c, desc) : status;
}

/* Collectives that move blocks of one length. The root alone has both buffers in a gather or scatter. */
static int move_blocks(enum uccs_coll_kind kind, uccs_group_t group, const void *source, void *dest, size_t length,
                       int root, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = kind, .source = source, .dest = dest, .bytes = length, .root = root};
    const struct uccs_coll_shape *shape = &uccs_coll_shapes[kind];
    int status = check_call(&c, group, desc);
    if (status != UCCS_OK)
        return status;
    const bool gives = !shape->from_root || c.rank == root, gets = !shape->to_root || c.rank == root;
    if (length && ((gives && !source) || (gets && !dest)))
        return UCCS_ERR_INVALID;
    if (length && shape->source_by_receiver && shape->dest_by_sender && source == dest)
        return UCCS_ERR_INVALID;
    if (length && gives && gets)
        memmove(c.dest + (shape->dest_by_sender ? (size_t)c.rank * length : 0),
                c.source + (shape->source_by_receiver ? (size_t)c.rank * length : 0), length);
    return start_checked(&c, desc);
}

/* What is folded. */
struct vector {
    const void *source;
    void *dest;
    size_t n;
    enum uccs_type type;
    enum uccs_reduction how;
};

/* Checks a reduction or scan. Returns UCCS_OK and describes it, or returns an error. */
static int check_fold(struct uccs_coll *c, uccs_group_t group, const struct vector *vector, const uccs_request_t *desc)
{
    int status = check_call(c, group, desc);
    c->source = vector->source;
    c->dest = vector->dest;
    c->n = vector->n;
    c->fold = uccs_type_fold(vector->type, vector->how);
    c->element = uccs_type_size(vector->type);
    if (status != UCCS_OK)
        return status;
    if (!c->fold || c->n > SIZE_MAX / c->element || (c->n && !c->source))
        return UCCS_ERR_INVALID;
    const bool gets = c->kind != UCCS_COLL_REDUCE || c->rank == c->root;
    c->bytes = c->n * c->element;
    return c->n && gets && !c->dest ? UCCS_ERR_INVALID : UCCS_OK;
}

/* An allreduce, or a scan, whose first member has its result at once. */
static int fold_for_all(enum uccs_coll_kind kind, uccs_group_t group, const struct vector *vector, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = kind};
    int status = check_fold(&c, group, vector, desc);
    if (status != UCCS_OK)
        return status;
    if (c.n && c.source != c.dest && (kind == UCCS_COLL_ALLREDUCE || c.rank == 0))
        memcpy(c.dest, c.source, c.bytes);
    return start_checked(&c, desc);
}

/* A member through which the chain passes folds in a room of two pieces. In place, a root that folds the others' vectors before
 * its own keeps a copy of its own. */
static int start_reduce(uccs_group_t group, const struct vector *vector, int root, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_REDUCE, .root = root};
    int status = check_fold(&c, group, vector, desc);
    if (status != UCCS_OK)
        return status;
    const bool chain = uccs_coll_choose_messages(c.kind, c.size, c.bytes) == UCCS_BY_STREAM;
    const bool passes = chain && c.rank > 0 && !(c.rank == root && root == c.size - 1);
    const bool keeps = !chain && c.n && c.rank == root && root > 0 && c.source == c.dest;
    if ((passes || keeps) && !(c.owned = malloc(passes ? 2 * COLL_PIECE : c.bytes)))
        return UCCS_ERR_NO_MEMORY;
    if (keeps)
        c.source = memcpy(c.owned, c.source, c.bytes);
    return start_checked(&c, desc);
}

/* --- The public functions: blocking and with a request */

int uccs_barrier(uccs_group_t group)
{
    return start_barrier(group, BLOCKING);
}

int uccs_barrier_nb(uccs_group_t group, uccs_request_t *desc)
{
    return start_barrier(group, desc);
}

int uccs_broadcast(uccs_group_t group, void *buffer, size_t length, int root)
{
    return start_broadcast(group, buffer, length, root, BLOCKING);
}

int uccs_broadcast_nb(uccs_group_t group, void *buffer, size_t length, int root, uccs_request_t *desc)
{
    return start_broadcast(group, buffer, length, root, desc);
}

int uccs_allgather(uccs_group_t group, const void *source, void *dest, size_t length)
{
    return move_blocks(UCCS_COLL_ALLGATHER, group, source, dest, length, 0, BLOCKING);
}

int uccs_allgather_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc)
{
    return move_blocks(UCCS_COLL_ALLGATHER, group, source, dest, length, 0, desc);
}

int uccs_alltoall(uccs_group_t group, const void *source, void *dest, size_t length)
{
    return move_blocks(UCCS_COLL_ALLTOALL, group, source, dest, length, 0, BLOCKING);
}

int uccs_alltoall_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc)
{
    return move_blocks(UCCS_COLL_ALLTOALL, group, source, dest, length, 0, desc);
}

int uccs_gather(uccs_group_t group, const void *source, void *dest, size_t length, int root)
{
    return move_blocks(UCCS_COLL_GATHER, group, source, dest, length, root, BLOCKING);
}

int uccs_gather_nb(uccs_group_t group, const void *source, void *dest, size_t length, int root, uccs_request_t *desc)
{
    return move_blocks(UCCS_COLL_GATHER, group, source, dest, length, root, desc);
}

int uccs_scatter(uccs_group_t group, const void *source, void *dest, size_t length, int root)
{
    return move_blocks(UCCS_COLL_SCATTER, group, source, dest, length, root, BLOCKING);
}

int uccs_scatter_nb(uccs_group_t group, const void *source, void *dest, size_t length, int root, uccs_request_t *desc)
{
    return move_blocks(UCCS_COLL_SCATTER, group, source, dest, length, root, desc);
}

int uccs_allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how)
{
    return fold_for_all(UCCS_COLL_ALLREDUCE, group, &(struct vector){source, dest, n, type, how}, BLOCKING);
}

int uccs_allreduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                      enum uccs_reduction how, uccs_request_t *desc)
{
    return fold_for_all(UCCS_COLL_ALLREDUCE, group, &(struct vector){source, dest, n, type, how}, desc);
}

int uccs_reduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                enum uccs_reduction how, int root)
{
    return start_reduce(group, &(struct vector){source, dest, n, type, how}, root, BLOCKING);
}

int uccs_reduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how, int root, uccs_request_t *desc)
{
    return start_reduce(group, &(struct vector){source, dest, n, type, how}, root, desc);
}

int uccs_scan(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
              enum uccs_reduction how)
{
    return fold_for_all(UCCS_COLL_SCAN, group, &(struct vector){source, dest, n, type, how}, BLOCKING);
}

int uccs_scan_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                 enum uccs_reduction how, uccs_request_t *desc)
{
    return fold_for_all(UCCS_COLL_SCAN, group, &(struct vector){source, dest, n, type, how}, desc);
}
