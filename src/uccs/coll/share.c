/* A member's share in a collective by memory: which bytes it copies and folds, from and to whose memory; see inner.h. Blocks
 * are copied by their receiver. */
#include "uccs/coll/inner.h"

#include "base/copy.h"

#include <stdlib.h>

#define FOLD_BYTES 8192       /* of a share that stay in the nearest cache while they are folded */
#define ROOM_BYTES (4u << 20) /* of the others' vectors that are here at once */

static const char *source_of(const struct uccs_coll *c, int rank)
{
    return uccs_coll_peer(c->call, "source", c->memory.team, c->source, rank);
}

static char *dest_of(const struct uccs_coll *c, int rank)
{
    return rank == c->rank ? c->dest : uccs_coll_peer(c->call, "dest", c->memory.team, c->dest, rank);
}

/* --- Moving blocks */

void uccs_coll_copy_blocks(char *to, const char *from, const struct proto_blocks *blocks)
{
    if (to != from)
        copy_blocks(to, blocks->here, from, blocks->there, blocks->block, blocks->count);
}

/* Starts a get of blocks of a far member. It is complete once `under_way` is done. */
static void get_far(struct uccs_coll *c, char *to, const char *from, int pe, const struct proto_blocks *blocks)
{
    const bool plain = blocks->count == 1;
    uccs_request_handle handle = &c->memory.under_way;
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_GET,
                                              .nonblocking = true,
                                              .pe = pe,
                                              .at = uccs_coll_place(c->call, "source", from, pe),
                                              .dest = to,
                                              .bytes = plain ? blocks->block : 0,
                                              .blocks = plain ? 0 : blocks,
                                              .request = &handle});
}

/* Takes blocks of member `rank`, which lie at my own address `from`. */
static void take_blocks(struct uccs_coll *c, char *to, const char *from, int rank, const struct proto_blocks *blocks)
{
    const int pe = uccs_team_pe(c->memory.team, rank);
    if (uccs_far_pe(pe))
        get_far(c, to, from, pe, blocks);
    else
        uccs_coll_copy_blocks(to, uccs_coll_peer(c->call, "source", c->memory.team, from, rank), blocks);
}

void uccs_coll_take(struct uccs_coll *c, void *to, const void *from, int rank, size_t bytes)
{
    take_blocks(c, to, from, rank, &(struct proto_blocks){.block = bytes, .count = 1});
}

static void await_member(const struct uccs_coll *c, int rank)
{
    if (!c->memory.later)
        uccs_coll_await(c->memory.team, rank);
}

/* Member `rank` reads the others' blocks for it. */
static void pull_blocks(struct uccs_coll *c, int rank)
{
    const struct uccs_by_memory *m = &c->memory;
    const bool own = c->kind != UCCS_COLL_BROADCAST || m->at_root;
    char *dest = dest_of(c, rank);
    for (int i = 0; i < c->size; i++) {
        int other = uccs_coll_shapes[c->kind].from_root ? c->root : uccs_coll_around(m->team, rank, i);
        if (other != rank || own) {
            await_member(c, other);
            take_blocks(c, dest + other * m->dest_step, c->source + rank * m->source_step, other, &m->blocks);
        }
        if (uccs_coll_shapes[c->kind].from_root)
            break;
    }
}

/* --- Folding on a node: nobody else reads or writes a share's elements, at any member, so in place is no special case */

/* The share of member `rank`, in whole cache lines but for the last. */
static void share_of(const struct uccs_coll *c, int member, size_t *from, size_t *to)
{
    size_t lines = (c->bytes + CACHE_LINE - 1) / CACHE_LINE, size = (size_t)c->size, rank = (size_t)member;
    size_t each = lines / size, more = lines % size;
    size_t first = rank * each + (rank < more ? rank : more);
    *from = first * CACHE_LINE;
    *to = (first + each + (rank < more)) * CACHE_LINE;
    *to = *to < c->bytes ? *to : c->bytes;
    *from = *from < c->bytes ? *from : c->bytes;
}

