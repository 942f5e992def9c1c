/* Of moves.c: handles that are believed, ranges that can be attached, and calls without memory. */
#ifndef TESTS_TRUST_MOVES_HANDLES_H
#define TESTS_TRUST_MOVES_HANDLES_H

#include "moves_wrong.h"

static void wrong_handles(void)
{
    const uccs_memory_t own = kinds[MAPPED].memory;
    struct handle good, bad;
    size_t length = sizeof good - 1;
    uccs_memory_t made = NULL;
    struct uccs_memory_attr attr;
    CHECK(uccs_memory_export(own, &good, &length) == BAD && uccs_memory_export(NULL, &good, &length) == BAD);
    length = sizeof good;
    CHECK(uccs_memory_export(own, NULL, &length) == BAD && uccs_memory_export(own, &good, NULL) == BAD);
    CHECK(uccs_memory_export(own, &good, &length) == UCCS_OK && length == sizeof good && good.hash == hash_of(&good));
    CHECK(good.owner == 0 && good.length == SIZE && good.magic == HANDLE_MAGIC && good.slot == own->slot &&
          good.pid == getpid());
    CHECK(uccs_memory_import(NULL, &good, sizeof good, &made) == UCCS_OK && made->near == own->near &&
          made->length == SIZE);
    CHECK(!made->own && !made->allocated && uccs_memory_export(made, &bad, &length) == BAD);
    CHECK(uccs_memory_query(made, &attr) == UCCS_OK && attr.address == own->near && attr.length == SIZE &&
          attr.owner == 0);
    CHECK(attr.domain == UCCS_DOMAIN_CPU && uccs_memory_query(NULL, &attr) == BAD &&
          uccs_memory_query(made, NULL) == BAD);
    CHECK(uccs_memory_release(made) == UCCS_OK && uccs_memory_release(NULL) == BAD);
    CHECK(uccs_region_check(own, 0, SIZE) == UCCS_OK); /* only this process forgets it */
    CHECK(uccs_memory_import(NULL, NULL, sizeof good, &made) == BAD &&
          uccs_memory_import(NULL, &good, sizeof good, NULL) == BAD);
    CHECK(uccs_memory_import(NULL, &good, sizeof good - 1, &made) == UCCS_ERR_FORGED &&
          uccs_memory_import(NULL, &good, sizeof good + 1, &made) == UCCS_ERR_FORGED);
    for (size_t i = 0; i < sizeof good; i++) {
        bad = good;
        ((char *)&bad)[i] ^= 4;
        CHECK(uccs_memory_import(NULL, &bad, sizeof bad, &made) == UCCS_ERR_FORGED);
    }
    const struct {
        uint32_t slot, generation;
        int32_t owner;
        uint64_t more;
        int status;
    } cases[] = {{good.slot, good.generation, 0, 0, UCCS_OK},
                 {OWN_REGISTRATIONS, good.generation, 0, 0, UCCS_ERR_FORGED},
                 {UINT32_MAX, good.generation, 0, 0, UCCS_ERR_FORGED},
                 {good.slot, good.generation + 2, 0, 0, OLD},
                 {good.slot, good.generation, 2, 0, UCCS_ERR_UNREACHABLE},
                 {good.slot, good.generation, -1, 0, UCCS_ERR_UNREACHABLE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) { /* the job's, but not of what is there */
        bad = good;
        bad.slot = cases[i].slot;
        bad.generation = cases[i].generation;
        bad.owner = cases[i].owner;
        bad.hash = hash_of(&bad);
        CHECK(uccs_memory_import(NULL, &bad, sizeof bad, &made) == cases[i].status);
        CHECK(cases[i].status != UCCS_OK || uccs_memory_release(made) == UCCS_OK);
    }
    bad = good;
    bad.magic++;
    bad.hash = hash_of(&bad);
    CHECK(uccs_memory_import(NULL, &bad, sizeof bad, &made) == UCCS_ERR_FORGED);
    for (int kind = PRIVATE; kind <= ATTACHED; kind += ATTACHED - PRIVATE) { /* what a handle leads to */
        length = sizeof good;
        CHECK(uccs_memory_export(kinds[kind].memory, &good, &length) == UCCS_OK &&
              uccs_memory_import(NULL, &good, length, &made) == UCCS_OK);
        CHECK(made->near == kinds[kind].memory->near && made->attached == kinds[kind].memory->attached);
        CHECK(made->address == kinds[kind].memory->address && made->domain == UCCS_DOMAIN_LOCKED);
        CHECK(made->dynamic == (kind == ATTACHED) && uccs_memory_release(made) == UCCS_OK);
    }
}

/* Memory of another node: its owner is asked once, and tells of the end. */
static void far_handles(void)
{
    struct handle far;
    size_t length = sizeof far;
    uccs_memory_t one = NULL, other = NULL;
    CHECK(uccs_memory_export(kinds[MAPPED].memory, &far, &length) == UCCS_OK);
    far.owner = 2;
    far.hash = hash_of(&far);
    const uint64_t id = uccs_region_id(far.slot, far.generation);
    uccs_core.npes = 3; /* there is one that shares no memory */
    released_there = true;
    CHECK(uccs_memory_import(NULL, &far, length, &one) == OLD && !one && imports == 1 && imported == id);
    released_there = false;
    CHECK(uccs_memory_import(NULL, &far, length, &one) == UCCS_OK && imports == 2 && !one->near && !one->own);
    CHECK(one->now == &one->heard && one->owner == 2 && one->length == SIZE &&
          uccs_region_check(one, 0, SIZE) == UCCS_OK);
    CHECK(uccs_memory_import(NULL, &far, length, &other) == UCCS_OK && imports == 2);
    CHECK(uccs_memory_release(other) == UCCS_OK);
    uccs_region_gone(2, id);
    CHECK(uccs_region_check(one, 0, SIZE) == OLD && uccs_memory_import(NULL, &far, length, &other) == UCCS_OK &&
          imports == 3);
    CHECK(uccs_memory_release(one) == UCCS_OK && uccs_memory_release(other) == UCCS_OK);
    CHECK(uccs_memory_allocate(NULL, 8, &one) == UCCS_OK);
    const uint64_t own = uccs_region_id(one->slot, one->generation);
    CHECK(uccs_region_imported(own, 2) && uccs_memory_release(one) == UCCS_OK && told_gone == own && told_whom == 4);
    told_gone = 0;
    CHECK(uccs_memory_allocate(NULL, 8, &one) == UCCS_OK);
    const void *place = one->near;
    CHECK(uccs_memory_release(one) == UCCS_OK && told_gone == 0);
    CHECK(uccs_memory_allocate(NULL, 8, &one) == UCCS_OK && one->near == place); /* the memory came back */
    CHECK(uccs_memory_release(one) == UCCS_OK);
    far.segment = DYNAMIC;
    far.hash = hash_of(&far);
    CHECK(uccs_memory_import(NULL, &far, length, &one) == UCCS_OK && one->dynamic && !one->attached);
    CHECK(uccs_memory_release(one) == UCCS_OK);
    uccs_core.npes = 2;
}

static void wrong_ranges(void)
{
    static char bytes[64];
    uccs_memory_t made = NULL, dynamic = kinds[ATTACHED].memory, mapped_memory = kinds[MAPPED].memory;
    struct uccs_region lent = *dynamic;
    char *at = malloc(64);
    struct uccs_view view;
    CHECK(uccs_memory_register(NULL, NULL, 8, &made) == BAD && uccs_memory_register(NULL, at, 0, &made) == BAD);
    CHECK(uccs_memory_register(NULL, at, 8, NULL) == BAD && uccs_memory_register(NULL, at, SIZE_MAX, &made) == BAD);
    CHECK(uccs_memory_allocate(NULL, 0, &made) == BAD && uccs_memory_allocate(NULL, 8, NULL) == BAD);
    CHECK(uccs_memory_allocate(NULL, (size_t)1 << 50, &made) == UCCS_ERR_NO_MEMORY &&
          uccs_memory_dynamic(NULL, NULL) == BAD);
    lent.own = false;
    CHECK(uccs_memory_attach(dynamic, at, 64) == UCCS_OK);
    CHECK(uccs_memory_view(dynamic, (uintptr_t)at + 63, &view) == UCCS_OK && view.domain == UCCS_DOMAIN_LOCKED &&
          view.length == 64);
    CHECK(uccs_memory_view(dynamic, (uintptr_t)at + 63, NULL) == BAD &&
          uccs_memory_view(NULL, (uintptr_t)at, &view) == BAD);
    CHECK(uccs_memory_view(mapped_memory, 0, &view) == BAD);
    lent.generation += 2;
    CHECK(uccs_memory_view(&lent, (uintptr_t)at, &view) == OLD);
    CHECK(uccs_memory_detach(dynamic, at + 1) == BAD && uccs_memory_detach(&lent, at) == BAD &&
          uccs_memory_detach(NULL, at) == BAD);
    CHECK(uccs_memory_detach(dynamic, at) == UCCS_OK && uccs_memory_detach(dynamic, at) == BAD);
    CHECK(uccs_memory_view(dynamic, (uintptr_t)at, &view) == OUT);
    CHECK(uccs_memory_attach(dynamic, NULL, 8) == BAD && uccs_memory_attach(dynamic, at, 0) == BAD &&
          uccs_memory_attach(NULL, at, 8) == BAD);
    CHECK(uccs_memory_attach(dynamic, at, SIZE_MAX) == BAD && uccs_memory_attach(mapped_memory, at, 8) == BAD &&
          uccs_memory_attach(&lent, at, 8) == BAD);
    CHECK(uccs_memory_register(NULL, bytes, 64, &made) == UCCS_OK && uccs_memory_release(made) == UCCS_OK);
    free(at);
}

/* --- Without memory the call has no effect, and nothing is lost */

static void without_memory(void)
{
    struct target *kind = &kinds[MAPPED];
    struct uccs_queue *queue = uccs_queue_make();
    struct uccs_entry entry;
    uccs_request_t request = NULL;
    uccs_memory_t made = NULL;
    const struct uccs_op follow = {.complete = (uccs_completion)(void *)abort, .queue = queue};
    begin_with(kind, 3);
    int was = blocks;
    fails_at = 1;
    CHECK(uccs_put(self, kind->memory, 0, local, 8, &follow) == UCCS_ERR_NO_MEMORY && blocks == was && is_model(kind));
    CHECK(uccs_put(self, kind->memory, SIZE, local, 8, &follow) == OUT && blocks == was);
    struct uccs_region far = *kinds[BY_KERNEL].memory; /* a move that fails when it has begun */
    far.address += (uintptr_t)1 << 46;
    use(BY_KERNEL);
    CHECK(uccs_put(self, &far, 0, local, 8, &follow) == OUT && blocks == was && uccs_look() == 0);
    CHECK(uccs_queue_take(queue, &entry, 1) == 0);
    uccs_queue_abandon(queue);
    char *next = uccs_region_take(UCCS_ROOM_MEMORY, 640);
    uccs_region_give(next);
    no_slot = true;
    CHECK(uccs_memory_allocate(NULL, 640, &made) == UCCS_ERR_NO_MEMORY &&
          uccs_memory_register(NULL, local, 8, &made) == UCCS_ERR_NO_MEMORY);
    no_slot = false;
    CHECK(uccs_region_take(UCCS_ROOM_MEMORY, 640) == next && !made);
    uccs_region_give(next);
    struct handle handle;
    size_t length = sizeof handle;
    was = blocks;
    CHECK(uccs_memory_export(kind->memory, &handle, &length) == UCCS_OK);
    fails_at = 1;
    CHECK(uccs_memory_import(NULL, &handle, length, &made) == UCCS_ERR_NO_MEMORY && !made && blocks == was);
    CHECK(!request);
}

#endif
