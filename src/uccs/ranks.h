/* Public groups: an ordered list of processes, the same at every member. Local but for the agreement on a
 * number, which every member derives alike: the parent's number and how many groups came from it. */
#ifndef UCCS_RANKS_H
#define UCCS_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <uccs.h>

struct uccs_group_impl {
    uint64_t number;   /* the same at all members, different for other groups */
    uint64_t children; /* groups made from it so far */
    uint64_t sequence; /* operations of group communication started */
    uint32_t users;    /* its handle, and collectives under way; who takes it to zero frees it; acqrel */
    int rank, size;
    const int *world; /* rank in the world of each member; null: the same */
};

/* The object behind a handle; null when there is none. */
struct uccs_group_impl *uccs_group_of(uccs_group_t group);

/* PE of a member. */
static inline int uccs_ranks_world(const struct uccs_group_impl *group, int rank)
{
    return group->world ? group->world[rank] : rank;
}

/* For as long as a collective of the group is under way. Groups of all PEs are never freed. */
void uccs_ranks_hold(struct uccs_group_impl *group);
void uccs_ranks_drop(struct uccs_group_impl *group);

/* All PEs, for the library's own use; its numbers are not those of the world group. */
struct uccs_group_impl *uccs_ranks_library(void);

/* At the begin of a life. */
void uccs_ranks_open(void);

#endif
