/* Collects: blocks of any size, one behind the other. Nobody knows the others' sizes, so each tells its own first.
 *
 * slots   the size comes together with a small block; a middling one lies in the large slot of the same exchange, a big one is
 *         copied from the source, and then (as all know from the sizes) all wait for all at the end
 * gather  over nodes: sizes and small blocks; where one is longer, the blocks go straight to members (rail.c)
 * pull    sizes and places; every member copies or gets the blocks. Also for teams without an area, whose members tell
 *         them in the program's array behind the flags, where they are at rest again on return */
#include "uccs/coll/inner.h"

#include <stdlib.h>
#include <string.h>

/* The size of a block, and the place of its source as segment and offset, which hold at every member. A member whose own block
 * is empty may have no address of the source. */
struct place {
    uint64_t bytes;
    uint64_t segment; /* enum uccs_segment */
    uint64_t offset;
};

static struct place place_of(const struct uccs_coll *c)
{
    size_t offset = 0;
    struct place place = {.bytes = c->bytes};
    if (c->bytes == 0)
        return place;
    place.segment = uccs_memory_find(c->source, &offset);
    if (place.segment == UCCS_NOWHERE)
        uccs_coll_peer(c->call, "source", c->memory.team, c->source, c->rank); /* names the mistake */
    place.offset = offset;
    return place;
}

/* Returns my own address of a member's source. */
static const void *address_of(const struct place *place)
{
    uintptr_t start = place->segment == UCCS_HEAP ? uccs_core.heap_start : uccs_core.image_start;
    return (const void *)(start + place->offset);
}

/* What a member publishes: its size, and its data if that is small, or the place of the source if that is large. */
struct block {
    uint64_t bytes;
    union {
        char data[SLOT_SMALL - sizeof(uint64_t)];
        struct place place;
    };
};

static void publish_block(const struct uccs_coll *c, size_t limit)
{
    struct uccs_team *team = c->memory.team;
    struct block *mine = uccs_slot_buffer(team, sizeof *mine);
    mine->bytes = c->bytes;
    if (c->bytes > limit)
        mine->place = place_of(c);
    else if (c->bytes > sizeof mine->data)
        memcpy(uccs_slot_buffer(team, SLOT_LARGE), c->source, c->bytes);
    else if (c->bytes)
        memcpy(mine->data, c->source, c->bytes);
    uccs_slot_publish(team, sizeof *mine);
}

/* Returns the block of `rank` and its size. */
static const void *find_block(const struct uccs_coll *c, int rank, size_t limit, size_t *bytes)
{
    struct uccs_team *team = c->memory.team;
    const struct block *theirs = uccs_slot_await(team, rank, sizeof *theirs);
    *bytes = theirs->bytes;
    if (*bytes > limit)
        return uccs_coll_peer(c->call, "source", team, address_of(&theirs->place), rank);
    return *bytes <= sizeof theirs->data ? theirs->data : uccs_slot_data(team, rank, SLOT_LARGE);
}

/* `limit`: blocks up to it go through the slots. */
static void collect_by_slots(const struct uccs_coll *c, size_t limit)
{
    struct uccs_team *team = c->memory.team;
    char *dest = c->dest;
    bool pulled = false;
    uccs_slot_begin(team, SLOT_LARGE);
    publish_block(c, limit);
    for (int rank = 0; rank < team->size; rank++) {
        size_t size;
        const void *from = find_block(c, rank, limit, &size);
        if (size == 0)
            continue;
        memcpy(dest, from, size);
        dest += size;
        pulled |= size > limit;
    }
    if (pulled)
        uccs_team_sync(team);
    else
        team->settled = team->exchange - 1; /* once all come here, all have read the exchange before */
}

/* --- Pull */

