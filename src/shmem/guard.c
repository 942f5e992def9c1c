#include "shmem/guard.h"

#include "base/poison.h"

#define MOST ((size_t)1 << 30)

static char *guarded; /* the heap; null: no tool listens */
static size_t heap_end, guarded_end;

/* Returns how many of the bytes lie in the guarded part of the heap. */
static size_t below_end(size_t offset, size_t bytes)
{
    size_t room = offset < heap_end ? heap_end - offset : 0;
    return bytes < room ? bytes : room;
}

/* Forbids the part of the heap from guarded_end to `end`. */
static void forbid_until(size_t end)
{
    end = end < heap_end ? end : heap_end;
    if (end <= guarded_end)
        return;
    poison_forbid(guarded + guarded_end, end - guarded_end);
    guarded_end = end;
}

void lat_guard_open(char *heap, size_t bytes)
{
    guarded = poison_heard() ? heap : 0;
    heap_end = bytes < MOST ? bytes : MOST;
    guarded_end = 0;
    if (guarded)
        forbid_until(LAT_GUARD_AHEAD);
}

void lat_guard_close(void)
{
    if (guarded)
        poison_allow(guarded, guarded_end);
    guarded = 0;
}

void lat_guard_given(size_t offset, size_t bytes)
{
    if (!guarded)
        return;
    forbid_until(offset + bytes + LAT_GUARD_AHEAD);
    poison_allow(guarded + offset, below_end(offset, bytes));
}

void lat_guard_taken(size_t offset, size_t bytes)
{
    if (guarded)
        poison_forbid(guarded + offset, below_end(offset, bytes));
}
