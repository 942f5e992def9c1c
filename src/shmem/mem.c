/* The symmetric heap: collective calls over a deterministic allocator (src/base/heap.h).
 *
 * Every PE makes the same calls in the same order (the standard's rule), so every PE gets the same
 * offset without a word between them; the barriers are the standard's: when an allocation
 * returns, the block exists at every PE; a release begins when no PE uses the block any more.
 *
 * The hint for remote atomics asks for memory whose atomics the network's adapter does (proto/direct.c). It lies in a part of the
 * heap of its own, with books of its own. Where one PE has no such adapter, or the part is full, memory is the processor's, as
 * without the hint: the domain is fixed here, alike at all PEs. */

#include "base/heap.h"
#include "base/log.h"
#include "base/poison.h"
#include "shmem/calls.h"
#include "shmem/check.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/core/memory.h"
#include "uccs/proto/initiator.h"
#include "uccs/team/team.h"

#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

/* The heap proper, and the adapter's part; the books count offsets from its start. */
enum { PROPER, ADAPTERS, PARTS };
static struct part {
    struct heap *books; /* null: there is no such part */
    size_t start;       /* its offset */
    bool agreed, works; /* of the adapter's: all PEs have said whether they have one; all have */
} parts[PARTS];
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

static char *heap_base(void)
{
    return (char *)uccs_core.heap_start;
}

/* --- The gaps of the heap, as the address sanitizer or valgrind knows them: bytes that belong to no block must not be used. All of this
 * does nothing unless the program runs under one of them. The gap behind the highest block is known for GUARD_AHEAD bytes alone, and
 * nothing beyond the first GUARD_MOST of the heap: sanitizers touch memory for all that they know. Under heap_lock. */

#define GUARD_MOST ((size_t)1 << 30)
#define GUARD_AHEAD ((size_t)1 << 20)

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

static void guard_open(char *heap, size_t bytes)
{
    guarded = poison_heard() ? heap : 0;
    heap_end = bytes < GUARD_MOST ? bytes : GUARD_MOST;
    guarded_end = 0;
    if (guarded)
        forbid_until(GUARD_AHEAD);
}

static void guard_close(void)
{
    if (guarded)
        poison_allow(guarded, guarded_end);
    guarded = 0;
}

/* A block at this offset belongs to the program from now on, or does not any more. */
static void guard_given(size_t offset, size_t bytes)
{
    if (!guarded)
        return;
    forbid_until(offset + bytes + GUARD_AHEAD);
    poison_allow(guarded + offset, below_end(offset, bytes));
}

static void guard_taken(size_t offset, size_t bytes)
{
    if (guarded)
        poison_forbid(guarded + offset, below_end(offset, bytes));
}

/* --- Life, and blocks */

int lat_mem_open(void)
{
    const size_t bytes = uccs_core.heap_bytes, more = uccs_core.adapter_bytes;
    parts[ADAPTERS].start = uccs_core.adapter_at;
    parts[PROPER].books = heap_create(bytes);
    parts[ADAPTERS].books = more ? heap_create(more) : 0;
    if (!parts[PROPER].books || (more && !parts[ADAPTERS].books)) {
        log_line("no memory is left for the books of the symmetric heap");
        return -1;
    }
    guard_open(heap_base(), bytes);
    return 0;
}

void lat_mem_close(void)
{
    guard_close();
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].books)
            heap_destroy(parts[i].books);
        parts[i] = (struct part){0};
    }
}

/* What the program has asked the checking layer for, which asks for more; null: there is no such layer at work. */
static _Thread_local const char *checked_call;
static _Thread_local size_t checked_bytes;

void lat_check_allocates(const char *call, size_t bytes)
{
    checked_call = call;
    checked_bytes = bytes;
}

/* Prints one line per job, from PE 0: programs that check for null need no more than a hint. */
static void tell_no_room(const char *call, size_t size, int status)
{
    static int told;
    struct heap_stats stats;
    if (checked_call) {
        call = checked_call;
        size = checked_bytes;
    }
    if (!*call)
        return;
    if (told++ || uccs_core.me != 0)
        return;
    heap_stats(parts[PROPER].books, &stats);
    log_mistake("%s: %zu bytes: %s (%zu of %zu bytes in use); a larger SHMEM_SYMMETRIC_SIZE makes room", call, size,
                heap_reason(status), stats.used, stats.size);
}

