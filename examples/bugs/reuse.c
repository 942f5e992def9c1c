/* A bug to look for with docs/guide/debugging.md: the source of a put changes before the put is complete. */
#include <shmem.h>

static long inbox[4];

int main(void)
{
    shmem_init();
    long message[4] = {1, 2, 3, 4};
    if (shmem_my_pe() == 0) {
        shmem_long_put_nbi(inbox, message, 4, 1);
        message[0] = 5; /* the put may not have read it yet */
        shmem_quiet();
    }
    shmem_finalize();
    return 0;
}
