/* A core dump would hold what the program has allocated, and neither the rest of its heap nor the peers': the mappings of
 * the node's memory that the kernel may dump are small, and the allocated block is in one of them.
 * pes: 1 2
 * skip: aarch64
 */
#include <assert.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK ((size_t)24 << 20)

static struct {
    size_t bytes;  /* of the node's memory that a core dump holds */
    size_t inside; /* of those, in the block */
} dump;

static void count(uintptr_t start, uintptr_t end, uintptr_t block)
{
    uintptr_t low = start > block ? start : block, high = end < block + BLOCK ? end : block + BLOCK;
    dump.bytes += end - start;
    dump.inside += high > low ? high - low : 0;
}

static void look(const char *block)
{
    char line[1024];
    unsigned long start = 0, end = 0;
    int ours = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert(maps);
    dump.bytes = dump.inside = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long one, other;
        if (sscanf(line, "%lx-%lx ", &one, &other) == 2) {
            start = one;
            end = other;
            ours = strstr(line, "memfd:lateral") != 0;
        } else if (ours && strncmp(line, "VmFlags:", 8) == 0 && !strstr(line, " dd")) {
            count(start, end, (uintptr_t)block);
        }
    }
    fclose(maps);
}

int main(void)
{
    shmem_init();
    look(0);
    assert(dump.bytes < (size_t)8 << 20);
    char *block = shmem_malloc(BLOCK);
    look(block);
    assert(dump.inside == BLOCK && dump.bytes < BLOCK + ((size_t)8 << 20));
    block = shmem_realloc(block, BLOCK + (BLOCK >> 1));
    shmem_free(block);
    look(0);
    assert(dump.bytes < 3 * BLOCK);
    shmem_finalize();
    return 0;
}
