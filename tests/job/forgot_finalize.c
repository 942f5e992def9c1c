/* A PE calls exit(0) without shmem_finalize. When only one does, the job ends with a line in bounded time; when all
 * do, the job succeeds.
 * pes: 3
 * case: one
 * cores: 1
 * args: 1
 * fails: PE 1: exited without shmem_finalize, and the other PEs did not follow
 * status: 1
 * case: all
 * args: all
 */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    shmem_init();
    if (argc > 1 && (!strcmp(argv[1], "all") || shmem_my_pe() == atoi(argv[1])))
        exit(0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
