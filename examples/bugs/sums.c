/* A bug to look for with docs/guide/debugging.md: one PE gives another count to a collective. */
#include <shmem.h>

static int part[8], sum[8];

int main(void)
{
    shmem_init();
    int count = shmem_my_pe() == 3 ? 7 : 8; /* the last PE has a smaller part */
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, sum, part, count);
    shmem_finalize();
    return 0;
}
