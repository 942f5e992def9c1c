/* Collectives over several nodes: which way each goes (nodes.h), and the way for small data, by mail.
 *
 * Data flow: the members of a node put their data into their lead's box. The leads gather boxes (uccs/team/team.h); then
 * every member reads the boxes of all nodes, and folds by itself in reductions. A gather is one message per node and
 * round, whatever the operation. */
#include "shmem/coll/nodes.h"

#include "shmem/state.h"
#include "uccs/team/team.h"

#include <stdlib.h>

struct fold {
    fold_kernel *combine;
    size_t size; /* of an element */
};

static void broadcast(struct uccs_team *group, char *dest, const char *source, size_t bytes, int root)
{
    for (size_t at = 0; at < bytes; at += NODES_RING_BYTES) {
        size_t piece = bytes - at < NODES_RING_BYTES ? bytes - at : NODES_RING_BYTES;
        uccs_node_bcast(group, dest + at, source + at, piece, root);
    }
}

void lat_nodes_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes,
                         int root, bool at_root)
{
    switch (lat_coll_choose_far(LAT_COLL_BROADCAST, group, bytes)) {
    case LAT_BY_PULL: lat_pull_broadcast(call, group, dest, source, bytes, root, at_root); return;
    case LAT_BY_RAIL: lat_rail_broadcast(call, group, dest, source, bytes, root, at_root); return;
    default: broadcast(group, dest, source, bytes, root);
    }
    if (group->rank == root && at_root && dest != source)
        memcpy(dest, source, bytes);
}

void lat_nodes_fcollect(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes)
{
    switch (lat_coll_choose_far(LAT_COLL_FCOLLECT, group, bytes)) {
    case LAT_BY_PULL: lat_pull_fcollect(call, group, dest, source, bytes); return;
    case LAT_BY_RAIL: lat_rail_fcollect(call, group, dest, source, bytes); return;
    default: uccs_nodes_allgather(group, dest, source, bytes);
    }
}

/* What each member sends in a collect: the size of its block, and the block itself when it is small. */
struct record {
    uint64_t bytes;
    char data[CACHE_LINE - sizeof(uint64_t)];
};

static size_t *places_of(const char *call, const struct record *records, int size, size_t *longest)
{
    size_t *at = malloc(((size_t)size + 1) * sizeof *at);
    if (!at)
        lat_fail(call, "no memory for the sizes of %d blocks", size);
    at[0] = *longest = 0;
    for (int rank = 0; rank < size; rank++) {
        at[rank + 1] = at[rank] + records[rank].bytes;
        *longest = records[rank].bytes > *longest ? records[rank].bytes : *longest;
    }
    return at;
}

void lat_nodes_collect(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes)
{
    if (lat_coll_choose_far(LAT_COLL_COLLECT, group, 0) == LAT_BY_PULL) {
        lat_pull_collect(call, group, dest, source, bytes);
        return;
    }
    struct record mine = {.bytes = bytes}, *records = malloc((size_t)group->size * sizeof *records);
    if (!records)
        lat_fail(call, "no memory for the sizes of %d blocks", group->size);
    if (bytes && bytes <= sizeof mine.data)
        memcpy(mine.data, source, bytes);
    uccs_nodes_allgather(group, records, &mine, sizeof mine);
    size_t longest, *at = places_of(call, records, group->size, &longest);
    if (longest > sizeof mine.data)
        lat_rail_spread(call, group, dest, source, at);
    for (int rank = 0; longest <= sizeof mine.data && rank < group->size; rank++)
        if (records[rank].bytes) /* where all are empty, dest may be null */
            memcpy(dest + at[rank], records[rank].data, records[rank].bytes);
    free(at);
    free(records);
}

/* Returns what a member has put into its node's box, in a gather that is over; each has put `bytes`. */
static const char *box_of(const struct uccs_node_allgather *gather, int rank, size_t bytes)
{
    const struct uccs_nodes *nodes = gather->team->nodes;
    int node = uccs_nodes_of(nodes, rank), index = uccs_nodes_place(nodes, rank) - nodes->leads[node].place;
    return uccs_node_allgather_block(gather, node) + (size_t)index * bytes;
}

/* Each gives its whole source, and takes its own blocks out of the others'. */
static void alltoall(struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    const struct uccs_nodes *nodes = group->nodes;
    size_t size = (size_t)group->size,
           most = NODES_GATHER_BYTES / ((size_t)nodes->count * (size_t)nodes->widest * size);
    for (size_t at = 0, piece; at < bytes; at += piece) {
        struct uccs_node_allgather gather;
        piece = bytes - at < most ? bytes - at : most;
        uccs_node_allgather_begin(&gather, group, (size_t)nodes->widest * size * piece);
        char *mine = uccs_node_allgather_buffer(&gather, 0) + (size_t)nodes->near.rank * size * piece;
        for (size_t rank = 0; rank < size; rank++)
            memcpy(mine + rank * piece, source + rank * bytes + at, piece);
        uccs_node_allgather_run(&gather);
        for (size_t rank = 0; rank < size; rank++)
            memcpy(dest + rank * bytes + at, box_of(&gather, (int)rank, size * piece) + (size_t)group->rank * piece,
                   piece);
    }
}

static void copy_elements(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++, to += to_step, from += from_step)
        memcpy(to, from, size);
}

