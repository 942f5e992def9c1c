/* A PE of another node dies without a word. The others end with a line that names it, and do not hang.
 * pes: 3
 * env: LATERAL_TRANSPORTS=ucx
 * fails: PE 1
 * prints: \A(?![\s\S]*UCX)
 * case: messages
 * case: mapped
 * needs: ucx
 * env: UCX_TLS=posix,self
 * args: stores
 */
#include "../conform/check.h"

#include <signal.h>

/* The memory of a PE that is gone stays mapped. */
static void store_to(long *word)
{
    for (int i = 0; i < 1000; i++, usleep(100))
        shmem_long_p(word, 0, 1);
}

int main(int argc, char **argv)
{
    (void)argv;
    static long never;
    check_start();
    shmem_long_p(&never, 0, next_pe);
    shmem_barrier_all();
    if (me == 1)
        raise(SIGKILL);
    if (argc > 1 && me == 0)
        store_to(&never);
    shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
    return 0;
}
