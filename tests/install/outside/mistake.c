/* Runs without harm but has a mistake: source and dest overlap. Only the checking layer reports it. */
#include <shmem.h>

int main(void)
{
    shmem_init();
    int *numbers = shmem_calloc(8, sizeof *numbers);
    shmem_int_put(numbers, numbers + 2, 4, shmem_my_pe());
    shmem_free(numbers);
    shmem_finalize();
    return 0;
}
