/* Common parts of the programs of bench/mpi: rank 0 prints, and threads repeat an operation. Include it once. */
#ifndef BENCH_MPI_COMMON_H
#define BENCH_MPI_COMMON_H
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

#include "../common.h"

enum { THREADS = 32 };

static int rank, ranks;

/* Rank 0 prints the results. */
static inline void open_mpi(int *argc, char ***argv, int level)
{
    int provided;
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench_silent = rank != 0;
}

static struct {
    void (*operation)(long id);
    pthread_barrier_t together;
    int stop;
    struct {
        _Alignas(64) long done;
    } each[THREADS];
} team;

static inline void *repeat(void *argument)
{
    const intptr_t id = (intptr_t)argument;
    pthread_barrier_wait(&team.together);
    do {
        team.operation(id);
        team.each[id].done++;
    } while (!__atomic_load_n(&team.stop, __ATOMIC_RELAXED));
    return 0;
}

/* Lets the threads repeat the operation for so long. Returns the seconds that passed for each operation of all. */
static inline double run_threads(int threads, double seconds, void (*operation)(long id))
{
    pthread_t id[THREADS];
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    long all = 0;
    team.operation = operation;
    team.stop = 0;
    pthread_barrier_init(&team.together, 0, (unsigned)threads + 1);
    for (intptr_t i = 0; i < threads; i++) {
        team.each[i].done = 0;
        pthread_create(&id[i], 0, repeat, (void *)i);
    }
    pthread_barrier_wait(&team.together);
    double start = MPI_Wtime();
    nanosleep(&time, 0);
    __atomic_store_n(&team.stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < threads; i++) {
        pthread_join(id[i], 0);
        all += team.each[i].done;
    }
    double took = MPI_Wtime() - start;
    pthread_barrier_destroy(&team.together);
    return took / (double)all;
}
#endif
