/* What options.c and its part share: the made-up neighbours of op.c and near.c. The node has PEs 0 to 3; PE 9 is on another one. */
#ifndef TESTS_PARTS_OPTIONS_WORLD_H
#define TESTS_PARTS_OPTIONS_WORLD_H

#include "parts/owned.h"

#include "uccs/core/fence.h"
#include "uccs/core/reach.h"
#include "uccs/object/counter.h"
#include "uccs/object/queue.h"
#include "uccs/rma/inner.h"

struct uccs_core uccs_core = {.pes = 4, .me = 1, .npes = 12};
static struct uccs_reach reaches[12];
struct uccs_reach *uccs_reach;

static uint32_t generation = 3;
static char bytes[256];
static struct uccs_region memory, word_memory;
static struct uccs_endpoint there;

static char calls[64];   /* what was called, in its order; the functions below name their letters */
static int statuses[64]; /* what the calls of that place return */
static size_t parts[64]; /* the offsets of the calls of that place */
static bool nowaits[64];
static bool usable, arrives, kernel_reaches;
static uccs_counter counted;
static int64_t counted_weight;
static struct uccs_atomic_op applied;
static uint64_t applied_at;
static const struct uccs_rma_later *last_later;
static struct uccs_rma_later later_then;
static struct uccs_request objects[4]; /* of requests */
static int used_objects, no_object;    /* which fails; 0: none */
static char *reached;
static uint64_t reached_address;
static size_t reached_length;
static int reached_pe;
static const struct uccs_region *memory_then;
static bool atomic_there;
static uint64_t atomic_address;
static bool no_entry;
static uccs_counter usable_asked;

static int note(char call, size_t offset, const struct uccs_rma_later *later)
{
    const size_t at = strlen(calls);
    CHECK(at + 1 < sizeof calls);
    calls[at] = call;
    parts[at] = offset;
    nowaits[at] = later && later->nowait;
    last_later = later;
    if (later)
        later_then = *later;
    return statuses[at];
}

int uccs_region_outside(const struct uccs_region *region, uint64_t offset, size_t length)
{
    (void)length;
    return region->dynamic && offset % 100 < 50 ? UCCS_OK : UCCS_ERR_BOUNDS; /* ranges with gaps between them */
}

uint32_t uccs_index_in_table(int pe)
{
    return (uint32_t)pe;
}

bool uccs_counter_usable(uccs_counter counter, int pe)
{
    CHECK(pe == there.pe);
    usable_asked = counter;
    return usable;
}

static bool test_arrive(uccs_counter counter, int64_t weight, int pe)
{
    CHECK(pe == there.pe);
    counted = counter;
    counted_weight = weight;
    note('c', 0, NULL);
    return arrives;
}

bool uccs_counter_late(uccs_counter counter, int pe)
{
    CHECK(pe == there.pe && counter == counted);
    note('L', 0, NULL);
    return true;
}

void uccs_deferred_wait_mine(const struct uccs_stream *stream)
{
    CHECK(stream == there.stream);
    note('w', 0, NULL);
}

static void test_quiet(void)
{
    note('q', 0, NULL);
}

static void test_fence(void)
{
    note('f', 0, NULL);
}

int uccs_rma_apply(struct uccs_stream *stream, const struct uccs_atomic_op *atomic, const struct uccs_region *region,
                   size_t offset, uint64_t *old)
{
    CHECK(stream == there.stream);
    applied = *atomic;
    applied_at = region->address + offset;
    *old = UINT64_C(0x500000006);
    return note('a', offset, NULL);
}

int uccs_rma_change(struct uccs_stream *stream, const struct uccs_change *change, const struct uccs_region *region,
                    size_t offset, const void *operand, void *result)
{
    CHECK(stream == there.stream && change && region && (operand || result));
    return note('A', offset, NULL);
}

int uccs_dynamic_put(struct uccs_stream *stream, const struct uccs_region *region, size_t offset, const char *source,
                     size_t length)
{
    CHECK(stream == there.stream && region->dynamic && source && length);
    return note('d', offset, NULL);
}

int uccs_dynamic_get(struct uccs_stream *stream, const struct uccs_region *region, size_t offset, char *dest,
                     size_t length)
{
    CHECK(stream == there.stream && region->dynamic && dest && length);
    return note('D', offset, NULL);
}

bool uccs_kernel_reaches(const struct uccs_region *region)
{
    CHECK(!region->near && !region->dynamic);
    return kernel_reaches;
}

int uccs_kernel_put(const struct uccs_region *region, size_t offset, const void *source, size_t length)
{
    CHECK(region == &memory && source && length);
    return note('k', offset, NULL);
}

int uccs_kernel_get(const struct uccs_region *region, size_t offset, void *dest, size_t length)
{
    CHECK(region == &memory && dest && length);
    return note('K', offset, NULL);
}

