/* Every PE tells its right neighbour its number, in a global and in the heap. */
#include <shmem.h>
#include <stdio.h>

static int left = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    long *heap = shmem_malloc(sizeof *heap);
    shmem_int_p(&left, me, (me + 1) % pes);
    shmem_long_p(heap, 100L + me, (me + 1) % pes);
    shmem_barrier_all();
    int expected = (me + pes - 1) % pes;
    int right = left == expected && *heap == 100 + expected;
    if (right)
        printf("PE %d of %d: right\n", me, pes);
    shmem_free(heap);
    shmem_finalize();
    return !right;
}
