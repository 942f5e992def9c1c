#include "uccs/mem/dynamic.h"

#include "uccs/core/memory.h"
#include "uccs/core/wait.h"

#include <pthread.h>

#define CAPACITY_FIRST 62 /* ranges of the first table */

/* Guards the changes of all tables of this process. */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;

static struct uccs_dynamic_range *ranges_at(int owner, uint64_t offset)
{
    return (struct uccs_dynamic_range *)(uccs_memory_region(uccs_index(owner)) + offset);
}

/* --- Reading */

static struct uccs_dynamic_range read_range(const struct uccs_dynamic_range *range)
{
    return (struct uccs_dynamic_range){
        .start = atomic_load_acquire(&range->start), /* these, release: write_range */
        .bytes = atomic_load_acquire(&range->bytes),
        .where = atomic_load_acquire(&range->where),
        .segment = atomic_load_acquire(&range->segment),
    };
}

/* A look at one state of a table. */
struct look {
    const struct uccs_dynamic *table;
    const struct uccs_dynamic_range *ranges;
    uint64_t version;
    uint32_t root;
};

static struct look begin_look(const struct uccs_dynamic *table, int owner)
{
    struct uccs_wait wait uccs_scoped = {0};
    for (;;) {
        struct look look = {.table = table,
                            .version = atomic_load_acquire(&table->version)}; /* release: turn_version */
        look.root = atomic_load_acquire(&table->root);
        look.ranges = ranges_at(owner, atomic_load_acquire(&table->ranges));
        if (!(look.version & 1) && atomic_load_relaxed(&table->version) == look.version)
            return look;
        uccs_rest(&wait);
    }
}

/* Returns true when everything since begin_look was read from one state. */
static bool end_look(const struct look *look)
{
    return lat_likely(atomic_load_relaxed(&look->table->version) == look->version);
}

/* Returns the index of the last range that begins at or before the address, or 0. */
static uint32_t last_before(const struct look *look, uint64_t address)
{
    uint32_t found = 0, at = look->root;
    while (at && end_look(look)) {
        const struct uccs_dynamic_range *range = &look->ranges[at];
        const bool here = atomic_load_acquire(&range->start) <= address; /* these, release: write_range, set_link */
        found = here ? at : found;
        at = here ? atomic_load_acquire(&range->right) : atomic_load_acquire(&range->left);
    }
    return found;
}

/* Finds the range that holds an address. */
static bool find_range(const struct look *look, uint64_t address, struct uccs_dynamic_range *range)
{
    const uint32_t at = last_before(look, address);
    if (at)
        *range = read_range(&look->ranges[at]);
    return at && address - range->start < range->bytes;
}

/* Returns true when `next` goes on where `range` ends, for the owner and for its peers. */
static bool follows_range(const struct uccs_dynamic_range *range, const struct uccs_dynamic_range *next)
{
    return next->start == range->start + range->bytes && next->segment == range->segment &&
           (range->segment == UCCS_UNMAPPED || next->where == range->where + range->bytes);
}

/* Finds the range that holds an address, with as many as follow it of the next `bytes`. Returns false when none does. */
static bool find_joined(const struct uccs_dynamic *table, int owner, uint64_t address, size_t bytes,
                        struct uccs_dynamic_range *found, uint64_t *version)
{
    for (;;) {
        struct look look = begin_look(table, owner);
        struct uccs_dynamic_range next;
        const bool there = find_range(&look, address, found);
        while (there && found->bytes - (address - found->start) < bytes &&
               find_range(&look, found->start + found->bytes, &next) && follows_range(found, &next))
            found->bytes += next.bytes;
        *version = look.version;
        if (end_look(&look))
            return there;
    }
}

static char *near_of(int owner, const struct uccs_dynamic_range *range)
{
    return owner == uccs_core.me ? (char *)(uintptr_t)range->start
                                 : uccs_segment_near(owner, (uint32_t)range->segment, range->where);
}

