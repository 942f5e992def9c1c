/* shmem_finalize waits for all PEs. A PE that waits there still answers its peers, even one that it has never heard
 * of.
 * prints: ^PASS$
 */
#include "check.h"

#include <time.h>

static long word = 42;

int main(void)
{
    shmem_init();
    check_who();
    if (me != 0) { /* PE 0 waits for the others in shmem_finalize by then */
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, 0);
        CHECK_EQ(shmem_long_g(&word, 0), 42);
    }
    if (me == npes - 1)
        puts("PASS");
    shmem_finalize();
    return 0;
}
