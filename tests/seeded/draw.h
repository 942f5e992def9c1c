/* Random numbers of the seeded programs. All PEs draw the same from `common`, and each its own from `own`. SEED is in the environment. */
#ifndef TEST_SEEDED_DRAW_H
#define TEST_SEEDED_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t common, own;

/* splitmix64 */
static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t draw(uint64_t *from)
{
    return mix(*from += 0x9E3779B97F4A7C15u);
}

static inline size_t below(uint64_t *from, size_t limit)
{
    return limit ? (size_t)(draw(from) % limit) : 0;
}

static inline void draw_start(int pe)
{
    const char *seed = getenv("SEED");
    common = seed ? strtoull(seed, 0, 10) : 1;
    own = mix(common + 1000003 * (uint64_t)(pe + 1));
}

/* The bytes that belong to a number. */
static inline void fill_with(void *at, size_t bytes, uint64_t number)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)at)[i] = (unsigned char)(number * 131 + i * 7 + i / 255);
}

static inline bool is_filled_with(const void *at, size_t bytes, size_t from, uint64_t number)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)at)[i] != (unsigned char)(number * 131 + (from + i) * 7 + (from + i) / 255))
            return false;
    return true;
}

#endif
