/* Listings 1, 2 and 6 of the paper "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication"
 * (Schuchart et al., EuroMPI 2021): a put and the signal that it is there. Rank 0 puts, the last rank looks.
 *
 *   mpicc $(pkg-config --cflags lateral-mpi-openmpi) listings.c $(pkg-config --libs lateral-mpi-openmpi) -o listings
 *   mpirun -n 2 ./listings
 *
 * The tests run it so:
 * ranks: 2
 * ways: plain far
 * links: layer
 */
#define MPIX_PAPER_NAMES
#include <mpi.h>
#include <mpix_rma.h>
#include <stdio.h>

enum { COUNTER, DATA, WORDS = 1000 };

static long data[WORDS], *memory, worked;
static int rank, target;
static MPI_Win win;

static void do_useful_work(void)
{
    worked++;
}

/* Using an atomic increment to signal the completion of a put, overlapping communication with useful work. */
static void listing_1(void)
{
    int flag;
    long one = 1;
    MPI_Request req;
    MPI_Rput(data, WORDS, MPI_LONG, target, DATA, WORDS, MPI_LONG, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
    /* Flush needed for remote completion */
    MPI_Win_flush(target, win);
    /* Signal that the data has been written by
     * incrementing a counter at the target */
    MPI_Raccumulate(&one, 1, MPI_LONG, target, COUNTER, 1, MPI_LONG, MPI_SUM, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
}

/* The example of Listing 1 with mpi_win_order set to true, avoiding the first flush by chaining two operations. */
static void listing_2(void)
{
    int flag;
    long one = 1;
    MPI_Request req;
    MPI_Put(data, WORDS, MPI_LONG, target, DATA, WORDS, MPI_LONG, win);
    /* Signal that the data has been written by
     * incrementing a counter at the target */
    MPI_Raccumulate(&one, 1, MPI_LONG, target, COUNTER, 1, MPI_LONG, MPI_SUM, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
}

/* The example of Listing 1 using a remote-completing request-based put and a collective operation for
 * synchronization. */
static void listing_6(void)
{
    int flag;
    MPI_Request req;
    MPI_Rrput(data, WORDS, MPI_LONG, target, DATA, WORDS, MPI_LONG, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
    /* A call to MPI_Win_flush would be required if MPI_Rput was used */
}

static void fill(int number)
{
    for (int i = 0; i < WORDS; i++)
        data[i] = number * 1000003L + i;
}

/* The target: waits for the counter and looks at the data. Returns how many words are wrong. */
static int look(long count, int number)
{
    long seen = 0;
    int wrong = 0;
    while (seen < count) {
        MPI_Fetch_and_op(0, &seen, MPI_LONG, target, COUNTER, MPI_NO_OP, win);
        MPI_Win_flush(target, win);
    }
    for (int i = 0; i < WORDS; i++)
        wrong += memory[DATA + i] != number * 1000003L + i;
    return wrong;
}

static int run_listings(void)
{
    MPI_Win plain = win, ordered;
    MPI_Info info;
    int wrong = 0, sum;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_order", "true");
    MPIX_Win_dup_with_info(plain, info, &ordered);
    MPI_Info_free(&info);
    fill(1);
    if (rank == 0)
        listing_1();
    if (rank == target)
        wrong += look(1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    win = ordered;
    fill(2);
    if (rank == 0)
        listing_2();
    if (rank == target)
        wrong += look(2, 2);
    win = plain;
    MPI_Barrier(MPI_COMM_WORLD);
    fill(3);
    if (rank == 0)
        listing_6();
    MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* the collective that synchronises */
    if (rank == target)
        wrong += look(0, 3);
    MPI_Win_free(&ordered);
    return wrong;
}

int main(int argc, char **argv)
{
    int ranks, wrong, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    target = ranks - 1;
    MPI_Win_allocate((DATA + WORDS) * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[COUNTER] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    wrong = run_listings();
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("listings: %ld pieces of useful work, %s\n", worked, all ? "WRONG" : "verified");
    MPI_Win_free(&win);
    MPI_Finalize();
    return all != 0;
}
