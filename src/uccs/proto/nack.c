/* Refused operations: the memory that they name has been released. The target notes the number in their header, once, and tells
 * all noted numbers in its next answer to a flush (flush.c). Under the service worker's lock. */
#include "uccs/proto/inner.h"

#include <stdlib.h>

struct proto_nacks {
    uint32_t count;
    uint64_t noted[(UINT16_MAX + 1) / 64]; /* a bit for each number */
};

static void note(struct proto_origin *origin, uint16_t number)
{
    if (!origin->nacks && !(origin->nacks = calloc(1, sizeof *origin->nacks)))
        uccs_fail("no memory for refused operations");
    uint64_t *word = &origin->nacks->noted[number / 64], bit = UINT64_C(1) << number % 64;
    origin->nacks->count += !(*word & bit);
    *word |= bit;
}

void proto_nack(const struct proto_arrival *arrival)
{
    arrival->origin->refused++;
    if (arrival->header.number)
        note(arrival->origin, arrival->header.number);
}

uint16_t *proto_nacks_take(struct proto_origin *origin, size_t *bytes)
{
    struct proto_nacks *nacks = origin->nacks;
    *bytes = nacks ? nacks->count * sizeof(uint16_t) : 0;
    if (!*bytes)
        return 0;
    uint16_t *numbers = malloc(*bytes);
    if (!numbers)
        uccs_fail("no memory for refused operations");
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof nacks->noted / sizeof *nacks->noted; i++)
        for (uint64_t left = nacks->noted[i]; left; left &= left - 1)
            numbers[count++] = (uint16_t)(64 * i + (uint32_t)__builtin_ctzll(left));
    *nacks = (struct proto_nacks){0};
    return numbers;
}
