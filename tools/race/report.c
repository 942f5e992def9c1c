/* One line for each pair of places that race, with both places. A PE that has found one exits with status 66 at its end. */
#include "race.h"

#include "shmem/check.h"
#include "base/where.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAIRS 256
#define STATUS_RACES 66

static struct pair {
    uint32_t older, newer, older_call, newer_call;
} pairs[PAIRS];
static int found;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The program's own atomic load sees whole values of the library's atomics. */
static bool own_load(const struct race_cell *cell)
{
    return cell->flags >> RACE_KIND == RACE_OF_PROGRAM && !(cell->flags & RACE_STORE);
}

static bool atomic_apart(const struct race_cell *one, const struct race_cell *other)
{
    return (one->flags & other->flags & RACE_ATOMIC) && one->flags >> RACE_KIND != other->flags >> RACE_KIND &&
           !own_load(one) && !own_load(other);
}

bool race_conflict(const struct race_cell *one, const struct race_cell *other)
{
    return (one->mask & other->mask) && ((one->flags | other->flags) & RACE_STORE) &&
           (!(one->flags & other->flags & RACE_ATOMIC) || atomic_apart(one, other));
}

static bool is_new(const struct race_cell *older, const struct race_cell *newer)
{
    struct pair pair = {older->place, newer->place, older->call, newer->call};
    bool fresh = found < PAIRS;
    for (int i = 0; i < found && fresh; i++)
        fresh = pairs[i].older != pair.older || pairs[i].newer != pair.newer ||
                pairs[i].older_call != pair.older_call || pairs[i].newer_call != pair.newer_call;
    if (fresh)
        pairs[found++] = pair;
    return fresh;
}

static void describe_access(const struct race_cell *cell, int owner, char *text, size_t room)
{
    char where[128], target[32] = "";
    where_write_at(cell->place, where, sizeof where);
    if (cell->call >= RACE_FIRST_CALL && cell->pe != owner)
        snprintf(target, sizeof target, " to PE %d", owner);
    else if (cell->call < RACE_FIRST_CALL && cell->pe != owner)
        snprintf(target, sizeof target, " at PE %d", owner);
    snprintf(text, room, "%s%s by PE %d%s%s", race_names[cell->call],
             cell->flags & RACE_STORE || cell->call < RACE_FIRST_CALL ? "" : " (reads)", cell->pe, target, where);
}

static const char *name_reason(const struct race_cell *older, const struct race_cell *newer)
{
    if (atomic_apart(older, newer))
        return "; atomics are atomic with those of the same type alone, signals with those of the same operator";
    if (older->way == RACE_LOCAL)
        return "; that call goes on until shmem_quiet, or until its request is complete";
    if (older->way == RACE_MAIN || !race_met(older))
        return "; nothing orders them";
    return "; the first may still be under way: shmem_quiet ends it, shmem_fence keeps a later flag behind it";
}

/* Writes "flag + 0x8", or the block of the heap and the offset in it. Symmetric memory is laid out alike at all PEs. */
static void name_memory(size_t offset, char *text, size_t room)
{
    const size_t heap = race_heap_bytes();
    const char *here = race_address(offset);
    struct lat_check_block block;
    if (offset >= heap && where_variable(here, text, room))
        return;
    if (offset < heap && lat_check_find(here, &block) && block.usable)
        snprintf(text, room, "heap block at heap + 0x%zx, + 0x%zx", (size_t)(block.start - (uintptr_t)race_address(0)),
                 (size_t)((uintptr_t)here - block.start));
    else
        snprintf(text, room, "%s + 0x%zx", offset < heap ? "heap" : "globals", offset < heap ? offset : offset - heap);
}

static void tell_race(int owner, const char *memory, const struct race_cell *older, const struct race_cell *newer)
{
    char one[256], other[256];
    describe_access(older, owner, one, sizeof one);
    describe_access(newer, owner, other, sizeof other);
    lat_check_tell("race: %s, and %s; memory of PE %d, %s%s", one, other, owner, memory, name_reason(older, newer));
}

void race_report(int owner, size_t offset, const struct race_cell *older, const struct race_cell *newer)
{
    char memory[160];
    pthread_mutex_lock(&lock);
    if (is_new(older, newer)) {
        name_memory(offset + (size_t)__builtin_ctz((unsigned)(older->mask & newer->mask)), memory, sizeof memory);
        tell_race(owner, memory, older, newer);
    }
    pthread_mutex_unlock(&lock);
}

void race_report_private(const void *at, const struct race_cell *older, const struct race_cell *newer)
{
    char memory[160], name[128];
    pthread_mutex_lock(&lock);
    if (is_new(older, newer)) {
        const bool named = where_variable(at, name, sizeof name);
        snprintf(memory, sizeof memory, "%s, which is not symmetric", named ? name : "its own");
        if (!named)
            snprintf(memory, sizeof memory, "%p of its stack or of malloc", at);
        tell_race(race_me, memory, older, newer);
    }
    pthread_mutex_unlock(&lock);
}

/* At the end, so that the program goes on as it would. */
__attribute__((destructor)) static void tell_status(void)
{
    if (!found)
        return;
    fflush(NULL);
    _exit(STATUS_RACES);
}
