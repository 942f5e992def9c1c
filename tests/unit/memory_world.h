/* The map of a node's memory (core/memory.c), as one PE of a made-up node makes it. What the kernel and other files are asked for is
 * written down, and each of them can fail. memory_map.c and memory_guard.c share it. */
#ifndef TESTS_UNIT_MEMORY_WORLD_H
#define TESTS_UNIT_MEMORY_WORLD_H

#include "base/buserror.h"
#include "base/env.h"
#include "base/image.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/early.h"
#include "uccs/core/fork.h"
#include "uccs/core/memory.h"
#include "uccs/core/wait.h"

#include "unit/check.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#define FAR_AWAY ((uintptr_t)1 << 32) /* the lower half of an address is the same */

enum { PAGE = 65536, MB = 1 << 20, PES = 4, MOST_CALLS = 64 };

/* --- What others do */

static struct call {
    enum { ADVISED, PROTECTED, WATCHED, EARLY, MOVED, UNMAPPED } what;
    const char *at;
    size_t bytes;
    int64_t number; /* advice, descriptor, or place in the file */
    int more;
} calls[MOST_CALLS];
static int called;

static inline int note(struct call call)
{
    CHECK(called < MOST_CALLS);
    calls[called++] = call;
    return 0;
}

static inline bool noted(struct call call)
{
    bool found = false;
    for (int i = 0; i < called; i++)
        found |= calls[i].what == call.what && calls[i].at == call.at && calls[i].bytes == call.bytes &&
                 calls[i].number == call.number && calls[i].more == call.more;
    return found;
}

static inline int count(int what)
{
    int found = 0;
    for (int i = 0; i < called; i++)
        found += (int)calls[i].what == what;
    return found;
}

static struct {
    struct node head;
    struct node_pe pe[PES + 1];
} node;
static char globals[3 * PAGE] __attribute__((aligned(65536))); /* of this PE; nothing maps them */

static struct {
    struct uccs_where where;
    int slots[PES];
    uint64_t heap[PES + 1], image[PES + 1]; /* what the others ask for */
    int fd[PES + 1];                        /* of their globals */
    int early;                              /* file of mine; -1: none */
    const char *why_not;
    int where_fails, early_fails, move_fails, guard_fails, watch_fails, map_fails;
    int barriers;
    size_t region;
    struct uccs_fork_ranges ranges;
    struct buserror_facts facts;
    char said[300];
    int lines;
} world;

static inline void say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void say_line(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(world.said, sizeof world.said, format, values);
    va_end(values);
    world.lines++;
}

static inline int advise(void *at, size_t bytes, int advice)
{
    return note((struct call){ADVISED, at, bytes, advice, 0});
}

static inline int protect(void *at, size_t bytes, int protection)
{
    return note((struct call){PROTECTED, at, bytes, protection, 0});
}

static inline int watch_errors(const void *start, size_t bytes, const struct buserror_facts *facts)
{
    world.facts = *facts;
    note((struct call){WATCHED, start, bytes, 0, 0});
    return world.watch_fails && count(WATCHED) == world.watch_fails ? EINVAL : 0;
}

static inline int guard_fork(const struct uccs_fork_ranges *ranges)
{
    world.ranges = *ranges;
    return world.guard_fails;
}

static inline bool find_image(struct image *image, const char *soname)
{
    CHECK(strcmp(soname, "liblateral.so.1") == 0);
    image->start = (uintptr_t)globals;
    image->end = image->start + 2 * PAGE;
    memset(image->id, 'i', sizeof image->id);
    image->why_not = world.why_not;
    return !world.why_not;
}

static inline int move_image(const struct image *image, int fd, off_t at)
{
    note((struct call){MOVED, (const char *)image->start, image_bytes(image), at, fd});
    return world.move_fails;
}

static inline void meet_last(void (*last)(void *), void *argument)
{
    for (int i = 0; i < PES + 1; i++) {
        struct node_pe *pe = &node.pe[i];
        if (pe == rte.me)
            continue;
        *pe = (struct node_pe){.heap_bytes = world.heap[i], .image_bytes = world.image[i], .image_fd = world.fd[i]};
        pe->image_shared = 1;
        pe->pid = 1000 + i;
        memset(pe->image_id, 'i', sizeof pe->image_id);
    }
    last(argument);
}

static inline void meet(void)
{
    world.barriers++;
}

