/* What the source under test has asked of its neighbours, in order: each made-up neighbour notes its call, and the test compares. */
#ifndef TESTS_PARTS_TRANSPORT_TRACED_H
#define TESTS_PARTS_TRANSPORT_TRACED_H

#include "unit/check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

static char traced[4000];

__attribute__((format(printf, 1, 2))) static inline void note(const char *format, ...)
{
    const size_t length = strlen(traced);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(traced + length, sizeof traced - length, format, arguments);
    va_end(arguments);
}

/* Returns true when the calls since the last question were these. */
static inline bool did(const char *calls)
{
    const bool same = strcmp(traced, calls) == 0;
    if (!same)
        fprintf(stderr, "wanted: %s\n   got: %s\n", calls, traced);
    traced[0] = 0;
    return same;
}

#endif
