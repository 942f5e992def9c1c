#include "mpi/ops/operation.h"

#include "mpi/datatype/type.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"

int lmpi_check_target(struct lmpi_window *window, int rank)
{
    if (rank < 0 || rank >= window->ranks)
        return MPI_ERR_RANK;
    if (window->of_memhandle && rank != window->rank)
        return MPI_ERR_RANK;
    return lmpi_target(window, rank)->open | window->open ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

int lmpi_check_range(const struct lmpi_window *window, struct lmpi_operation *operation, const struct lmpi_type *type,
                     MPI_Aint *at)
{
    const struct lmpi_target *target = &window->target[operation->rank];
    const size_t count = (size_t)operation->count;
    MPI_Aint low, high;
    lmpi_type_span(type, count, &low, &high);
    if (operation->disp < 0 || __builtin_mul_overflow(operation->disp, (MPI_Aint)target->unit, at))
        return MPI_ERR_DISP;
    if (__builtin_add_overflow(*at, low, &low) || __builtin_add_overflow(*at, high, &high) || low < 0 ||
        (size_t)high > target->bytes)
        return count && type->size ? MPI_ERR_RMA_RANGE : MPI_SUCCESS;
    return MPI_SUCCESS;
}

/* What is on this node is complete on return. */
const struct uccs_op *lmpi_issue(struct lmpi_window *window, struct lmpi_operation *operation, bool later,
                                 bool answered, struct uccs_op *storage)
{
    struct lmpi_target *target = &window->target[operation->rank];
    if (target->local) {
        lmpi_order_issue(window);
        return operation->options;
    }
    lmpi_mark_far(window, target, answered);
    if (operation->options || !later)
        return operation->options ? operation->options : window->op;
    *storage = window->op ? *window->op : (struct uccs_op){0};
    storage->nonblocking = 1;
    return storage;
}

int lmpi_run(struct lmpi_window *window, struct lmpi_operation *operation, const struct uccs_op *options)
{
    if (operation->rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    const int status = lmpi_check_target(window, operation->rank);
    operation->options = options;
    return status == MPI_SUCCESS ? operation->run(window, operation) : status;
}

int lmpi_call(struct lmpi_window *window, struct lmpi_operation *operation)
{
    operation->later = true;
    return lmpi_run(window, operation, 0);
}

static bool is_dense(MPI_Datatype type)
{
    const struct lmpi_type *known = lmpi_type(type);
    return known && known->dense && known->size;
}

bool lmpi_is_whole(struct lmpi_operation *operation)
{
    struct lmpi_operation *o = operation;
    if (o->what == LMPI_SWAP)
        return true;
    const bool fetches = o->what == LMPI_GET_ACCUMULATE;
    return (fetches ? o->count : o->origin.count) > 0 && is_dense(o->type) && (!fetches || is_dense(o->result.type)) &&
           (is_dense(o->origin.type) || (fetches && o->op == MPI_NO_OP));
}
