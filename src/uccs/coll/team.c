/* Collectives on teams: which plan each takes. Small data on a node goes by slots at once; the rest is described as a collective
 * for the engine. See coll.h. */
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/coll/inner.h"

#include <string.h>

/* Small data of blocking collectives on one node, by slots: a member publishes it with a flag in its own row, the others copy or
 * fold it out. One hop, and nobody waits for readers: the ring's rare sync tells that they have read. Slots hold copies, so
 * dest may be overwritten at once. */

/* Once all members come here, all have read all slots of the exchange before this one. */
static void settle_exchange(struct uccs_team *team)
{
    team->settled = team->exchange - 1;
}

/* Begins an exchange and publishes my data in it. */
static inline void publish_piece(struct uccs_team *team, const void *source, size_t bytes)
{
    const uint64_t number = uccs_slot_begin(team, bytes);
    struct uccs_slot *slot = uccs_slot_of(team, team->rank, bytes);
    uccs_coll_copy(uccs_slot_bytes(slot, bytes), source, bytes);
    atomic_store_release(&slot->number, number); /* acquire: uccs_slot_await at the others */
}

/* Begins an exchange and takes the data of `rank`. */
static inline void take_piece(struct uccs_team *team, void *dest, int rank, size_t bytes)
{
    (void)uccs_slot_begin(team, bytes);
    uccs_coll_copy(dest, uccs_slot_await(team, rank, bytes), bytes);
}

static void slots_broadcast(struct uccs_team *team, char *dest, const char *source, size_t bytes, int root)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        if (team->rank != root)
            take_piece(team, dest + at, root, piece);
        else
            publish_piece(team, source + at, piece);
    }
}

static void slots_allgather(struct uccs_team *team, char *dest, const char *source, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        publish_piece(team, source + at, piece);
        uccs_coll_copy(dest + (size_t)team->rank * bytes + at, source + at, piece);
        for (int i = 1; i < team->size; i++) {
            int rank = uccs_coll_around(team, team->rank, i);
            uccs_coll_copy(dest + (size_t)rank * bytes + at, uccs_slot_await(team, rank, piece), piece);
        }
        settle_exchange(team);
    }
}

/* Bytes of each block that one exchange can carry. */
static size_t piece_of(const struct uccs_team *team, size_t bytes)
{
    size_t most = SLOT_LARGE / (size_t)team->size;
    return bytes < most ? bytes : most;
}

static void publish_blocks(const struct uccs_team *team, const char *source, size_t bytes, size_t at, size_t piece)
{
    size_t total = piece * (size_t)team->size;
    char *room = uccs_slot_buffer(team, total);
    if (piece == bytes)
        memcpy(room, source, total);
    else
        for (int rank = 0; rank < team->size; rank++)
            memcpy(room + (size_t)rank * piece, source + (size_t)rank * bytes + at, piece);
    uccs_slot_publish(team, total);
}

static void slots_alltoall(struct uccs_team *team, char *dest, const char *source, size_t bytes)
{
    size_t me = (size_t)team->rank, most = piece_of(team, bytes);
    for (size_t at = 0; at < bytes; at += most) {
        size_t piece = bytes - at < most ? bytes - at : most;
        uccs_slot_begin(team, piece * (size_t)team->size);
        publish_blocks(team, source, bytes, at, piece);
        uccs_coll_copy(dest + me * bytes + at, source + me * bytes + at, piece);
        for (int i = 1; i < team->size; i++) {
            int rank = uccs_coll_around(team, team->rank, i);
            const char *theirs = uccs_slot_await(team, rank, piece * (size_t)team->size);
            uccs_coll_copy(dest + (size_t)rank * bytes + at, theirs + me * piece, piece);
        }
        settle_exchange(team);
    }
}

/* Returns what `rank` gave to this exchange. My own comes from my source, which no other PE reads, unless dest has
 * overwritten it by then. */
