/* The clock by which waits are measured: it never goes back, and is the same in all processes of the machine. Any thread. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND 1000000000u /* nanoseconds */

/* Returns nanoseconds since the machine started. */
static inline uint64_t clock_nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

#endif
