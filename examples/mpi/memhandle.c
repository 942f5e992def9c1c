/* Figure 6 of the paper "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication" (Schuchart et al.,
 * EuroMPI 2021): process A exposes memory by a handle, process B makes a window of it, uses it and says so.
 *
 *   mpicc $(pkg-config --cflags lateral-mpi-openmpi) memhandle.c $(pkg-config --libs lateral-mpi-openmpi) -o memhandle
 *   mpirun -n 2 ./memhandle
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
#include <stdlib.h>

enum { A, B, WORDS = 10000 };

static MPI_Win parentwin; /* a dynamic window without memory */

/* Returns how many words are wrong. */
static int process_a(void)
{
    char memhandle[MPI_MAX_MEMORY_HANDLE_SIZE], signal;
    int size, wrong = 0;
    long *memory = calloc(WORDS, sizeof *memory);
    MPI_Memhandle_create(memory, WORDS * sizeof *memory, MPI_INFO_NULL, parentwin, memhandle, &size);
    MPI_Send(memhandle, size, MPI_BYTE, B, 0, MPI_COMM_WORLD);
    MPI_Recv(&signal, 1, MPI_CHAR, B, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS; i++)
        wrong += memory[i] != 3L * i;
    MPI_Memhandle_release(memhandle, parentwin);
    free(memory);
    return wrong;
}

static void process_b(void)
{
    char memhandle[MPI_MAX_MEMORY_HANDLE_SIZE], signal = 1;
    MPI_Win win;
    static long data[WORDS];
    for (int i = 0; i < WORDS; i++)
        data[i] = 3L * i;
    MPI_Recv(memhandle, MPI_MAX_MEMORY_HANDLE_SIZE, MPI_BYTE, A, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_from_memhandle(memhandle, WORDS * sizeof *data, sizeof *data, MPI_INFO_NULL, A, parentwin, &win);
    MPI_Put(data, WORDS, MPI_LONG, A, 0, WORDS, MPI_LONG, win); /* RMAOp(win) */
    MPI_Win_free(&win);                                         /* completes it */
    MPI_Send(&signal, 1, MPI_CHAR, A, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) {
        fprintf(stderr, "memhandle: two ranks, please\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parentwin);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, parentwin); /* windows of handles have no locks of their own */
    if (rank == A)
        wrong = process_a();
    else if (rank == B)
        process_b();
    MPI_Win_unlock_all(parentwin);
    MPI_Win_free(&parentwin);
    if (rank == A)
        printf("memhandle: %d words, %s\n", WORDS, wrong ? "WRONG" : "verified");
    MPI_Finalize();
    return wrong != 0;
}
