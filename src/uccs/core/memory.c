#include "uccs/core/memory.h"

#include "base/buserror.h"
#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/fork.h"
#include "uccs/core/globals.h"
#include "uccs/core/wait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ALIGNMENT (UINT64_C(1) << 30)
#define DUMP_STEP (UINT64_C(1) << 20)
#define HUGE_PAGE (UINT64_C(1) << 21)
#define HUGE_FROM (UINT64_C(1) << 22)
#define GROUP_BYTES ((size_t)NODE_GROUP_AREAS * NODE_GROUP_LINES * CACHE_LINE) /* of each PE in the group area */

/* The node's whole file as this process maps it, with facts that hold for all segments. The slow half uses it; the
 * ranges in uccs_core are the subset that the fast path can use. */
static struct {
    char *base; /* null until the first open */
    size_t bytes;
    const struct uccs_globals *globals;
    uintptr_t image_start; /* 0: my globals are private */
    size_t image_bytes;
    uintptr_t image_peers;         /* globals of slot 0 */
    char why_private[320];         /* empty: they are not */
    struct uccs_topology topology; /* my node, which may be a pretended one */
    size_t adapter_at;             /* offset of the adapter's part of a heap */
    size_t adapter_bytes;
    size_t dumped[2];      /* core dumps hold my heap, and the adapter's part, up to these offsets */
    struct uccs_core core; /* a later life uses it again */
} map;

/* Returns the alignment of the heap's place in the file, of its stride and of the map. It is at least the heap's size
 * up to MAX_ALIGNMENT, so a block that is aligned in one PE's heap is aligned at every PE. It costs address space
 * only. */
static uint64_t heap_alignment(uint64_t heap_bytes)
{
    uint64_t alignment = 65536;
    while (alignment < heap_bytes && alignment < MAX_ALIGNMENT)
        alignment *= 2;
    return alignment;
}

static uint64_t round_up(uint64_t bytes, uint64_t alignment)
{
    return (bytes + alignment - 1) & ~(alignment - 1);
}

/* A PE that is alone needs no second map of its globals, so it asks for no room for one. */
static void ask_for_globals(struct node_pe *me)
{
    const struct uccs_globals *globals = uccs_globals_find(rte.npes == 1);
    map.globals = globals;
    if (globals->why) {
        snprintf(map.why_private, sizeof map.why_private, "the program %s", globals->why);
        return;
    }
    map.image_start = globals->image.start;
    map.image_bytes = image_bytes(&globals->image);
    me->image_fd = globals->fd < 0 || globals->in_slice ? NODE_SLICE : globals->fd;
    me->image_bytes = rte.npes == 1 ? 0 : map.image_bytes;
    _Static_assert(sizeof me->image_id >= sizeof globals->image.id, "an image's id fits");
    memcpy(me->image_id, globals->image.id, sizeof globals->image.id);
}

/* Writes this PE's wishes into its record in the node's memory. */
static void ask_for_memory(const struct uccs_memory_want *want)
{
    struct node_pe *me = rte.me;
    map.adapter_at = node_align(want->heap_bytes);
    map.adapter_bytes = (int)map.topology.pes < rte.npes ? node_align(want->adapter_bytes) : 0;
    map.dumped[1] = map.adapter_at;
    me->heap_bytes = map.adapter_at + map.adapter_bytes;
    if (want->globals)
        ask_for_globals(me);
    else
        snprintf(map.why_private, sizeof map.why_private, "LATERAL_GLOBALS is off");
}

/* Returns true when the slices hold all globals, in the order of the slots, so that the node's map shows them as they must lie. */
static bool slices_hold_all(const struct node *node)
{
    for (uint32_t i = 0; i < node->size; i++)
        if (node->pe[i].image_fd > 0 || uccs_topology_slot(i) != i)
            return false;
    return node->slice_stride != 0;
}

/* Sets where each part of the file begins. Returns the file's size, or 0 when no file can be so large. Each size is
 * below 2^62 (env_parse_size), so the sum of a PE's parts does not overflow; its product with the number of PEs
 * might. */
static uint64_t lay_out(struct node *node, uint64_t heap, uint64_t globals, uint64_t region)
{
    uint64_t alignment = heap_alignment(heap);
    const bool in_slices = slices_hold_all(node);
    const uint64_t slices = node->slice_stride ? node_slices_at(node->size) + node->slice_stride * node->size : 0;
    const uint64_t fixed = slices ? slices : node_places_at(node) + node_places_bytes(node);
    node->heap_at = round_up(fixed, alignment);
    node->heap_stride = round_up(heap, alignment);
    node->image_stride = in_slices ? 0 : node_align(globals);
    node->region_stride = node_align(region);
    uint64_t each = node->heap_stride + node->image_stride + node->region_stride;
    if (each > (INT64_MAX - node->heap_at) / node->size)
        return 0;
    node->image_at = node->heap_at + node->heap_stride * node->size;
    node->region_at = node->image_at + node->image_stride * node->size;
    if (in_slices) {
        node->image_at = node_slices_at(node->size);
        node->image_stride = node->slice_stride;
    }
    return node->region_at + node->region_stride * node->size;
}

