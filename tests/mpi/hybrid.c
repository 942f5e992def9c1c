/* MPI, OpenSHMEM and uccs.h in one program: one job, one substrate, and nothing is said at the end. The first argument
 * says who starts first, mpi or shmem.
 * ways: mpi shmem
 * links: lateral
 * ranks: 3 */
#include "check.h"

#include <shmem.h>
#include <uccs.h>

static long word; /* symmetric in either order */

int main(int argc, char **argv)
{
    MPI_Win win;
    int64_t *base, value;
    if (argc > 1 && strcmp(argv[1], "shmem") == 0)
        shmem_init();
    check_start(MPI_THREAD_SINGLE);
    if (argc < 2 || strcmp(argv[1], "shmem") != 0)
        shmem_init();
    CHECK_EQ(uccs_init(), UCCS_OK);
    CHECK_EQ(shmem_my_pe(), me);
    CHECK_EQ(shmem_n_pes(), ranks);
    CHECK_EQ(uccs_group_rank(UCCS_GROUP_WORLD), me);
    OK(MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    long *heap = shmem_calloc(1, sizeof *heap);
    value = 10 + me;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, win));
    shmem_long_p(heap, 20 + me, next_rank);
    OK(MPI_Win_fence(0, win));
    shmem_barrier_all();
    CHECK_EQ(base[0], 10 + prev_rank);
    CHECK_EQ(*heap, 20 + prev_rank);
    CHECK(shmem_addr_accessible(&word, next_rank));
    shmem_long_p(&word, 30 + me, next_rank);
    shmem_barrier_all();
    CHECK_EQ(word, 30 + prev_rank);
    CHECK_EQ(uccs_barrier(UCCS_GROUP_WORLD), UCCS_OK);
    OK(MPI_Win_free(&win));
    shmem_free(heap);
    CHECK_EQ(uccs_finalize(), UCCS_OK);
    shmem_finalize();
    return check_pass();
}
