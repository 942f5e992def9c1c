/* Common parts of the programs of bench/mpi: results as they come, because a later measurement may hang, and threads that repeat an
 * operation. Include it once. */
#ifndef BENCH_MPI_COMMON_H
#define BENCH_MPI_COMMON_H
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 32 };

static int rank;

/* Prints a value on rank 0: {"results": {"NAME": [value, "unit"], ... */
static inline void print(double value, const char *unit, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline void print(double value, const char *unit, const char *format, ...)
{
    static int later;
    char name[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    if (rank == 0)
        printf("%s\"%s\": [%.9g, \"%s\"]", later ? ", " : "{\"results\": {", name, value, unit);
    fflush(stdout);
    later = 1;
}

/* Ends the document. */
static inline void print_end(void)
{
    if (rank == 0)
        printf("}}\n");
    fflush(stdout);
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