/* The same for elements that lie `dst` and `sst` of them apart; the boxes hold them side by side. */
static void alltoalls(struct uccs_team *group, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst,
                      size_t nelems, size_t elem)
{
    const struct uccs_nodes *nodes = group->nodes;
    const ptrdiff_t step = (ptrdiff_t)elem, to = dst * step, from = sst * step, count = (ptrdiff_t)nelems;
    size_t size = (size_t)group->size,
           most = NODES_GATHER_BYTES / ((size_t)nodes->count * (size_t)nodes->widest * size * elem);
    for (size_t at = 0, n; at < nelems; at += n) {
        struct uccs_node_allgather gather;
        n = nelems - at < most ? nelems - at : most;
        uccs_node_allgather_begin(&gather, group, (size_t)nodes->widest * size * n * elem);
        char *mine = uccs_node_allgather_buffer(&gather, 0) + (size_t)nodes->near.rank * size * n * elem;
        for (ptrdiff_t rank = 0; rank < group->size; rank++)
            copy_elements(mine + rank * (ptrdiff_t)n * step, step, source + (rank * count + (ptrdiff_t)at) * from, from,
                          n, elem);
        uccs_node_allgather_run(&gather);
        for (ptrdiff_t rank = 0; rank < group->size; rank++)
            copy_elements(dest + (rank * count + (ptrdiff_t)at) * to, to,
                          box_of(&gather, (int)rank, size * n * elem) + (size_t)group->rank * n * elem, step, n, elem);
    }
}

void lat_nodes_alltoall(const char *call, struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    switch (lat_coll_choose_far(LAT_COLL_ALLTOALL, group, bytes)) {
    case LAT_BY_PULL: lat_pull_alltoall(call, group, dest, source, bytes); return;
    case LAT_BY_RAIL: lat_rail_alltoall(call, group, dest, source, bytes); return;
    default: alltoall(group, dest, source, bytes);
    }
}

void lat_nodes_alltoalls(const char *call, struct uccs_team *group, char *dest, const char *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t nelems, size_t size)
{
    switch (lat_coll_choose_far(LAT_COLL_ALLTOALLS, group, nelems * size)) {
    case LAT_BY_PULL: lat_pull_alltoalls(call, group, dest, source, dst, sst, nelems, size); return;
    case LAT_BY_RAIL: lat_rail_alltoalls(call, group, dest, source, dst, sst, nelems, size); return;
    default: alltoalls(group, dest, source, dst, sst, nelems, size);
    }
}

/* dest = fold of the pieces of members 0 .. last. */
static void fold_first(const struct uccs_node_allgather *gather, const struct fold *fold, char *dest, size_t piece,
                       int last)
{
    if (last < 0)
        memset(dest, 0, piece);
    else
        memcpy(dest, box_of(gather, 0, piece), piece);
    for (int rank = 1; rank <= last; rank++)
        fold->combine(dest, dest, box_of(gather, rank, piece), piece / fold->size);
}

/* Bytes that fit at once; 0: there are too many PEs. */
static size_t most_of(const struct uccs_nodes *nodes, size_t size)
{
    return NODES_GATHER_BYTES / ((size_t)nodes->count * (size_t)nodes->widest) / size * size;
}

static void fold_all(struct uccs_team *group, const struct fold *fold, char *dest, const char *source, size_t bytes,
                     int last)
{
    const struct uccs_nodes *nodes = group->nodes;
    size_t most = most_of(nodes, fold->size);
    for (size_t at = 0, piece; at < bytes; at += piece) {
        struct uccs_node_allgather gather;
        piece = bytes - at < most ? bytes - at : most;
        uccs_node_allgather_begin(&gather, group, (size_t)nodes->widest * piece);
        memcpy(uccs_node_allgather_buffer(&gather, 0) + (size_t)nodes->near.rank * piece, source + at, piece);
        uccs_node_allgather_run(&gather);
        fold_first(&gather, fold, dest + at, piece, last);
    }
}

void lat_nodes_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,
                      enum kind kind, enum fold_op op)
{
    const struct fold fold = {fold_kernel_of(kind, op), kind_size(kind)};
    enum lat_algorithm way = lat_coll_choose_far(LAT_COLL_REDUCE, group, n * fold.size);
    if (way == LAT_BY_MAIL && most_of(group->nodes, fold.size) == 0)
        way = LAT_BY_RAIL;
    if (way == LAT_BY_RAIL && group->nodes->order && kind > KIND_U64)
        way = LAT_BY_PULL; /* the chain of nodes would fold members in the order of their places */
    if (way == LAT_BY_PULL)
        lat_pull_reduce(call, group, dest, source, n, kind, op);
    else if (way == LAT_BY_RAIL)
        lat_rail_reduce(call, group, dest, source, n, kind, op);
    else
        fold_all(group, &fold, dest, source, n * fold.size, group->size - 1);
}

void lat_nodes_scan(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n, enum kind kind,
                    bool inclusive)
{
    const struct fold fold = {fold_kernel_of(kind, FOLD_SUM), kind_size(kind)};
    enum lat_algorithm way = lat_coll_choose_far(LAT_COLL_SCAN, group, n * fold.size);
    if (way == LAT_BY_PULL || most_of(group->nodes, fold.size) == 0)
        lat_pull_scan(call, group, dest, source, n, kind, inclusive);
    else
        fold_all(group, &fold, dest, source, n * fold.size, group->rank - !inclusive);
}
