/* Collectives on teams: which plan each takes. Small data on a node goes by slots at once; the rest is described as a collective
 * first. See coll.h. */
#include "uccs/coll/inner.h"

#include "base/log.h"
#include "rte/rte.h"

#include <string.h>

/* Describes a collective whose blocks are `bytes` long. */
static inline struct uccs_coll describe(enum uccs_coll_kind kind, const char *call, struct uccs_team *team, void *dest,
                                        const void *source, size_t bytes)
{
    const struct uccs_coll_shape *shape = &uccs_coll_shapes[kind];
    return (struct uccs_coll){.way = &uccs_coll_by_memory,
                              .kind = kind,
                              .call = call,
                              .rank = team->rank,
                              .size = team->size,
                              .dest = dest,
                              .source = source,
                              .bytes = bytes,
                              .memory = {.team = team,
                                         .blocks = {.block = bytes, .count = 1},
                                         .dest_step = shape->dest_by_sender ? (ptrdiff_t)bytes : 0,
                                         .source_step = shape->source_by_receiver ? (ptrdiff_t)bytes : 0,
                                         .nothing = bytes == 0}};
}

static inline struct uccs_coll describe_fold(enum uccs_coll_kind what, const char *call, struct uccs_team *team,
                                             void *dest, const void *source, size_t n, enum kind kind, enum fold_op op)
{
    struct uccs_coll c = describe(what, call, team, dest, source, n * kind_size(kind));
    c.n = n;
    c.element = kind_size(kind);
    c.fold = fold_kernel_of(kind, op);
    return c;
}

static void broadcast_long(enum uccs_plan plan, const char *call, struct uccs_team *team, void *dest,
                           const void *source, size_t bytes, int root, bool at_root)
{
    struct uccs_coll c = describe(UCCS_COLL_BROADCAST, call, team, dest, source, bytes);
    c.root = root;
    c.memory.at_root = at_root;
    if (plan == UCCS_BY_GATHER)
        uccs_gather_broadcast(&c);
    else if (plan == UCCS_BY_RAIL)
        uccs_rail_broadcast(&c);
    else
        uccs_coll_run(&c);
}

void uccs_team_broadcast(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                         int root, bool at_root)
{
    if (bytes == 0)
        return;
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_BROADCAST, team, bytes);
    if (plan != UCCS_BY_SLOTS || team->size == 1) {
        broadcast_long(plan, call, team, dest, source, bytes, root, at_root);
        return;
    }
    uccs_slots_broadcast(team, dest, source, bytes, root);
    if (team->rank == root && at_root && dest != source)
        uccs_coll_copy(dest, source, bytes);
}

static void allgather_long(enum uccs_plan plan, const char *call, struct uccs_team *team, void *dest,
                           const void *source, size_t bytes)
{
    struct uccs_coll c = describe(UCCS_COLL_ALLGATHER, call, team, dest, source, bytes);
    c.memory.push = plan == UCCS_BY_PUSH;
    if (plan == UCCS_BY_GATHER)
        uccs_nodes_allgather(team, dest, source, bytes);
    else if (plan == UCCS_BY_RAIL)
        uccs_rail_allgather(&c);
    else
        uccs_coll_run(&c);
}

void uccs_team_allgather(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes)
{
    if (bytes == 0)
        return;
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_ALLGATHER, team, bytes);
    if (plan == UCCS_BY_SLOTS)
        uccs_slots_allgather(team, dest, source, bytes);
    else
        allgather_long(plan, call, team, dest, source, bytes);
}

static void alltoall_long(enum uccs_plan plan, struct uccs_coll *c)
{
    c->memory.push = plan == UCCS_BY_PUSH;
    if (plan == UCCS_BY_GATHER)
        uccs_gather_alltoall(c);
    else if (plan == UCCS_BY_RAIL && c->kind == UCCS_COLL_ALLTOALLS)
        uccs_rail_alltoalls(c);
    else if (plan == UCCS_BY_RAIL)
        uccs_rail_alltoall(c);
    else
        uccs_coll_run(c);
}

void uccs_team_alltoall(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes)
{
    if (bytes == 0)
        return;
    const enum uccs_plan plan =
        uccs_coll_choose(UCCS_COLL_ALLTOALL, team, team->far ? bytes : bytes * (size_t)team->size);
    if (plan == UCCS_BY_SLOTS && team->size <= SLOT_LARGE) {
        uccs_slots_alltoall(team, dest, source, bytes);
        return;
    }
    struct uccs_coll c = describe(UCCS_COLL_ALLTOALL, call, team, dest, source, bytes);
    alltoall_long(plan, &c);
}

