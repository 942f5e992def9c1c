/* Memory that runs out under a store to a far PE's memory, which the network maps, ends the job with a line that names that PE. The
 * test puts pages that cannot be made in place of the mapped ones.
 * pes: 2
 * needs: ucx
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=posix,self SHMEM_SYMMETRIC_SIZE=48m
 * fails: PE 0: out of memory for shared pages of PE 1 at 0x[0-9a-f]+ \(heap size 48 MiB each
 */
#define _GNU_SOURCE /* memfd_create */
#include "../conform/check.h"

#include <sys/mman.h>

enum { HEAP = 48 << 20 };

/* Replaces the one map that has a heap's size and is not this PE's own heap. */
static void take_pages(const void *mine)
{
    char line[512];
    int replaced = 0, fd = memfd_create("empty", 0);
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file != NULL && fd >= 0);
    while (fgets(line, sizeof line, file)) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx rw-s", &start, &end) != 2 || end - start != HEAP)
            continue;
        if ((unsigned long)mine >= start && (unsigned long)mine < end)
            continue;
        void *at = mmap((void *)start, HEAP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
        CHECK(at == (void *)start);
        replaced++;
    }
    fclose(file);
    CHECK_EQ(replaced, 1);
}

int main(void)
{
    check_start();
    long *word = shmem_calloc(1, sizeof *word);
    for (int i = 0; i < 3; i++) { /* the first operations connect, and ask for the memory */
        shmem_long_p(word, 1, next_pe);
        shmem_barrier_all();
    }
    if (me == 0) {
        take_pages(word);
        shmem_long_p(word, 2, 1);
    }
    shmem_barrier_all();
    return check_pass();
}
