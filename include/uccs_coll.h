/* UCCS: group communication; <uccs.h> includes this file. */
#ifndef UCCS_H
#include <uccs.h>
#endif
#ifndef UCCS_COLL_H
#define UCCS_COLL_H

/* --- Group communication: all members call the same functions in the same order. Buffers are any memory of the caller.
 * An _nb form completes through `desc`; the program must not touch its buffers until then. Any thread may call; one group's
 * functions start in one thread at a time. All return UCCS_OK, UCCS_ERR_STATE before uccs_init, behind uccs_finalize and in
 * handlers, UCCS_ERR_INVALID for a null group, buffer or `desc`, a root that is no member, and a reduction that the type does
 * not have, and UCCS_ERR_NO_MEMORY. Members that pass different lengths end the job with a line. `length` is in bytes, n in
 * elements. Reductions take the types and operations of uccs_accumulate but UCCS_REPLACE and UCCS_NO_OP. */
int uccs_barrier(uccs_group_t group);
int uccs_barrier_nb(uccs_group_t group, uccs_request_t *desc);
int uccs_broadcast(uccs_group_t group, void *buffer, size_t length, int root);
int uccs_broadcast_nb(uccs_group_t group, void *buffer, size_t length, int root, uccs_request_t *desc);
int uccs_allgather(uccs_group_t group, const void *source, void *dest, size_t length);
int uccs_allgather_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc);
int uccs_allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how);
int uccs_allreduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                      enum uccs_reduction how, uccs_request_t *desc);
int uccs_alltoall(uccs_group_t group, const void *source, void *dest, size_t length);
int uccs_alltoall_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc);

/* With a root, and scan (after MPI-1). The root alone needs `dest` in gather and reduce, `source` in scatter.
 *   gather   the root's dest gets `length` bytes of every member, in the order of the ranks
 *   scatter  member r's dest gets `length` bytes at r * length of the root's source
 *   reduce   the root's dest gets the fold of all members' n elements
 *   scan     dest of member r gets the fold of the n elements of members 0 to r
 * reduce and scan fold from the left in the order of the ranks, so floating-point results are the same in every run. Their
 * dest may be their source. A member leaves when it has what it needs and its source is free; it need not wait for all. */
int uccs_gather(uccs_group_t group, const void *source, void *dest, size_t length, int root);
int uccs_gather_nb(uccs_group_t group, const void *source, void *dest, size_t length, int root, uccs_request_t *desc);
int uccs_scatter(uccs_group_t group, const void *source, void *dest, size_t length, int root);
int uccs_scatter_nb(uccs_group_t group, const void *source, void *dest, size_t length, int root, uccs_request_t *desc);
int uccs_reduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                enum uccs_reduction how, int root);
int uccs_reduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how, int root, uccs_request_t *desc);
int uccs_scan(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
              enum uccs_reduction how);
int uccs_scan_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                 enum uccs_reduction how, uccs_request_t *desc);

#endif
