/* What moves.c and its parts share: one PE's memory of every kind, to which it reaches itself: mapped, private, by the kernel's copy, by
 * messages to the owner, and attached ranges. */
#ifndef TESTS_TRUST_MOVES_WORLD_H
#define TESTS_TRUST_MOVES_WORLD_H

#include "uccs/core/look.h"
#include "uccs/core/own.h"
#include "uccs/core/poller.h"
#include "uccs/object/attach.h"
#include "uccs/object/counter.h"
#include "uccs/object/queue.h"
#include "uccs/object/ticket.h"

#include "parts/pair.h"

#include <stdbool.h>

static int blocks, fails_at; /* memory that op.c and memory.c have; the allocation that fails, counted down */
static bool no_slot;         /* registrations fail */

static inline void *get_memory(size_t bytes)
{
    if (fails_at && --fails_at == 0)
        return NULL;
    blocks++;
    return malloc(bytes);
}

static inline void put_memory(void *block)
{
    blocks -= block != NULL;
    free(block);
}

#include "uccs/rma/inner.h"

static inline struct uccs_region *describe_or_not(void *near, size_t length, enum uccs_domain domain)
{
    return no_slot ? NULL : uccs_region_describe(near, length, domain);
}

static uint64_t imported; /* what the owner on another node has been asked for last */
static int imports;       /* how often */
static bool released_there;

static inline bool import_there(int pe, uint64_t region)
{
    CHECK(pe == 2);
    imported = region;
    imports++;
    return !released_there;
}

static uint64_t told_gone; /* the registration whose importers have been told of its end */
static uint64_t told_whom;

static inline void gone_there(uint64_t region, const uint64_t *importers)
{
    told_gone = region;
    told_whom = importers[0];
}

#include "uccs/object/kernel.c"
#include "uccs/rma/remote.c"
#define malloc get_memory
#define free put_memory
#include "uccs/rma/op.c"
#define uccs_region_describe describe_or_not
#define uccs_far_import import_there
#define uccs_far_memory_gone gone_there
#include "uccs/rma/memory.c"
#undef malloc
#undef free
#undef uccs_region_describe

enum { SIZE = 200000, KINDS = 5, MAPPED = 0, PRIVATE, BY_KERNEL, BY_OWNER, ATTACHED };

/* A kind of memory: its object, and the bytes themselves. */
static struct target {
    uccs_memory_t memory;
    char *bytes;
    size_t base; /* the offset of the first byte */
} kinds[KINDS];

static uccs_context_t context;
static uccs_endpoint_t self, ordered_self; /* lead to this PE */
static char model[SIZE], local[SIZE + 64];

/* The kernel's copy works or not, as the kind wants. */
static inline void use(int kind)
{
    peers[0] = kind == BY_OWNER ? REFUSED : WORKS;
}

static inline void fill(void *bytes, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++)
        ((char *)bytes)[i] = (char)next_random(&seed);
}

/* Gives the memory and the model of it the same bytes. */
static inline void begin_with(struct target *kind, uint64_t seed)
{
    fill(model, SIZE, seed);
    memcpy(kind->bytes, model, SIZE);
}

static inline bool no_locks(void)
{
    for (int i = 0; i < OWN_STRIPES; i++)
        if (uccs_own_mine()->stripes[i].lock)
            return false;
    return true;
}

static inline bool is_model(const struct target *kind)
{
    return memcmp(kind->bytes, model, SIZE) == 0 && no_locks();
}

static inline void make_kinds(void)
{
    char *pages = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && uccs_memory_allocate(NULL, SIZE, &kinds[MAPPED].memory) == UCCS_OK);
    kinds[MAPPED].bytes = kinds[MAPPED].memory->near;
    uccs_memory_t again;
    CHECK(uccs_memory_register(NULL, kinds[MAPPED].bytes, 8, &again) == UCCS_OK &&
          uccs_memory_release(again) == UCCS_OK);
    CHECK(uccs_own_mine()->word == 0); /* nobody needs the kernel's copy so far */
    for (int kind = PRIVATE; kind <= BY_OWNER; kind++) {
        kinds[kind].bytes = pages;
        CHECK(uccs_memory_register(NULL, pages, SIZE, &kinds[kind].memory) == UCCS_OK);
        CHECK(kinds[kind].memory->domain == UCCS_DOMAIN_LOCKED && uccs_own_mine()->word);
    }
    kinds[BY_KERNEL].memory->near = kinds[BY_OWNER].memory->near = NULL; /* as for a peer */
    kinds[ATTACHED].bytes = pages + SIZE;
    kinds[ATTACHED].base = (uintptr_t)pages + SIZE;
    CHECK(uccs_memory_dynamic(NULL, &kinds[ATTACHED].memory) == UCCS_OK);
    for (size_t at = 0; at < SIZE; at += 50000) /* ranges that follow each other */
        CHECK(uccs_memory_attach(kinds[ATTACHED].memory, pages + SIZE + at, 50000) == UCCS_OK);
}

static inline void moves_start(void)
{
    const struct uccs_stream_attr attr = {.ordered = 1};
    uccs_stream_t stream;
    setenv("LATERAL_MEMORY", "4m", 1);
    pair_start();
    CHECK(uccs_context_create(NULL, &context) == UCCS_OK);
    CHECK(uccs_endpoint_create(context, UCCS_GROUP_WORLD, 0, &self) == UCCS_OK);
    CHECK(uccs_stream_create(context, &attr, &stream) == UCCS_OK);
    CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, 0, &ordered_self) == UCCS_OK && ordered_self->ordered);
    make_kinds();
}

static inline void moves_end(void)
{
    kinds[BY_KERNEL].memory->near = kinds[BY_OWNER].memory->near = kinds[PRIVATE].memory->near;
    for (int kind = 0; kind < KINDS; kind++)
        CHECK(uccs_memory_release(kinds[kind].memory) == UCCS_OK);
}

#endif
