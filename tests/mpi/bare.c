/* MPI and OpenSHMEM in one program without the layer: global variables are symmetric, whoever starts first and ends last,
 * and nothing is said at the end. A child of fork has globals of its own, before and after the start.
 * ways: bare-mpi bare-shmem
 * links: lateral
 * ranks: 3 */
#include "check.h"

#include <shmem.h>
#include <sys/wait.h>
#include <unistd.h>

static long word = 5; /* symmetric */
static long zeros[5000];

/* A child stores to its own copy, which has what the parent had. */
static void try_fork(long expected)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int good = word == expected && zeros[4000] == 0;
        word = 99;
        zeros[4000] = 99;
        _exit(good ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK_EQ(word, expected);
    CHECK_EQ(zeros[4000], 0);
}

int main(int argc, char **argv)
{
    int mpi_first = argc < 2 || strcmp(argv[1], "bare-shmem") != 0;
    try_fork(5);
    if (!mpi_first)
        shmem_init();
    check_start(MPI_THREAD_SINGLE);
    if (mpi_first)
        shmem_init();
    CHECK_EQ(shmem_my_pe(), me);
    CHECK_EQ(shmem_n_pes(), ranks);
    CHECK_EQ(word, 5);
    CHECK(shmem_addr_accessible(&word, next_rank));
    CHECK(shmem_ptr(&word, next_rank) && shmem_ptr(&word, me));
    shmem_barrier_all();
    shmem_long_p(&word, 30 + me, next_rank);
    shmem_long_atomic_add(&zeros[1], me, 0);
    shmem_barrier_all();
    CHECK_EQ(word, 30 + prev_rank);
    CHECK_EQ(shmem_long_g(&word, prev_rank), 30 + (prev_rank + ranks - 1) % ranks);
    CHECK_EQ(zeros[1], me == 0 ? (long)ranks * (ranks - 1) / 2 : 0);
    shmem_barrier_all();
    try_fork(30 + prev_rank);
    if (mpi_first)
        shmem_finalize();
    int wrong = check_pass();
    if (!mpi_first)
        shmem_finalize();
    return wrong;
}
