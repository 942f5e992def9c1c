/* A program of MPI windows: a hash table on all ranks. Each rank inserts keys by MPI_Compare_and_swap, one slot after the
 * other until one is free, and counts them by MPI_Fetch_and_op; then it looks all of them up with MPI_Get.
 *
 *   table [KEYS]       keys of each rank
 *
 * Rank 0 prints {"results": {"time": [seconds, "s"]}} when every key was found. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static int64_t slots;
static MPI_Win window, counts;

static uint64_t scatter(uint64_t key)
{
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    return (key ^ key >> 29) * 0xbf58476d1ce4e5b9u >> 8;
}

static void insert(int64_t key)
{
    uint64_t at = scatter((uint64_t)key);
    for (;; at++) {
        int64_t none = 0, seen, one = 1;
        int owner = (int)(at % (uint64_t)slots * (uint64_t)ranks / (uint64_t)slots);
        MPI_Aint place = (MPI_Aint)(at % (uint64_t)slots) - (slots * owner + ranks - 1) / ranks;
        MPI_Compare_and_swap(&key, &none, &seen, MPI_INT64_T, owner, place, window);
        MPI_Win_flush(owner, window);
        if (seen != 0 && seen != key)
            continue;
        MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, owner, 0, MPI_SUM, counts);
        MPI_Win_flush(owner, counts);
        return;
    }
}

static int find(int64_t key)
{
    uint64_t at = scatter((uint64_t)key);
    for (;; at++) {
        int64_t seen;
        int owner = (int)(at % (uint64_t)slots * (uint64_t)ranks / (uint64_t)slots);
        MPI_Aint place = (MPI_Aint)(at % (uint64_t)slots) - (slots * owner + ranks - 1) / ranks;
        MPI_Get(&seen, 1, MPI_INT64_T, owner, place, 1, MPI_INT64_T, window);
        MPI_Win_flush(owner, window);
        if (seen == key || seen == 0)
            return seen == key;
    }
}

int main(int argc, char **argv)
{
    long keys = 20000, missing = 0, all[2], mine[2];
    int64_t *memory, *count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && argv[1][0] != '-')
        keys = atol(argv[1]);
    slots = 2 * keys * ranks;
    MPI_Aint bytes = (slots / ranks + 1) * 8;
    MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &count, &counts);
    memset(memory, 0, (size_t)bytes);
    *count = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Win_lock_all(0, counts);
    double start = MPI_Wtime();
    for (long i = 1; i <= keys; i++)
        insert(i * ranks + rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 1; i <= keys; i++)
        missing += !find(i * ranks + (rank + 1) % ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    MPI_Win_unlock_all(counts);
    MPI_Win_unlock_all(window);
    mine[0] = missing;
    mine[1] = (long)*count;
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    int wrong = rank == 0 && (all[0] != 0 || all[1] != keys * ranks);
    if (rank == 0 && !wrong)
        printf("{\"results\": {\"time\": [%.9g, \"s\"]}}\n", seconds);
    fflush(stdout);
    MPI_Win_free(&counts);
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong;
}
