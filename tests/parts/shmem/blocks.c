/* The symmetric heap's calls: which blocks they give, move and free, in which order with barriers and locks, what all PEs must agree
 * on, what the gaps' keeper and core dumps are told, and the arguments that they refuse. */
#include "refused.h"

#include "base/heap.h"
#include "base/poison.h"
#include "shmem/calls.h"
#include "shmem/guard.h"
#include "shmem/mem.h"
#include "shmem/team.h"
#include "uccs/core/memory.h"
#include "uccs/far/far.h"

#include <sys/wait.h>

enum { BYTES = 3 << 20, ADAPTERS_AT = BYTES, MORE = 65536 };

struct shmem_team_impl lat_team_world, lat_team_shared;
static _Alignas(4096) char memory[BYTES + MORE], elsewhere[64];
static unsigned char forbidden[BYTES]; /* 1: what the tool has been told not to let pass */
static int barriers, listens, lines;
static size_t used, more;
static bool has_adapters, shared;
static uint64_t answers[3]; /* what the members say in an exchange; mine comes last */

void lat_barrier_all(void)
{
    CHECK(refused_locked == 0);
    barriers++;
}

static enum uccs_segment find_stub(const void *addr, size_t *offset)
{
    const char *at = addr;
    *offset = (size_t)(at - memory);
    return at >= memory && at < memory + sizeof memory ? UCCS_HEAP : UCCS_NOWHERE;
}

static void *heap_stub(size_t *bytes)
{
    *bytes = BYTES;
    return memory;
}

static size_t adapter_stub(size_t *offset)
{
    *offset = ADAPTERS_AT;
    return more;
}

static bool of_adapter_stub(const void *addr)
{
    return (const char *)addr >= memory + ADAPTERS_AT && (const char *)addr < memory + sizeof memory;
}

static void used_stub(size_t end)
{
    used = end > used ? end : used;
}

static void exchange_stub(struct uccs_team *team, const void *mine, size_t bytes)
{
    CHECK(team == &lat_team_world.group && bytes == sizeof *answers && refused_locked == 0);
    memcpy(&answers[2], mine, bytes);
}

static const void *given_stub(const struct uccs_team *team, int rank, size_t bytes)
{
    CHECK(team->size == 3 && rank >= 0 && rank < 3 && bytes == sizeof *answers);
    return &answers[rank];
}

static bool share_stub(size_t offset, size_t bytes)
{
    CHECK(offset >= ADAPTERS_AT && offset + bytes <= sizeof memory);
    return shared;
}

static void poison_stub(const void *at, size_t bytes, int value)
{
    const size_t offset = (size_t)((const char *)at - memory);
    CHECK(offset <= BYTES && bytes <= BYTES - offset);
    memset(forbidden + offset, value, bytes);
}

/* Both blocks may be used while one is moved into the other. */
static void move_stub(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; listens && i < bytes; i++)
        CHECK(!forbidden[(char *)to - memory + (ptrdiff_t)i] && !forbidden[(const char *)from - memory + (ptrdiff_t)i]);
    memmove(to, from, bytes);
}

static int books_left = 99; /* heaps whose books have room */

#define heap_create(bytes) (books_left-- > 0 ? heap_create(bytes) : 0)
#define memmove(to, from, bytes) move_stub(to, from, bytes)
#define uccs_memory_find(addr, offset) find_stub(addr, offset)
#define uccs_memory_heap(bytes) heap_stub(bytes)
#define uccs_memory_adapter(offset) adapter_stub(offset)
#define uccs_memory_of_adapter(addr) of_adapter_stub(addr)
#define uccs_memory_used(end) used_stub(end)
#define uccs_team_exchange(team, mine, bytes) exchange_stub(team, mine, bytes)
#define uccs_team_given(team, rank, bytes) given_stub(team, rank, bytes)
#define uccs_far_adapter() has_adapters
#define uccs_far_adapter_share(offset, bytes) share_stub(offset, bytes)
#define poison_heard() (listens != 0)
#define poison_forbid(at, bytes) poison_stub(at, bytes, 1)
#define poison_allow(at, bytes) poison_stub(at, bytes, 0)
#undef log_line
#define log_line(...) ((void)lines++, (void)snprintf(refused_line, sizeof refused_line, __VA_ARGS__))
#define log_debug(...) ((void)0)
#include "shmem/guard.c"
#include "shmem/mem.c"

static size_t at(const void *block)
{
    CHECK(block && (const char *)block >= memory && (const char *)block < memory + sizeof memory);
    return (size_t)((const char *)block - memory);
}

/* The bytes of a block, and nothing behind them, may be used. */
static void usable(const void *block, size_t bytes, bool yes)
{
    const size_t from = at(block);
    for (size_t i = from; i < from + bytes; i++)
        CHECK(forbidden[i] == !yes);
    CHECK(forbidden[from + bytes] == 1);
}

