/* The far layer as the slow halves of one-sided operations see it: each call of it is noted as a line of text. A job of four PEs: this
 * one, PE 0, and PE 1 share memory, PE 2 is reached by messages, and the network maps the memory of PE 3. */
#ifndef TESTS_TRUST_HALVES_H
#define TESTS_TRUST_HALVES_H

#include "noted.h"
#include "refused.h"

#include "shmem/amo.h"
#include "shmem/counter.h"
#include "shmem/place.h"
#include "uccs/core/miss.h"
#include "uccs/core/reach.h"

enum { NPES = 4, NEAR = 2, FAR = 2, REACHED = 3, BYTES = 8192, OLD = 4711 };

static _Alignas(64) char heap[NEAR][BYTES], reached[BYTES]; /* of PEs 0 and 1, and of PE 3 as it is mapped here */
static _Alignas(64) char adapters[64];                      /* of PE 0: memory whose atomics the adapter does */
__attribute__((unused)) static char elsewhere[64];
static struct uccs_reach reaches[NPES];
static int misses;

/* Returns the PE's copy of heap[0] as this process sees it; of the far one that is nothing that anybody else writes to. */
static inline char *memory_of(int pe)
{
    static char unseen[BYTES];
    return pe < NEAR ? heap[pe] : pe == REACHED ? reached : unseen;
}

static inline struct uccs_far_place place_stub(const void *addr)
{
    const char *at = addr;
    if (at >= adapters && at < adapters + sizeof adapters)
        return (struct uccs_far_place){.segment = FAR_HEAP, .offset = BYTES + (uint64_t)(at - adapters)};
    const bool in = at >= heap[0] && at < heap[0] + BYTES;
    return (struct uccs_far_place){.segment = in ? FAR_HEAP : FAR_NOWHERE, .offset = in ? (uint64_t)(at - heap[0]) : 0};
}

static inline void *resolve_stub(const void *addr, int pe)
{
    const struct uccs_far_place place = place_stub(addr);
    return pe < 0 || pe >= NEAR || place.segment == FAR_NOWHERE || place.offset >= BYTES ? 0 : heap[pe] + place.offset;
}

static inline enum uccs_segment find_stub(const void *addr, size_t *offset)
{
    const struct uccs_far_place place = place_stub(addr);
    *offset = place.offset;
    return place.segment == FAR_NOWHERE ? UCCS_NOWHERE : UCCS_HEAP;
}

static inline bool adapters_stub(const void *addr)
{
    return (const char *)addr >= adapters && (const char *)addr < adapters + sizeof adapters;
}

static inline void note_call(const char *name, const struct uccs_far_lanes *on, int pe, struct uccs_far_place at)
{
    note("%s%s to %d at %d+%d", name, on ? " on lanes" : "", pe, (int)at.segment, (int)at.offset);
}

static inline void note_with(const struct uccs_far_with *with, const void *req)
{
    static const char *const names[] = {[FAR_COUNT] = "count", [FAR_SIGNAL_SET] = "set", [FAR_SIGNAL_ADD] = "add"};
    if (with)
        note(" with %s %llu weight %d at %d", names[with->what], (unsigned long long)with->value, (int)with->weight,
             (int)with->place.offset);
    note("%s; ", req ? " req" : "");
}

static inline void stub_put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                            size_t bytes, const struct uccs_far_with *with, uccs_request_handle *request)
{
    note_call("put", on, pe, to);
    note(" %zu of %d", bytes, bytes ? *(const signed char *)source : -1);
    note_with(with, request);
}

static inline void stub_put_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                               size_t bytes, const struct uccs_far_with *with, uccs_request_handle *request)
{
    note("nb ");
    stub_put(on, pe, to, source, bytes, with, request);
}

static inline bool stub_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                            uccs_counter counter)
{
    note_call("get", on, pe, from);
    note(" %zu counter %llx; ", bytes, (unsigned long long)counter);
    if (bytes)
        memset(dest, 'g', bytes);
    return true;
}

static inline void stub_get_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                               uccs_counter counter, uccs_request_handle *request)
{
    note("nb%s ", request ? " req" : "");
    stub_get(on, pe, from, dest, bytes, counter);
}

static inline void note_blocks(const struct uccs_far_blocks *blocks)
{
    note(" %zux%zu there %d here %d", blocks->count, blocks->block, (int)blocks->there, (int)blocks->here);
}

