/* The memory that the node's PEs share: clocks, then for each 8 bytes of symmetric memory of each PE the last accesses and
 * the words of those that may have let others go on. One anonymous file, sparse: pages exist once they are touched.
 *
 * A spin lock guards some groups of 8 bytes each. */
#include "race.h"

#include "shmem/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOCKS (1u << 16)
#define PATIENCE 100000000u /* looks at a lock whose holder has died */

bool race_on;
int race_me, race_npes;

static struct lat_check_map map;
static char *shared;
static size_t shared_bytes, clocks_at, shadow_at, group_bytes, pe_groups;

static size_t page(size_t bytes)
{
    return (bytes + 65535) & ~(size_t)65535;
}

static void lay_out(void)
{
    group_bytes = RACE_CELLS * sizeof(struct race_cell) + ((size_t)race_npes * sizeof(uint32_t) + 15) / 16 * 16;
    pe_groups = map.heap.bytes / 8 + map.image.bytes / 8 + 2;
    clocks_at = page(LOCKS * sizeof(uint32_t));
    shadow_at = clocks_at + page(race_clock_bytes());
    shared_bytes = shadow_at + page((size_t)race_npes * pe_groups * group_bytes);
}

void *race_shared(size_t at)
{
    return shared + clocks_at + at;
}

/* PE 0 makes the file; the others open it through the kernel's list of PE 0's descriptors. */
static int open_file(void)
{
    struct {
        int pid, fd;
    } mine = {0, -1}, all[RACE_PES];
    int fd = -1, good, goods[RACE_PES];
    char path[64];
    if (race_me == 0) {
        mine.pid = getpid();
        mine.fd = fd = memfd_create("lateral-race", MFD_CLOEXEC);
        if (fd >= 0 && ftruncate(fd, (off_t)shared_bytes) != 0)
            mine.fd = -1;
    }
    lat_check_meet(SHMEM_TEAM_WORLD, &mine, sizeof mine, all);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", all[0].pid, all[0].fd);
    if (race_me)
        fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED : mmap(0, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    shared = at == MAP_FAILED ? 0 : at;
    good = shared != 0;
    if (!good)
        fprintf(stderr, "lateral: PE %d: --check=race: no %zu bytes of address space: %s\n", race_me, shared_bytes,
                strerror(errno));
    lat_check_meet(SHMEM_TEAM_WORLD, &good, sizeof good, goods); /* all have it open, or some could not */
    if (fd >= 0)
        close(fd);
    for (int pe = 0; pe < race_npes; pe++)
        good &= goods[pe];
    return good;
}

bool race_open(void)
{
    race_me = pshmem_my_pe();
    race_npes = pshmem_n_pes();
    lat_check_map(&map);
    if (race_me && (map.size != race_npes || race_npes > RACE_PES))
        sleep(5); /* PE 0 says why, and the launcher usually ends this process meanwhile */
    if (map.size != race_npes)
        lat_check_fail("oshrun --check=race", "nodes",
                       "this job has %d PEs on several nodes; races are looked for on one node", race_npes);
    if (race_npes > RACE_PES)
        lat_check_fail("oshrun --check=race", "PEs", "this job has %d; races are looked for among at most %d",
                       race_npes, RACE_PES);
    lay_out();
    if (!open_file())
        pshmem_global_exit(1);
    race_clock_reset();
    pshmem_sync_all();
    race_on = true;
    return true;
}

void race_close(void)
{
    race_on = false;
    munmap(shared, shared_bytes);
    shared = 0;
}

static bool in_peers(const struct lat_check_range *range, uintptr_t at, int *pe, size_t *offset)
{
    uintptr_t distance = at - range->peers;
    if (!range->bytes || distance >= range->stride * (uintptr_t)map.size)
        return false;
    *pe = (int)(distance / range->stride);
    *offset = distance % range->stride;
    return *offset < range->bytes;
}

bool race_find(const void *address, int *pe, size_t *offset)
{
    uintptr_t at = (uintptr_t)address;
    if (race_find_at(address, race_me, offset)) {
        *pe = race_me;
        return true;
    }
    if (in_peers(&map.heap, at, pe, offset))
        return true;
    if (!in_peers(&map.image, at, pe, offset))
        return false;
    *offset += map.heap.bytes;
    return true;
}

bool race_find_at(const void *address, int pe, size_t *offset)
{
    uintptr_t at = (uintptr_t)address;
    (void)pe;
    if (at - map.heap.mine < map.heap.bytes)
        *offset = at - map.heap.mine;
    else if (at - map.image.mine < map.image.bytes)
        *offset = at - map.image.mine + map.heap.bytes;
    else
        return false;
    return true;
}

size_t race_heap_bytes(void)
{
    return map.heap.bytes;
}

static size_t number_of(int pe, size_t offset)
{
    return (size_t)pe * pe_groups + offset / 8;
}

static struct race_cell *cells_of(size_t number)
{
    return (struct race_cell *)(shared + shadow_at + number * group_bytes);
}

uint32_t *race_released(int pe, size_t offset)
{
    return (uint32_t *)(cells_of(number_of(pe, offset)) + RACE_CELLS);
}

static uint32_t *lock_group(size_t number)
{
    uint32_t *word = (uint32_t *)shared + number % LOCKS;
    for (uint32_t looks = 0; __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) && looks < PATIENCE; looks++)
        if (looks % 64 == 63)
            usleep(0); /* PEs may outnumber cores */
    return word;
}

