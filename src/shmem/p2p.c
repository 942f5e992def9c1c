/* Sets of variables, requests and counters (p2p.h): one search, and the calls that test or wait by it. */
#include "shmem/p2p.h"

/* cmp_values is the caller's private array; the atomic load is only the same code for all widths. */
bool lat_variable_holds(struct lat_set *set, size_t i)
{
    const size_t at = i * kind_size(set->kind);
    uint64_t value = set->values ? lat_load(set->kind, (const char *)set->values + at) : set->value;
    return lat_compare(set->kind, set->cmp, lat_load(set->kind, (const char *)set->members + at), value);
}

static bool is_member(const struct lat_set *set, size_t i)
{
    return !set->status || set->status[i] == 0;
}

static bool is_empty(const struct lat_set *set)
{
    size_t n = set->n;
    while (n && !is_member(set, n - 1))
        n--;
    return n == 0;
}

static bool all_hold(struct lat_set *set)
{
    while (set->from < set->n && (!is_member(set, set->from) || set->holds(set, set->from)))
        set->from++;
    return set->from == set->n;
}

/* Returns where the search begins: behind the member that was found last, or at a pseudo-random place, so that no pattern of calls
 * skips a member for ever. */
static size_t start_of(const struct lat_set *set)
{
    static _Thread_local uint64_t state;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return set->n > 1 ? (set->turn ? *set->turn : state >> 33) % set->n : 0;
}

static size_t find_any(struct lat_set *set)
{
    size_t i = start_of(set);
    for (size_t left = set->n; left; left--, i = i + 1 == set->n ? 0 : i + 1)
        if (is_member(set, i) && set->holds(set, i)) {
            if (set->turn)
                *set->turn = i + 1;
            return i;
        }
    return SIZE_MAX;
}

static size_t find_some(struct lat_set *set, size_t *indices)
{
    size_t count = 0;
    for (size_t i = 0; i < set->n; i++)
        if (is_member(set, i) && set->holds(set, i))
            indices[count++] = i;
    return count;
}

static size_t find_in(struct lat_set *set, enum lat_which which, size_t *indices)
{
    switch (which) {
    case LAT_ALL: return all_hold(set);
    case LAT_ANY: return find_any(set);
    default: return find_some(set, indices);
    }
}

size_t lat_set_test(struct lat_set *set, enum lat_which which, size_t *indices)
{
    const size_t found = find_in(set, which, indices);
    if (found == (which == LAT_ANY ? SIZE_MAX : 0))
        uccs_missed();
    return found;
}

size_t lat_set_wait(struct lat_set *set, enum lat_which which, size_t *indices)
{
    const size_t none = which == LAT_ANY ? SIZE_MAX : 0;
    struct uccs_wait wait uccs_scoped = {.on = set->on};
    size_t found;
    if (which != LAT_ALL && is_empty(set))
        return none;
    while ((found = find_in(set, which, indices)) == none)
        uccs_pause(&wait);
    return found;
}
