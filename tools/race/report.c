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

static void describe(const struct race_cell *cell, int owner, char *text, size_t room)
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

static const char *reason(const struct race_cell *older)
{
    if (older->way == RACE_LOCAL)
        return "; that call goes on until shmem_quiet, or until its request is complete";
    if (older->way == RACE_MAIN || !race_met(older))
        return "; nothing orders them";
    return "; the first may still be under way: shmem_quiet ends it, shmem_fence keeps a later flag behind it";
}

void race_report(int owner, size_t offset, const struct race_cell *older, const struct race_cell *newer)
{
    char one[256], other[256];
    size_t heap = race_heap_bytes();
    pthread_mutex_lock(&lock);
    if (is_new(older, newer)) {
        describe(older, owner, one, sizeof one);
        describe(newer, owner, other, sizeof other);
        lat_check_tell("race: %s, and %s; memory of PE %d, %s + 0x%zx%s", one, other, owner,
                       offset < heap ? "heap" : "globals", offset < heap ? offset : offset - heap, reason(older));
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
