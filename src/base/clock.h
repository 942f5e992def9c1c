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

/* Computes TCP's keepalive settings from the time to wait for a silent host: after `idle` seconds of silence the kernel
 * sends `probes` probes, `between` seconds apart. The library's connections use it, and so do launchers, which wait a
 * little longer so that a PE can say first what is wrong. */

struct patience {
    int idle, between, probes;
};

static inline struct patience patience_of(int seconds)
{
    struct patience p = {.idle = seconds < 20 ? 1 : 2};
    int left = seconds > p.idle ? seconds - p.idle : 1;
    p.between = left < 10 ? 1 : left < 15 ? 2 : 3;
    while (left / p.between > 120) /* the kernel counts to 127 */
        p.between *= 2;
    p.probes = left / p.between;
    return p;
}

/* Returns a patience that surely ends later, by at most between + idle + idle seconds. */
static inline struct patience patience_after(struct patience p)
{
    p.probes += p.between < p.idle ? p.idle : 1;
    return p;
}

#endif
