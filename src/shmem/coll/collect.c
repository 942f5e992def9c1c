/* Collect and fcollect: everybody gets everybody's block, in the order of the ranks.
 *
 * fcollect, post: each posts its block, piece by piece, and copies the others' out. One hop.
 * fcollect, pull: each copies the others' sources into its dest, beginning with its neighbour.
 * fcollect, push: each copies its source into the others' dests.
 *
 * collect does not know the others' sizes: each posts its size, together with a small block; a
 * middling block lies in the large place of the same exchange, a big one is pulled from the source, and then
 * (as all know from the sizes) all wait for all at the end. */
#include "shmem/coll/inner.h"
#include "shmem/coll/nodes.h"

static void fcollect_by_post(struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        uccs_slot_begin(group, piece);
        lat_coll_copy(uccs_slot_buffer(group, piece), source + at, piece);
        uccs_slot_publish(group, piece);
        lat_coll_copy(dest + (size_t)group->rank * bytes + at, source + at, piece);
        for (int i = 1; i < group->size; i++) {
            int rank = lat_coll_around(group, i);
            lat_coll_copy(dest + (size_t)rank * bytes + at, uccs_slot_await(group, rank, piece), piece);
        }
        lat_coll_settle(group);
    }
}

static void fcollect_by_pull(const char *call, struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    lat_coll_enter(group);
    memcpy(dest + (size_t)group->rank * bytes, source, bytes);
    for (int i = 1; i < group->size; i++) {
        int rank = lat_coll_around(group, i);
        lat_coll_await(group, rank);
        memcpy(dest + (size_t)rank * bytes, lat_coll_peer(call, "source", group, source, rank), bytes);
    }
    lat_coll_leave(group);
}

static void fcollect_by_push(const char *call, struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    char *place = dest + (size_t)group->rank * bytes;
    lat_coll_enter(group);
    memcpy(place, source, bytes);
    for (int i = 1; i < group->size; i++) {
        int rank = lat_coll_around(group, i);
        lat_coll_await(group, rank);
        memcpy(lat_coll_peer(call, "dest", group, place, rank), source, bytes);
    }
    lat_coll_leave(group);
}

void lat_group_fcollect(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes)
{
    if (bytes == 0)
        return;
    if (lat_unlikely(group->far)) {
        lat_nodes_fcollect(call, group, dest, source, bytes);
        return;
    }
    enum lat_algorithm how = lat_coll_choose(LAT_COLL_FCOLLECT, group, bytes);
    if (how == LAT_BY_POST && lat_coll_has_slots(group))
        fcollect_by_post(group, dest, source, bytes);
    else if (how == LAT_BY_PUSH)
        fcollect_by_push(call, group, dest, source, bytes);
    else
        fcollect_by_pull(call, group, dest, source, bytes);
}

/* The place of a block as segment and offset, which hold at every member. A member whose own block is empty may have no
 * address of the source. */
struct place {
    uint64_t segment; /* enum uccs_segment */
    uint64_t offset;
};

static struct place place_of(const char *call, const struct uccs_team *group, const void *source)
{
    size_t offset;
    struct place place = {.segment = uccs_memory_find(source, &offset)};
    if (place.segment == UCCS_NOWHERE)
        lat_coll_peer(call, "source", group, source, group->rank); /* names the mistake */
    place.offset = offset;
    return place;
}

static const void *at_place(const char *call, const struct uccs_team *group, const struct place *place, int rank)
{
    uintptr_t start = place->segment == UCCS_HEAP ? uccs_core.heap_start : uccs_core.image_start;
    return lat_coll_peer(call, "source", group, (const void *)(start + place->offset), rank);
}

/* What a collect posts: its size, and its data if that is small, or the place of the source if that is large. */
struct block {
    uint64_t bytes;
    union {
        char data[SLOT_SMALL - sizeof(uint64_t)];
        struct place place;
    };
};

static void post_block(const char *call, struct uccs_team *group, const void *source, size_t bytes, size_t limit)
{
    struct block *mine = uccs_slot_buffer(group, sizeof *mine);
    mine->bytes = bytes;
    if (bytes > limit)
        mine->place = place_of(call, group, source);
    else if (bytes > sizeof mine->data)
        memcpy(uccs_slot_buffer(group, SLOT_LARGE), source, bytes);
    else if (bytes)
        memcpy(mine->data, source, bytes);
    uccs_slot_publish(group, sizeof *mine);
}

/* Returns the block of `rank` and its size. */
static const void *find_block(const char *call, struct uccs_team *group, int rank, size_t limit, size_t *bytes)
{
    const struct block *theirs = uccs_slot_await(group, rank, sizeof *theirs);
    *bytes = theirs->bytes;
    if (*bytes > limit)
        return at_place(call, group, &theirs->place, rank);
    return *bytes <= sizeof theirs->data ? theirs->data : uccs_slot_data(group, rank, SLOT_LARGE);
}

/* `limit`: blocks up to it go through the posts. */
static void collect_by_post(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes,
                            size_t limit)
{
    bool pulled = false;
    uccs_slot_begin(group, SLOT_LARGE);
    post_block(call, group, source, bytes, limit);
    for (int rank = 0; rank < group->size; rank++) {
        size_t size;
        const void *from = find_block(call, group, rank, limit, &size);
        if (size == 0)
            continue;
        memcpy(dest, from, size);
        dest += size;
        pulled |= size > limit;
    }
    if (pulled)
        lat_coll_leave(group);
    else
        lat_coll_settle(group);
}

/* Without posts the sizes and places lie behind the flags, and those are at rest again on return. */
static void collect_by_flags(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes)
{
    enum { SIZE, SEGMENT, OFFSET, WORDS };
    long *mine = &group->flags[TEAM_ROUNDS];
    struct place place = bytes ? place_of(call, group, source) : (struct place){0};
    mine[SIZE] = (long)bytes;
    mine[SEGMENT] = (long)place.segment;
    mine[OFFSET] = (long)place.offset;
    lat_coll_enter(group);
    for (int rank = 0; rank < group->size; rank++) {
        const long *theirs = lat_coll_peer(call, "pSync", group, mine, rank);
        place = (struct place){(uint64_t)theirs[SEGMENT], (uint64_t)theirs[OFFSET]};
        if (theirs[SIZE] == 0)
            continue;
        memcpy(dest, at_place(call, group, &place, rank), (size_t)theirs[SIZE]);
        dest += theirs[SIZE];
    }
    lat_coll_leave(group);
    for (int word = 0; word < WORDS; word++)
        mine[word] = TEAM_FLAG_AT_REST;
}

void lat_group_collect(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes)
{
    if (group->size == 1 && bytes)
        memcpy(dest, source, bytes);
    else if (group->size == 1)
        return;
    else if (group->far)
        lat_nodes_collect(call, group, dest, source, bytes);
    else if (!lat_coll_has_slots(group))
        collect_by_flags(call, group, dest, source, bytes);
    else if (lat_coll_choose(LAT_COLL_COLLECT, group, 0) == LAT_BY_POST)
        collect_by_post(call, group, dest, source, bytes, SLOT_LARGE);
    else
        collect_by_post(call, group, dest, source, bytes, 0);
}