void uccs_team_alltoalls(const char *call, struct uccs_team *team, void *dest, const void *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t n, size_t size)
{
    if (n == 0)
        return;
    struct uccs_coll c = describe(UCCS_COLL_ALLTOALLS, call, team, dest, source, n * size);
    const ptrdiff_t to = dst * (ptrdiff_t)size, from = sst * (ptrdiff_t)size;
    c.memory.dest_step = to * (ptrdiff_t)n;
    c.memory.source_step = from * (ptrdiff_t)n;
    if (n > 1 && (dst != 1 || sst != 1))
        c.memory.blocks = (struct proto_blocks){.block = size, .count = n, .there = from, .here = to};
    alltoall_long(uccs_coll_choose(UCCS_COLL_ALLTOALLS, team, c.bytes), &c);
}

/* The rails' chain of nodes folds members in the order of their places, so on scattered nodes only integers go there. */
static void reduce_long(enum uccs_plan plan, struct uccs_coll *c, enum kind kind)
{
    if (plan == UCCS_BY_GATHER && !uccs_gather_folds(c))
        plan = UCCS_BY_RAIL;
    if (plan == UCCS_BY_RAIL && c->memory.team->nodes->order && kind > KIND_U64)
        plan = UCCS_BY_PULL;
    if (plan == UCCS_BY_GATHER)
        uccs_gather_fold(c, c->size - 1);
    else if (plan == UCCS_BY_RAIL)
        uccs_rail_reduce(c);
    else
        uccs_coll_run(c);
}

void uccs_team_reduce(const char *call, struct uccs_team *team, void *dest, const void *source, size_t n,
                      enum kind kind, enum fold_op op)
{
    const size_t element = kind_size(kind), bytes = n * element;
    fold_kernel *fold = fold_kernel_of(kind, op);
    if (n == 0)
        return;
    if (team->size == 1) {
        if (dest != source)
            memcpy(dest, source, bytes);
        return;
    }
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_ALLREDUCE, team, bytes);
    if (plan == UCCS_BY_SLOTS) {
        uccs_slots_reduce(team, fold, element, dest, source, bytes);
    } else if (plan == UCCS_BY_LEADER) {
        uccs_slots_reduce_by_leader(team, fold, element, dest, source, bytes);
    } else {
        struct uccs_coll c = describe_fold(UCCS_COLL_ALLREDUCE, call, team, dest, source, n, kind, op);
        reduce_long(plan, &c, kind);
    }
}

void uccs_team_scan(const char *call, struct uccs_team *team, void *dest, const void *source, size_t n, enum kind kind,
                    bool inclusive)
{
    const size_t element = kind_size(kind), bytes = n * element;
    if (n == 0)
        return;
    if (team->size == 1) {
        if (!inclusive)
            memset(dest, 0, bytes);
        else if (dest != source)
            memcpy(dest, source, bytes);
        return;
    }
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_SCAN, team, bytes);
    if (plan == UCCS_BY_SLOTS) {
        uccs_slots_scan(team, fold_kernel_of(kind, FOLD_SUM), element, dest, source, bytes, inclusive);
        return;
    }
    struct uccs_coll c = describe_fold(UCCS_COLL_SCAN, call, team, dest, source, n, kind, FOLD_SUM);
    c.memory.inclusive = inclusive;
    if (plan == UCCS_BY_GATHER && uccs_gather_folds(&c))
        uccs_gather_fold(&c, team->rank - !inclusive);
    else
        uccs_coll_run(&c);
}

/* --- Split-phase */

static void start(struct uccs_coll *c, uccs_request_handle *request)
{
    c->memory.later = true;
    if (uccs_coll_start(c, request) == UCCS_OK)
        return;
    log_mistake("%s: no memory for a request", c->call);
    rte_abort(LAT_EXIT);
}

void uccs_team_barrier_nb(const char *call, struct uccs_team *team, bool quiet, uccs_request_handle *request)
{
    struct uccs_coll c = describe(UCCS_COLL_BARRIER, call, team, 0, 0, 0);
    c.memory.quiet = quiet;
    start(&c, request);
}

void uccs_team_broadcast_nb(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                            int root, uccs_request_handle *request)
{
    struct uccs_coll c = describe(UCCS_COLL_BROADCAST, call, team, dest, source, bytes);
    c.root = root;
    c.memory.at_root = true;
    start(&c, request);
}

void uccs_team_allgather_nb(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                            uccs_request_handle *request)
{
    struct uccs_coll c = describe(UCCS_COLL_ALLGATHER, call, team, dest, source, bytes);
    start(&c, request);
}

void uccs_team_alltoall_nb(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                           uccs_request_handle *request)
{
    struct uccs_coll c = describe(UCCS_COLL_ALLTOALL, call, team, dest, source, bytes);
    start(&c, request);
}

void uccs_team_reduce_nb(const char *call, struct uccs_team *team, void *dest, const void *source, size_t n,
                         enum kind kind, enum fold_op op, uccs_request_handle *request)
{
    struct uccs_coll c = describe_fold(UCCS_COLL_ALLREDUCE, call, team, dest, source, n, kind, op);
    start(&c, request);
}
