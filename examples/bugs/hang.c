/* A bug to look for with docs/guide/debugging.md: PE 1 waits for a store that no PE makes. */
#include <shmem.h>

static long flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7); /* nobody stores 7 */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