static void unlock_group(uint32_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE); /* acquire: lock_group */
}

static bool conflict(const struct race_cell *one, const struct race_cell *other)
{
    return (one->mask & other->mask) && ((one->flags | other->flags) & RACE_STORE) &&
           !(one->flags & other->flags & RACE_ATOMIC);
}

static bool alike(const struct race_cell *one, const struct race_cell *other)
{
    return one->pe == other->pe && one->way == other->way && one->context == other->context &&
           one->mask == other->mask && one->flags == other->flags;
}

/* Chooses the cell that the new access replaces: one like it, an empty one, one that is over, or any. */
static struct race_cell *victim(struct race_cell *cells, const struct race_cell *fresh, const bool *over)
{
    struct race_cell *found = NULL;
    for (int i = 0; i < RACE_CELLS; i++)
        if (cells[i].event && alike(&cells[i], fresh))
            return &cells[i];
    for (int i = 0; i < RACE_CELLS; i++)
        if (!cells[i].event)
            return &cells[i];
    for (int i = 0; i < RACE_CELLS && !found; i++)
        if (over[i] && !(cells[i].mask & ~fresh->mask) && (fresh->flags & RACE_STORE || !(cells[i].flags & RACE_STORE)))
            found = &cells[i];
    return found ? found : &cells[fresh->event % RACE_CELLS];
}

static void touch_group(int owner, size_t offset, const struct race_cell *fresh, int behind)
{
    size_t number = number_of(owner, offset);
    struct race_cell *cells = cells_of(number), old = {0};
    bool over[RACE_CELLS];
    for (int i = 0; i < RACE_CELLS; i++) /* a loop of the program: nothing new; a word read torn costs a lock */
        if (cells[i].event == fresh->event && cells[i].place == fresh->place && alike(&cells[i], fresh))
            return;
    uint32_t *lock = lock_group(number);
    for (int i = 0; i < RACE_CELLS; i++) {
        over[i] = cells[i].event && race_over(&cells[i], owner, behind);
        if (cells[i].event && !over[i] && conflict(&cells[i], fresh))
            old = cells[i];
    }
    *victim(cells, fresh, over) = *fresh;
    unlock_group(lock);
    if (old.event)
        race_report(owner, offset, &old, fresh);
}

void race_touch(int owner, size_t offset, size_t bytes, const struct race_access *access)
{
    struct race_cell fresh = {.event = access->event,
                              .call = access->call,
                              .pe = (uint8_t)race_me,
                              .way = (uint8_t)access->way & 15,
                              .context = (uint8_t)access->context & 15,
                              .flags = (uint8_t)access->flags,
                              .place = (uint32_t)(uintptr_t)access->from};
    int behind = access->way >= RACE_PUT ? access->context : -1;
    while (bytes) {
        size_t first = offset % 8, here = 8 - first < bytes ? 8 - first : bytes;
        fresh.mask = (uint8_t)(((1u << here) - 1) << first);
        touch_group(owner, offset, &fresh, behind);
        offset += here;
        bytes -= here;
    }
}

void race_seen(int pe, size_t offset, size_t bytes)
{
    for (size_t at = offset / 8 * 8; at < offset + bytes; at += 8) {
        struct race_cell *cells = cells_of(number_of(pe, at));
        const uint32_t *words = race_released(pe, at);
        uint32_t *lock = lock_group(number_of(pe, at));
        for (int i = 0; i < RACE_CELLS; i++)
            if (cells[i].event && cells[i].way >= RACE_PUT && cells[i].event <= words[cells[i].pe] >> 3)
                cells[i] = (struct race_cell){0};
        unlock_group(lock);
    }
}
