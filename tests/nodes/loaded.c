/* The program has loaded a libucp, perhaps of another version, before the library looks for one. The library then uses
 * that one.
 * pes: 2
 * needs: ucx
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self
 */
#include "../conform/check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static long word;

/* How many files of this name are mapped. */
static int count_mapped(const char *name)
{
    char line[4096], seen[4096] = "";
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');
        if (path && strstr(path, name) && strcmp(path, seen) != 0) {
            strcpy(seen, path);
            count++;
        }
    }
    fclose(maps);
    return count;
}

int main(void)
{
    const char *wanted = getenv("LATERAL_TEST_UCP");
    if (!dlopen(wanted ? wanted : "libucp.so.0", RTLD_NOW | RTLD_LOCAL)) {
        printf("skipped: %s\n", dlerror());
        return 77;
    }
    CHECK_EQ(count_mapped("/libucp.so"), 1);
    check_start();
    shmem_long_p(&word, me + 1, next_pe);
    shmem_barrier_all();
    CHECK_EQ(word, (me + npes - 1) % npes + 1);
    CHECK_EQ(count_mapped("/libucp.so"), 1);
    return check_pass();
}
