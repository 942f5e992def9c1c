/* What the made-up neighbours are asked, as text, in order. */
#ifndef TESTS_PARTS_NOTED_H
#define TESTS_PARTS_NOTED_H

#include "unit/check.h"

#include <stdarg.h>
#include <string.h>

static char noted[1000];

__attribute__((format(printf, 1, 2), unused)) static void note(const char *format, ...)
{
    const size_t at = strlen(noted);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(noted + at, sizeof noted - at, format, arguments);
    va_end(arguments);
}

/* This has been noted since the last look, and nothing else. */
#define NOTED(text)                                                                                            \
    do {                                                                                                       \
        if (strcmp(noted, text) != 0) {                                                                        \
            fprintf(stderr, "%s:%d: not true: it asks \"%s\", but \"%s\"\n", __FILE__, __LINE__, text, noted); \
            abort();                                                                                           \
        }                                                                                                      \
        noted[0] = 0;                                                                                          \
    } while (0)

#endif
