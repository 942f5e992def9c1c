/* What the rooms' check.h share: CHECK, and the place of this PE in a ring.
 *
 * A failed CHECK prints PE, file, line and expression and ends the process with status 1; the launcher ends the others. So a test
 * that reaches its end on every PE has not failed. CHECK may be called from any thread. */
#ifndef TESTS_CHECKED_H
#define TESTS_CHECKED_H
#include "within.h"

#define CHECK(cond)                            \
    (within_begins(__FILE__, __LINE__, #cond), \
     (cond) ? check_good(__FILE__, __LINE__) : check_bad(__FILE__, __LINE__, #cond))
#define CHECK_EQ(a, b)                                \
    (within_begins(__FILE__, __LINE__, #a " == " #b), \
     check_equal((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b))

static int me, npes, next_pe, prev_pe; /* set by the room's check_who; next and prev close a ring */
static long check_count;               /* checks passed in this PE, by any thread */

static inline int check_good(const char *file, int line)
{
    within_ends(file, line);
    __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);
    return 1;
}

static inline int check_bad(const char *file, int line, const char *what)
{
    fprintf(stderr, "PE %d: %s:%d: CHECK(%s) failed\n", me, file, line, what);
    fflush(NULL);
    _exit(1);
}

static inline int check_equal(long long a, long long b, const char *file, int line, const char *what)
{
    char text[256];
    if (a == b)
        return check_good(file, line);
    snprintf(text, sizeof text, "%s: %lld against %lld", what, a, b);
    return check_bad(file, line, text);
}

#endif
