/* Plans by messages, and the shapes of what moves; see inner.h. A member is done with a round when it has sent and received what
 * the round says. Both ends of a message find it in the same round. */
#include "uccs/coll/inner.h"

const struct uccs_coll_shape uccs_coll_shapes[UCCS_COLLS] = {
    [UCCS_COLL_BROADCAST] = {.from_root = true},
    [UCCS_COLL_ALLGATHER] = {.dest_by_sender = true},
    [UCCS_COLL_ALLTOALL] = {.source_by_receiver = true, .dest_by_sender = true},
    [UCCS_COLL_ALLTOALLS] = {.source_by_receiver = true, .dest_by_sender = true},
    [UCCS_COLL_GATHER] = {.to_root = true, .dest_by_sender = true},
    [UCCS_COLL_SCATTER] = {.from_root = true, .source_by_receiver = true},
};

static int rounds_of(int size)
{
    int rounds = 0;
    while (INT64_C(1) << rounds < size)
        rounds++;
    return rounds;
}

/* Plans a dissemination barrier: in round k every member receives from the member 2^k before it. */
static bool plan_barrier(const struct uccs_coll *c, uint32_t round, struct uccs_round *to_do)
{
    int64_t distance = INT64_C(1) << round;
    if (distance >= c->size)
        return false;
    to_do->to = (int)((c->rank + distance) % c->size);
    to_do->from = (int)((c->rank + c->size - distance) % c->size);
    return true;
}

/* Plans every block straight to its receiver; in round k to the member k + 1 ahead. */
static bool plan_flat(const struct uccs_coll *c, uint32_t round, struct uccs_round *to_do)
{
    const struct uccs_coll_shape *shape = &uccs_coll_shapes[c->kind];
    int k = (int)round + 1, to = (c->rank + k) % c->size, from = (c->rank + c->size - k) % c->size;
    if (k >= c->size)
        return false;
    if (uccs_coll_gives(c, c->rank, to)) {
        to_do->to = to;
        to_do->send = c->source + (shape->source_by_receiver ? (size_t)to * c->bytes : 0);
        to_do->send_bytes = c->bytes;
    }
    if (uccs_coll_gives(c, from, c->rank)) {
        to_do->from = from;
        to_do->receive = c->dest + (shape->dest_by_sender ? (size_t)from * c->bytes : 0);
        to_do->receive_bytes = c->bytes;
    }
    return true;
}

/* Plans a step down a binomial tree. In round k the members that have the data send it to the members 2^(last - k)
 * ahead. */
static void step_down(const struct uccs_coll *c, int level, int root, struct uccs_round *to_do)
{
    int size = c->size, rank = (c->rank - root + size) % size, mask = 1 << level;
    if (rank % (2 * mask) == mask) {
        to_do->from = (rank - mask + root) % size;
        to_do->receive = c->dest;
        to_do->receive_bytes = c->bytes;
    } else if (rank % (2 * mask) == 0 && rank + mask < size) {
        to_do->to = (rank + mask + root) % size;
        to_do->send = c->dest;
        to_do->send_bytes = c->bytes;
    }
}

/* Folds an allreduce's data up the tree to member 0, then sends it down, as a broadcast does from its root. */
static bool plan_tree(const struct uccs_coll *c, uint32_t round, struct uccs_round *to_do)
{
    const int down = rounds_of(c->size), up = c->kind == UCCS_COLL_ALLREDUCE ? down : 0;
    const int mask = (int)round < up ? 1 << round : 0;
    if ((int)round >= up + down)
        return false;
    if ((int)round >= up) {
        step_down(c, up + down - 1 - (int)round, c->root, to_do);
    } else if (c->rank % (2 * mask) == mask) {
        to_do->to = c->rank - mask;
        to_do->send = c->dest;
        to_do->send_bytes = c->bytes;
    } else if (c->rank % (2 * mask) == 0 && c->rank + mask < c->size) {
        to_do->from = c->rank + mask;
        to_do->receive = c->dest;
        to_do->receive_bytes = c->bytes;
        to_do->how = STEP_FOLDS_BEHIND;
    }
    return true;
}

/* Returns a member's block of an allgather, or its share of an allreduce. */
static char *share_of(const struct uccs_coll *c, int rank, size_t *bytes)
{
    const size_t n = c->fold ? c->n : (size_t)c->size, element = c->fold ? c->element : c->bytes,
                 size = (size_t)c->size;
    const size_t begin = n * (size_t)rank / size, end = n * ((size_t)rank + 1) / size;
    *bytes = (end - begin) * element;
    return c->dest + begin * element;
}

/* Passes blocks on round a ring, so that each crosses from node to node once. An allreduce first folds shares so. */
static bool plan_ring(const struct uccs_coll *c, uint32_t round, struct uccs_round *to_do)
{
    const int size = c->size, rank = c->rank, turns = c->fold ? 2 : 1;
    if ((int)round >= turns * (size - 1))
        return false;
    const int k = (int)round % (size - 1), second = (int)round >= size - 1;
    const int mine = (rank + second - k + size) % size, theirs = (mine + size - 1) % size;
    to_do->to = (rank + 1) % size;
    to_do->from = (rank + size - 1) % size;
    to_do->send = share_of(c, mine, &to_do->send_bytes);
    to_do->receive = share_of(c, theirs, &to_do->receive_bytes);
    to_do->how = c->fold && !second ? STEP_FOLDS_BEHIND : STEP_STORES;
    return true;
}

