/* Blocks flow along a ring of ranks through one buffer each, once with post, start, complete and wait, and once with
 * notification: how to port such code.
 *
 *     MPI_Win_post(previous)      MPIX_Put_notify of nothing to the previous rank: READY
 *     MPI_Win_start(next)         wait until the next rank is READY
 *     MPI_Put                     MPIX_Put_notify: DATA
 *     MPI_Win_complete            (nothing; MPI_Win_flush_local where the source is to change)
 *     MPI_Win_wait                wait for DATA
 *
 * There are no groups any more, and a wait is a request: it can end beside others, or be tested.
 *
 *   mpicc $(pkg-config --cflags lateral-mpi-openmpi) pscw.c $(pkg-config --libs lateral-mpi-openmpi) -o pscw
 *   mpirun -n 4 ./pscw [blocks]
 *
 * The tests run it so:
 * ways: plain far
 * links: layer
 */
#include <mpi.h>
#include <mpix_rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 512 }; /* of a block */
enum { READY, DATA };

static int rank, ranks, previous, following;
static int64_t block[WORDS], *buffer;
static MPI_Win win;

static void fill(int number)
{
    for (int i = 0; i < WORDS; i++)
        block[i] = (int64_t)number * 1000003 + (int64_t)rank * 997 + i;
}

/* Returns how many words are not the previous rank's. */
static int look(int number)
{
    int wrong = 0;
    for (int i = 0; i < WORDS; i++)
        wrong += buffer[i] != (int64_t)number * 1000003 + (int64_t)previous * 997 + i;
    return wrong;
}

static int with_pscw(int blocks)
{
    MPI_Group world, from, to;
    int wrong = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &previous, &from);
    MPI_Group_incl(world, 1, &following, &to);
    for (int number = 1; number <= blocks; number++) {
        fill(number);
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(block, WORDS, MPI_INT64_T, following, 0, WORDS, MPI_INT64_T, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        wrong += look(number);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
    return wrong;
}

static void wait_for(int id, int count)
{
    MPI_Request request;
    MPIX_Win_wait_notify(win, id, count, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int with_notification(int blocks)
{
    int wrong = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int number = 1; number <= blocks; number++) {
        fill(number);
        MPIX_Put_notify(0, 0, MPI_INT64_T, previous, 0, 0, MPI_INT64_T, READY, win);
        wait_for(READY, number);
        MPIX_Put_notify(block, WORDS, MPI_INT64_T, following, 0, WORDS, MPI_INT64_T, DATA, win);
        MPI_Win_flush_local(following, win);
        wait_for(DATA, number);
        wrong += look(number);
    }
    MPI_Win_unlock_all(win);
    return wrong;
}

int main(int argc, char **argv)
{
    int blocks, wrong, all;
    MPI_Init(&argc, &argv);
    blocks = argc > 1 ? atoi(argv[1]) : 0;
    blocks = blocks > 0 ? blocks : 200;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    previous = (rank + ranks - 1) % ranks;
    following = (rank + 1) % ranks;
    MPI_Win_allocate(WORDS * sizeof *buffer, sizeof *buffer, MPI_INFO_NULL, MPI_COMM_WORLD, &buffer, &win);
    wrong = with_pscw(blocks) + with_notification(blocks);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pscw: %d blocks twice through %d ranks, %s\n", blocks, ranks, all ? "WRONG" : "verified");
    MPI_Win_free(&win);
    MPI_Finalize();
    return all != 0;
}
