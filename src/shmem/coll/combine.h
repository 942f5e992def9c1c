/* Reduction kernels: into[i] = into[i] op from[i]. No state; any thread. */
#ifndef SHMEM_COLL_COMBINE_H
#define SHMEM_COLL_COMBINE_H

#include "shmem/kind.h"

#include <stddef.h>

/* Bytes of an element. */
size_t lat_kind_size(enum lat_kind kind);

void lat_combine(enum lat_kind kind, enum lat_op op, void *into, const void *from, size_t n);

#endif
