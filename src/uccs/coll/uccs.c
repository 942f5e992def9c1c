/* Group communication of uccs.h: arguments are checked, a collective is described, and the engine (inner.h) does it. Any
 * thread; different groups at once. */
#include "uccs/am/am.h"
#include "uccs/coll/inner.h"
#include "uccs/mem/accumulate.h"

#include <stdlib.h>
#include <string.h>

enum how { BLOCKING, NONBLOCKING };

/* Checks the arguments that all collectives have. Returns UCCS_OK and sets the group, rank and size, or returns an error. */
static int check(struct uccs_coll *c, uccs_group_t group, enum how how, const uccs_request_t *desc)
{
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!group || (how == NONBLOCKING && !desc))
        return UCCS_ERR_INVALID;
    c->messages.group = uccs_group_of(group);
    c->messages.user = true;
    c->rank = c->messages.group->rank;
    c->size = c->messages.group->size;
    return c->root >= 0 && c->root < c->size ? UCCS_OK : UCCS_ERR_INVALID;
}

/* Starts a checked collective, and waits for it in the blocking form. The member's own part is in place already. */
static int start(struct uccs_coll *c, enum how how, uccs_request_t *desc)
{
    c->way = &uccs_coll_by_messages;
    c->call = "a collective";
    c->messages.plan = uccs_coll_plan(c->kind, uccs_coll_choose_messages(c->kind, c->size, c->bytes));
    int status = UCCS_OK;
    if (how == NONBLOCKING)
        status = uccs_coll_start(c, desc);
    else
        uccs_coll_run(c);
    if (status != UCCS_OK)
        free(c->owned);
    return status;
}

static int barrier(uccs_group_t group, enum how how, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_BARRIER};
    int status = check(&c, group, how, desc);
    return status == UCCS_OK ? start(&c, how, desc) : status;
}

static int broadcast(uccs_group_t group, void *buffer, size_t length, int root, enum how how, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_BROADCAST, .dest = buffer, .bytes = length, .root = root};
    int status = check(&c, group, how, desc);
    if (status == UCCS_OK && length && !buffer)
        status = UCCS_ERR_INVALID;
    return status == UCCS_OK ? start(&c, how, desc) : status;
}

/* Collectives that move blocks of one length. The root alone has both buffers in a gather or scatter. */
static int blocks(struct uccs_coll *c, uccs_group_t group, enum how how, uccs_request_t *desc)
{
    const struct uccs_coll_shape *shape = &uccs_coll_shapes[c->kind];
    int status = check(c, group, how, desc);
    if (status != UCCS_OK)
        return status;
    const bool gives = !shape->from_root || c->rank == c->root, gets = !shape->to_root || c->rank == c->root;
    if (c->bytes && ((gives && !c->source) || (gets && !c->dest)))
        return UCCS_ERR_INVALID;
    if (c->bytes && shape->source_by_receiver && shape->dest_by_sender && c->source == c->dest)
        return UCCS_ERR_INVALID;
    if (c->bytes && gives && gets)
        memmove(c->dest + (shape->dest_by_sender ? (size_t)c->rank * c->bytes : 0),
                c->source + (shape->source_by_receiver ? (size_t)c->rank * c->bytes : 0), c->bytes);
    return start(c, how, desc);
}

static int allgather(uccs_group_t group, const void *source, void *dest, size_t length, enum how how,
                     uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_ALLGATHER, .source = source, .dest = dest, .bytes = length};
    return blocks(&c, group, how, desc);
}

static int alltoall(uccs_group_t group, const void *source, void *dest, size_t length, enum how how,
                    uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_ALLTOALL, .source = source, .dest = dest, .bytes = length};
    return blocks(&c, group, how, desc);
}

static int gather(uccs_group_t group, const void *source, void *dest, size_t length, int root, enum how how,
                  uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_GATHER, .source = source, .dest = dest, .bytes = length, .root = root};
    return blocks(&c, group, how, desc);
}

static int scatter(uccs_group_t group, const void *source, void *dest, size_t length, int root, enum how how,
                   uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_SCATTER, .source = source, .dest = dest, .bytes = length, .root = root};
    return blocks(&c, group, how, desc);
}

/* Checks a reduction or scan of n elements. Returns UCCS_OK and sets what it folds, or returns an error. */
static int check_fold(struct uccs_coll *c, uccs_group_t group, enum uccs_type type, enum uccs_reduction reduction,
                      enum how how, const uccs_request_t *desc)
{
    int status = check(c, group, how, desc);
    c->fold = uccs_type_fold(type, reduction);
    c->element = uccs_type_size(type);
    if (status != UCCS_OK)
        return status;
    if (!c->fold || c->n > SIZE_MAX / c->element || (c->n && !c->source))
        return UCCS_ERR_INVALID;
    const bool gets = c->kind != UCCS_COLL_REDUCE || c->rank == c->root;
    c->bytes = c->n * c->element;
    return c->n && gets && !c->dest ? UCCS_ERR_INVALID : UCCS_OK;
}

