/* The memory that the node's PEs share: locks, clocks, then for each 8 bytes of symmetric memory of each PE the last
 * accesses and the words of those that may have let others go on. One anonymous file, sparse: pages exist once they are
 * touched. */
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

int race_me, race_npes;

static struct lat_check_map map;
static char *shared;
static size_t shared_bytes, clocks_at, shadow_at, group_bytes, pe_groups;

static size_t round_to_pages(size_t bytes)
{
    return (bytes + 65535) & ~(size_t)65535;
}

static void lay_out(size_t clock_bytes)
{
    group_bytes = RACE_CELLS * sizeof(struct race_cell) + ((size_t)race_npes * sizeof(uint32_t) + 15) / 16 * 16;
    pe_groups = map.heap.bytes / 8 + map.image.bytes / 8 + 2;
    clocks_at = round_to_pages(RACE_LOCKS * sizeof(uint32_t));
    shadow_at = clocks_at + round_to_pages(clock_bytes);
    shared_bytes = shadow_at + round_to_pages((size_t)race_npes * pe_groups * group_bytes);
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

void race_open(size_t (*clock_bytes)(void))
{
    race_me = pshmem_my_pe();
    race_npes = pshmem_n_pes();
    lat_check_map(&map);
    if (race_me && (map.size != race_npes || race_npes > RACE_PES))
        sleep(5); /* PE 0 says why, and the launcher usually ends this process meanwhile */
    if (map.size != race_npes)
        lat_check_fail("--check=race", "nodes",
                       "this job has %d PEs on several nodes; races are looked for on one node", race_npes);
    if (race_npes > RACE_PES)
        lat_check_fail("--check=race", "PEs", "this job has %d; races are looked for among at most %d", race_npes,
                       RACE_PES);
    lay_out(clock_bytes());
    if (!open_file())
        pshmem_global_exit(1);
}

void race_close(void)
{
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

const char *race_address(size_t offset)
{
    return (const char *)(offset < map.heap.bytes ? map.heap.mine + offset
                                                  : map.image.mine + (offset - map.heap.bytes));
}

size_t race_number(int pe, size_t offset)
{
    return (size_t)pe * pe_groups + offset / 8;
}

struct race_cell *race_cells(size_t number)
{
    return (struct race_cell *)(shared + shadow_at + number * group_bytes);
}

uint32_t *race_released(int pe, size_t offset)
{
    return (uint32_t *)(race_cells(race_number(pe, offset)) + RACE_CELLS);
}

uint32_t *race_lock_word(size_t number)
{
    return (uint32_t *)shared + number % RACE_LOCKS;
}
