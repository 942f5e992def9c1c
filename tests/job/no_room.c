/* A heap that is too small: all PEs get null, one of them prints a hint, and the job goes on.
 * pes: 1 4
 * env: SHMEM_SYMMETRIC_SIZE=1m
 * fails: ^lateral: PE 0: shmem_malloc: 2097152 bytes: .*SHMEM_SYMMETRIC_SIZE
 * status: 0
 */
#include <shmem.h>
#include <stdint.h>

int main(void)
{
    shmem_init();
    void *too_large = shmem_malloc(2 << 20);
    char *fits = shmem_malloc(500 << 10);
    void *kept = shmem_realloc(fits, 3 << 20);
    void *overflow = shmem_calloc(SIZE_MAX / 2, 3);
    void *rest = shmem_malloc(400 << 10);
    int good = !too_large && fits && !kept && !overflow && rest && fits != rest;
    if (fits)
        shmem_char_p(fits, 'x', (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    good = good && fits[0] == 'x';
    shmem_finalize();
    return !good;
}
