#include "uccs/comp/counter.h"

#include <uccs.h>

#define ATTEMPTS 1000

/* Finds a number that is free at all members; `begin` is the first place in a window to look at. Returns UCCS_OK,
 * UCCS_ERR_NO_MEMORY, or the error of a round. */
static int find_common(const struct uccs_members *m, const struct uccs_numbers *numbers, uint32_t begin,
                       uint32_t *number)
{
    uint64_t words[UCCS_AGREE_WORDS] = {numbers->first ? numbers->first() : 0};
    int status = numbers->first ? m->join(m->members, words, 1, true) : UCCS_OK;
    for (uint32_t window = (uint32_t)words[0]; status == UCCS_OK && window < numbers->windows; window++) {
        numbers->list(numbers->what, window, words);
        status = m->join(m->members, words, UCCS_AGREE_WORDS, false);
        for (uint32_t i = 0; i < numbers->each && status == UCCS_OK; i++) {
            const uint32_t at = (begin + i) % numbers->each;
            if (words[at / 64] >> at % 64 & 1) {
                *number = window * numbers->each + at;
                return UCCS_OK;
            }
        }
    }
    return status == UCCS_OK ? UCCS_ERR_NO_MEMORY : status;
}

enum { TAKEN, BUSY, NONE }; /* a member's vote; the highest counts */

/* One attempt. Returns UCCS_AGAIN when a member could not take the number. */
static int take_common(const struct uccs_members *m, const struct uccs_numbers *numbers, uint32_t begin,
                       uint32_t *number, uint64_t *value)
{
    const int found = find_common(m, numbers, begin, number);
    if (found != UCCS_OK && found != UCCS_ERR_NO_MEMORY)
        return found;
    const uint64_t mine = found == UCCS_OK ? numbers->take(numbers->what, *number) : 0;
    uint64_t words[UCCS_AGREE_WORDS] = {mine ? TAKEN : found == UCCS_OK ? BUSY : NONE, mine};
    const int status = m->join(m->members, words, 2, true);
    *value = words[1];
    if (status == UCCS_OK && words[0] == TAKEN)
        return UCCS_OK;
    if (mine)
        numbers->give_back(numbers->what, *number);
    return status != UCCS_OK ? status : words[0] == BUSY ? UCCS_AGAIN : UCCS_ERR_NO_MEMORY;
}

int uccs_agree(const struct uccs_members *members, const struct uccs_numbers *numbers, uint32_t *number,
               uint64_t *value)
{
    int status = UCCS_AGAIN;
    for (uint32_t i = 0; i < ATTEMPTS && status == UCCS_AGAIN; i++)
        status = take_common(members, numbers, i * (members->salt * 2 + 1), number, value);
    return status == UCCS_AGAIN ? UCCS_ERR_NO_MEMORY : status;
}
