// The same from C++, by the overloaded names.
#include <shmem.h>
#include <cstdio>

static int left = -1;

int main()
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_p(&left, me, (me + 1) % pes);
    shmem_barrier_all();
    bool right = left == (me + pes - 1) % pes;
    if (right)
        std::printf("PE %d of %d: right\n", me, pes);
    shmem_finalize();
    return !right;
}
