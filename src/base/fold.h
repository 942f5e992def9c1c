/* The one fold of reductions: out[i] = a[i] op b[i], with a function for each kind of element and operation.
 *
 * Pure functions, any thread. `out` may be `a` or `b` itself; otherwise they must not overlap. Nothing need be aligned,
 * and the memory may be of any type. A caller that combines more than two vectors folds neighbours, the lower one
 * as `a`, in an order that does not depend on timing. */
#ifndef BASE_FOLD_H
#define BASE_FOLD_H

#include "base/kind.h"

#include <stddef.h>

typedef void fold_kernel(void *out, const void *a, const void *b, size_t n);

/* Tables by kind and operation, for fold_kernel_of. */
extern fold_kernel *const fold_kernels[KIND_KINDS][FOLD_OPS];
extern fold_kernel *const fold_kernels_avx2[KIND_KINDS][FOLD_OPS];
extern fold_kernel *const fold_kernels_avx512[KIND_KINDS][FOLD_OPS];

/* Returns the kernel for this processor, or null for an operation that does not exist (bits of reals, order of
 * complex, sums of pairs), or of a type that the compiler does not know. */
fold_kernel *fold_kernel_of(enum kind kind, enum fold_op op);

/* Returns the size of an element in bytes, a power of two, or 0 for a type that the compiler does not know. */
extern const unsigned char kind_sizes[KIND_KINDS];
static inline size_t kind_size(enum kind kind)
{
    return kind_sizes[kind];
}

#endif