static const void *given_by(struct uccs_team *team, int rank, const void *dest, const void *source, size_t bytes)
{
    if (rank == team->rank && (dest != source || rank < 2))
        return source;
    return uccs_slot_await(team, rank, bytes);
}

/* dest = fold of the slots of members 0 .. last. */
static void fold_slots(struct uccs_team *team, fold_kernel *fold, size_t element, void *dest, const void *source,
                       size_t bytes, int last)
{
    const void *first = last >= 0 ? given_by(team, 0, dest, source, bytes) : 0;
    if (last < 0)
        memset(dest, 0, bytes);
    else if (last == 0)
        memmove(dest, first, bytes);
    else
        fold(dest, first, given_by(team, 1, dest, source, bytes), bytes / element);
    for (int rank = 2; rank <= last; rank++)
        fold(dest, dest, given_by(team, rank, dest, source, bytes), bytes / element);
}

static void slots_fold(struct uccs_team *team, fold_kernel *fold, size_t element, char *dest, const char *source,
                       size_t bytes, int last)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        publish_piece(team, source + at, piece);
        fold_slots(team, fold, element, dest + at, source + at, piece, last);
        for (int rank = last + 1; rank < team->size; rank++)
            uccs_slot_await(team, rank, piece);
        settle_exchange(team);
    }
}

/* A member that has the leader's slot knows that all members published theirs before. */
static void slots_reduce_by_leader(struct uccs_team *team, fold_kernel *fold, size_t element, char *dest,
                                   const char *source, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        publish_piece(team, source + at, piece);
        uint64_t settled = team->exchange - 1;
        if (team->rank == 0) {
            fold_slots(team, fold, element, dest + at, source + at, piece, team->size - 1);
            publish_piece(team, dest + at, piece);
        } else {
            take_piece(team, dest + at, 0, piece);
        }
        team->settled = settled;
    }
}

/* Describes a collective whose blocks are `bytes` long, field by field: zeroing the whole struct took longer than a short
 * collective's own work. begin_memory (memory.c) sets what only a running one has. */
static inline void describe_blocks(struct uccs_coll *c, enum uccs_coll_kind kind, const char *call,
                                   struct uccs_team *team, void *dest, const void *source, size_t bytes)
{
    const struct uccs_coll_shape *shape = &uccs_coll_shapes[kind];
    struct uccs_by_memory *m = &c->memory;
    c->family = &uccs_coll_by_memory;
    c->step = 0;
    c->kind = kind;
    c->call = call;
    c->rank = team->rank;
    c->size = team->size;
    c->root = 0;
    c->dest = dest;
    c->source = source;
    c->bytes = bytes;
    c->fold = 0;
    c->owned = 0;
    m->team = team;
    m->blocks = (struct proto_blocks){.block = bytes, .count = 1};
    m->dest_step = shape->dest_by_sender ? (ptrdiff_t)bytes : 0;
    m->source_step = shape->source_by_receiver ? (ptrdiff_t)bytes : 0;
    m->at_root = m->inclusive = m->quiet = false;
    m->nothing = bytes == 0;
    m->starts = 0;
}

/* The steps of plans over nodes; null: those of memory.c. */
static uccs_coll_step *const *const far_plans[UCCS_COLL_NAMED][UCCS_NAMED_PLANS] = {
    [UCCS_COLL_BROADCAST] = {[UCCS_BY_GATHER] = uccs_gather_broadcast, [UCCS_BY_RAIL] = uccs_rail_broadcast},
    [UCCS_COLL_ALLGATHER] = {[UCCS_BY_GATHER] = uccs_gather_allgather, [UCCS_BY_RAIL] = uccs_rail_allgather},
    [UCCS_COLL_ALLTOALL] = {[UCCS_BY_GATHER] = uccs_gather_alltoall, [UCCS_BY_RAIL] = uccs_rail_alltoall},
    [UCCS_COLL_ALLTOALLS] = {[UCCS_BY_GATHER] = uccs_gather_alltoall, [UCCS_BY_RAIL] = uccs_rail_alltoall},
    [UCCS_COLL_ALLREDUCE] = {[UCCS_BY_GATHER] = uccs_gather_fold, [UCCS_BY_RAIL] = uccs_rail_reduce},
    [UCCS_COLL_SCAN] = {[UCCS_BY_GATHER] = uccs_gather_fold},
};

