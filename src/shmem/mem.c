/* The symmetric heap: collective calls over a deterministic allocator (src/base/heap.h).
 *
 * Every PE makes the same calls in the same order (the standard's rule), so every PE gets the same
 * offset without a word between them; the barriers are the standard's: when an allocation
 * returns, the block exists at every PE; a release begins when no PE uses the block any more. Hints change nothing
 * on a node, where all memory is equally near to the processor's atomics. */
#include "shmem/mem.h"

#include "base/heap.h"
#include "base/log.h"
#include "shmem/calls.h"
#include "shmem/guard.h"
#include "shmem/state.h"
#include "uccs/core/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct heap *heap;
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

static char *base(void)
{
    size_t bytes;
    return uccs_memory_heap(&bytes);
}

int lat_mem_open(void)
{
    size_t bytes;
    uccs_memory_heap(&bytes);
    heap = heap_create(bytes);
    if (!heap)
        log_line("no memory is left for the books of the symmetric heap");
    lat_guard_open(base(), bytes);
    return heap ? 0 : -1;
}

void lat_mem_close(void)
{
    lat_guard_close();
    heap_destroy(heap);
    heap = 0;
}

/* Prints one line per job, from PE 0: programs that check for null need no more than a hint. */
static void tell_no_room(const char *call, size_t size, int status)
{
    static int told;
    struct heap_stats stats;
    if (told++ || uccs_core.me != 0)
        return;
    heap_stats(heap, &stats);
    log_line("%s: %zu bytes: %s (%zu of %zu bytes in use); a larger SHMEM_SYMMETRIC_SIZE makes room", call, size,
             heap_reason(status), stats.used, stats.size);
}

static void *allocate(const char *call, size_t alignment, size_t size)
{
    size_t offset;
    pthread_mutex_lock(&heap_lock);
    int status = heap_alloc(heap, size, alignment, &offset);
    if (status)
        tell_no_room(call, size, status);
    else {
        uccs_memory_used(offset + size);
        lat_guard_given(offset, size);
    }
    pthread_mutex_unlock(&heap_lock);
    return status ? 0 : base() + offset;
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
    lat_require("shmem_malloc");
    if (size == 0)
        return 0;
    void *block = allocate("shmem_malloc", 0, size);
    lat_barrier_all();
    return block;
}

void *lat_malloc_with_hints(size_t size, long hints)
{
    (void)hints;
    lat_require("shmem_malloc_with_hints");
    if (size == 0)
        return 0;
    void *block = allocate("shmem_malloc_with_hints", 0, size);
    lat_barrier_all();
    return block;
}

void *lat_calloc(size_t count, size_t size)
{
    size_t bytes;
    lat_require("shmem_calloc");
    if (count == 0 || size == 0 || __builtin_mul_overflow(count, size, &bytes))
        return 0;
    void *block = allocate("shmem_calloc", 0, bytes);
    if (block)
        memset(block, 0, bytes);
    lat_barrier_all();
    return block;
}

void *lat_align(size_t alignment, size_t size)
{
    lat_require("shmem_align");
    if (size == 0)
        return 0;
    if (!holds_everywhere(alignment))
        return 0;
    void *block = allocate("shmem_align", alignment, size);
    lat_barrier_all();
    return block;
}

/* Returns the offset of a live block; ends the job when ptr is none. */
static size_t block_of(const char *call, const void *ptr)
{
    size_t offset, size, start;
    if (uccs_memory_find(ptr, &offset) != UCCS_HEAP)
        lat_fail(call, "ptr %p is not an address of the symmetric heap", ptr);
    int status = heap_size_of(heap, offset, &size);
    if (status == HEAP_INSIDE && heap_around(heap, offset, &start, &size))
        lat_fail(call, "ptr %p points into the block of %zu bytes at %p, not at its start", ptr, size,
                 (void *)(base() + start));
    if (status)
        lat_fail(call, "ptr %p %s", ptr, heap_reason(status));
    return offset;
}

bool lat_mem_around(const void *addr, uintptr_t *start, size_t *bytes)
{
    size_t offset, at;
    if (uccs_memory_find(addr, &offset) != UCCS_HEAP)
        return false;
    pthread_mutex_lock(&heap_lock);
    bool live = heap_around(heap, offset, &at, bytes);
    pthread_mutex_unlock(&heap_lock);
    *start = uccs_core.heap_start + at;
    return live;
}

static void release(const char *call, void *ptr)
{
    size_t offset = block_of(call, ptr);
    lat_barrier_all();
    size_t size;
    pthread_mutex_lock(&heap_lock);
    if (heap_size_of(heap, offset, &size) == HEAP_OK)
        lat_guard_taken(offset, size);
    heap_free(heap, offset);
    pthread_mutex_unlock(&heap_lock);
}

void lat_free(void *ptr)
{
    lat_require("shmem_free");
    if (ptr)
        release("shmem_free", ptr);
}

/* The bytes of the old block may lie in the new one. */
static void move_block(size_t old, size_t old_size, size_t offset, size_t size)
{
    lat_guard_given(offset, size);
    lat_guard_given(old, old_size); /* with the bytes behind the program's */
    if (offset != old)
        memmove(base() + offset, base() + old, old_size < size ? old_size : size);
    lat_guard_taken(old, old_size);
    lat_guard_given(offset, size);
}

static void *resize(void *ptr, size_t size)
{
    size_t old = block_of("shmem_realloc", ptr), old_size, offset;
    pthread_mutex_lock(&heap_lock);
    heap_size_of(heap, old, &old_size);
    int status = heap_resize(heap, old, size, &offset);
    if (status)
        tell_no_room("shmem_realloc", size, status);
    else {
        uccs_memory_used(offset + size);
        move_block(old, old_size, offset, size);
    }
    pthread_mutex_unlock(&heap_lock);
    return status ? 0 : base() + offset;
}

void *lat_realloc(void *ptr, size_t size)
{
    lat_require("shmem_realloc");
    if (!ptr)
        return lat_malloc(size);
    if (size == 0) {
        release("shmem_realloc", ptr);
        return 0;
    }
    (void)block_of("shmem_realloc", ptr);
    lat_barrier_all(); /* peers' puts into the old block are in before it moves */
    void *block = resize(ptr, size);
    lat_barrier_all();
    return block;
}
