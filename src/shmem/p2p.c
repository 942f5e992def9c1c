/* Waiting for sets of variables: all, any, some, against one value or one each.
 *
 * All twelve calls are one scan over a set. any begins somewhere else each time, so an element that is always
 * true cannot starve the others (OpenSHMEM 1.6, fairness of wait_until_any); some returns all it finds. An
 * empty set (no elements, or all excluded by status) is satisfied at once. */
#include "shmem/p2p.h"

static size_t width_of(enum kind kind)
{
    return kind == KIND_I16 || kind == KIND_U16 ? 2 : kind == KIND_I32 || kind == KIND_U32 ? 4 : 8;
}

/* cmp_values is the caller's private array; the atomic load is only the same code for all widths. */
static bool is_satisfied(const struct lat_wait_set *set, size_t i)
{
    size_t at = i * width_of(set->kind);
    uint64_t value = set->values ? lat_load(set->kind, (const char *)set->values + at) : set->value;
    return lat_compare(set->kind, set->cmp, lat_load(set->kind, (const char *)set->ivars + at), value);
}

/* Starts at *from, so that a wait does not look again at elements that were true: they may have changed since. */
static bool all_from(const struct lat_wait_set *set, size_t *from)
{
    for (; *from < set->nelems; ++*from)
        if (lat_set_has(set->status, *from) && !is_satisfied(set, *from))
            return false;
    return true;
}

static size_t any_between(const struct lat_wait_set *set, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (lat_set_has(set->status, i) && is_satisfied(set, i))
            return i;
    return SIZE_MAX;
}

/* Returns a pseudo-random place to begin a scan, so that no pattern of calls skips an element for ever. */
static size_t random_start(size_t nelems)
{
    static _Thread_local uint64_t state;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % nelems;
}

static size_t any_once(const struct lat_wait_set *set)
{
    size_t from = set->nelems > 1 ? random_start(set->nelems) : 0;
    size_t found = any_between(set, from, set->nelems);
    return found != SIZE_MAX ? found : any_between(set, 0, from);
}

static size_t some_once(const struct lat_wait_set *set, size_t *indices)
{
    size_t count = 0;
    for (size_t i = 0; i < set->nelems; i++)
        if (lat_set_has(set->status, i) && is_satisfied(set, i))
            indices[count++] = i;
    return count;
}

void lat_wait_until_all(const struct lat_wait_set *set)
{
    struct uccs_wait wait uccs_scoped = {0};
    size_t from = 0;
    lat_require(set->call);
    while (!all_from(set, &from))
        uccs_pause(&wait);
}

int lat_test_all(const struct lat_wait_set *set)
{
    size_t from = 0;
    lat_require(set->call);
    if (all_from(set, &from))
        return 1;
    uccs_missed();
    return 0;
}

size_t lat_wait_until_any(const struct lat_wait_set *set)
{
    struct uccs_wait wait uccs_scoped = {0};
    size_t found = SIZE_MAX;
    lat_require(set->call);
    while (!lat_set_is_empty(set->nelems, set->status) && (found = any_once(set)) == SIZE_MAX)
        uccs_pause(&wait);
    return found;
}

size_t lat_test_any(const struct lat_wait_set *set)
{
    lat_require(set->call);
    size_t found = any_once(set);
    if (found == SIZE_MAX)
        uccs_missed();
    return found;
}

size_t lat_wait_until_some(const struct lat_wait_set *set, size_t *indices)
{
    struct uccs_wait wait uccs_scoped = {0};
    size_t count = 0;
    lat_require(set->call);
    while (!lat_set_is_empty(set->nelems, set->status) && (count = some_once(set, indices)) == 0)
        uccs_pause(&wait);
    return count;
}

size_t lat_test_some(const struct lat_wait_set *set, size_t *indices)
{
    lat_require(set->call);
    size_t count = some_once(set, indices);
    if (count == 0)
        uccs_missed();
    return count;
}