/* One PE runs this while the others wait. It leaves file_bytes at 0 when it fails. */
static void agree_on_layout(void *region_bytes)
{
    struct node *node = rte.node;
    uint64_t heap = 0, globals = 0;
    for (uint32_t i = 0; i < node->size; i++) {
        heap = node->pe[i].heap_bytes > heap ? node->pe[i].heap_bytes : heap;
        globals = node->pe[i].image_bytes > globals ? node->pe[i].image_bytes : globals;
    }
    uint64_t bytes = lay_out(node, heap, globals, *(const size_t *)region_bytes);
    if (!bytes || file_resize(rte.fd, bytes) != 0) {
        log_line("cannot make shared memory for %u PEs with %llu bytes of heap and %zu of LATERAL_MEMORY each: %s; "
                 "set SHMEM_SYMMETRIC_SIZE or LATERAL_MEMORY smaller",
                 node->size, (unsigned long long)heap, *(const size_t *)region_bytes, strerror(bytes ? errno : EFBIG));
        return;
    }
    node->file_bytes = bytes; /* the barrier publishes it */
}

/* True when the program has called mlockall(MCL_FUTURE): the kernel makes all pages of a new mapping at once. */
static bool mappings_are_filled(void)
{
    unsigned char present = 0;
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    mincore(page, bytes, &present);
    munmap(page, bytes);
    return present & 1;
}

/* Reserves more than `bytes`, then maps the file over the part that begins on the alignment. A mapping that would be filled gets its rights
 * behind its making: pages that nobody may read are not made. Else it does not, since valgrind takes minutes for that. Returns the
 * address, or MAP_FAILED. */
static char *map_aligned(size_t bytes, size_t alignment)
{
    const bool late = mappings_are_filled();
    const int rights = PROT_READ | PROT_WRITE;
    char *reserved = mmap(0, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED)
        return MAP_FAILED;
    char *base = (char *)round_up((uintptr_t)reserved, alignment);
    if (base > reserved)
        munmap(reserved, (size_t)(base - reserved));
    munmap(base + bytes, alignment - (size_t)(base - reserved));
    base = mmap(base, bytes, late ? PROT_NONE : rights, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, rte.fd, 0);
    return base == MAP_FAILED || !late || mprotect(base, bytes, rights) == 0 ? base : MAP_FAILED;
}

/* Returns 0, or -1 after a line. */
static int map_file(void)
{
    struct node *node = rte.node;
    map.bytes = node->file_bytes;
    uint64_t alignment = heap_alignment(node->heap_stride);
    map.base = map_aligned(map.bytes, alignment > HUGE_PAGE ? alignment : HUGE_PAGE);
    if (map.base == MAP_FAILED) {
        log_line(
            "cannot map %zu bytes of shared memory (%u PEs): %s; set SHMEM_SYMMETRIC_SIZE or LATERAL_MEMORY smaller",
            map.bytes, node->size, strerror(errno));
        map.base = 0;
        return -1;
    }
    return 0;
}

/* The memory of the PE that has this slot in the file. */
static char *heap_of(uint32_t slot)
{
    return map.base + rte.node->heap_at + slot * rte.node->heap_stride;
}

static char *image_of(uint32_t slot)
{
    return (char *)(map.image_peers + slot * rte.node->image_stride);
}

static uint32_t my_slot(void)
{
    return map.topology.slot + map.topology.index;
}

/* Maps the globals of a PE where its slot has them. Returns 0 or an errno value. */
static int map_globals_of(uint32_t index)
{
    const struct node_pe *pe = &rte.node->pe[index]; /* the barrier around agree_on_layout published it */
    char *at = image_of(uccs_topology_slot(index));
    if (pe->image_fd > 0)
        return uccs_globals_map(pe->pid, pe->image_fd, at, pe->image_bytes);
    if (pe->image_fd == NODE_PRIVATE)
        return 0;
    const off_t slice = (off_t)(node_slices_at(rte.node->size) + index * rte.node->slice_stride);
    void *mapped =
        mmap(at, pe->image_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, rte.fd, slice);
    return mapped == MAP_FAILED ? errno : 0;
}

