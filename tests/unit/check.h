/* The unit tests share: one assertion that prints its place and expression, a word about a check that does not end, and a
 * seeded generator. */
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

__attribute__((constructor)) static void check_within(void)
{
    within_start();
}

static inline uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
