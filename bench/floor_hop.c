/* The floor of every message on a node: the time until one core sees another core's store. Two processes pinned to two
 * cores exchange numbers, without any library:
 *
 *   hop       each writes a line that only the other reads, as messages do (half a round trip)
 *   hop.line  both write and read one line
 *
 * A reader that looks less often disturbs the writer less, and the best rate differs between processors. So this
 * measures each with and without a pause between looks; the faster one counts. With only one core there is no hop to
 * measure, and the document is empty. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BATCHES = 101, WARM = 1000 };

static struct shared {
    _Alignas(256) long line[2][32];
} * shared;
static cpu_set_t allowed; /* set before pin is called */

static int relax; /* pause between looks? */

static void look_again(void)
{
    if (!relax)
        return;
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void pin(int which)
{
    cpu_set_t one;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

/* Two lines; each side writes the other's. */
static void exchange_two(int side, long from, long n)
{
    for (long number = from + 1; number <= from + n; number++) {
        if (side == 0)
            __atomic_store_n(shared->line[1], number, __ATOMIC_RELEASE);
        while (__atomic_load_n(shared->line[side], __ATOMIC_ACQUIRE) < number)
            look_again();
        if (side == 1)
            __atomic_store_n(shared->line[0], number, __ATOMIC_RELEASE);
    }
}

/* One line. An odd number asks side 1 to answer with the next even number. */
static void exchange_one(int side, long from, long n)
{
    long *line = shared->line[0];
    for (long number = 2 * from + 1; number < 2 * (from + n) + 1; number += 2) {
        if (side == 0)
            __atomic_store_n(line, number, __ATOMIC_RELEASE);
        long awaited = side == 0 ? number + 1 : number;
        while (__atomic_load_n(line, __ATOMIC_ACQUIRE) < awaited)
            look_again();
        if (side == 1)
            __atomic_store_n(line, number + 1, __ATOMIC_RELEASE);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Both sides call it. Side 0's result counts. */
static double measure(int side, void (*exchange)(int, long, long), int batches, long n)
{
    double each[MOST_BATCHES];
    exchange(side, 0, WARM);
    for (int i = 0; i < batches; i++) {
        double start = now();
        exchange(side, WARM + i * n, n);
        each[i] = (now() - start) / (double)n / 2;
    }
    qsort(each, (size_t)batches, sizeof *each, compare);
    return each[batches / 2];
}

/* Runs both sides; returns the median of half round trips. */
static double run_sides(void (*exchange)(int, long, long), int batches, long n)
{
    memset(shared, 0, sizeof *shared);
    pid_t child = fork();
    if (child < 0) {
        perror("floor_hop: fork");
        exit(1);
    }
    if (child == 0) {
        pin(1);
        measure(1, exchange, batches, n);
        _exit(0);
    }
    double result = measure(0, exchange, batches, n);
    waitpid(child, NULL, 0);
    return result;
}

static double hop(void (*exchange)(int, long, long), int batches, long n)
{
    relax = 0;
    double tight = run_sides(exchange, batches, n);
    relax = 1;
    double relaxed = run_sides(exchange, batches, n);
    return tight < relaxed ? tight : relaxed;
}

int main(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    int batches = quick ? 11 : MOST_BATCHES;
    long n = 2000;
    sched_getaffinity(0, sizeof allowed, &allowed);
    printf("{\"program\": \"floor_hop\", \"results\": {");
    if (CPU_COUNT(&allowed) > 1) {
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED) {
            perror("floor_hop: mmap");
            return 1;
        }
        fflush(stdout); /* the child must not print it again */
        pin(0);
        printf("\"hop\": [%.6g, \"ns\"], ", hop(exchange_two, batches, n));
        fflush(stdout);
        printf("\"hop.line\": [%.6g, \"ns\"]", hop(exchange_one, batches, n));
    }
    printf("}}\n");
    return 0;
}
