/* A program that has all its future memory locked (mlockall) starts as any other: the heap takes no page that nobody touches.
 * prints: ^PASS$
 * skip: tsan
 */
#include "check.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { MOST_KIB = 400 << 10 };

int main(void)
{
    const size_t most = (size_t)1 << 40; /* more than any limit that is one */
    void *locked = MAP_FAILED;
    struct rusage usage;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0)
        locked = mmap(0, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (locked == MAP_FAILED) /* a limit on locked memory allows no heap */
        munlockall();
    else
        munmap(locked, most);
    check_start();
    long *heap = check_alloc(sizeof(long));
    *heap = me;
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(heap, next_pe), next_pe);
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss < MOST_KIB);
    return check_pass();
}