/* Makes the globals of all PEs of the node lie side by side. When that fails, this PE reaches no globals. */
static void map_globals(void)
{
    map.image_peers = rte.npes == 1 ? map.image_start : (uintptr_t)map.base + rte.node->image_at;
    if (rte.npes == 1 || slices_hold_all(rte.node))
        return;
    for (uint32_t i = 0; i < rte.node->size && !*map.why_private; i++) {
        int error = map_globals_of(i);
        if (error)
            snprintf(
                map.why_private, sizeof map.why_private,
                "those of PE %d cannot be mapped from /proc/%d/fd: %s; its program must stay dumpable and of one user",
                rte_pe_at(i), rte.node->pe[i].pid, strerror(error));
    }
}

/* A core dump creates every page that it writes, even a page that nobody has touched. So core dumps omit the whole file
 * except my globals, which are mapped elsewhere, and the part of my heap that uccs_memory_used has named. */
static void spare_core_dumps(void)
{
    madvise(map.base, map.bytes, MADV_DONTDUMP);
}

void uccs_memory_ask_huge(char *start, size_t bytes)
{
    madvise(start, bytes, MADV_HUGEPAGE);
}

/* The first bytes of a heap keep small pages, so that small programs stay small. */
static void ask_huge(size_t from, size_t end)
{
    from = from > HUGE_FROM ? from : HUGE_FROM;
    if (from < end)
        uccs_memory_ask_huge(heap_of(my_slot()) + from, end - from);
}

void uccs_memory_used(size_t end)
{
    size_t *dumped = &map.dumped[map.adapter_bytes && end > map.adapter_at];
    if (end <= *dumped)
        return;
    size_t from = *dumped, to = round_up(end, end > HUGE_FROM ? HUGE_PAGE : DUMP_STEP);
    *dumped = to < rte.node->heap_stride ? to : rte.node->heap_stride;
    madvise(heap_of(my_slot()) + from, *dumped - from, MADV_DODUMP);
    ask_huge(from, *dumped);
}

/* Guards fork: a forked child gets copies of my memory and, of the rest, the regions alone, as long as the process lives, because the
 * globals stay on shared pages after finalize. Also watches the memory for bus errors, so that the program ends with a
 * line when shared memory is exhausted; not in a program whose signals are its own. Returns 0, or an errno value after a line. */
static int guard_memory(size_t heap_bytes)
{
    const struct node *node = rte.node;
    uint64_t me = my_slot();
    struct uccs_fork_ranges ranges = {
        .fd = rte.fd,
        .own = {{heap_of(my_slot()), node->heap_stride, (off_t)(node->heap_at + me * node->heap_stride), 0},
                {0},
                {map.base + node->region_at + me * node->region_stride, node->region_stride,
                 (off_t)(node->region_at + me * node->region_stride), 0}},
        .shared = map.base,
        .shared_bytes = node->region_at,
    };
    const bool moved = map.image_start && map.globals->fd >= 0;
    if (moved)
        ranges.own[1] = (struct uccs_fork_range){.start = (void *)map.image_start,
                                                 .bytes = map.image_bytes,
                                                 .at = map.globals->at,
                                                 .fd = map.globals->in_slice ? 0 : map.globals->fd};
    struct buserror_facts facts = {.heap_bytes = heap_bytes, .pes = rte.node_size};
    int error = uccs_fork_guard(&ranges);
    if (!error && !rte.embedded)
        error = buserror_watch(map.base, map.bytes, &facts);
    if (!error && !rte.embedded && moved)
        error = buserror_watch((void *)map.image_start, map.image_bytes, &facts);
    if (error)
        log_line("cannot guard the shared memory: %s", strerror(error));
    return error;
}

/* Returns true when the PE's image has the same globals at the same offsets. The PE is on this node. */
static bool uccs_memory_same_image(int pe)
{
    const struct node_pe *peer = &rte.node->pe[rte_index_of(pe)];
    return peer->image_fd != NODE_PRIVATE && rte.me->image_fd != NODE_PRIVATE && !*map.why_private &&
           memcmp(peer->image_id, rte.me->image_id, sizeof peer->image_id) == 0;
}

static bool images_agree(uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        if (!uccs_memory_same_image(map.topology.pe_of ? map.topology.pe_of[i] : map.topology.first + (int)i))
            return false;
    return true;
}

/* Forbids access to the memory of PEs on other pretended nodes: it is mapped, but nobody shall reach it by accident. */
static void shut_out(void)
{
    for (uint32_t slot = 0; slot < (uint32_t)rte.node_size; slot++) {
        if (slot - map.topology.slot < map.topology.pes)
            continue;
        mprotect(heap_of(slot), rte.node->heap_stride, PROT_NONE);
        if (rte.node->image_stride)
            mprotect(image_of(slot), rte.node->image_stride, PROT_NONE);
    }
}

