/* Reductions and scans: left folds in the order of the ranks, whatever the algorithm, so that all
 * PEs get the same bits in every run.
 *
 * post: each posts its vector, piece by piece, and folds all posts itself. One hop.
 * leader: member 0 alone folds, and posts the result. Two hops, but 2 * size lines moved in place of
 * size^2.
 * share: the elements are divided among the members; each folds its share from all sources, block by
 * block, and writes it to all dests. Each element is read once and written once per dest.
 *
 * In place: posts hold copies, so dest may be overwritten at once. In `share` only its owner touches
 * a share, and reads a block of every source before it writes that block of any dest (a scan: of any
 * dest but those of earlier ranks, whose sources it has used). */
#include "shmem/coll/inner.h"
#include "shmem/coll/nodes.h"
#include "base/fold.h"

/* Bytes of a share that stay in the nearest cache while they are folded. */
#define BLOCK 8192

struct fold {
    fold_kernel *combine;
    size_t size; /* of an element */
};

static void copy_unless_same(void *dest, const void *source, size_t bytes)
{
    if (dest != source)
        memcpy(dest, source, bytes);
}

static void post_piece(struct uccs_team *group, const void *source, size_t bytes)
{
    uccs_slot_begin(group, bytes);
    lat_coll_copy(uccs_slot_buffer(group, bytes), source, bytes);
    uccs_slot_publish(group, bytes);
}

/* Returns what `rank` gave to this exchange. My own comes from my source, which no other PE reads, unless dest has
 * overwritten it by then. */
static const void *given(struct uccs_team *group, int rank, const void *dest, const void *source, size_t bytes)
{
    if (rank == group->rank && (dest != source || rank < 2))
        return source;
    return uccs_slot_await(group, rank, bytes);
}

/* dest = fold of the posts of all members; at least two. */
static void fold_posts(struct uccs_team *group, const struct fold *fold, void *dest, const void *source, size_t bytes)
{
    const void *first = given(group, 0, dest, source, bytes);
    fold->combine(dest, first, given(group, 1, dest, source, bytes), bytes / fold->size);
    for (int rank = 2; rank < group->size; rank++)
        fold->combine(dest, dest, given(group, rank, dest, source, bytes), bytes / fold->size);
}

static void reduce_by_post(struct uccs_team *group, const struct fold *fold, char *dest, const char *source,
                           size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        post_piece(group, source + at, piece);
        fold_posts(group, fold, dest + at, source + at, piece);
        lat_coll_settle(group);
    }
}

/* A member that has the leader's post knows that all members posted theirs before. */
static void reduce_by_leader(struct uccs_team *group, const struct fold *fold, char *dest, const char *source,
                             size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        post_piece(group, source + at, piece);
        uint64_t settled = group->exchange - 1;
        if (group->rank == 0) {
            fold_posts(group, fold, dest + at, source + at, piece);
            post_piece(group, dest + at, piece);
        } else {
            uccs_slot_begin(group, piece);
            lat_coll_copy(dest + at, uccs_slot_await(group, 0, piece), piece);
        }
        group->settled = settled;
    }
}

/* My share of `bytes`, in whole cache lines but for the last. */
static void share_of(const struct uccs_team *group, size_t bytes, size_t *from, size_t *to)
{
    size_t lines = (bytes + CACHE_LINE - 1) / CACHE_LINE, size = (size_t)group->size, rank = (size_t)group->rank;
    size_t each = lines / size, more = lines % size;
    size_t first = rank * each + (rank < more ? rank : more);
    *from = first * CACHE_LINE;
    *to = (first + each + (rank < more)) * CACHE_LINE;
    *to = *to < bytes ? *to : bytes;
    *from = *from < bytes ? *from : bytes;
}

static void enter_all(struct uccs_team *group)
{
    lat_coll_enter(group);
    for (int i = 1; i < group->size; i++)
        lat_coll_await(group, lat_coll_around(group, i));
}

/* Folds a block of all sources and writes it to all dests. It is folded in my dest unless that would
 * overwrite my source before its turn. */
static void reduce_block(const char *call, struct uccs_team *group, const struct fold *fold, char *dest,
                         const char *source, size_t bytes)
{
    cache_aligned char room[BLOCK];
    bool direct = dest != source || group->size == 2;
    char *result = direct ? dest : room;
    const void *first = lat_coll_peer(call, "source", group, source, 0);
    fold->combine(result, first, lat_coll_peer(call, "source", group, source, 1), bytes / fold->size);
    for (int rank = 2; rank < group->size; rank++)
        fold->combine(result, result, lat_coll_peer(call, "source", group, source, rank), bytes / fold->size);
    for (int i = direct; i < group->size; i++)
        memcpy(lat_coll_peer(call, "dest", group, dest, lat_coll_around(group, i)), result, bytes);
}