/* Notes a block that the books have given. */
static void note_given(const struct part *part, size_t offset, size_t size)
{
    uccs_memory_used(part->start + offset + size);
    if (part == &parts[PROPER])
        guard_given(offset, size);
}

static void *allocate_block(const char *call, size_t alignment, size_t size)
{
    size_t offset;
    pthread_mutex_lock(&heap_lock);
    int status = heap_alloc(parts[PROPER].books, size, alignment, &offset);
    if (status)
        tell_no_room(call, size, status);
    else
        note_given(&parts[PROPER], offset, size);
    pthread_mutex_unlock(&heap_lock);
    return status ? 0 : heap_base() + offset;
}

/* Alignments beyond the stride of the PEs' heaps would not hold at every PE. Those below the size of a
 * pointer the standard leaves open: every block meets them, and programs that other libraries run use them. */
static bool holds_everywhere(size_t alignment)
{
    return (alignment & (alignment - 1)) == 0 && alignment &&
           (uccs_core.heap_start | uccs_core.heap_stride) % alignment == 0;
}

void *lat_malloc(size_t size)
{
    if (size == 0)
        return 0;
    void *block = allocate_block("shmem_malloc", 0, size);
    lat_barrier_all();
    return block;
}

/* --- The adapter's part */

static bool all_agree(bool mine)
{
    uint64_t all = mine;
    (void)lat_team_join(&lat_team_world.group, &all, 1, false);
    return all;
}

/* All PEs have memory there, or none has, so all come to the same answer. */
static bool has_adapter(struct part *part)
{
    if (!part->books) {
        log_debug("SHMEM_MALLOC_ATOMICS_REMOTE: the job is on one node, so the processors do the atomics");
        return false;
    }
    if (part->agreed)
        return part->works;
    part->works = all_agree(proto_adapter());
    part->agreed = true;
    log_debug(part->works
                  ? "SHMEM_MALLOC_ATOMICS_REMOTE: the network's adapter does the atomics"
                  : "SHMEM_MALLOC_ATOMICS_REMOTE: a PE's network adapter lacks atomics, so the processors do them");
    return part->works;
}

/* The network must be able to reach the block at every PE before a program can see it. Returns null where that fails. */
static void *allocate_adapters(size_t size)
{
    struct part *part = &parts[ADAPTERS];
    size_t offset;
    if (!has_adapter(part))
        return 0;
    pthread_mutex_lock(&heap_lock);
    const int status = heap_alloc(part->books, size, 0, &offset);
    if (!status)
        note_given(part, offset, size);
    pthread_mutex_unlock(&heap_lock);
    if (status) { /* alike at all PEs */
        log_debug("SHMEM_MALLOC_ATOMICS_REMOTE: the memory for it is used up, so the processors do the atomics");
        return 0;
    }
    if (all_agree(proto_adapter_share(part->start + offset, size)))
        return heap_base() + part->start + offset;
    pthread_mutex_lock(&heap_lock);
    heap_free(part->books, offset);
    pthread_mutex_unlock(&heap_lock);
    log_debug(
        "SHMEM_MALLOC_ATOMICS_REMOTE: a PE's network can register no more memory, so the processors do the atomics");
    return 0;
}

void *lat_malloc_with_hints(size_t size, long hints)
{
    if (size == 0)
        return 0;
    void *block = hints & SHMEM_MALLOC_ATOMICS_REMOTE ? allocate_adapters(size) : 0;
    if (!block)
        block = allocate_block("shmem_malloc_with_hints", 0, size);
    lat_barrier_all();
    return block;
}

/* --- Other calls */

void *lat_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (count == 0 || size == 0 || __builtin_mul_overflow(count, size, &bytes))
        return 0;
    void *block = allocate_block("shmem_calloc", 0, bytes);
    if (block)
        memset(block, 0, bytes);
    lat_barrier_all();
    return block;
}

void *lat_align(size_t alignment, size_t size)
{
    if (size == 0 || !holds_everywhere(alignment))
        return 0;
    void *block = allocate_block("shmem_align", alignment, size);
    lat_barrier_all();
    return block;
}

