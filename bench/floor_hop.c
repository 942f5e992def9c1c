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
#include <unistd.h>

#include "clock.h"

enum { MOST_BATCHES = 101, WARM = 1000 };

static struct shared {
    _Alignas(256) long line[2][32];
} * shared;
static cpu_set_t allowed; /* set before pin is called */

static int relax; /* pause between looks? */

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

/* Side 0 writes an odd number to one line, and side 1 the next one to the other, or to the same one. */
static void exchange(int side, long *mine, long *theirs, long from, long n)
{
    for (long number = 2 * from + 1; number < 2 * (from + n) + 1; number += 2) {
        if (side == 0)
            __atomic_store_n(theirs, number, __ATOMIC_RELEASE);
        while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < number + (side == 0))
            if (relax)
                bench_relax();
        if (side == 1)
            __atomic_store_n(theirs, number + 1, __ATOMIC_RELEASE);
    }
}

/* Both sides call it. Side 0's result counts. */
static double measure(int side, int lines, int batches, long n)
{
    double each[MOST_BATCHES];
    long *mine = shared->line[lines == 2 ? side : 0], *theirs = shared->line[lines == 2 ? 1 - side : 0];
    exchange(side, mine, theirs, 0, WARM);
    for (int i = 0; i < batches; i++) {
        double start = bench_now();
        exchange(side, mine, theirs, WARM + i * n, n);
        each[i] = (bench_now() - start) / (double)n / 2;
    }
    return bench_median(each, batches);
}

/* Runs both sides with and without pauses. Returns the median of half round trips of the faster way. */
static double hop(int lines, int batches, long n)
{
    double best = 1e9;
    for (relax = 0; relax < 2; relax++) {
        memset(shared, 0, sizeof *shared);
        pid_t child = fork();
        if (child < 0) {
            perror("floor_hop: fork");
            exit(1);
        }
        pin(child == 0);
        double result = measure(child == 0, lines, batches, n);
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
        best = result < best ? result : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    int batches = quick ? 11 : MOST_BATCHES;
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) < 2)
        return printf("{\"program\": \"floor_hop\", \"results\": {}}\n") < 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("floor_hop: mmap");
        return 1;
    }
    double two = hop(2, batches, 2000), one = hop(1, batches, 2000);
    printf("{\"program\": \"floor_hop\", \"results\": {\"hop\": [%.6g, \"ns\"], \"hop.line\": [%.6g, \"ns\"]}}\n", two,
           one);
    return 0;
}