/* Gives each member the places of all blocks. Those without an area read them in the others' arrays. */
static void exchange_places(struct uccs_coll *c, struct place *places)
{
    struct uccs_team *team = c->memory.team;
    const struct place mine = place_of(c);
    if (team->area >= 0) {
        uccs_nodes_allgather(team, places, &mine, sizeof mine);
        return;
    }
    memcpy(&team->flags[TEAM_ROUNDS], &mine, sizeof mine);
    uccs_team_sync(team);
    for (int rank = 0; rank < c->size; rank++)
        uccs_coll_take(c, &places[rank], &team->flags[TEAM_ROUNDS], rank, sizeof *places);
    uccs_coll_settle(c);
}

static bool collect_by_pull(struct uccs_coll *c)
{
    const struct uccs_team *team = c->memory.team;
    struct place *places = c->owned = uccs_coll_room(c->call, (size_t)c->size * sizeof *places);
    exchange_places(c, places);
    char *dest = c->dest;
    for (int rank = 0; rank < c->size; dest += places[rank++].bytes)
        if (places[rank].bytes)
            uccs_coll_take(c, dest, address_of(&places[rank]), rank, places[rank].bytes);
    uccs_coll_settle(c);
    uccs_team_sync(c->memory.team);
    for (size_t word = 0; team->area < 0 && word < sizeof(struct place) / sizeof(long); word++)
        team->flags[TEAM_ROUNDS + word] = TEAM_FLAG_AT_REST;
    return true;
}

static uccs_coll_step *const pull_steps[] = {collect_by_pull, 0};

/* --- Gather */

/* What each member gives over nodes: the size of its block, and the block itself when it is small. */
struct record {
    uint64_t bytes;
    char data[CACHE_LINE - sizeof(uint64_t)];
};

/* Fills in where each block begins. Returns the bytes of the longest. */
static size_t place_blocks(const struct record *records, int size, size_t *at)
{
    size_t longest = at[0] = 0;
    for (int rank = 0; rank < size; rank++) {
        at[rank + 1] = at[rank] + records[rank].bytes;
        longest = records[rank].bytes > longest ? records[rank].bytes : longest;
    }
    return longest;
}

/* Goes on by rails when a block is too long for the records. */
static bool exchange_records(struct uccs_coll *c)
{
    struct record mine = {.bytes = c->bytes};
    struct record *records = uccs_coll_room(c->call, (size_t)c->size * sizeof *records);
    size_t *at = c->owned = uccs_coll_room(c->call, ((size_t)c->size + 1) * sizeof *at);
    if (c->bytes && c->bytes <= sizeof mine.data)
        memcpy(mine.data, c->source, c->bytes);
    uccs_nodes_allgather(c->memory.team, records, &mine, sizeof mine);
    c->memory.starts = at;
    if (place_blocks(records, c->size, at) > sizeof mine.data)
        c->step = uccs_rail_allgather;
    else
        for (int rank = 0; rank < c->size; rank++)
            if (records[rank].bytes) /* where all are empty, dest may be null */
                memcpy(c->dest + at[rank], records[rank].data, records[rank].bytes);
    free(records);
    return true;
}

static uccs_coll_step *const gather_steps[] = {exchange_records, 0};

void uccs_team_collect(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes)
{
    struct uccs_coll c = {.family = &uccs_coll_by_memory,
                          .kind = UCCS_COLL_COLLECT,
                          .call = call,
                          .rank = team->rank,
                          .size = team->size,
                          .dest = dest,
                          .source = source,
                          .bytes = bytes,
                          .memory = {.team = team}};
    const enum uccs_plan plan = uccs_coll_choose(c.kind, team, 0);
    if (team->size == 1 && bytes)
        memcpy(dest, source, bytes);
    if (team->size == 1)
        return;
    if (!team->far && team->area >= 0) {
        collect_by_slots(&c, plan == UCCS_BY_SLOTS ? SLOT_LARGE : 0);
        return;
    }
    c.step = plan == UCCS_BY_GATHER ? gather_steps : pull_steps;
    uccs_coll_run(&c);
}
