#include "waiters.h"

#include "base/clock.h"
#include "base/kind.h"
#include "base/where.h"
#include "message.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES 1000 /* to copy a record that its waiter writes anew */

/* Copies a record. Returns false when it is none, or was taken back or written anew meanwhile. */
static bool try_copy(struct node_wait *copy, const struct node_wait *wait)
{
    uint32_t version = atomic_load_acquire(&wait->version);                  /* release: rte_wait_record_renew */
    if (version % 2 || atomic_load_acquire(&wait->state) != NODE_WAIT_VALID) /* release: rte_wait_record_begin */
        return false;
    memcpy(copy, wait, sizeof *copy);
    copy->text[sizeof copy->text - 1] = 0;
    atomic_fence_acquire();
    return atomic_load_relaxed(&wait->state) == NODE_WAIT_VALID && atomic_load_relaxed(&wait->since) == copy->since &&
           atomic_load_relaxed(&wait->version) == version && copy->depth <= NODE_WAIT_FRAMES;
}

static bool copy_wait(struct node_wait *copy, const struct node_wait *wait)
{
    bool copied = false;
    for (int i = 0; i < TRIES && !copied && atomic_load_relaxed(&wait->state) == NODE_WAIT_VALID; i++)
        copied = try_copy(copy, wait);
    return copied;
}

/* A PE writes the text; nothing of it may act on a terminal. */
static void clean(char *text)
{
    for (; *text; text++)
        if (!isprint((unsigned char)*text))
            *text = '?';
}

static bool is_of_library(struct code_location place)
{
    const char *slash = place.elf ? strrchr(place.elf->path, '/') : NULL;
    return slash && strncmp(slash, "/liblateral", 11) == 0;
}

/* Writes the name that a program calls: shmem_ and MPI_ have aliases with a p in front, the function of a call without
 * types is lat_, and a compiler names the rare part of a function "name.cold". */
static void write_call(struct waiter *waiter, const char *name)
{
    bool alias = strncmp(name, "pshmem", 6) == 0 || strncmp(name, "PMPI", 4) == 0;
    int length = (int)strcspn(name, ".");
    length = length < 60 ? length : 60;
    if (strncmp(name, "lat_", 4) == 0)
        snprintf(waiter->call, sizeof waiter->call, "shmem_%.*s", length - 4, name + 4);
    else
        snprintf(waiter->call, sizeof waiter->call, "%.*s", length - alias, name + alias);
}

/* Finds the outermost function of the library and the place that called it. */
static void find_call(struct waiter *waiter, const struct node_wait *wait, const struct maps *maps)
{
    bool inside = false; /* some frame was of the library as a file of its own */
    snprintf(waiter->call, sizeof waiter->call, "a wait");
    for (uint32_t i = 0; i < wait->depth; i++) {
        struct code_location place = code_location_of(maps, wait->frames[i]);
        uint64_t start;
        const char *name = place.elf ? elf_function(place.elf, place.address - 1, &start) : NULL;
        bool shared = is_of_library(place);
        if (inside && !shared)
            return;
        inside |= shared;
        if (shared ? !name : !name || !where_is_library_name(name))
            continue;
        if (where_is_library_name(name))
            write_call(waiter, name);
        waiter->from = i + 1 < wait->depth ? code_location_of(maps, wait->frames[i + 1]) : (struct code_location){0};
    }
}

static void write_value(char *text, size_t room, enum kind kind, uint64_t value)
{
    bool is_signed = kind == KIND_I16 || kind == KIND_I32 || kind == KIND_I64;
    if (is_signed)
        snprintf(text, room, "%" PRId64, (int64_t)value);
    else
        snprintf(text, room, "%" PRIu64, value);
}

static void describe_variable(struct waiter *waiter, const struct node_wait *wait, const struct maps *maps)
{
    char name[96] = "value", wanted[24], now[24];
    const struct node_wait_reason *on = &wait->on;
    if (wait->text[0])
        snprintf(name, sizeof name, "%s", wait->text);
    else if (on->object - wait->heap < wait->heap_bytes)
        snprintf(name, sizeof name, "heap + 0x%" PRIx64, on->object - wait->heap);
    else
        location_variable(maps, on->object, name, sizeof name);
    write_value(wanted, sizeof wanted, on->kind, on->number);
    write_value(now, sizeof now, on->kind, wait->value);
    snprintf(waiter->object, sizeof waiter->object, "%s %.*s %s, is %s", name, on->compare[1] == ' ' ? 1 : 2,
             on->compare, wanted, now);
}

static double seconds_since(uint64_t then)
{
    return 1e-9 * (double)clock_nanoseconds() - 1e-9 * (double)then;
}

static void add_waiter(struct waiters *waiters, uint32_t index, const struct node_wait *wait, const struct maps *maps)
{
    waiters->waiter = say_if_null(realloc(waiters->waiter, (waiters->count + 1) * sizeof *waiters->waiter));
    struct waiter *waiter = &waiters->waiter[waiters->count++];
    *waiter =
        (struct waiter){.index = index, .thread = wait->thread, .seconds = seconds_since(wait->since), .on = wait->on};
    find_call(waiter, wait, maps);
    if (wait->on.about == NODE_REASON_VARIABLE)
        describe_variable(waiter, wait, maps);
    else
        snprintf(waiter->object, sizeof waiter->object, "%s", wait->text);
    clean(waiter->object);
}

static void read_pe(struct waiters *waiters, const struct view *view, uint32_t index)
{
    struct maps maps = {0};
    bool read = false;
    for (int i = 0; i < NODE_WAITS; i++) {
        struct node_wait wait;
        if (!view->pids[index] || !copy_wait(&wait, view_wait(view, index, i)))
            continue;
        if (!read)
            maps_read(&maps, view->pids[index]);
        read = true;
        if (maps.count) /* the process is still there */
            add_waiter(waiters, index, &wait, &maps);
    }
    maps_free(&maps);
}

void waiters_read(struct waiters *waiters, const struct view *view)
{
    *waiters = (struct waiters){0};
    for (uint32_t index = 0; index < view->node->size; index++)
        read_pe(waiters, view, index);
}

void waiters_free(struct waiters *waiters)
{
    free(waiters->waiter);
    *waiters = (struct waiters){0};
}