static void reduce_by_share(const char *call, struct uccs_team *group, const struct fold *fold, char *dest,
                            const char *source, size_t bytes)
{
    size_t at, end;
    share_of(group, bytes, &at, &end);
    enter_all(group);
    for (; at < end; at += BLOCK)
        reduce_block(call, group, fold, dest + at, source + at, end - at < BLOCK ? end - at : BLOCK);
    lat_coll_leave(group);
}

void lat_group_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,
                      enum kind kind, enum fold_op op)
{
    const struct fold fold = {fold_kernel_of(kind, op), kind_size(kind)};
    size_t bytes = lat_bytes(call, n, fold.size);
    if (n == 0)
        return;
    if (lat_unlikely(group->far)) {
        lat_nodes_reduce(call, group, dest, source, n, kind, op);
        return;
    }
    if (group->size == 1) {
        copy_unless_same(dest, source, bytes);
        return;
    }
    enum lat_algorithm how = lat_coll_choose(LAT_COLL_REDUCE, group, bytes);
    if (how == LAT_BY_SHARE || !lat_coll_has_slots(group))
        reduce_by_share(call, group, &fold, dest, source, bytes);
    else if (how == LAT_BY_LEADER)
        reduce_by_leader(group, &fold, dest, source, bytes);
    else
        reduce_by_post(group, &fold, dest, source, bytes);
}

/* dest = fold of the posts of members 0 .. last. */
static void fold_first_posts(struct uccs_team *group, const struct fold *fold, void *dest, size_t bytes, int last)
{
    if (last < 0)
        memset(dest, 0, bytes);
    else
        memcpy(dest, uccs_slot_await(group, 0, bytes), bytes);
    for (int rank = 1; rank <= last; rank++)
        fold->combine(dest, dest, uccs_slot_await(group, rank, bytes), bytes / fold->size);
}

static void scan_by_post(struct uccs_team *group, const struct fold *fold, char *dest, const char *source, size_t bytes,
                         bool inclusive)
{
    int last = group->rank - !inclusive;
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        post_piece(group, source + at, piece);
        fold_first_posts(group, fold, dest + at, piece, last);
        for (int rank = last + 1; rank < group->size; rank++)
            uccs_slot_await(group, rank, piece);
        lat_coll_settle(group);
    }
}

/* One block through all members: `sum` is the fold of the sources before. */
static void scan_block(const char *call, struct uccs_team *group, const struct fold *fold, char *dest,
                       const char *source, size_t piece, bool inclusive)
{
    cache_aligned char sums[2][BLOCK];
    size_t n = piece / fold->size;
    int now = 0;
    memset(sums[now], 0, piece);
    for (int rank = 0; rank < group->size; rank++) {
        const void *theirs = lat_coll_peer(call, "source", group, source, rank);
        if (rank == 0)
            memcpy(sums[!now], theirs, piece); /* 0 + -0.0 would lose the sign */
        else
            fold->combine(sums[!now], sums[now], theirs, n);
        memcpy(lat_coll_peer(call, "dest", group, dest, rank), sums[inclusive ? !now : now], piece);
        now = !now;
    }
}

static void scan_by_share(const char *call, struct uccs_team *group, const struct fold *fold, char *dest,
                          const char *source, size_t bytes, bool inclusive)
{
    size_t at, end;
    share_of(group, bytes, &at, &end);
    enter_all(group);
    for (; at < end; at += BLOCK) {
        size_t piece = end - at < BLOCK ? end - at : BLOCK;
        scan_block(call, group, fold, dest + at, source + at, piece, inclusive);
    }
    lat_coll_leave(group);
}

void lat_group_scan(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n, enum kind kind,
                    bool inclusive)
{
    const struct fold fold = {fold_kernel_of(kind, FOLD_SUM), kind_size(kind)};
    size_t bytes = lat_bytes(call, n, fold.size);
    if (n == 0)
        return;
    if (lat_unlikely(group->far)) {
        lat_nodes_scan(call, group, dest, source, n, kind, inclusive);
        return;
    }
    if (group->size > 1 && (!lat_coll_has_slots(group) || lat_coll_choose(LAT_COLL_SCAN, group, bytes) == LAT_BY_SHARE))
        scan_by_share(call, group, &fold, dest, source, bytes, inclusive);
    else if (group->size > 1)
        scan_by_post(group, &fold, dest, source, bytes, inclusive);
    else if (inclusive)
        copy_unless_same(dest, source, bytes);
    else
        memset(dest, 0, bytes);
}
