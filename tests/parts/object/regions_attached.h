/* Of regions.c: ranges that are attached and detached. */
#ifndef TESTS_TRUST_REGIONS_ATTACHED_H
#define TESTS_TRUST_REGIONS_ATTACHED_H

#include "regions_world.h"

/* --- Attached ranges, against a plain model: cells of private memory */

static int range_of[CELLS + 1]; /* 0: none; else the number of the range that has the cell */

static size_t run_from(int cell)
{
    size_t run = 0;
    while (cell + (int)run < CELLS && range_of[cell + (int)run])
        run++;
    return run;
}

static void compare(const struct uccs_attached *table, int cell, int cells)
{
    struct uccs_attached_piece piece = {0};
    struct uccs_view view;
    const uint64_t start = (uintptr_t)private_memory + (size_t)cell * CELL + 1;
    const size_t bytes = (size_t)cells * CELL, run = run_from(cell) * CELL, there = run ? run - 1 : 0;
    CHECK(uccs_attached_covers(table, start, bytes) == (bytes <= there));
    const int status = uccs_attached_find(table, 0, start, bytes, &piece);
    CHECK(status == (run ? UCCS_OK : UCCS_ERR_BOUNDS));
    CHECK(!run ||
          (piece.bytes == (bytes < there ? bytes : there) && piece.near == (char *)(uintptr_t)start && !piece.mapped));
    CHECK(uccs_attached_view(table, 0, start, &view) == (run ? UCCS_OK : UCCS_ERR_BOUNDS));
    int first = cell, end = cell;
    while (run && first > 0 && range_of[first - 1] == range_of[cell])
        first--;
    while (run && range_of[end] == range_of[cell])
        end++;
    CHECK(!run || (view.start == (uintptr_t)private_memory + (size_t)first * CELL &&
                   view.length == (size_t)(end - first) * CELL));
    CHECK(!run ||
          (view.domain == UCCS_DOMAIN_LOCKED && view.version == &table->version && view.seen == table->version));
}

static void attach_cells(struct uccs_attached *table, int cell, int cells, int number)
{
    bool is_free = true;
    for (int i = cell; i < cell + cells; i++)
        is_free &= !range_of[i];
    const int status = uccs_attached_add(table, private_memory + (size_t)cell * CELL, (size_t)cells * CELL);
    CHECK(status == (is_free ? UCCS_OK : UCCS_ERR_INVALID));
    for (int i = cell; i < cell + cells && is_free; i++)
        range_of[i] = number;
}

static void detach_cell(struct uccs_attached *table, int cell)
{
    const int number = range_of[cell];
    const bool first = number && (cell == 0 || range_of[cell - 1] != number);
    CHECK(uccs_attached_remove(table, private_memory + (size_t)cell * CELL) == (first ? UCCS_OK : UCCS_ERR_INVALID));
    for (int i = cell; first && i < CELLS && range_of[i] == number; i++)
        range_of[i] = 0;
}

static void attached_model(void)
{
    struct uccs_attached *table = uccs_attached_create();
    uint64_t seed = 3;
    CHECK(table && !(table->version & 1));
    compare(table, 0, 1);
    detach_cell(table, 5);
    for (int i = 1; i < 6000; i++) {
        const uint64_t random = next_random(&seed);
        const int cell = (int)(random % (CELLS - 4)), cells = 1 + (int)((random >> 20) % 3);
        if ((random >> 32) % 5 < (i < 3000 ? 3u : 2u))
            attach_cells(table, cell, cells, i);
        else
            detach_cell(table, cell);
        compare(table, (int)((random >> 40) % (CELLS - 8)), 1 + (int)((random >> 10) % 6));
        CHECK(!(table->version & 1));
    }
    for (int cell = 0; cell < CELLS; cell++)
        detach_cell(table, cell);
    uccs_attached_destroy(table);
}

static size_t found(const struct uccs_attached *table, const char *at, size_t bytes, struct uccs_attached_piece *piece)
{
    return uccs_attached_find(table, 0, (uintptr_t)at, bytes, piece) == UCCS_OK ? piece->bytes : 0;
}

