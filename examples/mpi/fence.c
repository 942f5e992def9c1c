/* Heat along a ring, once with fences and once with notification: how to port fence code. A rank has a piece of the ring
 * and copies of its neighbours' border cells. Both ways must give the same bits.
 *
 *     with fences                          with notification
 *     MPI_Put to both neighbours           MPIX_Put_notify to both neighbours
 *     MPI_Win_fence: all ranks meet        MPI_Waitall: both neighbours' cells are here
 *     compute                              compute
 *     MPI_Win_fence: nobody reads any more (nothing)
 *
 * The second fence goes because there are two sets of border cells, used in turn: a neighbour that is one step ahead
 * writes to the other set, and it cannot be two ahead, as it needs this rank's cells of the next step for that. Nobody
 * waits for a rank that is not a neighbour.
 *
 *   mpicc $(pkg-config --cflags lateral-mpi-openmpi) fence.c $(pkg-config --libs lateral-mpi-openmpi) -o fence
 *   mpirun -n 4 ./fence [steps]
 *
 * The tests run it so:
 * ways: plain far
 * links: layer
 */
#include <mpi.h>
#include <mpix_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1000 };                 /* of each rank */
enum { FROM_LEFT, FROM_RIGHT, SIDES }; /* border cells, and the notifications that announce them */

static int rank, ranks, left, right;
static double cell[CELLS], next[CELLS];

static void begin(void)
{
    for (int i = 0; i < CELLS; i++)
        cell[i] = (double)((rank * CELLS + i) * 7919L % 1000);
}

static void compute(const double *border)
{
    for (int i = 0; i < CELLS; i++) {
        double before = i ? cell[i - 1] : border[FROM_LEFT];
        double after = i < CELLS - 1 ? cell[i + 1] : border[FROM_RIGHT];
        next[i] = 0.25 * before + 0.5 * cell[i] + 0.25 * after;
    }
    memcpy(cell, next, sizeof cell);
}

static void with_fences(int steps)
{
    double *border;
    MPI_Win win;
    MPI_Win_allocate(SIDES * sizeof *border, sizeof *border, MPI_INFO_NULL, MPI_COMM_WORLD, &border, &win);
    for (int step = 0; step < steps; step++) {
        MPI_Win_fence(0, win);
        MPI_Put(&cell[0], 1, MPI_DOUBLE, left, FROM_RIGHT, 1, MPI_DOUBLE, win);
        MPI_Put(&cell[CELLS - 1], 1, MPI_DOUBLE, right, FROM_LEFT, 1, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
        compute(border);
    }
    MPI_Win_free(&win);
}

static void with_notification(int steps)
{
    double *border;
    MPI_Win win;
    MPI_Request request[SIDES];
    MPI_Status status[SIDES];
    MPI_Win_allocate(2 * SIDES * sizeof *border, sizeof *border, MPI_INFO_NULL, MPI_COMM_WORLD, &border, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int step = 0; step < steps; step++) {
        const int set = step % 2 * SIDES;
        MPIX_Put_notify(&cell[0], 1, MPI_DOUBLE, left, set + FROM_RIGHT, 1, MPI_DOUBLE, FROM_RIGHT, win);
        MPIX_Put_notify(&cell[CELLS - 1], 1, MPI_DOUBLE, right, set + FROM_LEFT, 1, MPI_DOUBLE, FROM_LEFT, win);
        MPIX_Win_wait_notify(win, FROM_LEFT, step + 1, &request[FROM_LEFT]);
        MPIX_Win_wait_notify(win, FROM_RIGHT, step + 1, &request[FROM_RIGHT]);
        MPI_Waitall(SIDES, request, status); /* it could take sends, receives and collectives, too */
        compute(border + set);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static double expected[CELLS];
    int steps, wrong, any;
    MPI_Init(&argc, &argv);
    steps = argc > 1 ? atoi(argv[1]) : 0;
    steps = steps > 0 ? steps : 300;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    begin();
    with_fences(steps);
    memcpy(expected, cell, sizeof cell);
    begin();
    with_notification(steps);
    wrong = memcmp(expected, cell, sizeof cell) != 0;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("fence: %d steps of %d ranks, %s\n", steps, ranks, any ? "WRONG" : "verified");
    MPI_Finalize();
    return any;
}
