/* shmem_global_exit ends every PE with the given status.
 * pes: 1 2
 * status: 7 */
#include <shmem.h>

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_global_exit(7);
    shmem_barrier_all(); /* the others never get through */
    return 0;
}
