#include "uccs/object/attach.h"

#include "uccs/core/memory.h"
#include "uccs/core/wait.h"

#include <pthread.h>

#define ROOM_FIRST 62 /* ranges of the first table */

/* Guards the changes of all tables of this process. */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;

static char *region_of(int owner)
{
    size_t bytes;
    return uccs_memory_region(uccs_index(owner), &bytes);
}

static struct uccs_attached_range *ranges_at(int owner, uint64_t offset)
{
    return (struct uccs_attached_range *)(region_of(owner) + offset);
}

/* --- Reading */

/* Returns the number of ranges that begin at or before the address. */
static uint64_t rank_of(const struct uccs_attached_range *ranges, uint64_t count, uint64_t address)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (atomic_load_acquire(&ranges[middle].start) <= address) /* release: write_range */
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct uccs_attached_range read_range(const struct uccs_attached_range *range)
{
    return (struct uccs_attached_range){
        .start = atomic_load_acquire(&range->start), /* these, release: write_range */
        .bytes = atomic_load_acquire(&range->bytes),
        .segment = atomic_load_acquire(&range->segment),
        .where = atomic_load_acquire(&range->where),
    };
}

/* A look at one state of a table. */
struct look {
    const struct uccs_attached *table;
    const struct uccs_attached_range *ranges;
    uint64_t version, count;
};

static struct look begin_look(const struct uccs_attached *table, int owner)
{
    struct uccs_wait wait uccs_scoped = {0};
    for (;;) {
        struct look look = {.table = table, .version = atomic_load_acquire(&table->version)}; /* release: change */
        look.count = atomic_load_acquire(&table->count);
        look.ranges = ranges_at(owner, atomic_load_acquire(&table->ranges));
        if (!(look.version & 1) && atomic_load_relaxed(&table->version) == look.version)
            return look;
        uccs_yield(&wait);
    }
}

/* Returns true when everything since begin_look was read from one state. */
static bool end_look(const struct look *look)
{
    return lat_likely(atomic_load_relaxed(&look->table->version) == look->version);
}

/* Returns how many bytes from `start` on the ranges cover without a gap, but not more than `bytes`. */
static size_t cover(const struct look *look, uint64_t start, size_t bytes)
{
    size_t covered = 0;
    uint64_t at = rank_of(look->ranges, look->count, start);
    for (at = at ? at - 1 : look->count; at < look->count && covered < bytes; at++) {
        const struct uccs_attached_range range = read_range(&look->ranges[at]);
        uint64_t offset = start + covered - range.start; /* large when the range begins behind */
        if (offset >= range.bytes)
            break;
        size_t left = bytes - covered, here = range.bytes - offset;
        covered += here < left ? here : left;
    }
    return covered;
}

static bool covers(const struct uccs_attached *table, int owner, uint64_t start, size_t bytes)
{
    for (;;) {
        struct look look = begin_look(table, owner);
        const bool all = cover(&look, start, bytes) == bytes;
        if (end_look(&look))
            return all;
    }
}

bool uccs_attached_covers(const struct uccs_attached *table, uint64_t start, size_t bytes)
{
    return covers(table, uccs_core.me, start, bytes);
}

/* Returns true when `next` goes on where `range` ends, for the owner and for its peers. */
static bool follows(const struct uccs_attached_range *range, const struct uccs_attached_range *next)
{
    return next->start == range->start + range->bytes && next->segment == range->segment &&
           (range->segment == UCCS_UNMAPPED || next->where == range->where + range->bytes);
}

/* Finds the range that holds an address, with as many as follow it of the next `bytes`. Returns false when none does. */
static bool find_joined(const struct uccs_attached *table, int owner, uint64_t address, size_t bytes,
                        struct uccs_attached_range *found, uint64_t *version)
{
    for (;;) {
        struct look look = begin_look(table, owner);
        uint64_t at = rank_of(look.ranges, look.count, address);
        if (at)
            *found = read_range(&look.ranges[at - 1]);
        bool there = at && address - found->start < found->bytes;
        for (; there && at < look.count && found->bytes - (address - found->start) < bytes; at++) {
            const struct uccs_attached_range next = read_range(&look.ranges[at]);
            if (!follows(found, &next))
                break;
            found->bytes += next.bytes;
        }
        *version = look.version;
        if (end_look(&look))
            return there;
    }
}

static char *near_of(int owner, const struct uccs_attached_range *range)
{
    return owner == uccs_core.me ? (char *)(uintptr_t)range->start
                                 : uccs_region_near(owner, (uint32_t)range->segment, range->where);
}

int uccs_attached_find(const struct uccs_attached *table, int owner, uint64_t start, size_t bytes,
                       struct uccs_attached_piece *piece)
{
    struct uccs_attached_range range;
    uint64_t version;
    if (!find_joined(table, owner, start, bytes, &range, &version))
        return UCCS_ERR_BOUNDS;
    uint64_t offset = start - range.start, left = range.bytes - offset;
    char *near = near_of(owner, &range);
    *piece = (struct uccs_attached_piece){.bytes = bytes < left ? bytes : left,
                                          .near = near ? near + offset : 0,
                                          .mapped = range.segment != UCCS_UNMAPPED};
    return UCCS_OK;
}

