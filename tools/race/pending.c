/* Memory of this PE that is not symmetric: its stack, and what malloc gives. No other PE reaches it, so it has no shadow, but
 * a call that goes on after its return (put_nbi, get_nbi) still uses it. The calls under way are a short list: an entry is
 * over when the clock says so of its event, as for symmetric memory.
 *
 * One lock. Loads and stores of the program look at race_pending first, which is 0 while nothing is under way. */
#include "race.h"

#include <pthread.h>
#include <string.h>

#define PENDING 1024 /* further calls replace the oldest, which hides races */

struct pending {
    uintptr_t start;
    size_t bytes;
    struct race_cell cell;
};

uint32_t race_pending;
static struct pending list[PENDING];
static size_t oldest;
static uintptr_t low = UINTPTR_MAX,
                 high; /* of the list since it was last empty; read without the lock by a thread that has
                                              made the calls itself */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool accesses_overlap(const struct pending *one, uintptr_t start, size_t bytes)
{
    return one->start < start + bytes && start < one->start + one->bytes;
}

/* Takes out what is over. Returns the entry that conflicts with the access, copied, with bytes 0 when there is none. */
static struct pending settle_place(uintptr_t start, size_t bytes, const struct race_cell *fresh)
{
    struct pending found = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < race_pending; i++) {
        if (race_over(&list[i].cell, race_me, -1))
            continue;
        if (accesses_overlap(&list[i], start, bytes) && race_conflict(&list[i].cell, fresh))
            found = list[i];
        list[kept++] = list[i];
    }
    __atomic_store_n(&race_pending, kept, __ATOMIC_RELAXED); /* no partner: a thread's own calls are what it must see */
    return found;
}

static void add_pending(uintptr_t start, size_t bytes, const struct race_cell *fresh)
{
    const uint32_t at = race_pending < PENDING ? race_pending : (uint32_t)(oldest++ % PENDING);
    list[at] = (struct pending){start, bytes, *fresh};
    low = at == 0 || start < low ? start : low;
    high = at == 0 || start + bytes > high ? start + bytes : high;
    if (at == race_pending)
        __atomic_store_n(&race_pending, at + 1, __ATOMIC_RELAXED);
}

void race_touch_private(const void *at, size_t bytes, const struct race_access *access)
{
    const uintptr_t start = (uintptr_t)at;
    if (access->way == RACE_MAIN && (!race_pending || start >= high || start + bytes <= low))
        return;
    struct race_cell fresh = {.event = access->event,
                              .place = (uint32_t)(uintptr_t)access->from,
                              .call = access->call,
                              .pe = (uint8_t)race_me,
                              .mask = 0xff,
                              .way = (uint8_t)access->way & 15,
                              .context = (uint8_t)access->context & 15,
                              .flags = (uint8_t)access->flags};
    pthread_mutex_lock(&lock);
    struct pending old = settle_place(start, bytes, &fresh);
    if (access->way != RACE_MAIN)
        add_pending(start, bytes, &fresh);
    pthread_mutex_unlock(&lock);
    if (old.bytes)
        race_report_private((const void *)(start > old.start ? start : old.start), &old.cell, &fresh);
}

void race_pending_forget(void)
{
    pthread_mutex_lock(&lock);
    race_pending = 0;
    pthread_mutex_unlock(&lock);
}
