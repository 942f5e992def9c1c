/* What every program here needs, with or without OpenSHMEM: a clock, the median, a pause, and results as one JSON document. Include it
 * once. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int bench_silent; /* another process prints the results */

static inline double bench_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Returns nanoseconds. */
static inline double bench_now(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, bench_compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Between two looks at a line that another core writes. */
static inline void bench_relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Returns the bytes of memory that this process has touched, shared pages too. */
static inline double bench_resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%*d %ld", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static inline int bench_has(int argc, char **argv, const char *flag)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], flag) == 0)
            return 1;
    return 0;
}

/* Prints a value under a name of the row's key as soon as it is there: what comes later may fail. */
static inline void bench_result(double value, const char *unit, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void bench_result(double value, const char *unit, const char *format, ...)
{
    static int later;
    va_list arguments;
    if (bench_silent)
        return;
    printf(later ? ",\n  \"" : "{\"results\": {\n  \"");
    later = 1;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\": [%.9g, \"%s\"]", value, unit);
    fflush(stdout);
}

static inline void bench_results_end(void)
{
    if (!bench_silent)
        printf("\n}}\n"), fflush(stdout);
}
#endif