static void open_heap(int hears, size_t adapters)
{
    listens = hears;
    more = adapters;
    memset(forbidden, 0, sizeof forbidden);
    barriers = lines = 0;
    used = 0;
    CHECK(lat_mem_open() == 0);
}

static void close_heap(void)
{
    lat_mem_close();
    for (int i = 0; i < PARTS; i++)
        CHECK(!parts[i].books && !parts[i].start);
    for (size_t i = 0; i < BYTES; i++)
        CHECK(forbidden[i] == 0);
    CHECK(refused_locked == 0);
}

static void given_and_freed(void)
{
    open_heap(1, 0);
    CHECK(forbidden[0] == 1 && forbidden[LAT_GUARD_AHEAD - 1] == 1 && forbidden[LAT_GUARD_AHEAD] == 0);
    CHECK(!lat_malloc(0) && barriers == 0);
    char *block = lat_malloc(100), *next = lat_malloc(200);
    CHECK(barriers == 2 && used == at(next) + 200);
    usable(block, 100, true);
    usable(next, 200, true);
    CHECK(forbidden[at(next) + 200 + LAT_GUARD_AHEAD - 1] == 1 && forbidden[at(next) + 200 + LAT_GUARD_AHEAD] == 0);
    lat_free(0);
    CHECK(barriers == 2);
    lat_free(block);
    CHECK(barriers == 3);
    usable(block, 100, false);
    usable(next, 200, true);
    memset(memory, 'x', BYTES);
    char *zeros = lat_calloc(3, 7);
    CHECK(barriers == 4);
    for (int i = 0; i < 21; i++)
        CHECK(zeros[i] == 0);
    CHECK(zeros[21] == 'x');
    CHECK(!lat_calloc(0, 8) && !lat_calloc(8, 0) && !lat_calloc(SIZE_MAX / 2, 3) && barriers == 4);
    lat_free(zeros);
    lat_free(next);
    close_heap();
    open_heap(0, 0);
    block = lat_malloc(100);
    lat_free(block);
    close_heap();
}

static void aligned(void)
{
    open_heap(0, 0);
    static const size_t bad[] = {0, 3, 24, 1u << 20};
    for (int i = 0; i < 4; i++)
        CHECK(!lat_align(bad[i], 8) && barriers == 0);
    CHECK(!lat_align(64, 0));
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        CHECK(at(lat_malloc(1)) < BYTES);
        CHECK(at(lat_align(alignment, 8)) % alignment == 0);
    }
    CHECK(barriers == 26);
    close_heap();
}

static void resized(void)
{
    open_heap(1, 0);
    CHECK(at(lat_malloc(70)) == 0);
    barriers = 0;
    char *block = lat_realloc(0, 100), *wall = lat_malloc(60);
    CHECK(barriers == 2);
    memset(block, 'a', 100);
    CHECK(lat_realloc(block, 50) == block && barriers == 4);
    usable(block, 50, true);
    memset(block, 'b', 50);
    char *moved = lat_realloc(block, 5000);
    CHECK(moved != block && barriers == 6 && moved[0] == 'b' && moved[49] == 'b' && used == at(moved) + 5000);
    usable(block, 50, false);
    usable(moved, 5000, true);
    usable(wall, 60, true);
    CHECK(!lat_realloc(moved, 0) && barriers == 7);
    usable(moved, 5000, false);
    block = lat_malloc(100);
    memset(block, 'c', 100);
    CHECK(!lat_realloc(block, BYTES) && barriers == 10 && lines == 1 && block[99] == 'c');
    CHECK(strncmp(refused_line, "shmem_realloc: 3145728 bytes: ", 30) == 0);
    usable(block, 100, true);
    lat_free(block);
    lat_free(wall);
    close_heap();
}

/* PE 0 tells of the first call alone that finds no room; the others never do. */
static void without_room(void)
{
    open_heap(0, 0);
    CHECK(at(lat_malloc(640)) == 0 && !lat_malloc(BYTES + 1) && barriers == 2 && !lat_calloc(1, BYTES + 1));
    CHECK(!lat_align(8, BYTES + 1) && !lat_malloc_with_hints(BYTES + 1, 0) && refused_locked == 0);
    CHECK(lines == (uccs_core.me == 0));
    if (lines)
        CHECK(strncmp(refused_line, "shmem_malloc: 3145729 bytes: ", 29) == 0 &&
              strstr(refused_line, "(640 of 3145728 bytes in use)"));
    close_heap();
}

static void without_books(void)
{
    for (int books = 0; books < 2; books++) {
        books_left = books;
        more = MORE;
        CHECK(lat_mem_open() == -1);
        lat_mem_close();
    }
    books_left = 99;
}

