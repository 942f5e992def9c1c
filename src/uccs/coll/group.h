/* Groups of uccs.h, and the library's own messages of their members.
 *
 * A public group is an ordered list of processes, the same at every member. Making a group sends nothing: each member
 * derives the same number from the parent's number and the count of groups made from the parent. */
#ifndef UCCS_COLL_GROUP_H
#define UCCS_COLL_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <uccs.h>
#include <uccs_rte.h>

struct uccs_group_impl {
    uint64_t number;   /* the same at all members, different for other groups */
    uint64_t children; /* groups made from it so far */
    uint64_t sequence; /* operations of group communication started */
    uint32_t users;    /* its handle, and collectives under way; the last one to drop the group frees it; acqrel */
    int rank, size;
    const int *world; /* each member's rank in the world; null: the rank in the group */
};

/* Returns the object behind a handle; null when there is none. */
struct uccs_group_impl *uccs_group_of(uccs_group_t group);

/* Returns the PE of a member. */
static inline int uccs_ranks_world(const struct uccs_group_impl *group, int rank)
{
    return group->world ? group->world[rank] : rank;
}

/* Returns the rank of a PE in the group, or -1 when the PE is no member or there is no group. */
int uccs_ranks_find(uccs_group_t group, int pe);

/* Hold a group for as long as a collective of it is under way. Groups of all PEs are never freed. */
void uccs_ranks_hold(struct uccs_group_impl *group);
void uccs_ranks_drop(struct uccs_group_impl *group);

/* Call it at the beginning of a life. */
void uccs_ranks_open(void);

/* Meets all PEs of the job. Meanwhile the caller makes progress on both classes with `user`, else on the network class
 * alone. Does nothing when uccs.h is not in use. Collective, one thread at a time. */
void uccs_coll_meet(bool user);

/* uccs_tagged_arrived handles messages (inner.h) in the library's own context. uccs_tagged_close drops, at the end of a
 * life, the messages that were never taken. */
void uccs_tagged_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);
void uccs_tagged_close(void);

/* The handler of out-of-band messages in the library's own context. */
void uccs_oob_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);
/* Runs callbacks that are due. Returns their number. */
int uccs_oob_deliver(void);
/* Beginning and end of a life. uccs_oob_open returns false when there is no memory. */
bool uccs_oob_open(void);
void uccs_oob_close(void);

#endif
