/* Group communication. The face of this folder: groups of uccs.h (group.h), whose functions uccs.c defines, and
 * collectives on teams, for OpenSHMEM.
 *
 * Members of a team call the same collectives in the same order, one thread at a time per team. Their addresses are
 * symmetric memory. Every collective keeps two rules: nobody reads a member's source, nor writes its dest, before that
 * member has called; and when a member returns, nobody reads its source any more and its dest is whole. Reductions and
 * scans are left folds in the order of the ranks, so all members get the same bits in every run. */
#ifndef UCCS_COLL_COLL_H
#define UCCS_COLL_COLL_H

#include "base/kind.h"
#include "uccs/coll/group.h"
#include "uccs/comp/request.h"
#include "uccs/team/team.h"

#include <stddef.h>

/* `call` is the public name, for messages. `bytes` of a vector (broadcast), of one member's block (collect, allgather), of one
 * member's block for one other (alltoall); n elements. With a request a call starts the collective and adds it to the
 * request, or ends the job when there is no memory; null: it returns when the collective is over. */
void uccs_team_broadcast(const char *call, struct uccs_team *team, void *dest, const void *source, size_t bytes,
                         int root, bool at_root, uccs_request_handle *request);
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

#endif
