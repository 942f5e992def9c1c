/* A program that calls OpenSHMEM only through a library of its own, made from this file with -DLIBRARY. Its global must
 * be symmetric all the same: the neighbour stores to it. */
#ifdef LIBRARY
#include <shmem.h>

int through_exchange(long *symmetric)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_long_p(symmetric, 100 + me, (me + 1) % npes);
    shmem_barrier_all();
    int right = *symmetric == 100 + (me + npes - 1) % npes;
    shmem_finalize();
    return right;
}
#else
int through_exchange(long *symmetric);

static long global = 1;

int main(void)
{
    return through_exchange(&global) ? 0 : 1;
}
#endif
