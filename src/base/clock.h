/* The clock by which waits are measured: it never goes back, and is the same in all processes of the machine. Any thread. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCK_SECOND 1000000000u /* nanoseconds */

/* Returns nanoseconds since the machine started. */
static inline uint64_t clock_nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

/* Reads a time as people write it: 90, 90s, 1.5m or 2h. Returns false when the text is none; 0 is one. */
static inline bool clock_read_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    const bool plain = isdigit((unsigned char)text[0]) || text[0] == '.';
    if (*end && !end[1] && strchr("smh", *end))
        *seconds *= *end == 'h' ? 3600 : *end == 'm' ? 60 : 1;
    else if (*end)
        return false;
    return plain && *seconds >= 0 && *seconds <= 1e9;
}

#endif