/* The root folds the vectors in the order of the ranks; round k brings member k's. */
static bool plan_reduce_flat(const struct uccs_coll *c, uint32_t round, struct uccs_round *to_do)
{
    const int k = (int)round;
    if (k >= c->size)
        return false;
    if (c->rank != c->root && k == c->rank) {
        to_do->to = c->root;
        to_do->send = c->source;
        to_do->send_bytes = c->bytes;
    }
    if (c->rank != c->root)
        return true;
    to_do->receive = c->dest;
    to_do->receive_bytes = c->bytes;
    if (k == c->rank) {
        to_do->own = c->source;
        to_do->own_folds = k > 0;
    } else {
        to_do->from = k;
        to_do->how = k > 0 ? STEP_FOLDS_BEHIND : STEP_STORES;
    }
    return true;
}

/* Returns the bytes of piece `piece` of the vector, 0 when there is no such piece. */
static size_t piece_of(const struct uccs_coll *c, int64_t piece)
{
    size_t at = (size_t)piece * COLL_PIECE;
    if (piece < 0 || at >= c->bytes)
        return 0;
    return c->bytes - at < COLL_PIECE ? c->bytes - at : COLL_PIECE;
}

static uint32_t chain_rounds(const struct uccs_coll *c)
{
    return (uint32_t)((c->bytes + COLL_PIECE - 1) / COLL_PIECE) + (uint32_t)c->size - 1;
}

/* Where a member folds a piece: in its dest, or in one of two rooms when the chain only passes through it. */
static char *chain_place(const struct uccs_coll *c, int64_t piece)
{
    return c->owned ? (char *)c->owned + piece % 2 * (int64_t)COLL_PIECE : c->dest + piece * (int64_t)COLL_PIECE;
}

/* Member r gets the fold of the members before it, folds its own data behind, and sends the result on: piece t - r in round t, and
 * the one before to the next member. */
static void step_chain(const struct uccs_coll *c, int64_t t, struct uccs_round *to_do)
{
    const int64_t piece = t - c->rank;
    if (c->rank > 0 && (to_do->receive_bytes = piece_of(c, piece))) {
        to_do->from = c->rank - 1;
        to_do->receive = chain_place(c, piece);
        to_do->how = STEP_FOLDS_BEFORE;
        if (c->source + piece * (int64_t)COLL_PIECE != to_do->receive)
            to_do->own = c->source + piece * (int64_t)COLL_PIECE;
    }
    if (c->rank + 1 < c->size && (to_do->send_bytes = piece_of(c, piece - 1))) {
        to_do->to = c->rank + 1;
        to_do->send = c->rank ? chain_place(c, piece - 1) : c->source + (piece - 1) * (int64_t)COLL_PIECE;
    }
}

static bool plan_scan(const struct uccs_coll *c, uint32_t round, struct uccs_round *to_do)
{
    if (round >= chain_rounds(c))
        return false;
    step_chain(c, round, to_do);
    return true;
}

/* Even rounds are plan_scan's; in odd ones the last member sends the pieces that it has folded to the root. */
static bool plan_reduce_chain(const struct uccs_coll *c, uint32_t round, struct uccs_round *to_do)
{
    const int64_t t = round / 2, last = c->size - 1, piece = t - last;
    if (round >= 2 * chain_rounds(c))
        return false;
    if (round % 2 == 0) {
        step_chain(c, t, to_do);
    } else if (c->rank == last && c->root != last) {
        if ((to_do->send_bytes = piece_of(c, piece))) {
            to_do->to = c->root;
            to_do->send = chain_place(c, piece);
        }
    } else if (c->rank == c->root && c->root != last) {
        if ((to_do->receive_bytes = piece_of(c, piece))) {
            to_do->from = (int)last;
            to_do->receive = c->dest + piece * (int64_t)COLL_PIECE;
        }
    }
    return true;
}

uccs_plan_function *uccs_coll_plan(enum uccs_coll_kind kind, enum uccs_plan plan)
{
    static uccs_plan_function *const plans[UCCS_COLLS][2] = {
        [UCCS_COLL_BARRIER] = {plan_barrier},
        [UCCS_COLL_BROADCAST] = {plan_tree},
        [UCCS_COLL_ALLGATHER] = {plan_ring},
        [UCCS_COLL_ALLTOALL... UCCS_COLL_ALLTOALLS] = {plan_flat},
        [UCCS_COLL_GATHER... UCCS_COLL_SCATTER] = {plan_flat},
        [UCCS_COLL_ALLREDUCE] = {plan_tree, plan_ring},
        [UCCS_COLL_REDUCE] = {plan_reduce_flat, plan_reduce_chain},
        [UCCS_COLL_SCAN] = {plan_scan},
    };
    return plans[kind][plan == UCCS_BY_STREAM];
}