static void *map_memory(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
    if ((world.map_fails == 1 && fd < 0) || (world.map_fails == 2 && fd >= 0)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return mmap(at, bytes, protection, flags, fd, from);
}

static int unmap_memory(void *at, size_t bytes)
{
    note((struct call){UNMAPPED, at, bytes, 0, 0});
    return munmap(at, bytes);
}

int uccs_early_file(struct image *image)
{
    image->why_not = 0;
    if (world.early >= 0)
        find_image(image, "liblateral.so.1");
    return world.early;
}

int uccs_early_map(int pid, int fd, void *at, size_t bytes)
{
    CHECK(fd != 99); /* of nobody */
    note((struct call){EARLY, at, bytes, pid, fd});
    return world.early_fails && count(EARLY) == world.early_fails ? EACCES : 0;
}

int uccs_where_find(struct uccs_where *where)
{
    *where = world.where;
    return world.where_fails ? -1 : 0;
}

uint32_t uccs_where_slot(uint32_t index)
{
    return (uint32_t)world.slots[index];
}

uint32_t uccs_wait_naps(uint32_t crowd)
{
    return crowd + 5;
}

struct uccs_core uccs_core;

uint32_t uccs_index_in_table(int pe)
{
    const uint32_t place = (uint32_t)pe < (uint32_t)uccs_core.npes ? uccs_core.places[pe] : 0;
    return place & NODE_NEAR ? place & ~NODE_NEAR : uccs_core.pes + (uint32_t)pe;
}

#define madvise advise
#define mprotect protect
#define mmap map_memory
#define munmap unmap_memory
#define buserror_watch watch_errors
#define uccs_fork_guard guard_fork
#define image_find find_image
#define image_move move_image
#define rte_node_barrier_last meet_last
#define rte_job_barrier meet
#define log_line say_line
#include "uccs/core/memory.c"
#undef mmap
#undef munmap

/* --- The made-up node */

static inline size_t region_bytes(uint32_t node_size)
{
    CHECK(node_size == (uint32_t)rte.node_size);
    return world.region;
}

/* A node of so many PEs, of which this one has the index `me`; nothing is mapped yet. */
static inline void be(int me, int pes, int npes)
{
    const uint64_t nonce[2] = {1, 2};
    if (map.base)
        munmap(map.base, map.bytes);
    memset(&map, 0, sizeof map);
    memset(&node, 0, sizeof node);
    memset(&image, 0, sizeof image);
    memset(&world, 0, sizeof world);
    called = 0;
    node_format(&node.head, (uint32_t)pes, 8, nonce);
    node.head.crowd = 3;
    node.head.total = (uint32_t)npes;
    close(rte.fd);
    rte = (struct rte){.pe = me, .npes = npes, .node_index = me, .node_size = pes, .nodes = 1, .node = &node.head};
    rte.fd = memfd_create("map", MFD_CLOEXEC);
    rte.me = &node.pe[me];
    world.where = (struct uccs_where){.pes = (uint32_t)pes, .index = (uint32_t)me};
    world.early = -1;
    world.region = 70000;
    for (int i = 0; i < PES; i++)
        world.slots[i] = i;
    world.heap[pes] = (uint64_t)1 << 40; /* of nobody */
    world.image[pes] = (uint64_t)1 << 40;
    world.fd[pes] = 99;
    uccs_core = (struct uccs_core){.spin = 77, .quick_looks = 16, .stingy = 1};
}

static inline int open_map(size_t heap, size_t adapter, bool moves)
{
    return uccs_memory_open(&(struct uccs_memory_want){heap, adapter, region_bytes, moves});
}

static inline char *at_slot(uint64_t from, uint64_t stride, uint64_t slot)
{
    return map.base + from + slot * stride;
}

/* PEs 1 and 3 of 4 are on my pretended node, in the slots 1 and 2. */
static inline void open_scattered(bool adapter)
{
    static const int numbers[] = {1, 3};
    static const uint32_t places[] = {1, NODE_NEAR, 2, NODE_NEAR | 1};
    be(3, 4, 4);
    world.where =
        (struct uccs_where){.first = 1, .pes = 2, .index = 1, .slot = 1, .places = places, .numbers = numbers};
    world.slots[1] = 1;
    world.slots[3] = 2;
    world.slots[2] = 3;
    node.head.oversubscribed = 1;
    CHECK(open_map(5 * MB, adapter ? 3 * MB : 0, true) == 0);
}

static inline bool piece_is(const struct uccs_memory_piece *piece, int fd, uint64_t at, size_t bytes)
{
    return piece->fd == fd && piece->at == at && piece->bytes == bytes;
}

#endif
