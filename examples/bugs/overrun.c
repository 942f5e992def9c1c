/* A bug to look for with docs/guide/debugging.md: PE 1 stores one element more than its block has. */
#include <shmem.h>

int main(void)
{
    shmem_init();
    int *row = shmem_malloc(10 * sizeof *row);
    for (int i = 0; i <= 10 && shmem_my_pe() == 1; i++) /* one too many */
        row[i] = i;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