/* Returns where my node's parts of an area begin that has `each` bytes for every PE. */
static char *area_of_node(size_t at, size_t each)
{
    return map.base + at + map.topology.slot * each;
}

static void publish_core(size_t heap_bytes)
{
    const struct uccs_topology *topology = &map.topology;
    const struct node *node = rte.node;
    shut_out();
    struct uccs_core core = {
        .first = (uint32_t)topology->first,
        .size = topology->index_of ? 0 : topology->pes,
        .heap_start = (uintptr_t)heap_of(my_slot()),
        .heap_bytes = heap_bytes,
        .heap_peers = (uintptr_t)heap_of(topology->slot),
        .heap_stride = node->heap_stride,
        .image_peers = (uintptr_t)image_of(topology->slot),
        .image_stride = node->image_stride,
        .spin = node->oversubscribed ? 0 : uccs_core.spin, /* others want its core */
        .oversubscribed = node->oversubscribed,
        .naps = uccs_wait_naps(node->pes_per_core),
        .me = rte.pe,
        .npes = rte.npes,
        .pes = topology->pes,
        .index = topology->index,
        .index_of = topology->index_of,
        .pe_of = topology->pe_of,
        .globals_start = map.image_start,
        .globals_bytes = map.image_bytes,
        .adapter_at = map.adapter_at,
        .adapter_bytes = map.adapter_bytes,
        .regions = map.base + node->region_at + topology->slot * node->region_stride,
        .region_bytes = node->region_stride,
        .groups = area_of_node(node_groups_at(node->size), GROUP_BYTES),
        .counters = area_of_node(node_counters_at(node->size), (size_t)NODE_COUNTERS * CACHE_LINE),
        .pe_shared = area_of_node(node_own_at(node->size), NODE_PE_SHARED_BYTES),
    };
    if (map.image_bytes && images_agree(topology->pes)) {
        core.image_start = map.image_start;
        core.image_bytes = map.image_bytes;
    }
    uccs_core = map.core = core;
}

/* Opens a later life of the library with the maps and sizes of the first one. Returns 0. */
static int reopen_memory(void)
{
    uccs_core = map.core;
    return rte_job_barrier() ? 0 : -1;
}

int uccs_memory_open(const struct uccs_memory_want *want)
{
    if (map.base)
        return reopen_memory();
    if (uccs_topology_find(&map.topology) != 0)
        return -1;
    ask_for_memory(want);
    size_t region_bytes = want->region_bytes((uint32_t)rte.node_size);
    if (!rte_node_barrier_last(agree_on_layout, &region_bytes) || rte.node->file_bytes == 0)
        return -1; /* the PE that ran agree_on_layout has printed why */
    if (map_file() != 0)
        return -1;
    map_globals();
    if (guard_memory(want->heap_bytes) != 0)
        return -1;
    spare_core_dumps();
    publish_core(want->heap_bytes);
    /* A PE that ended earlier would take along the file that others are about to map. */
    return rte_job_barrier() ? 0 : -1;
}

/* Keeps the maps: the globals live there until the process ends, and a peer may still be reading. */
void uccs_memory_close(void)
{
    uccs_core = (struct uccs_core){.me = uccs_core.me, .npes = uccs_core.npes, .spin = uccs_core.spin};
}

enum uccs_segment uccs_memory_find(const void *addr, size_t *offset)
{
    *offset = (uintptr_t)addr - uccs_core.heap_start;
    if (*offset < uccs_core.heap_bytes || uccs_memory_of_adapter(addr))
        return UCCS_HEAP;
    *offset = (uintptr_t)addr - uccs_core.globals_start;
    return *offset < uccs_core.globals_bytes ? UCCS_IMAGE : UCCS_NOWHERE;
}

void *uccs_memory_resolve(const void *addr, int pe)
{
    uint32_t index = uccs_index(pe);
    size_t offset;
    enum uccs_segment segment = uccs_memory_find(addr, &offset);
    if (index >= uccs_core.pes || segment == UCCS_NOWHERE)
        return 0;
    if (segment == UCCS_HEAP)
        return (char *)(uccs_core.heap_peers + index * uccs_core.heap_stride) + offset;
    return uccs_memory_same_image(uccs_pe_at(index)) ? uccs_memory_image(index) + offset : 0;
}

const char *uccs_memory_why_private(void)
{
    return *map.why_private ? map.why_private : 0;
}
