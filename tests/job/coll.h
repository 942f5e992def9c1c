/* The tests of collectives share: a generator that all PEs run alike, contents that encode writer and step, delays
 * that differ from PE to PE, and a failure that ends the job. */
#ifndef TESTS_JOB_COLL_H
#define TESTS_JOB_COLL_H

#define SHMEM_NO_DEPRECATED_WARNINGS
#include <sched.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../within.h"

#define REQUIRE(condition, ...)                                                   \
    do {                                                                          \
        within_begins(__FILE__, __LINE__, #condition);                            \
        if (!(condition)) {                                                       \
            fprintf(stderr, "PE %d: %s:%d: ", shmem_my_pe(), __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__);                                         \
            fprintf(stderr, "\n");                                                \
            shmem_global_exit(1);                                                 \
        }                                                                         \
        within_ends(__FILE__, __LINE__);                                          \
    } while (0)

__attribute__((constructor)) static void coll_within(void)
{
    within_start();
}

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t draw(uint64_t *state)
{
    return mix(*state += 0x9e3779b97f4a7c15u);
}

/* Byte i of what member `rank` sends in `step`. */
static inline unsigned char byte_of(uint64_t step, int rank, size_t i)
{
    return (unsigned char)((mix(step * 1000003u + (uint64_t)rank) >> 8 * (i % 7)) + i * 31 + (i >> 8));
}

static inline void fill(unsigned char *at, uint64_t step, int rank, size_t from, size_t bytes)
{
    uint64_t seed = mix(step * 1000003u + (uint64_t)rank);
    for (size_t i = from; i < from + bytes; i++)
        *at++ = (unsigned char)((seed >> 8 * (i % 7)) + i * 31 + (i >> 8));
}

/* Where `at` differs from what member `rank` sent from its byte `from` on; bytes when nowhere. */
static inline size_t differs(const unsigned char *at, uint64_t step, int rank, size_t from, size_t bytes)
{
    uint64_t seed = mix(step * 1000003u + (uint64_t)rank);
    for (size_t i = from; i < from + bytes; i++)
        if (*at++ != (unsigned char)((seed >> 8 * (i % 7)) + i * 31 + (i >> 8)))
            return i - from;
    return bytes;
}

/* Now and then one PE is late. */
static inline void dawdle(uint64_t *own)
{
    uint64_t luck = draw(own) % 64;
    if (luck == 0)
        nanosleep(&(struct timespec){0, 30000}, 0);
    else if (luck < 4)
        for (volatile int i = 0; i < 2000; i++)
            ;
    else if (luck < 8)
        sched_yield();
}

/* Mostly small, sometimes odd, rarely large; up to `most`. */
static inline size_t draw_size(uint64_t *state, size_t most)
{
    size_t size = draw(state) % 20;
    uint64_t luck = draw(state) % 40;
    if (luck < 20)
        size = draw(state) % 200;
    else if (luck < 30)
        size = 4000 + draw(state) % 200;
    else if (luck < 38)
        size = draw(state) % 40000;
    else if (luck == 39)
        size = draw(state) % (most + 1);
    return size < most ? size : most;
}

#endif
