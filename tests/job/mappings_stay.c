/* Between init and finalize the library moves nothing that a device driver may have pinned: the symmetric heap, global variables, memory of
 * malloc and the stack stay mapped from the same place of the same file, at the same address.
 * pes: 2
 */
#include <assert.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 17, PLACES = 5 };

static long global[N], initialised[N] = {1};

/* Writes the file and the place in it that is mapped at the address. */
static void find_mapping(const void *address, char *where, size_t size)
{
    char line[1024], device[16];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset, inode;
        assert(sscanf(line, "%lx-%lx %*s %lx %15s %lu", &start, &end, &offset, device, &inode) == 5);
        if ((uintptr_t)address >= start && (uintptr_t)address < end)
            snprintf(where, size, "%s %lu %lu", device, inode,
                     inode ? (unsigned long)(uintptr_t)address - start + offset : 0);
    }
    fclose(maps);
}

static void work(long *heap, int next)
{
    shmem_ctx_t ctx;
    shmem_team_t team;
    long *more = shmem_malloc(N * sizeof *more);
    assert(more && shmem_ctx_create(0, &ctx) == 0);
    assert(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), 0, 0, &team) == 0);
    shmem_long_put(heap, initialised, N, next);
    shmem_ctx_long_get_nbi(ctx, more, global, N, next);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    shmem_long_sum_reduce(team, global, initialised, N);
    shmem_long_atomic_add(&global[7], 1, next);
    shmem_team_destroy(team);
    shmem_ctx_destroy(ctx);
    shmem_free(more);
}

int main(void)
{
    long local = 0;
    shmem_init();
    long *heap = shmem_malloc(N * sizeof *heap), *own = calloc(N, sizeof *own);
    const void *places[PLACES] = {&heap[N - 1], &global[N - 1], &initialised[N - 1], &own[N - 1], &local};
    char before[PLACES][64] = {""}, after[PLACES][64] = {""};
    for (int i = 0; i < PLACES; i++)
        find_mapping(places[i], before[i], sizeof *before);
    for (int turn = 0; turn < 3; turn++)
        work(heap, (shmem_my_pe() + 1) % shmem_n_pes());
    for (int i = 0; i < PLACES; i++) {
        find_mapping(places[i], after[i], sizeof *after);
        assert(*before[i] && strcmp(before[i], after[i]) == 0);
    }
    shmem_barrier_all();
    free(own);
    shmem_finalize();
    return 0;
}
