/* Counters that a group or one PE opens.
 *
 * Such a counter's slot lies in another part of the table than those of the job, and each PE has the generations of that
 * part in shared memory, where peers check the handle; the lines of generations change seldom, so they stay in the peers'
 * caches. The members of a group agree on a slot that is free at all of them (uccs_counter_agree).
 *
 * Any thread may open, count and read. */
#ifndef UCCS_COMP_COUNTER_OPEN_H
#define UCCS_COMP_COUNTER_OPEN_H

#include "uccs/comp/counter_line.h"

#include <uccs.h>

/* Opens a counter at this PE alone. Returns 0 when no slot is free. */
uccs_counter uccs_counter_open_here(void);

/* How the members of a group agree. `join` replaces each of n words by the AND, or the maximum, of all members' words;
 * at most UCCS_COUNTER_WORDS. It returns UCCS_OK or an error, the same at all members. */
#define UCCS_COUNTER_WORDS 4
struct uccs_counter_members {
    int (*join)(void *members, uint64_t *words, size_t n, bool maximum);
    void *members;
    uint32_t salt; /* the same at all members, other for other groups: where to begin after a collision */
};
/* Collective over the members. Opens a counter at all of them, and on return every member may count at every member.
 * Returns UCCS_OK, UCCS_ERR_NO_MEMORY when no slot is free at all members, or join's error. */
int uccs_counter_agree(const struct uccs_counter_members *members, uccs_counter *counter);

/* Returns true when an opened counter is in use at a PE of this node. */
bool uccs_counter_open_at(uccs_counter counter, uint32_t index);

/* uccs_counter_arrive for a counter that was opened. */
lat_cold bool uccs_counter_arrive_open(uccs_counter counter, int64_t weight, int pe);

/* uccs_counter_clear, _release and _close for such counters. */
void uccs_counter_clear_open(uccs_counter counter);
void uccs_counter_release_open(uccs_counter counter);
void uccs_counter_close_open(void);

#endif