/* Folds bytes at `at` of all sources and writes them to all dests. They are folded in the dest of `rank` unless that would
 * overwrite its source before its turn. */
static void reduce_piece(const struct uccs_coll *c, int rank, size_t at, size_t bytes)
{
    cache_aligned char room[FOLD_BYTES];
    bool direct = c->dest != c->source || c->size == 2;
    char *result = direct ? dest_of(c, rank) + at : room;
    if (c->size == 1) {
        memmove(c->dest + at, c->source + at, bytes);
        return;
    }
    c->fold(result, source_of(c, 0) + at, source_of(c, 1) + at, bytes / c->element);
    for (int other = 2; other < c->size; other++)
        c->fold(result, result, source_of(c, other) + at, bytes / c->element);
    for (int i = direct; i < c->size; i++)
        memcpy(dest_of(c, uccs_coll_around(c->memory.team, rank, i)) + at, result, bytes);
}

/* The bytes at `at` through all members: `sums` is the fold of the sources before. A dest is written after the sources of its
 * member and of those before. */
static void scan_piece(const struct uccs_coll *c, size_t at, size_t bytes)
{
    cache_aligned char sums[2][FOLD_BYTES];
    int now = 0;
    memset(sums[now], 0, bytes);
    for (int rank = 0; rank < c->size; rank++) {
        const char *theirs = source_of(c, rank) + at;
        if (rank == 0)
            memcpy(sums[!now], theirs, bytes); /* 0 + -0.0 would lose the sign */
        else
            c->fold(sums[!now], sums[now], theirs, bytes / c->element);
        memcpy(dest_of(c, rank) + at, sums[c->memory.inclusive ? !now : now], bytes);
        now = !now;
    }
}

static void fold_share(struct uccs_coll *c, int rank)
{
    size_t at, end;
    share_of(c, rank, &at, &end);
    for (int i = 1; i < c->size; i++)
        await_member(c, uccs_coll_around(c->memory.team, rank, i));
    for (size_t bytes; at < end; at += bytes) {
        bytes = end - at < FOLD_BYTES ? end - at : FOLD_BYTES;
        if (c->kind == UCCS_COLL_SCAN)
            scan_piece(c, at, bytes);
        else
            reduce_piece(c, rank, at, bytes);
    }
}

/* --- Folding over nodes: the others' parts come into a room, piece by piece */

/* Each member folds all elements of members up to uccs_coll_last, and stores the sums when all have left. */
bool uccs_share_fold_far(struct uccs_coll *c)
{
    const size_t size = (size_t)c->size, most = ROOM_BYTES / (size * c->element) + 1, piece = c->n < most ? c->n : most;
    char *room = uccs_coll_room(c->call, piece * c->element * size),
         *sums = c->owned = uccs_coll_room(c->call, c->bytes);
    const int last = c->kind == UCCS_COLL_SCAN ? c->rank - !c->memory.inclusive : c->size - 1; /* -1: none */
    memset(sums, 0, c->bytes);
    for (size_t at = 0, n; at < c->n && last >= 0; at += n) {
        n = c->n - at < piece ? c->n - at : piece;
        const size_t bytes = n * c->element;
        for (int rank = 0; rank <= last; rank++)
            uccs_coll_take(c, room + (size_t)rank * bytes, c->source + at * c->element, rank, bytes);
        uccs_coll_settle(c);
        for (int rank = 1; rank <= last; rank++)
            c->fold(room, room, room + (size_t)rank * bytes, n);
        memcpy(sums + at * c->element, room, bytes);
    }
    free(room);
    uccs_team_sync(c->memory.team);
    memcpy(c->dest, sums, c->bytes);
    return true;
}

/* --- Shares */

void uccs_share_do(struct uccs_coll *c, int rank)
{
    if (c->fold)
        fold_share(c, rank);
    else
        pull_blocks(c, rank);
}
