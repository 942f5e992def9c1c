/* What children write to standard error goes to a file, which the test reads. */
#ifndef TESTS_UNIT_ERRORS_H
#define TESTS_UNIT_ERRORS_H

#include "unit/check.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int errors; /* the file */

static inline void open_errors(void)
{
    errors = memfd_create("errors", MFD_CLOEXEC);
    CHECK(errors >= 0);
}

static inline void forget_errors(void)
{
    CHECK(ftruncate(errors, 0) == 0 && lseek(errors, 0, SEEK_SET) == 0);
}

/* These words are among what has been written; "": nothing has been. */
static inline bool says(const char *words)
{
    char text[4096] = "";
    CHECK(pread(errors, text, sizeof text - 1, 0) >= 0);
    return *words ? strstr(text, words) != 0 : !*text;
}

#endif
