/* Alltoall and alltoalls: block k of my source becomes block `me` of member k's dest.
 *
 * post: each posts its whole source, piece by piece, and copies its own blocks out of the others'
 * posts. One hop.
 * pull: each reads its blocks from the others' sources. push: each writes its blocks to the others'
 * dests. Both begin with the neighbour, so that members do not crowd at one source. */
#include "shmem/coll/inner.h"
#include "shmem/coll/nodes.h"

/* Bytes of each block that one exchange can carry. */
static size_t piece_of(const struct uccs_team *group, size_t bytes)
{
    size_t most = SLOT_LARGE / (size_t)group->size;
    return bytes < most ? bytes : most;
}

static void post_blocks(const struct uccs_team *group, const char *source, size_t bytes, size_t at, size_t piece)
{
    size_t total = piece * (size_t)group->size;
    char *room = uccs_slot_buffer(group, total);
    if (piece == bytes)
        memcpy(room, source, total);
    else
        for (int rank = 0; rank < group->size; rank++)
            memcpy(room + (size_t)rank * piece, source + (size_t)rank * bytes + at, piece);
    uccs_slot_publish(group, total);
}

static void by_post(struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    size_t me = (size_t)group->rank, most = piece_of(group, bytes);
    for (size_t at = 0; at < bytes; at += most) {
        size_t piece = bytes - at < most ? bytes - at : most;
        uccs_slot_begin(group, piece * (size_t)group->size);
        post_blocks(group, source, bytes, at, piece);
        lat_coll_copy(dest + me * bytes + at, source + me * bytes + at, piece);
        for (int i = 1; i < group->size; i++) {
            int rank = lat_coll_around(group, i);
            const char *theirs = uccs_slot_await(group, rank, piece * (size_t)group->size);
            lat_coll_copy(dest + (size_t)rank * bytes + at, theirs + me * piece, piece);
        }
        lat_coll_settle(group);
    }
}

static void by_pull(const char *call, struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    size_t me = (size_t)group->rank;
    lat_coll_enter(group);
    memcpy(dest + me * bytes, source + me * bytes, bytes);
    for (int i = 1; i < group->size; i++) {
        int rank = lat_coll_around(group, i);
        lat_coll_await(group, rank);
        const void *from = lat_coll_peer(call, "source", group, source + me * bytes, rank);
        memcpy(dest + (size_t)rank * bytes, from, bytes);
    }
    lat_coll_leave(group);
}

static void by_push(const char *call, struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    size_t me = (size_t)group->rank;
    lat_coll_enter(group);
    memcpy(dest + me * bytes, source + me * bytes, bytes);
    for (int i = 1; i < group->size; i++) {
        int rank = lat_coll_around(group, i);
        lat_coll_await(group, rank);
        memcpy(lat_coll_peer(call, "dest", group, dest + me * bytes, rank), source + (size_t)rank * bytes, bytes);
    }
    lat_coll_leave(group);
}

void lat_group_alltoall(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes)
{
    if (bytes == 0)
        return;
    if (lat_unlikely(group->far)) {
        lat_nodes_alltoall(call, group, dest, source, bytes);
        return;
    }
    enum lat_algorithm how = lat_coll_choose(LAT_COLL_ALLTOALL, group, bytes * (size_t)group->size);
    if (how == LAT_BY_POST && lat_coll_has_slots(group) && group->size <= SLOT_LARGE)
        by_post(group, dest, source, bytes);
    else if (how == LAT_BY_PUSH)
        by_push(call, group, dest, source, bytes);
    else
        by_pull(call, group, dest, source, bytes);
}

struct strided {
    ptrdiff_t dst, sst; /* bytes from element to element */
    size_t nelems, size;
};

static inline void copy_elements(char *to, const char *from, const struct strided *how, size_t size)
{
    for (size_t i = 0; i < how->nelems; i++, to += how->dst, from += how->sst)
        memcpy(to, from, size);
}

/* Constant sizes make each element one load and one store. */
static void copy_strided(char *to, const char *from, const struct strided *how)
{
    switch (how->size) {
    case 1: copy_elements(to, from, how, 1); break;
    case 2: copy_elements(to, from, how, 2); break;
    case 4: copy_elements(to, from, how, 4); break;
    case 8: copy_elements(to, from, how, 8); break;
    default: copy_elements(to, from, how, how->size);
    }
}

/* Block k begins after k * nelems elements at their stride. */
void lat_group_alltoalls(const char *call, struct uccs_team *group, void *dest, const void *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t nelems, size_t size)
{
    if (nelems == 0)
        return;
    const size_t bytes = lat_bytes(call, nelems, size);
    lat_require_span(call, dst, nelems, size);
    lat_require_span(call, sst, nelems, size);
    if (lat_unlikely(group->far)) {
        lat_nodes_alltoalls(call, group, dest, source, dst, sst, nelems, size);
        return;
    }
    const struct strided how = {dst * (ptrdiff_t)size, sst * (ptrdiff_t)size, nelems, size};
    bool push = lat_coll_choose(LAT_COLL_ALLTOALLS, group, bytes) == LAT_BY_PUSH;
    char *to = dest;
    const char *from = source;
    const ptrdiff_t tblock = how.dst * (ptrdiff_t)nelems, fblock = how.sst * (ptrdiff_t)nelems;
    lat_coll_enter(group);
    for (int i = 0; i < group->size; i++) {
        int rank = lat_coll_around(group, i);
        lat_coll_await(group, rank);
        if (push)
            copy_strided(lat_coll_peer(call, "dest", group, to + group->rank * tblock, rank), from + rank * fblock,
                         &how);
        else
            copy_strided(to + rank * tblock, lat_coll_peer(call, "source", group, from + group->rank * fblock, rank),
                         &how);
    }
    lat_coll_leave(group);
}
