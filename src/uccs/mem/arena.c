#include "uccs/mem/arena.h"

#include "base/atomic.h"
#include "base/env.h"
#include "base/heap.h"
#include "uccs/core/memory.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Guards the allocators. Calls are rare. */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static struct heap *arenas[UCCS_ARENAS];
/* End of the highest block of earlier lives in the arena for memory; the pages are the same. */
static size_t former_top;

size_t uccs_arena_program_bytes(void)
{
    return env_size(ENV_MEMORY) & ~(size_t)(CACHE_LINE - 1);
}

#define MOST_OF_A_NODE ((uint64_t)16 << 40) /* address space for the memory of all PEs of a node */

/* Returns true when the process may not have as much address space as it likes. */
static bool is_limited(void)
{
    struct rlimit space, file;
    return getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_FSIZE, &file) != 0 ||
           space.rlim_cur != RLIM_INFINITY || file.rlim_cur != RLIM_INFINITY;
}

size_t uccs_arena_want(uint32_t node_size)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t most = MOST_OF_A_NODE / node_size, least = uccs_arena_program_bytes();
    memory = is_limited() ? 0 : memory < most ? memory : most;
    return (memory > least ? memory : least) + least + UCCS_LIBRARY_BYTES;
}

/* The program's arena and the library's lie at the end, behind the arena for memory. */
static char *arena_start(enum uccs_arena arena)
{
    const size_t bytes = uccs_core.region_bytes;
    char *start = uccs_memory_region(uccs_core.index);
    size_t program = bytes - UCCS_LIBRARY_BYTES - uccs_arena_program_bytes();
    return start + (arena == UCCS_ARENA_MEMORY    ? 0
                    : arena == UCCS_ARENA_PROGRAM ? program
                                                  : bytes - UCCS_LIBRARY_BYTES);
}

static size_t arena_bytes(enum uccs_arena arena)
{
    const char *end = arena == UCCS_ARENA_MEMORY ? arena_start(UCCS_ARENA_PROGRAM) : 0;
    if (end)
        return (size_t)(end - arena_start(arena));
    return arena == UCCS_ARENA_LIBRARY ? UCCS_LIBRARY_BYTES : uccs_arena_program_bytes();
}

static enum uccs_arena arena_of(const void *block)
{
    const char *at = block;
    return at >= arena_start(UCCS_ARENA_LIBRARY)   ? UCCS_ARENA_LIBRARY
           : at >= arena_start(UCCS_ARENA_PROGRAM) ? UCCS_ARENA_PROGRAM
                                                   : UCCS_ARENA_MEMORY;
}

/* Under `books`. Takes a block and stores how many of its bytes earlier blocks of the arena for memory may have written
 * to. Returns null when the arena is full. */
static char *take_bytes(enum uccs_arena arena, size_t length, size_t *used)
{
    size_t offset;
    struct heap_stats before;
    if (!arenas[arena] && !(arenas[arena] = heap_create(arena_bytes(arena))))
        return 0;
    heap_stats(arenas[arena], &before);
    if (heap_alloc(arenas[arena], length, CACHE_LINE, &offset) != HEAP_OK)
        return 0;
    size_t top = before.top > former_top ? before.top : former_top, old = top > offset ? top - offset : 0;
    *used = old < length ? old : length;
    return arena_start(arena) + offset;
}

void *uccs_arena_take(enum uccs_arena arena, size_t length)
{
    size_t used;
    pthread_mutex_lock(&books);
    void *block = take_bytes(arena, length, &used);
    pthread_mutex_unlock(&books);
    return block;
}

#define PUNCH_BYTES ((size_t)1 << 20) /* from this size on, pages go back to the kernel, which zeroes them again */
#define PUNCH_GRAIN ((size_t)65536)   /* whole pages on every machine */

/* Gives the pages inside of the bytes back to the kernel. Returns the number of bytes before them, and stores those
 * behind them; returns `bytes` when it has done nothing. */
static size_t punch_pages(char *start, size_t bytes, size_t *behind)
{
    char *first = (char *)(((uintptr_t)start + PUNCH_GRAIN - 1) & ~(PUNCH_GRAIN - 1));
    char *end = (char *)(((uintptr_t)start + bytes) & ~(PUNCH_GRAIN - 1));
    *behind = 0;
    if (bytes < PUNCH_BYTES || madvise(first, (size_t)(end - first), MADV_REMOVE) != 0)
        return bytes;
    *behind = (size_t)(start + bytes - end);
    return (size_t)(first - start);
}

