/* What stand-ins write down, in the order in which they are called. */
#ifndef TESTS_LAUNCH_NOTED_H
#define TESTS_LAUNCH_NOTED_H

#include "unit/check.h"

#include <stdarg.h>
#include <string.h>

static char happened[4096];

static inline void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void note(const char *format, ...)
{
    va_list arguments;
    const size_t used = strlen(happened);
    va_start(arguments, format);
    vsnprintf(happened + used, sizeof happened - used, format, arguments);
    va_end(arguments);
}

/* This has happened since the last call, and nothing else. */
static inline void happens(const char *wanted)
{
    if (strcmp(happened, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, happened);
    CHECK(strcmp(happened, wanted) == 0);
    *happened = 0;
}

#endif