int uccs_attached_view(const struct uccs_attached *table, int owner, uint64_t address, struct uccs_view *view)
{
    struct uccs_attached_range range;
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
    return covers(region->attached, region->owner, offset, length) ? UCCS_OK : UCCS_ERR_BOUNDS;
}

/* --- Changing, under `changes`, by the owner alone, which therefore reads plainly */

static void write_range(struct uccs_attached_range *to, struct uccs_attached_range range)
{
    atomic_store_release(&to->start, range.start); /* these, acquire: rank_of, read_range */
    atomic_store_release(&to->bytes, range.bytes);
    atomic_store_release(&to->segment, range.segment);
    atomic_store_release(&to->where, range.where);
}

/* Makes the version odd, and even again. */
static void change(struct uccs_attached *table)
{
    atomic_store_release(&table->version, table->version + 1); /* acquire: begin_look */
}

/* Moves the ranges to a table of twice the size. Returns false when there is no memory. */
static bool grow(struct uccs_attached *table)
{
    const uint64_t room = table->room * 2 + 2;
    uint64_t *spent = uccs_region_take(UCCS_ROOM_MEMORY, sizeof(struct uccs_attached_range) * (room + 1));
    if (!spent)
        return false;
    /* The first place of a table holds the offset of the former one. */
    struct uccs_attached_range *more = (struct uccs_attached_range *)spent + 1,
                               *old = ranges_at(uccs_core.me, table->ranges);
    *spent = table->spent;
    for (uint64_t i = 0; i < table->count; i++)
        write_range(&more[i], old[i]);
    change(table);
    table->room = room;
    table->spent = (uint64_t)((char *)spent - region_of(uccs_core.me));
    atomic_store_release(&table->ranges, (uint64_t)((char *)more - region_of(uccs_core.me))); /* acquire: begin_look */
    change(table);
    return true;
}

static int add(struct uccs_attached *table, struct uccs_attached_range range)
{
    struct uccs_attached_range *ranges = ranges_at(uccs_core.me, table->ranges);
    uint64_t at = rank_of(ranges, table->count, range.start);
    bool before = at && ranges[at - 1].start + ranges[at - 1].bytes > range.start;
    bool behind = at < table->count && range.start + range.bytes > ranges[at].start;
    if (before || behind)
        return UCCS_ERR_INVALID;
    if (table->count == table->room && !grow(table))
        return UCCS_ERR_NO_MEMORY;
    ranges = ranges_at(uccs_core.me, table->ranges);
    change(table);
    for (uint64_t i = table->count; i > at; i--)
        write_range(&ranges[i], ranges[i - 1]);
    write_range(&ranges[at], range);
    atomic_store_release(&table->count, table->count + 1); /* acquire: begin_look */
    change(table);
    return UCCS_OK;
}

static int take_away(struct uccs_attached *table, uint64_t start)
{
    struct uccs_attached_range *ranges = ranges_at(uccs_core.me, table->ranges);
    uint64_t at = rank_of(ranges, table->count, start);
    if (!at || ranges[at - 1].start != start)
        return UCCS_ERR_INVALID;
    change(table);
    for (; at < table->count; at++)
        write_range(&ranges[at - 1], ranges[at]);
    atomic_store_release(&table->count, table->count - 1); /* acquire: begin_look */
    change(table);
    return UCCS_OK;
}

int uccs_attached_add(struct uccs_attached *table, const void *start, size_t bytes)
{
    struct uccs_attached_range range = {.start = (uintptr_t)start, .bytes = bytes};
    range.segment = uccs_region_locate(start, bytes, &range.where);
    if (range.segment == UCCS_UNMAPPED && uccs_region_partly(start, bytes))
        return UCCS_ERR_INVALID;
    pthread_mutex_lock(&changes);
    int status = add(table, range);
    pthread_mutex_unlock(&changes);
    return status;
}

int uccs_attached_remove(struct uccs_attached *table, const void *start)
{
    pthread_mutex_lock(&changes);
    int status = take_away(table, (uintptr_t)start);
    pthread_mutex_unlock(&changes);
    return status;
}

/* --- Life */

struct uccs_attached *uccs_attached_create(void)
{
    struct uccs_attached *table = uccs_region_take(UCCS_ROOM_MEMORY, sizeof *table);
    if (!table)
        return 0;
    *table = (struct uccs_attached){.room = 0};
    table->room = ROOM_FIRST / 2 - 1;
    if (grow(table))
        return table;
    uccs_region_give(table);
    return 0;
}

void uccs_attached_destroy(struct uccs_attached *table)
{
    for (uint64_t at = table->spent, before; at; at = before) {
        char *block = region_of(uccs_core.me) + at;
        before = *(uint64_t *)block;
        uccs_region_give(block);
    }
    uccs_region_give(table);
}
