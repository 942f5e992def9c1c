/* Predefined operations of accumulates, in the words of the substrate. Any thread. */
#ifndef MPI_DATATYPE_OP_H
#define MPI_DATATYPE_OP_H

#include "mpi/datatype/type.h"

#include <uccs.h>

struct lmpi_op {
    enum uccs_reduction how;
    enum uccs_type type;
    size_t unit;  /* bytes of an element of that type */
    bool is_copy; /* of bytes without a type */
};

/* Fills *op for an operation on elements of a datatype. Returns MPI_SUCCESS, or MPI_ERR_OP or MPI_ERR_TYPE where the
 * standard does not define it. Without `any` elements, every operation that MPI defines is right. */
int lmpi_op_of(MPI_Op op, const struct lmpi_type *type, bool any, struct lmpi_op *found);

/* The integer type of an element for compare_and_swap. Returns its bytes, or 0 when the standard does not allow it. */
size_t lmpi_op_swaps(const struct lmpi_type *type);
/* The accumulate that runs as a swap of that many bytes does: intrinsic or not. */
struct lmpi_op lmpi_op_like_swap(size_t bytes);

#endif
