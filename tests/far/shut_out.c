/* The memory of other pretended nodes is mapped, and nobody reaches it by accident: of equal nodes each PE has shut out as much.
 * pes: 6
 * env: LATERAL_NODE_SIZE=2 SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../conform/check.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of shared memory without access. */
static long shut_out(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    long bytes = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        char *end, access[5] = "";
        const unsigned long from = strtoul(line, &end, 16), to = *end == '-' ? strtoul(end + 1, &end, 16) : from;
        if (sscanf(end, " %4s", access) == 1 && strcmp(access, "---s") == 0)
            bytes += (long)(to - from);
    }
    CHECK(maps != NULL);
    fclose(maps);
    return bytes;
}

int main(void)
{
    static long all[6], mine;
    check_start();
    mine = shut_out();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, all, &mine, 1);
    CHECK(mine >= 4L << 20); /* four heaps at least */
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(all[pe], mine);
    return check_pass();
}
