/* A bug to look for with docs/guide/debugging.md: a flag may overtake the data that it announces. */
#include <shmem.h>

static long data, flag;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_long_p(&data, 42, 1);
        shmem_long_p(&flag, 1, 1); /* may overtake the data */
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        if (data != 42)
            shmem_global_exit(1);
    }
    shmem_finalize();
    return 0;
}
