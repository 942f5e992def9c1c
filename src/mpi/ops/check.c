/* What is wrong with an operation. */
#include "mpi/datatype/flatten.h"
#include "mpi/datatype/type.h"
#include "mpi/ops/operation.h"
#include "mpi/window/window.h"

int lmpi_check_target(const struct lmpi_window *window, int rank)
{
    if (rank < 0 || rank >= window->ranks)
        return MPI_ERR_RANK;
    if (window->of_memhandle && rank != window->rank)
        return MPI_ERR_RANK;
    return window->target[rank].open | window->open ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

int lmpi_check_range(const struct lmpi_window *window, int rank, MPI_Aint disp, size_t count,
                     const struct lmpi_type *type, MPI_Aint *at)
{
    const struct lmpi_target *target = &window->target[rank];
    MPI_Aint low, high;
    lmpi_type_span(type, count, &low, &high);
    if (disp < 0 || __builtin_mul_overflow(disp, (MPI_Aint)target->unit, at))
        return MPI_ERR_DISP;
    if (__builtin_add_overflow(*at, low, &low) || __builtin_add_overflow(*at, high, &high) || low < 0 ||
        (size_t)high > target->bytes)
        return count && type->size ? MPI_ERR_RMA_RANGE : MPI_SUCCESS;
    return MPI_SUCCESS;
}
