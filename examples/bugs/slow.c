/* A bug to look for with docs/guide/debugging.md: one PE has most of the work; the others wait for it. */
#include <shmem.h>
#include <unistd.h>

static int row[1000], halo[1000];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    for (int step = 0; step < 10; step++) {
        usleep(me == 0 ? 30000 : 1000); /* PE 0 has most of the work */
        shmem_int_put(halo, row, 1000, next);
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