int uccs_remote_put(struct uccs_stream *stream, const struct uccs_region *region, size_t offset, const void *source,
                    size_t length, const struct uccs_rma_later *later)
{
    CHECK(stream == there.stream && region == &memory && source && length);
    return note('r', offset, later);
}

int uccs_remote_get(struct uccs_stream *stream, const struct uccs_region *region, size_t offset, void *dest,
                    size_t length, const struct uccs_rma_later *later)
{
    CHECK(stream == there.stream && region == &memory && dest && length);
    return note('R', offset, later);
}

int uccs_remote_atomic(struct uccs_stream *stream, const struct uccs_region *region, size_t offset,
                       const struct uccs_atomic_op *atomic, void *result, const struct uccs_rma_later *later)
{
    (void)result;
    CHECK(stream == there.stream && region == &memory && atomic);
    return note('x', offset, later);
}

int uccs_remote_change(struct uccs_stream *stream, const struct uccs_region *region, size_t offset,
                       const struct uccs_change *change, const void *operand, void *result,
                       const struct uccs_rma_later *later)
{
    (void)operand, (void)result;
    CHECK(stream == there.stream && region == &memory && change);
    return note('X', offset, later);
}

int uccs_rma_far(struct uccs_rma *rma)
{
    memory_then = rma->memory;
    return note('F', rma->offset, NULL);
}

static char *test_reached(uint64_t address, size_t length, int pe)
{
    reached_address = address;
    reached_length = length;
    reached_pe = pe;
    return reached;
}

size_t uccs_type_size(enum uccs_type type)
{
    CHECK(type == UCCS_INT32);
    return 4;
}

bool uccs_change_atomic(const struct uccs_change *change, enum uccs_domain domain, uint64_t address)
{
    CHECK(change && domain == UCCS_DOMAIN_CPU);
    atomic_address = address;
    return atomic_there;
}

struct uccs_request *uccs_request_materialise(uccs_request_handle *handle)
{
    if (no_object && --no_object == 0)
        return NULL;
    if (!uccs_request_object(*handle)) {
        CHECK(used_objects < 4);
        objects[used_objects] = (struct uccs_request){.pending = 1, .sources = 1};
        *handle = &objects[used_objects++];
    }
    return *handle;
}

void uccs_request_free(uccs_request_handle *handle)
{
    struct uccs_request *request = *handle;
    note('-', 0, NULL);
    *handle = NULL;
    if (request->then)
        request->then(request->argument, request->error != 0);
}

static struct uccs_queue *const queue = (struct uccs_queue *)0x7000;
static struct uccs_queue_entry *const entry = (struct uccs_queue_entry *)0x8000;
static void *const tag = &memory;

struct uccs_queue_entry *uccs_queue_expect(struct uccs_queue *on, void *with)
{
    CHECK(on == queue && with == tag);
    if (no_entry)
        return NULL;
    note('e', 0, NULL);
    return entry;
}

void uccs_queue_push(struct uccs_queue_entry *what, int status)
{
    CHECK(what == entry);
    note(status == UCCS_OK ? '+' : '!', 0, NULL);
}

void uccs_queue_forget(struct uccs_queue_entry *what)
{
    CHECK(what == entry);
    note('0', 0, NULL);
}

#define uccs_quiet test_quiet
#define uccs_fence_stores test_fence
#define uccs_counter_arrive test_arrive
#define uccs_reached_region test_reached
#include "uccs/rma/near.c"
#define move move_checked
#define start start_checked
#define apply apply_checked
#include "uccs/rma/op.c"

static void begin(void)
{
    memset(calls, 0, sizeof calls);
    memset(statuses, 0, sizeof statuses);
    memory = (struct uccs_region){.near = bytes,
                                  .address = 0x10000,
                                  .length = 200,
                                  .owner = 2,
                                  .generation = 3,
                                  .now = &generation,
                                  .domain = UCCS_DOMAIN_CPU};
    word_memory = memory;
    there = (struct uccs_endpoint){.pe = 2, .stream = (struct uccs_stream *)0x3000};
    usable = arrives = true;
    kernel_reaches = no_entry = false;
    counted_weight = used_objects = no_object = 0;
    reached = NULL;
    uccs_reach = NULL;
}

/* Was this called, in this order? Forgets it. */
static bool called(const char *wanted)
{
    const bool same = strcmp(calls, wanted) == 0;
    if (!same)
        fprintf(stderr, "calls: %s\n", calls);
    memset(calls, 0, sizeof calls);
    return same;
}

static struct uccs_rma operation(enum uccs_rma_kind kind, const struct uccs_op *op)
{
    static char local[256];
    return (struct uccs_rma){.kind = kind,
                             .endpoint = &there,
                             .memory = &memory,
                             .offset = 16,
                             .local = local,
                             .length = 8,
                             .op = op};
}

#endif