/* In a process of its own, since each tells only once. */
static void apart(int me, void (*test)(void))
{
    int status = 0;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        uccs_core.me = me;
        test();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

#define REFUSED_BLOCK(expression, format, ...)                          \
    do {                                                                \
        char wanted_line[300];                                          \
        snprintf(wanted_line, sizeof wanted_line, format, __VA_ARGS__); \
        REFUSED(expression, wanted_line);                               \
    } while (0)

static void wrong_blocks(void)
{
    open_heap(0, 0);
    CHECK(at(lat_malloc(8)) == 0);
    char *block = lat_malloc(256);
    uintptr_t start = 0;
    size_t bytes = 0;
    for (int i = 0; i < 256; i += 85)
        CHECK(lat_mem_around(block + i, &start, &bytes) && start == (uintptr_t)block && bytes == 256);
    CHECK(!lat_mem_around(block + 4096, &start, &bytes) && !lat_mem_around(elsewhere, &start, &bytes));
    REFUSED_BLOCK(lat_free(elsewhere), "shmem_free: ptr %p is not an address of the symmetric heap", elsewhere);
    REFUSED_BLOCK(lat_free(block + 64), "shmem_free: ptr %p points into the block of 256 bytes at %p, not at its start",
                  block + 64, block);
    REFUSED_BLOCK(lat_realloc(elsewhere, 8), "shmem_realloc: ptr %p is not an address of the symmetric heap",
                  elsewhere);
    lat_free(block);
    REFUSED_BLOCK(lat_free(block), "shmem_free: ptr %p %s", block,
                  heap_reason(heap_size_of(parts[PROPER].books, at(block), &bytes)));
    lat_state = LAT_BEFORE;
    REFUSED(lat_malloc(8), "shmem_malloc: called before shmem_init");
    REFUSED(lat_malloc_with_hints(8, 0), "shmem_malloc_with_hints: called before shmem_init");
    REFUSED(lat_calloc(1, 8), "shmem_calloc: called before shmem_init");
    REFUSED(lat_align(8, 8), "shmem_align: called before shmem_init");
    REFUSED(lat_free(block), "shmem_free: called before shmem_init");
    REFUSED(lat_realloc(0, 8), "shmem_realloc: called before shmem_init");
    lat_state = LAT_RUNNING;
    close_heap();
}

/* Memory of the adapter's is given where all PEs have it and can share it; else the processor's. */
static void of_the_adapter(void)
{
    for (volatile int case_of = 0; case_of < 6; case_of++) {
        open_heap(1, case_of == 0 ? 0 : MORE);
        has_adapters = case_of != 1;
        answers[0] = case_of != 2;
        answers[1] = case_of != 3;
        shared = case_of != 4;
        CHECK(!lat_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE));
        char *block = lat_malloc_with_hints(128, SHMEM_MALLOC_ATOMICS_REMOTE);
        CHECK(of_adapter_stub(block) == (case_of == 5) && barriers == 1);
        CHECK(!of_adapter_stub(lat_malloc_with_hints(128, SHMEM_MALLOC_SIGNAL_REMOTE)));
        if (case_of == 5) {
            answers[0] = answers[1] = 1;
            char *next = lat_malloc_with_hints(MORE / 2, SHMEM_MALLOC_ATOMICS_REMOTE);
            CHECK(of_adapter_stub(next) && used == at(next) + MORE / 2);
            CHECK(!of_adapter_stub(lat_malloc_with_hints(MORE, SHMEM_MALLOC_ATOMICS_REMOTE)));
            lat_free(next);
            shared = false;
            CHECK(!of_adapter_stub(lat_malloc_with_hints(8, SHMEM_MALLOC_ATOMICS_REMOTE)));
            shared = true;
            CHECK(lat_malloc_with_hints(MORE / 2, SHMEM_MALLOC_ATOMICS_REMOTE) == next);
            uintptr_t start;
            size_t bytes;
            CHECK(lat_mem_around(block + 127, &start, &bytes) && start == (uintptr_t)block && bytes == 128);
            memset(block, 'q', 128);
            char *left = lat_realloc(block, 64);
            CHECK(!of_adapter_stub(left) && left[0] == 'q' && left[63] == 'q' && left[64] != 'q');
            CHECK(lat_malloc_with_hints(128, SHMEM_MALLOC_ATOMICS_REMOTE) == block);
            memset(block, 'r', 128);
            left = lat_realloc(block, 200);
            CHECK(!of_adapter_stub(left) && left[127] == 'r');
            block = lat_malloc_with_hints(128, SHMEM_MALLOC_ATOMICS_REMOTE);
            CHECK(of_adapter_stub(block) && !lat_realloc(block, BYTES + 1) && lat_mem_around(block, &start, &bytes));
            REFUSED_BLOCK(lat_free(block + 64),
                          "shmem_free: ptr %p points into the block of 128 bytes at %p, not at its start", block + 64,
                          block);
        }
        close_heap();
    }
}

int main(void)
{
    lat_state = LAT_RUNNING;
    uccs_core.heap_start = (uintptr_t)memory;
    uccs_core.heap_stride = 4096 * 3;
    uccs_core.me = 0;
    lat_team_world.group.size = 3;
    apart(0, resized);
    apart(0, without_room);
    apart(1, without_room);
    without_books();
    given_and_freed();
    aligned();
    wrong_blocks();
    of_the_adapter();
    return 0;
}
