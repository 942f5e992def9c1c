/* Collectives on groups over several nodes: what the operations of inner.h call when group->far is set. Arguments and
 * rules as there; nothing is empty. */
#ifndef SHMEM_COLL_NODES_H
#define SHMEM_COLL_NODES_H

#include "shmem/coll/inner.h"

void lat_nodes_broadcast(const char *call, struct uccs_group *group, void *dest, const void *source, size_t bytes,
                         int root, bool at_root);
void lat_nodes_collect(const char *call, struct uccs_group *group, char *dest, const void *source, size_t bytes);
void lat_nodes_fcollect(const char *call, struct uccs_group *group, char *dest, const void *source, size_t bytes);
void lat_nodes_alltoall(const char *call, struct uccs_group *group, char *dest, const char *source, size_t bytes);
void lat_nodes_alltoalls(const char *call, struct uccs_group *group, char *dest, const char *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t nelems, size_t size);
void lat_nodes_reduce(const char *call, struct uccs_group *group, void *dest, const void *source, size_t n,
                      enum lat_kind kind, enum lat_op op);
void lat_nodes_scan(const char *call, struct uccs_group *group, void *dest, const void *source, size_t n,
                    enum lat_kind kind, bool inclusive);

#endif