static int allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                     enum uccs_reduction reduction, enum how how, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_ALLREDUCE, .source = source, .dest = dest, .n = n};
    int status = check_fold(&c, group, type, reduction, how, desc);
    if (status != UCCS_OK)
        return status;
    if (n && source != dest)
        memcpy(dest, source, c.bytes);
    return start(&c, how, desc);
}

/* A member through which the chain passes folds in a room of two pieces. In place, a root that folds the others' vectors before
 * its own keeps a copy of its own. */
static int reduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                  enum uccs_reduction reduction, int root, enum how how, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_REDUCE, .source = source, .dest = dest, .n = n, .root = root};
    int status = check_fold(&c, group, type, reduction, how, desc);
    if (status != UCCS_OK)
        return status;
    const bool chain = uccs_coll_choose_messages(c.kind, c.size, c.bytes) == UCCS_BY_CHAIN;
    const bool passes = chain && c.rank > 0 && !(c.rank == root && root == c.size - 1);
    const bool keeps = !chain && n && c.rank == root && root > 0 && source == dest;
    if ((passes || keeps) && !(c.owned = malloc(passes ? 2 * COLL_PIECE : c.bytes)))
        return UCCS_ERR_NO_MEMORY;
    if (keeps)
        c.source = memcpy(c.owned, source, c.bytes);
    return start(&c, how, desc);
}

static int scan(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                enum uccs_reduction reduction, enum how how, uccs_request_t *desc)
{
    struct uccs_coll c = {.kind = UCCS_COLL_SCAN, .source = source, .dest = dest, .n = n};
    int status = check_fold(&c, group, type, reduction, how, desc);
    if (status != UCCS_OK)
        return status;
    if (n && c.rank == 0 && source != dest)
        memcpy(dest, source, c.bytes);
    return start(&c, how, desc);
}

int uccs_barrier(uccs_group_t group)
{
    return barrier(group, BLOCKING, 0);
}

int uccs_barrier_nb(uccs_group_t group, uccs_request_t *desc)
{
    return barrier(group, NONBLOCKING, desc);
}

int uccs_broadcast(uccs_group_t group, void *buffer, size_t length, int root)
{
    return broadcast(group, buffer, length, root, BLOCKING, 0);
}

int uccs_broadcast_nb(uccs_group_t group, void *buffer, size_t length, int root, uccs_request_t *desc)
{
    return broadcast(group, buffer, length, root, NONBLOCKING, desc);
}

int uccs_allgather(uccs_group_t group, const void *source, void *dest, size_t length)
{
    return allgather(group, source, dest, length, BLOCKING, 0);
}

int uccs_allgather_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc)
{
    return allgather(group, source, dest, length, NONBLOCKING, desc);
}

int uccs_allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how)
{
    return allreduce(group, source, dest, n, type, how, BLOCKING, 0);
}

int uccs_allreduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                      enum uccs_reduction how, uccs_request_t *desc)
{
    return allreduce(group, source, dest, n, type, how, NONBLOCKING, desc);
}

int uccs_alltoall(uccs_group_t group, const void *source, void *dest, size_t length)
{
    return alltoall(group, source, dest, length, BLOCKING, 0);
}

int uccs_alltoall_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc)
{
    return alltoall(group, source, dest, length, NONBLOCKING, desc);
}

int uccs_gather(uccs_group_t group, const void *source, void *dest, size_t length, int root)
{
    return gather(group, source, dest, length, root, BLOCKING, 0);
}

int uccs_gather_nb(uccs_group_t group, const void *source, void *dest, size_t length, int root, uccs_request_t *desc)
{
    return gather(group, source, dest, length, root, NONBLOCKING, desc);
}

int uccs_scatter(uccs_group_t group, const void *source, void *dest, size_t length, int root)
{
    return scatter(group, source, dest, length, root, BLOCKING, 0);
}

int uccs_scatter_nb(uccs_group_t group, const void *source, void *dest, size_t length, int root, uccs_request_t *desc)
{
    return scatter(group, source, dest, length, root, NONBLOCKING, desc);
}

int uccs_reduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                enum uccs_reduction how, int root)
{
    return reduce(group, source, dest, n, type, how, root, BLOCKING, 0);
}

int uccs_reduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how, int root, uccs_request_t *desc)
{
    return reduce(group, source, dest, n, type, how, root, NONBLOCKING, desc);
}

int uccs_scan(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
              enum uccs_reduction how)
{
    return scan(group, source, dest, n, type, how, BLOCKING, 0);
}

int uccs_scan_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                 enum uccs_reduction how, uccs_request_t *desc)
{
    return scan(group, source, dest, n, type, how, NONBLOCKING, desc);
}