static inline void stub_put_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                                   const struct uccs_far_blocks *blocks, bool later, const struct uccs_far_with *with,
                                   uccs_request_handle *request)
{
    note_call("put", on, pe, to);
    note_blocks(blocks);
    note("%s of %d", later ? " later" : "", *(const char *)source);
    note_with(with, request);
}

static inline bool stub_get_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                                   const struct uccs_far_blocks *blocks)
{
    note_call("get", on, pe, from);
    note_blocks(blocks);
    note("; ");
    *(char *)dest = 'b';
    return true;
}

static inline void stub_get_blocks_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                                      const struct uccs_far_blocks *blocks, uccs_request_handle *request)
{
    note("nb%s ", request ? " req" : "");
    stub_get_blocks(on, pe, from, dest, blocks);
}

static inline uint64_t stub_amo(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at,
                                size_t size, uint64_t value, uint64_t cond)
{
    note_call("amo", on, pe, at);
    note(" op %d size %zu %llu if %llu; ", (int)op, size, (unsigned long long)value, (unsigned long long)cond);
    return OLD;
}

static inline void stub_amo_nb(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at,
                               size_t size, uint64_t value, uint64_t cond, void *fetch, uccs_request_handle *request)
{
    note("nb%s ", request ? " req" : "");
    uccs_far_give(fetch, size, stub_amo(on, pe, op, at, size, value, cond));
}

static inline void stub_amo_post(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at,
                                 size_t size, uint64_t value, uint64_t cond, bool later,
                                 const struct uccs_far_with *with, uccs_request_handle *request)
{
    CHECK(!later && !with);
    note("post%s ", request ? " req" : "");
    stub_amo(on, pe, op, at, size, value, cond);
}

static inline uint64_t stub_adapter_fetch(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op,
                                          struct uccs_far_place at)
{
    note("adapter ");
    return stub_amo(on, pe, op->what, at, op->size, op->operand, op->compare);
}

static inline void stub_adapter_fetch_nb(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op,
                                         struct uccs_far_place at, void *fetch, uccs_request_handle *request)
{
    note("nb%s ", request ? " req" : "");
    uccs_far_give(fetch, op->size, stub_adapter_fetch(on, pe, op, at));
}

static inline void stub_adapter_post(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op,
                                     struct uccs_far_place at, bool behind, uccs_request_handle *request)
{
    note("post%s%s ", behind ? " behind" : "", request ? " req" : "");
    stub_adapter_fetch(on, pe, op, at);
}

static inline void stub_count(struct uccs_far_lanes *on, int pe, uccs_counter counter, int64_t weight)
{
    note("count%s to %d ct %llx by %d; ", on ? " on lanes" : "", pe, (unsigned long long)counter, (int)weight);
}

static inline void stub_fence(struct uccs_far_lanes *on)
{
    note("fence%s; ", on ? " on lanes" : "");
}

static inline void stub_missed(void)
{
    misses++;
}

#define uccs_memory_find(addr, offset) find_stub(addr, offset)
#define uccs_memory_resolve(addr, pe) resolve_stub(addr, pe)
#define uccs_memory_of_adapter(addr) adapters_stub(addr)
#define uccs_memory_why_private() ((const char *)0)
#define uccs_far_place(addr) place_stub(addr)
#define uccs_far_same_image(pe) true
#define uccs_far_put stub_put
#define uccs_far_put_nb stub_put_nb
#define uccs_far_get stub_get
#define uccs_far_get_nb stub_get_nb
#define uccs_far_put_blocks stub_put_blocks
#define uccs_far_get_blocks stub_get_blocks
#define uccs_far_get_blocks_nb stub_get_blocks_nb
#define uccs_far_amo stub_amo
#define uccs_far_amo_nb stub_amo_nb
#define uccs_far_amo_post stub_amo_post
#define uccs_far_adapter_fetch stub_adapter_fetch
#define uccs_far_adapter_fetch_nb stub_adapter_fetch_nb
#define uccs_far_adapter_post stub_adapter_post
#define uccs_far_count stub_count
#define uccs_far_fence stub_fence
#define uccs_missed stub_missed

static inline void halves_start(void)
{
    uccs_core = (struct uccs_core){.npes = NPES,
                                   .pes = NEAR,
                                   .size = NEAR,
                                   .heap_start = (uintptr_t)heap[0],
                                   .heap_peers = (uintptr_t)heap[0],
                                   .heap_stride = BYTES,
                                   .heap_bytes = BYTES};
    uccs_reach = reaches;
    reaches[REACHED].heap = (uintptr_t)reached;
    lat_state = LAT_RUNNING;
}

#endif