#define HUGE_BYTES ((size_t)4 << 20) /* from this size on, a block asks for huge pages */

static void ask_huge(char *block, size_t length)
{
    char *first = (char *)(((uintptr_t)block + PUNCH_GRAIN - 1) & ~(PUNCH_GRAIN - 1));
    char *end = (char *)(((uintptr_t)block + length) & ~(PUNCH_GRAIN - 1));
    if (length >= HUGE_BYTES)
        uccs_memory_ask_huge(first, (size_t)(end - first));
}

/* Memory above the highest block so far, of all lives, is fresh. */
void *uccs_arena_take_zeroed(size_t length)
{
    size_t used, behind;
    pthread_mutex_lock(&books);
    char *block = take_bytes(UCCS_ARENA_MEMORY, length, &used);
    pthread_mutex_unlock(&books);
    if (block)
        ask_huge(block, length);
    if (block && used) {
        size_t before = punch_pages(block, used, &behind);
        memset(block, 0, before);
        memset(block + used - behind, 0, behind);
    }
    return block;
}

void uccs_arena_give(void *block)
{
    enum uccs_arena arena = arena_of(block);
    size_t offset = (size_t)((char *)block - arena_start(arena)), bytes, behind;
    pthread_mutex_lock(&books);
    if (arenas[arena]) { /* null: the life of the block is over */
        if (heap_size_of(arenas[arena], offset, &bytes) == HEAP_OK && arena == UCCS_ARENA_MEMORY)
            (void)punch_pages(block, bytes, &behind);
        heap_free(arenas[arena], offset);
    }
    pthread_mutex_unlock(&books);
}

void uccs_arena_close(void)
{
    struct heap_stats stats = {0};
    pthread_mutex_lock(&books);
    if (arenas[UCCS_ARENA_MEMORY])
        heap_stats(arenas[UCCS_ARENA_MEMORY], &stats);
    former_top = stats.top > former_top ? stats.top : former_top;
    for (int arena = 0; arena < UCCS_ARENAS; arena++) {
        heap_destroy(arenas[arena]);
        arenas[arena] = 0;
    }
    pthread_mutex_unlock(&books);
}

/* --- Mapped memory */

uint32_t uccs_segment_locate(const void *start, size_t length, uint64_t *where)
{
    size_t first, last;
    const size_t bytes = uccs_core.region_bytes;
    const char *address = start, *base = uccs_memory_region(uccs_core.index);
    enum uccs_segment segment = uccs_memory_find(address, &first);
    if ((size_t)(address - base) < bytes && length <= bytes - (size_t)(address - base)) {
        *where = (uint64_t)(address - base);
        return UCCS_IN_REGION;
    }
    *where = first;
    bool whole = segment != UCCS_NOWHERE && uccs_memory_find(address + length - 1, &last) == segment &&
                 last - first == length - 1;
    return whole ? (uint32_t)segment : UCCS_UNMAPPED;
}

char *uccs_segment_near(int owner, uint32_t segment, uint64_t where)
{
    uint32_t index = uccs_index(owner);
    char *base = 0;
    switch (segment) {
    case UCCS_HEAP: base = (char *)uccs_core.heap_peers + index * uccs_core.heap_stride; break;
    case UCCS_IMAGE: base = uccs_memory_image(index); break; /* null: globals are not shared */
    case UCCS_IN_REGION: base = uccs_memory_region(index); break;
    }
    return base ? base + where : 0;
}

static bool shares_bytes(const void *start, size_t length, const void *segment, size_t bytes)
{
    const uintptr_t at = (uintptr_t)start, from = (uintptr_t)segment;
    return bytes && (at < from ? length > from - at : at - from < bytes);
}

bool uccs_segment_maps_partly(const void *start, size_t length)
{
    return shares_bytes(start, length, uccs_memory_region(uccs_core.index), uccs_core.region_bytes) ||
           shares_bytes(start, length, (const void *)uccs_core.heap_start, uccs_memory_heap_whole()) ||
           shares_bytes(start, length, (const void *)uccs_core.globals_start, uccs_core.globals_bytes);
}