int uccs_dynamic_find(const struct uccs_dynamic *table, int owner, uint64_t start, size_t bytes,
                      struct uccs_dynamic_piece *piece)
{
    struct uccs_dynamic_range range;
    uint64_t version;
    if (!find_joined(table, owner, start, bytes, &range, &version))
        return UCCS_ERR_BOUNDS;
    uint64_t offset = start - range.start, left = range.bytes - offset;
    char *near = near_of(owner, &range);
    *piece = (struct uccs_dynamic_piece){.bytes = bytes < left ? bytes : left,
                                         .near = near ? near + offset : 0,
                                         .mapped = range.segment != UCCS_UNMAPPED};
    return UCCS_OK;
}

bool uccs_dynamic_covers(const struct uccs_dynamic *table, int owner, uint64_t start, size_t bytes)
{
    struct uccs_dynamic_piece piece;
    size_t covered = 0;
    while (covered < bytes && uccs_dynamic_find(table, owner, start + covered, bytes - covered, &piece) == UCCS_OK)
        covered += piece.bytes;
    return covered == bytes;
}

int uccs_dynamic_view(const struct uccs_dynamic *table, int owner, uint64_t address, struct uccs_view *view)
{
    struct uccs_dynamic_range range;
    uint64_t version;
    if (!find_joined(table, owner, address, 1, &range, &version))
        return UCCS_ERR_BOUNDS;
    *view = (struct uccs_view){.start = range.start,
                               .length = range.bytes,
                               .address = near_of(owner, &range),
                               .domain = range.segment == UCCS_UNMAPPED ? UCCS_DOMAIN_LOCKED : UCCS_DOMAIN_CPU,
                               .version = &table->version,
                               .seen = version};
    return UCCS_OK;
}

int uccs_region_outside(const struct uccs_region *region, uint64_t offset, size_t length)
{
    if (!region->dynamic)
        return UCCS_ERR_BOUNDS;
    if (atomic_load_acquire(region->now) != region->generation) /* release: uccs_region_end */
        return UCCS_ERR_STALE;
    if (length > UINT64_MAX - offset)
        return UCCS_ERR_BOUNDS;
    if (!region->attached) /* on another node: the owner looks when the message arrives */
        return UCCS_OK;
    return uccs_dynamic_covers(region->attached, region->owner, offset, length) ? UCCS_OK : UCCS_ERR_BOUNDS;
}

/* --- Changing, under `changes`, by the owner alone, which therefore reads plainly */

static void set_link(uint32_t *link, uint32_t to)
{
    atomic_store_release(link, to); /* acquire: last_before, begin_look */
}

static void write_range(struct uccs_dynamic_range *to, struct uccs_dynamic_range range)
{
    atomic_store_release(&to->start, range.start); /* these, acquire: last_before, read_range */
    atomic_store_release(&to->bytes, range.bytes);
    atomic_store_release(&to->where, range.where);
    atomic_store_release(&to->segment, range.segment);
    set_link(&to->left, range.left);
    set_link(&to->right, range.right);
    to->rank = range.rank;
}

/* Makes the version odd, and even again. */
static void turn_version(struct uccs_dynamic *table)
{
    atomic_store_release(&table->version, table->version + 1); /* acquire: begin_look */
}

/* Moves the ranges to a table of twice the size. Returns false when there is no memory. */
static bool grow_table(struct uccs_dynamic *table)
{
    const uint32_t capacity = table->capacity * 2 + 2;
    const struct uccs_dynamic_range *old = ranges_at(uccs_core.me, table->ranges);
    struct uccs_dynamic_range *more =
        capacity > table->capacity ? uccs_arena_take(UCCS_ARENA_MEMORY, sizeof *more * ((size_t)capacity + 1)) : 0;
    if (!more)
        return false;
    *more = (struct uccs_dynamic_range){.where = table->ranges};
    for (uint32_t i = 1; i <= table->used; i++)
        write_range(&more[i], old[i]);
    turn_version(table);
    table->capacity = capacity;
    atomic_store_release(&table->ranges,
                         (uint64_t)((char *)more - uccs_memory_region(uccs_core.index))); /* acquire: begin_look */
    turn_version(table);
    return true;
}

/* Returns a free index, or 0 without memory. */
static uint32_t take_index(struct uccs_dynamic *table)
{
    const uint32_t index = table->free;
    if (index) {
        table->free = ranges_at(uccs_core.me, table->ranges)[index].left;
        return index;
    }
    return table->used < table->capacity || grow_table(table) ? ++table->used : 0;
}

