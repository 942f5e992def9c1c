/* Public groups: an ordered list of processes, the same at every member. Local but for the agreement on a
 * number, which every member derives alike: the parent's number and how many groups came from it. */
#ifndef UCCS_RANKS_H
#define UCCS_RANKS_H

#include <stdint.h>
#include <uccs.h>

struct uccs_group_impl {
    uint64_t number;   /* the same at all members, different for other groups */
    uint64_t children; /* groups made from it so far; one thread at a time */
    int rank, size;
    const int *world; /* rank in the world of each member; null: the same */
};

/* The object behind a handle; null when there is none. */
struct uccs_group_impl *uccs_group_of(uccs_group_t group);

#endif
