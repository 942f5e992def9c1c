/* A PE of another node dies without a word. The others end with a line that names it, and do not hang.
 * pes: 3
 * env: LATERAL_TRANSPORTS=ucx
 * fails: PE 1
 * prints: \A(?![\s\S]*UCX)
 */
#include "../conform/check.h"

#include <signal.h>

int main(void)
{
    static long never;
    check_start();
    shmem_long_p(&never, 0, next_pe);
    shmem_barrier_all();
    if (me == 1)
        raise(SIGKILL);
    shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
    return 0;
}
