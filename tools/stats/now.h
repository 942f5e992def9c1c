/* The clock of a PE's times. Any thread. */
#ifndef STATS_NOW_H
#define STATS_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t stats_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
