#include "base/meant.h"

#include "base/env.h"

#include <stdbool.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned meant_distance(const char *one, size_t one_bytes, const char *other, size_t other_bytes)
{
    /* rows[i % 3][j]: mistakes between the first i bytes of one and the first j of the other */
    unsigned rows[3][MEANT_BYTES + 1];
    if (one_bytes > MEANT_BYTES || other_bytes > MEANT_BYTES)
        return MEANT_BYTES + 1;
    for (size_t j = 0; j <= other_bytes; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= one_bytes; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i - 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= other_bytes; j++) {
            unsigned changed = before[j - 1] + (one[i - 1] != other[j - 1]);
            now[j] = least(changed, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
                now[j] = least(now[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[one_bytes % 3][other_bytes];
}

unsigned meant_mistakes(size_t bytes)
{
    return bytes < 4 ? 0 : bytes < 8 ? 1 : 2;
}

/* Variables of the library, then those that only tools, launchers and tests read. */
static const char *const names[] = {
#define ENV_ROW(id, name, alias, kind, standard, help) name, alias,
#include "base/env.def"
#undef ENV_ROW
    "LATERAL_LAUNCHER", "LATERAL_CC", "LATERAL_CXX", "LATERAL_FC", "LATERAL_MPI", "LATERAL_PE", "LATERAL_NPES"};

/* What Open MPI, Cray and old libraries call the size of the heap. */
static const char *const others[][2] = {{"SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"},
                                        {"SMA_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"},
                                        {"SHMEM_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"}};

static bool is_name(const char *name, const char *entry, size_t bytes)
{
    return strlen(name) == bytes && memcmp(name, entry, bytes) == 0;
}

/* Returns the bytes of the front that entry begins with, or 0. */
static size_t front_of(const char *entry)
{
    static const char *const fronts[] = {"LATERAL_", "SHMEM_", "SMA_"};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(entry, fronts[i], strlen(fronts[i])) == 0)
            return strlen(fronts[i]);
    return 0;
}

const char *meant_variable(const char *entry)
{
    size_t bytes = strcspn(entry, "="), front = front_of(entry);
    const char *nearest = 0;
    if (!front)
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_name(others[i][0], entry, bytes))
            return others[i][1];
    unsigned most = meant_mistakes(bytes - front);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!names[i] || strncmp(names[i], entry, front) != 0)
            continue;
        if (is_name(names[i], entry, bytes))
            return 0;
        unsigned mistakes = meant_distance(names[i], strlen(names[i]), entry, bytes);
        if (mistakes <= most) {
            nearest = names[i];
            most = mistakes - 1;
        }
    }
    return nearest;
}
