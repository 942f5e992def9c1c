/* Kernels of reductions: to[i] = to[i] OP from[i]. */
#ifndef UCCS_REDUCE_H
#define UCCS_REDUCE_H

#include <stddef.h>
#include <uccs.h>

typedef void uccs_reduce_kernel(void *to, const void *from, size_t n);

/* Null when the reduction is not defined for the type. `from` need not be aligned; *element: bytes of one. */
uccs_reduce_kernel *uccs_reduce_of(enum uccs_type type, enum uccs_reduction how, size_t *element);

#endif
