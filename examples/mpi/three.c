/* Three models in one program, on one substrate: OpenSHMEM hands out tasks by a counter that is a global variable, MPI
 * adds the results into windows, and active messages of uccs.h tell the owner of a cell that it changed.
 *
 *   mpicc $(pkg-config --cflags lateral) three.c $(pkg-config --libs lateral-mpi-openmpi lateral) -o three
 *   mpirun -n 4 ./three [mpi|shmem [tasks]]      which of the two starts first and ends last
 *
 * With the MPI layer, windows need nothing from a rank that waits elsewhere. Active messages do: a rank answers them while it
 * waits in OpenSHMEM or uccs.h. In the MPI's own calls it does so with Open MPI, or with LATERAL_PROGRESS=thread.
 *
 * The tests run it so:
 * ways: mpi shmem
 * links: lateral
 * ranks: 2
 */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uccs.h>

enum { CELLS = 4096, CHANGED = 1 }; /* cells of each rank; number of the message */

static long next_task; /* symmetric: PE 0's is the job's */
static long tasks = 4000;
static long changes; /* messages that came here */
static uccs_context_t context;
static uccs_endpoint_t *endpoint; /* of each rank */

static void changed(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    __atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
}

static void fail(const char *what)
{
    fprintf(stderr, "three: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void begin(int mpi_first, int *argc, char ***argv)
{
    if (mpi_first)
        MPI_Init(argc, argv);
    shmem_init();
    if (!mpi_first)
        MPI_Init(argc, argv);
    if (uccs_init() != UCCS_OK || uccs_context_create(0, &context) != UCCS_OK)
        fail("uccs.h does not start");
    uccs_am_register(context, CHANGED, UCCS_AM_NETWORK_PROTOCOL, changed, 0);
    endpoint = calloc((size_t)shmem_n_pes(), sizeof *endpoint);
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        if (!endpoint || uccs_endpoint_create(context, UCCS_GROUP_WORLD, pe, &endpoint[pe]) != UCCS_OK)
            fail("no endpoint");
}

static void end(int mpi_first)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        uccs_endpoint_release(endpoint[pe]);
    free(endpoint);
    uccs_context_destroy(context);
    uccs_finalize();
    if (!mpi_first)
        MPI_Finalize();
    shmem_finalize();
    if (mpi_first)
        MPI_Finalize();
}

/* Task t adds t to one cell, and the cell's owner hears of it. */
static void work(MPI_Win table)
{
    long task;
    int ranks = shmem_n_pes();
    MPI_Win_lock_all(0, table);
    while ((task = shmem_long_atomic_fetch_inc(&next_task, 0)) < tasks) {
        double value = (double)task;
        int owner = (int)(task * 31 % ranks);
        MPI_Accumulate(&value, 1, MPI_DOUBLE, owner, task * 7919 % CELLS, 1, MPI_DOUBLE, MPI_SUM, table);
        if (uccs_am_short(context, endpoint[owner], CHANGED, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0) != UCCS_OK)
            fail("no message");
    }
    MPI_Win_unlock_all(table);
    uccs_flush(context);
}

int main(int argc, char **argv)
{
    int mpi_first = argc < 2 || strcmp(argv[1], "shmem") != 0, rank;
    double *cells, sum = 0, all = 0;
    long told = 0;
    MPI_Win table;
    tasks = argc > 2 ? atol(argv[2]) : tasks;
    begin(mpi_first, &argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != shmem_my_pe())
        fail("MPI and OpenSHMEM number the processes in different ways");
    MPI_Win_allocate(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &table);
    memset(cells, 0, CELLS * sizeof *cells);
    MPI_Barrier(MPI_COMM_WORLD);
    work(table);
    shmem_barrier_all(); /* it answers messages until all have flushed, so nothing is under way behind it */
    for (int i = 0; i < CELLS; i++)
        sum += cells[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&changes, &told, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int wrong = all != (double)tasks * (double)(tasks - 1) / 2 || told != tasks;
    if (rank == 0)
        printf("three: %ld tasks, %ld messages, %s first, %s\n", tasks, told, mpi_first ? "MPI" : "OpenSHMEM",
               wrong ? "WRONG" : "verified");
    MPI_Win_free(&table);
    end(mpi_first);
    return wrong;
}
