/* A heap asks for huge pages under all but its first 4 MiB: the kernel flags the mapping "hg". Whether it gives them is
 * the system's choice, so the test looks at the flag alone.
 * pes: 2
 */
#include <assert.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* Returns true when the mapping that holds the address is to have huge pages. */
static bool asked(const char *address)
{
    char line[1024];
    bool holds = false, flagged = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            holds = (uintptr_t)address >= start && (uintptr_t)address < end;
        else if (holds && strncmp(line, "VmFlags:", 8) == 0)
            flagged = strstr(line, " hg") != 0;
    }
    fclose(maps);
    return flagged;
}

int main(void)
{
    shmem_init();
    char *low = shmem_malloc(MIB), *high = shmem_malloc(24 * MIB);
    assert(low && high && !asked(low) && !asked(high - 1));
    char *from = high + 4 * MIB; /* the heap's first 4 MiB end before it */
    assert(asked(from) && asked(high + 24 * MIB - 1));
    char *later = shmem_malloc(3 * MIB + 1);
    assert(asked(later) && asked(later + 3 * MIB));
    shmem_finalize();
    return 0;
}