/* Returns a number that no order of addresses foresees. */
static uint32_t next_rank(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* Goes down to the first range of a lower rank, and puts the new one there: what was below it goes to its sides. */
static void insert_range(uint32_t *link, struct uccs_dynamic_range *ranges, uint32_t index)
{
    struct uccs_dynamic_range *made = &ranges[index];
    while (*link && ranges[*link].rank >= made->rank)
        link = ranges[*link].start < made->start ? &ranges[*link].right : &ranges[*link].left;
    uint32_t at = *link, *low = &made->left, *high = &made->right;
    set_link(link, index);
    while (at) {
        const bool below = ranges[at].start < made->start;
        uint32_t **side = below ? &low : &high, *next = below ? &ranges[at].right : &ranges[at].left;
        set_link(*side, at);
        *side = next;
        at = *next;
    }
    set_link(low, 0);
    set_link(high, 0);
}

/* Puts what is below a range in its place. */
static void take_out(uint32_t *link, struct uccs_dynamic_range *ranges)
{
    uint32_t low = ranges[*link].left, high = ranges[*link].right;
    while (low && high) {
        const bool first = ranges[low].rank > ranges[high].rank;
        uint32_t *next = first ? &ranges[low].right : &ranges[high].left;
        set_link(link, first ? low : high);
        *(first ? &low : &high) = *next;
        link = next;
    }
    set_link(link, low ? low : high);
}

static int add_range(struct uccs_dynamic *table, struct uccs_dynamic_range range)
{
    const struct look look = begin_look(table, uccs_core.me);
    const uint32_t before = last_before(&look, range.start);
    if (last_before(&look, range.start + range.bytes - 1) != before ||
        (before && range.start - look.ranges[before].start < look.ranges[before].bytes))
        return UCCS_ERR_INVALID;
    const uint32_t index = take_index(table);
    if (!index)
        return UCCS_ERR_NO_MEMORY;
    struct uccs_dynamic_range *ranges = ranges_at(uccs_core.me, table->ranges);
    range.rank = next_rank();
    turn_version(table);
    write_range(&ranges[index], range);
    insert_range(&table->root, ranges, index);
    turn_version(table);
    return UCCS_OK;
}

static int take_away(struct uccs_dynamic *table, uint64_t start)
{
    struct uccs_dynamic_range *ranges = ranges_at(uccs_core.me, table->ranges);
    uint32_t *link = &table->root;
    while (*link && ranges[*link].start != start)
        link = ranges[*link].start < start ? &ranges[*link].right : &ranges[*link].left;
    const uint32_t index = *link;
    if (!index)
        return UCCS_ERR_INVALID;
    turn_version(table);
    take_out(link, ranges);
    set_link(&ranges[index].left, table->free);
    table->free = index;
    turn_version(table);
    return UCCS_OK;
}

int uccs_dynamic_add(struct uccs_dynamic *table, const void *start, size_t bytes)
{
    struct uccs_dynamic_range range = {.start = (uintptr_t)start, .bytes = bytes};
    range.segment = uccs_segment_locate(start, bytes, &range.where);
    if (range.segment == UCCS_UNMAPPED && uccs_segment_maps_partly(start, bytes))
        return UCCS_ERR_INVALID;
    pthread_mutex_lock(&changes);
    int status = add_range(table, range);
    pthread_mutex_unlock(&changes);
    return status;
}

int uccs_dynamic_remove(struct uccs_dynamic *table, const void *start)
{
    pthread_mutex_lock(&changes);
    int status = take_away(table, (uintptr_t)start);
    pthread_mutex_unlock(&changes);
    return status;
}

/* --- Life */

struct uccs_dynamic *uccs_dynamic_create(void)
{
    struct uccs_dynamic *table = uccs_arena_take(UCCS_ARENA_MEMORY, sizeof *table);
    if (!table)
        return 0;
    *table = (struct uccs_dynamic){.capacity = CAPACITY_FIRST / 2 - 1};
    if (grow_table(table))
        return table;
    uccs_arena_give(table);
    return 0;
}

void uccs_dynamic_destroy(struct uccs_dynamic *table)
{
    for (uint64_t at = table->ranges, before; at; at = before) {
        before = ranges_at(uccs_core.me, at)->where;
        uccs_arena_give(ranges_at(uccs_core.me, at));
    }
    uccs_arena_give(table);
}