/* Starts a collective as an operation of the request; or (null) carries it out. */
static void run_plan(struct uccs_coll *c, enum uccs_plan plan, uccs_request_handle *request)
{
    c->memory.later = request != 0;
    c->step = far_plans[c->kind][plan];
    if (request && c->kind == UCCS_COLL_ALLREDUCE)
        c->step = c->memory.team->far ? uccs_rail_reduce : 0;
    else if (request && (plan != UCCS_BY_RAIL || c->kind == UCCS_COLL_BROADCAST || c->memory.nothing))
        c->step = 0; /* steps of the other plans wait, and rails want an address */
    if (request) {
        if (uccs_coll_start(c, request) == UCCS_OK)
            return;
        log_mistake("%s: no memory for a request", c->call);
        rte_abort(LAT_EXIT);
    }
    uccs_coll_run(c);
}

void uccs_team_barrier_nb(const char *call, struct uccs_team *team, bool quiet, uccs_request_handle *request)
{
    struct uccs_coll c;
    describe_blocks(&c, UCCS_COLL_BARRIER, call, team, 0, 0, 0);
    c.memory.quiet = quiet;
    run_plan(&c, UCCS_BY_PULL, request);
}

/* --- Moving blocks: small ones, then long or split-phase ones */

static void broadcast_long(enum uccs_plan plan, const char *call, struct uccs_team *team, void *dest,
                           const void *source, size_t bytes, int root, bool at_root, uccs_request_handle *request)
{
    struct uccs_coll c;
    describe_blocks(&c, UCCS_COLL_BROADCAST, call, team, dest, source, bytes);
    c.root = root;
    c.memory.at_root = at_root;
    run_plan(&c, plan, request);
}

void uccs_team_broadcast(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                         int root, bool at_root, uccs_request_handle *request)
{
    if (bytes == 0 && !request)
        return;
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_BROADCAST, team, bytes);
    if (plan != UCCS_BY_SLOTS || team->size == 1 || request) {
        broadcast_long(plan, call, team, dest, source, bytes, root, at_root, request);
        return;
    }
    slots_broadcast(team, dest, source, bytes, root);
    if (team->rank == root && at_root && dest != source)
        uccs_coll_copy(dest, source, bytes);
}

static void move_long(enum uccs_coll_kind kind, enum uccs_plan plan, const char *call, struct uccs_team *team,
                      void *dest, const void *source, size_t bytes, uccs_request_handle *request)
{
    struct uccs_coll c;
    describe_blocks(&c, kind, call, team, dest, source, bytes);
    run_plan(&c, plan, request);
}

void uccs_team_tell(struct uccs_team *team, void *all, const void *mine, size_t bytes)
{
    if (team->far)
        uccs_nodes_allgather(team, all, mine, bytes);
    else
        slots_allgather(team, all, mine, bytes);
}

void uccs_team_allgather(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                         uccs_request_handle *request)
{
    if (bytes == 0 && !request)
        return;
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_ALLGATHER, team, bytes);
    if (plan == UCCS_BY_SLOTS && !request)
        slots_allgather(team, dest, source, bytes);
    else
        move_long(UCCS_COLL_ALLGATHER, plan, call, team, dest, source, bytes, request);
}

