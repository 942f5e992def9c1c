/* Output of a PE that dies abruptly after printing whole lines is not lost, although stdout is a pipe.
 * pes: 2
 * prints: ^kept 1$
 * status: 137
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    printf("kept %d\n", shmem_my_pe());
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        raise(SIGKILL);
    shmem_barrier_all();
    return 0;
}
