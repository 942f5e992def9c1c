/* Collectives on groups over several nodes: what the operations of inner.h call when group->far is set. Arguments and
 * rules as there; nothing is empty. Each is done in one of three ways (select.h):
 *
 *   mail  nodes.c: small data, by allgathers and casts of the nodes (uccs/team/team.h); members read the boxes of their lead
 *   rail  nodes_rail.c: long data, straight into its place at one member of each node, near members copy from there
 *   pull  nodes_pull.c: each gets what it needs from each; also for groups without a area
 *
 * Reductions are left folds in the order of the ranks here too, so results do not depend on who is where. */
#ifndef SHMEM_COLL_NODES_H
#define SHMEM_COLL_NODES_H

#include "shmem/coll/inner.h"
#include "base/fold.h"

#define NODES_WAY(way)                                                                                                 \
    void lat_##way##_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source,              \
                               size_t bytes, int root, bool at_root);                                                  \
    void lat_##way##_collect(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes); \
    void lat_##way##_fcollect(const char *call, struct uccs_team *group, char *dest, const void *source,               \
                              size_t bytes);                                                                           \
    void lat_##way##_alltoall(const char *call, struct uccs_team *group, char *dest, const char *source,               \
                              size_t bytes);                                                                           \
    void lat_##way##_alltoalls(const char *call, struct uccs_team *group, char *dest, const char *source,              \
                               ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size);                              \
    void lat_##way##_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,       \
                            enum kind kind, enum fold_op op);                                                          \
    void lat_##way##_scan(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,         \
                          enum kind kind, bool inclusive);

NODES_WAY(nodes)
NODES_WAY(pull)
NODES_WAY(rail)

/* Everybody's block at[rank] .. at[rank + 1] of dest; mine is in source. */
void lat_rail_spread(const char *call, struct uccs_team *group, char *dest, const void *source, const size_t *at);

#endif