/* Returns the part that holds an address of the heap, and stores the offset in it. */
static struct part *part_of(const void *ptr, size_t *offset)
{
    if (uccs_memory_find(ptr, offset) != UCCS_HEAP)
        return 0;
    struct part *part = &parts[uccs_memory_of_adapter(ptr) ? ADAPTERS : PROPER];
    *offset -= part->start;
    return part;
}

/* Returns the part and the offset of a live block; ends the job when ptr is none. */
static struct part *block_of(const char *call, const void *ptr, size_t *offset)
{
    size_t size, start;
    struct part *part = part_of(ptr, offset);
    if (!part)
        lat_fail(call, "ptr %p is not an address of the symmetric heap", ptr);
    int status = heap_size_of(part->books, *offset, &size);
    if (status == HEAP_INSIDE && heap_around(part->books, *offset, &start, &size))
        lat_fail(call, "ptr %p points into the block at %p, not at its start", ptr,
                 (void *)(heap_base() + part->start + start));
    if (status)
        lat_fail(call, "ptr %p %s", ptr, heap_reason(status));
    return part;
}

bool lat_mem_around(const void *addr, uintptr_t *start, size_t *bytes)
{
    size_t offset, at;
    const struct part *part = part_of(addr, &offset);
    if (!part)
        return false;
    pthread_mutex_lock(&heap_lock);
    bool live = heap_around(part->books, offset, &at, bytes);
    pthread_mutex_unlock(&heap_lock);
    *start = uccs_core.heap_start + part->start + at;
    return live;
}

static void release_block(const char *call, void *ptr)
{
    size_t offset, size;
    const struct part *part = block_of(call, ptr, &offset);
    lat_barrier_all();
    pthread_mutex_lock(&heap_lock);
    if (part == &parts[PROPER] && heap_size_of(part->books, offset, &size) == HEAP_OK)
        guard_taken(offset, size);
    heap_free(part->books, offset);
    pthread_mutex_unlock(&heap_lock);
}

void lat_free(void *ptr)
{
    if (ptr)
        release_block("shmem_free", ptr);
}

/* The bytes of the old block may lie in the new one. */
static void move_block(size_t old, size_t old_size, size_t offset, size_t size)
{
    guard_given(offset, size);
    guard_given(old, old_size); /* with the bytes behind the program's */
    if (offset != old)
        memmove(heap_base() + offset, heap_base() + old, old_size < size ? old_size : size);
    guard_taken(old, old_size);
    guard_given(offset, size);
}

static void *resize_block(void *ptr, size_t size)
{
    size_t old, old_size, offset;
    struct heap *books = block_of("shmem_realloc", ptr, &old)->books;
    pthread_mutex_lock(&heap_lock);
    heap_size_of(books, old, &old_size);
    int status = heap_resize(books, old, size, &offset);
    if (status)
        tell_no_room("shmem_realloc", size, status);
    else {
        uccs_memory_used(offset + size);
        move_block(old, old_size, offset, size);
    }
    pthread_mutex_unlock(&heap_lock);
    return status ? 0 : heap_base() + offset;
}

/* A block of the adapter's part moves to the heap proper, since a larger one would have to be agreed on again: what the
 * program does with its words from now on is the processor's. */
static void *leave_adapter(void *ptr, size_t size)
{
    size_t old, old_size;
    struct part *part = block_of("shmem_realloc", ptr, &old);
    void *block = allocate_block("shmem_realloc", 0, size);
    if (!block)
        return 0;
    pthread_mutex_lock(&heap_lock);
    heap_size_of(part->books, old, &old_size);
    memcpy(block, ptr, old_size < size ? old_size : size);
    heap_free(part->books, old);
    pthread_mutex_unlock(&heap_lock);
    return block;
}

void *lat_realloc(void *ptr, size_t size)
{
    size_t offset;
    if (!ptr)
        return lat_malloc(size);
    if (size == 0) {
        release_block("shmem_realloc", ptr);
        return 0;
    }
    (void)block_of("shmem_realloc", ptr, &offset);
    lat_barrier_all(); /* peers' puts into the old block are in before it moves */
    void *block = uccs_memory_of_adapter(ptr) ? leave_adapter(ptr, size) : resize_block(ptr, size);
    lat_barrier_all();
    return block;
}
