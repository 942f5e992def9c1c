/* Does nothing but init and finalize. The runner times it from launch to exit. */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
