/* The unit tests share: one assertion that prints its place and expression, a word about a check that does not end or crashes, and
 * a seeded generator. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../within.h"

#define CHECK(condition)                            \
    (within_begins(__FILE__, __LINE__, #condition), \
     (condition) ? within_ends(__FILE__, __LINE__)  \
                 : (void)(fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition), abort()))

static inline void check_crash(int number)
{
    const struct within *at = within_mine;
    fprintf(stderr, "%s:%d: not true: %s\n", at && at->file ? at->file : "?", at ? at->line : 0,
            at && at->what ? at->what : "the program comes to its next check");
    signal(number, SIG_DFL);
    raise(number);
}

static inline void check_crashes(void (*how)(int))
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], how);
}

__attribute__((constructor)) static void check_start(void)
{
    within_start();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these tell more of a crash */
    check_crashes(check_crash);
#endif
}

static inline uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
