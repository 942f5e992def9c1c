/* Refused operations: the memory that they name has been released. The target notes the number in their header, once, and tells
 * all noted numbers in its next answer to a flush (flush.c). Under the service lane's lock. */
#include "uccs/link/inner.h"

#include <stdlib.h>

struct link_refusals {
    uint32_t count;
    uint64_t noted[(UINT16_MAX + 1) / 64]; /* a bit for each number */
};

static void note(struct link_origin *origin, uint16_t number)
{
    if (!origin->refusals && !(origin->refusals = calloc(1, sizeof *origin->refusals)))
        uccs_fail("no memory for refused operations");
    uint64_t *word = &origin->refusals->noted[number / 64], bit = UINT64_C(1) << number % 64;
    origin->refusals->count += !(*word & bit);
    *word |= bit;
}

void link_refuse(const struct link_arrival *arrival)
{
    arrival->origin->refused++;
    if (arrival->header.number)
        note(arrival->origin, arrival->header.number);
}

uint16_t *link_refusals_take(struct link_origin *origin, size_t *bytes)
{
    struct link_refusals *refusals = origin->refusals;
    *bytes = refusals ? refusals->count * sizeof(uint16_t) : 0;
    if (!*bytes)
        return 0;
    uint16_t *numbers = malloc(*bytes);
    if (!numbers)
        uccs_fail("no memory for refused operations");
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof refusals->noted / sizeof *refusals->noted; i++)
        for (uint64_t left = refusals->noted[i]; left; left &= left - 1)
            numbers[count++] = (uint16_t)(64 * i + (uint32_t)__builtin_ctzll(left));
    *refusals = (struct link_refusals){0};
    return numbers;
}
