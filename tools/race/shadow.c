/* The last accesses to each 8 bytes: a new one is compared with them and takes the place of one. A spin lock guards some
 * groups of 8 bytes each. */
#include "race.h"

#include <unistd.h>

#define PATIENCE 100000000u /* looks at a lock whose holder has died */

static uint32_t *lock_group(size_t number)
{
    uint32_t *word = race_lock_word(number);
    for (uint32_t looks = 0; __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) && looks < PATIENCE; looks++)
        if (looks % 64 == 63)
            usleep(0); /* PEs may outnumber cores */
    return word;
}

static void unlock_group(uint32_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE); /* acquire: lock_group */
}

static bool cells_alike(const struct race_cell *one, const struct race_cell *other)
{
    return one->pe == other->pe && one->way == other->way && one->context == other->context &&
           one->mask == other->mask && one->flags == other->flags;
}

/* Chooses the cell that the new access replaces: one like it, an empty one, one that is over, or any. */
static struct race_cell *choose_victim(struct race_cell *cells, const struct race_cell *fresh, const bool *over)
{
    struct race_cell *found = NULL;
    for (int i = 0; i < RACE_CELLS; i++)
        if (cells[i].event && cells_alike(&cells[i], fresh))
            return &cells[i];
    for (int i = 0; i < RACE_CELLS; i++)
        if (!cells[i].event)
            return &cells[i];
    for (int i = 0; i < RACE_CELLS && !found; i++)
        if (over[i] && !(cells[i].mask & ~fresh->mask) && (fresh->flags & RACE_STORE || !(cells[i].flags & RACE_STORE)))
            found = &cells[i];
    return found ? found : &cells[fresh->event % RACE_CELLS];
}

static void touch_group(int owner, size_t offset, const struct race_cell *fresh, int behind)
{
    size_t number = race_number(owner, offset);
    struct race_cell *cells = race_cells(number), old = {0};
    bool over[RACE_CELLS];
    for (int i = 0; i < RACE_CELLS; i++) /* a loop of the program: nothing new; a word read torn costs a lock */
        if (cells[i].event == fresh->event && cells[i].place == fresh->place && cells_alike(&cells[i], fresh))
            return;
    uint32_t *lock = lock_group(number);
    for (int i = 0; i < RACE_CELLS; i++) {
        over[i] = cells[i].event && race_over(&cells[i], owner, behind);
        if (cells[i].event && !over[i] && race_conflict(&cells[i], fresh))
            old = cells[i];
    }
    *choose_victim(cells, fresh, over) = *fresh;
    unlock_group(lock);
    if (old.event)
        race_report(owner, offset, &old, fresh);
}

void race_touch(int owner, size_t offset, size_t bytes, const struct race_access *access)
{
    struct race_cell fresh = {.event = access->event,
                              .call = access->call,
                              .pe = (uint8_t)race_me,
                              .way = (uint8_t)access->way & 15,
                              .context = (uint8_t)access->context & 15,
                              .flags = (uint8_t)access->flags,
                              .place = (uint32_t)(uintptr_t)access->from};
    int behind = access->way >= RACE_PUT ? access->context : -1;
    while (bytes) {
        size_t first = offset % 8, here = 8 - first < bytes ? 8 - first : bytes;
        fresh.mask = (uint8_t)(((1u << here) - 1) << first);
        touch_group(owner, offset, &fresh, behind);
        offset += here;
        bytes -= here;
    }
}

void race_seen(int pe, size_t offset, size_t bytes)
{
    for (size_t at = offset / 8 * 8; at < offset + bytes; at += 8) {
        struct race_cell *cells = race_cells(race_number(pe, at));
        const uint32_t *words = race_released(pe, at);
        uint32_t *lock = lock_group(race_number(pe, at));
        for (int i = 0; i < RACE_CELLS; i++)
            if (cells[i].event && cells[i].way >= RACE_PUT && cells[i].event <= words[cells[i].pe] >> 3)
                cells[i] = (struct race_cell){0};
        unlock_group(lock);
    }
}