void uccs_team_alltoall(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                        uccs_request_handle *request)
{
    if (bytes == 0 && !request)
        return;
    const enum uccs_plan plan =
        uccs_coll_choose(UCCS_COLL_ALLTOALL, team, team->far ? bytes : bytes * (size_t)team->size);
    if (plan == UCCS_BY_SLOTS && team->size <= SLOT_LARGE && !request)
        slots_alltoall(team, dest, source, bytes);
    else
        move_long(UCCS_COLL_ALLTOALL, plan, call, team, dest, source, bytes, request);
}

void uccs_team_alltoalls(const char *call, struct uccs_team *team, void *dest, const void *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t n, size_t size)
{
    if (n == 0)
        return;
    struct uccs_coll c;
    describe_blocks(&c, UCCS_COLL_ALLTOALLS, call, team, dest, source, n * size);
    const ptrdiff_t to = dst * (ptrdiff_t)size, from = sst * (ptrdiff_t)size;
    c.memory.dest_step = to * (ptrdiff_t)n;
    c.memory.source_step = from * (ptrdiff_t)n;
    if (n > 1 && (dst != 1 || sst != 1))
        c.memory.blocks = (struct proto_blocks){.block = size, .count = n, .there = from, .here = to};
    run_plan(&c, uccs_coll_choose(UCCS_COLL_ALLTOALLS, team, c.bytes), 0);
}

/* --- Folding */

/* The nodes' buffers must hold an element of each member. A scan over scattered nodes cannot fold members node by node. */
static enum uccs_plan plan_of_fold(const struct uccs_coll *c, enum uccs_plan plan)
{
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    if (plan == UCCS_BY_GATHER && uccs_reduce_most(nodes) < c->element)
        plan = UCCS_BY_RAIL;
    if (c->kind == UCCS_COLL_SCAN && (plan == UCCS_BY_RAIL || (nodes && nodes->order)))
        plan = c->memory.team->far ? UCCS_BY_PULL : plan;
    return plan;
}

static void fold_long(enum uccs_coll_kind what, enum uccs_plan plan, const char *call, struct uccs_team *team,
                      void *dest, const void *source, size_t n, enum kind kind, enum fold_op op, bool inclusive,
                      uccs_request_handle *request)
{
    struct uccs_coll c;
    describe_blocks(&c, what, call, team, dest, source, n * kind_size(kind));
    c.n = n;
    c.element = kind_size(kind);
    c.fold = fold_kernel_of(kind, op);
    c.memory.inclusive = inclusive;
    run_plan(&c, plan_of_fold(&c, plan), request);
}

void uccs_team_reduce(const char *call, struct uccs_team *team, void *dest, const void *source, size_t n,
                      enum kind kind, enum fold_op op, uccs_request_handle *request)
{
    const size_t element = kind_size(kind), bytes = n * element;
    if (n == 0 && !request)
        return;
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_ALLREDUCE, team, bytes);
    if (plan == UCCS_BY_SLOTS && !request)
        slots_fold(team, fold_kernel_of(kind, op), element, dest, source, bytes, team->size - 1);
    else if (plan == UCCS_BY_LEADER && !request)
        slots_reduce_by_leader(team, fold_kernel_of(kind, op), element, dest, source, bytes);
    else
        fold_long(UCCS_COLL_ALLREDUCE, plan, call, team, dest, source, n, kind, op, false, request);
}

void uccs_team_scan(const char *call, struct uccs_team *team, void *dest, const void *source, size_t n, enum kind kind,
                    bool inclusive)
{
    const size_t element = kind_size(kind), bytes = n * element;
    if (n == 0)
        return;
    const enum uccs_plan plan = uccs_coll_choose(UCCS_COLL_SCAN, team, bytes);
    if (plan == UCCS_BY_SLOTS)
        slots_fold(team, fold_kernel_of(kind, FOLD_SUM), element, dest, source, bytes, team->rank - !inclusive);
    else
        fold_long(UCCS_COLL_SCAN, plan, call, team, dest, source, n, kind, FOLD_SUM, inclusive, 0);
}