/* Ranges of mapped memory and of other memory: an operation on both goes in two pieces. */
static void attached_kinds(void)
{
    char *heap = (char *)uccs_core.heap_start, *end = heap + uccs_core.heap_bytes, *at = private_memory;
    struct uccs_attached *table = uccs_attached_create();
    struct uccs_attached_piece piece;
    CHECK(uccs_attached_add(table, heap + 64, 64) == UCCS_OK && uccs_attached_add(table, heap + 128, 64) == UCCS_OK);
    CHECK(found(table, heap + 70, 200, &piece) == 122 && piece.near == heap + 70 && piece.mapped);
    CHECK(uccs_attached_add(table, end - 8, 9) == UCCS_ERR_INVALID &&
          uccs_attached_add(table, heap - 1, 2) == UCCS_ERR_INVALID);
    CHECK(uccs_attached_add(table, at, 128) == UCCS_OK && uccs_attached_add(table, at + 128, 64) == UCCS_OK);
    CHECK(uccs_attached_add(table, at + 320, 64) == UCCS_OK);
    CHECK(found(table, at + 320, 500, &piece) == 64 && !piece.mapped);
    CHECK(uccs_attached_covers(table, (uintptr_t)at, 192) && !uccs_attached_covers(table, (uintptr_t)at, 193));
    struct uccs_region *dynamic = uccs_region_describe_dynamic(table);
    const uint64_t id = uccs_region_id(dynamic->slot, dynamic->generation);
    char *where;
    CHECK(dynamic->dynamic && dynamic->length == 0 && dynamic->attached == table && dynamic->near == NULL);
    CHECK(uccs_region_check(dynamic, (uintptr_t)at, 192) == UCCS_OK &&
          uccs_region_check(dynamic, (uintptr_t)at, 193) == UCCS_ERR_BOUNDS);
    CHECK(uccs_region_check(dynamic, (uintptr_t)at, SIZE_MAX) == UCCS_ERR_BOUNDS);
    CHECK(uccs_region_find(id, (uintptr_t)at, 192, &where) == UCCS_OK && where == at);
    CHECK(uccs_region_find(id, (uintptr_t)at, 193, &where) == UCCS_ERR_STALE && !uccs_region_whole(id, &region_size));
    struct uccs_region_home home = uccs_region_home(id, at + 8, 500);
    CHECK(home.domain == UCCS_DOMAIN_LOCKED && home.address == (uintptr_t)at + 8 && home.bytes == 184);
    CHECK(uccs_region_locked(id, at + 320) && !uccs_region_locked(id, heap + 64) && uccs_region_locked(id, at + 200));
    CHECK(!uccs_region_end(dynamic->slot) && uccs_region_check(dynamic, (uintptr_t)at, 192) == UCCS_ERR_STALE);
    dynamic->attached = NULL; /* as of another node, whose owner looks */
    dynamic->generation = *dynamic->now;
    CHECK(uccs_region_check(dynamic, (uintptr_t)at, 193) == UCCS_OK);
    dynamic->dynamic = false;
    CHECK(uccs_region_check(dynamic, 1, 0) == UCCS_ERR_BOUNDS);
    free(dynamic);
    uccs_attached_destroy(table);
}

/* A reader that meets a change waits until it is over. */
static struct uccs_attached *changing;

static int end_change(void *calls)
{
    if (++*(int *)calls == 2)
        __atomic_store_n(&changing->version, changing->version + 1, __ATOMIC_RELEASE);
    return 0;
}

static void attached_meanwhile(void)
{
    int calls = 0;
    changing = uccs_attached_create();
    CHECK(uccs_attached_add(changing, private_memory, 64) == UCCS_OK);
    changing->version++;
    CHECK(uccs_poller_add(end_change, &calls) == UCCS_OK);
    CHECK(uccs_attached_covers(changing, (uintptr_t)private_memory, 64) && calls >= 2);
    CHECK(uccs_poller_remove(end_change, &calls) == UCCS_OK);
    uccs_attached_destroy(changing);
}

/* All memory of a table comes back, also of one far behind the region's start. */
static void attached_memory(size_t before)
{
    char *front = uccs_region_take(UCCS_ROOM_MEMORY, before);
    if (!front)
        return; /* of a machine with little memory */
    uint64_t places[2];
    for (int i = 0; i < 2; i++) {
        struct uccs_attached *table = uccs_attached_create();
        places[i] = (uint64_t)((char *)table - region) ^ table->ranges;
        for (int k = 0; k < 150; k++)
            CHECK(uccs_attached_add(table, private_memory + 2 * k * CELL, CELL) == UCCS_OK);
        uccs_attached_destroy(table);
    }
    CHECK(places[0] == places[1]);
    uccs_region_give(front);
}

#endif
