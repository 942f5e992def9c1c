/* Reduction kernels: out[i] = a[i] op b[i], one function for each kind and operator.
 *
 * Pure functions, any thread. `out` may be `a` or `b` itself, else they do not overlap. Combining is a
 * left fold in the order of the ranks everywhere, so results depend neither on timing nor on the
 * algorithm. */
#ifndef SHMEM_COLL_KERNELS_H
#define SHMEM_COLL_KERNELS_H

#include "shmem/kind.h"

#include <stddef.h>

typedef void lat_kernel(void *out, const void *a, const void *b, size_t n);

/* By kind and operator, for lat_kernel_of. */
extern lat_kernel *const lat_kernels[LAT_KINDS][LAT_OPS];
extern lat_kernel *const lat_kernels_avx2[LAT_KINDS][LAT_OPS];

/* The kernel for this processor; null where the standard has no such operator (bitwise on reals, order on complex). */
lat_kernel *lat_kernel_of(enum lat_kind kind, enum lat_op op);

size_t lat_kind_size(enum lat_kind kind);

#endif
