/* Group communication. The face of this folder: groups of uccs.h, whose functions uccs.c defines,
 * collectives on teams, for OpenSHMEM, and the library's own messages.
 *
 * Members of a team call the same collectives in the same order, one thread at a time per team. Their addresses are
 * symmetric memory. Every collective keeps two rules: nobody reads a member's source, nor writes its dest, before that
 * member has called; and when a member returns, nobody reads its source any more and its dest is whole. Reductions and
 * scans fold from the left in the order of the ranks, or first on each node and then neighbouring nodes (reduce.c), so all members get
 * the same bits, in every run on the same nodes. */
#ifndef UCCS_COLL_COLL_H
#define UCCS_COLL_COLL_H

#include "base/kind.h"
#include "uccs/comp/request.h"
#include "uccs/team/team.h"

#include <stddef.h>
#include <uccs.h>
#include <uccs_rte.h>

/* `call` is the public name, for messages. `bytes` of a vector (broadcast), of one member's block (collect, allgather), of one
 * member's block for one other (alltoall); n elements. With a request a call starts the collective and adds it to the
 * request, or ends the job when there is no memory; null: it returns when the collective is over. */
void uccs_team_broadcast(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                         int root, bool at_root, uccs_request_handle *request);
/* Allgathers `bytes` of each member of a team with an area, with any memory. Not for hot paths. */
void uccs_team_tell(struct uccs_team *team, void *all, const void *mine, size_t bytes);
/* Blocks of any size, one behind the other in the order of the ranks. */
void uccs_team_collect(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes);
void uccs_team_allgather(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                         uccs_request_handle *request);
void uccs_team_alltoall(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                        uccs_request_handle *request);
/* Blocks of `n` elements of `size` bytes, which lie dst and sst elements apart. The caller has checked the products. */
void uccs_team_alltoalls(const char *call, struct uccs_team *team, void *dest, const void *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t n, size_t size);
/* The caller has checked that n elements fit into memory. */
void uccs_team_reduce(const char *call, struct uccs_team *team, void *dest, const void *source, size_t n,
                      enum kind kind, enum fold_op op, uccs_request_handle *request);
void uccs_team_scan(const char *call, struct uccs_team *team, void *dest, const void *source, size_t n, enum kind kind,
                    bool inclusive);
/* With `quiet` the caller's earlier operations complete first. */
void uccs_team_barrier_nb(const char *call, struct uccs_team *team, bool quiet, uccs_request_handle *request);

/* Reads LATERAL_COLL. `mistake` ends the job with a line about an address that is not symmetric memory of that PE. Returns
 * 0, or -1 after a line that says what LATERAL_COLL names in vain. Init calls it. */
typedef void uccs_coll_mistake(const char *call, const char *argument, const void *address, int pe);
int uccs_coll_open(uccs_coll_mistake *mistake);

/* --- Groups of uccs.h, and the library's own messages of their members
 *
 * A public group is an ordered list of processes, the same at every member. Making a group sends nothing: each member
 * derives the same number from the parent's number and the count of groups made from the parent. */

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
/* Data of uccs_rte.h in pieces: whether all have memory and a type, their bytes in all, and one behind the other. */
bool uccs_oob_valid(const struct uccs_rte_iovec *iov, uint32_t count);
size_t uccs_oob_bytes(const struct uccs_rte_iovec *iov, uint32_t count);
void uccs_oob_copy(char *to, const struct uccs_rte_iovec *iov, uint32_t count);
/* Beginning and end of a life. uccs_oob_open returns false when there is no memory. */
bool uccs_oob_open(void);
void uccs_oob_close(void);

#endif
