#include "mpi/ops/operation.h"

#include "mpi/datatype/flatten.h"
#include "mpi/datatype/type.h"
#include "mpi/window/window.h"

int lmpi_run(struct lmpi_window *window, const struct lmpi_operation *operation, const struct uccs_op *options)
{
    struct lmpi_operation run = *operation;
    run.options = options;
    switch (run.what) {
    case LMPI_PUT:
    case LMPI_GET: return lmpi_move(window, &run);
    case LMPI_SWAP: return lmpi_swap(window, &run);
    default: return lmpi_update(window, &run);
    }
}

int lmpi_call(struct lmpi_window *window, const struct lmpi_operation *operation)
{
    struct lmpi_operation run = *operation;
    run.later = true;
    return lmpi_end(window, operation, lmpi_run(window, &run, 0));
}

static bool is_dense(MPI_Datatype type)
{
    const struct lmpi_type *known = lmpi_type(type);
    return known && known->dense && known->size;
}

bool lmpi_is_whole(const struct lmpi_operation *operation)
{
    const struct lmpi_operation *o = operation;
    if (o->what == LMPI_SWAP)
        return true;
    const bool fetches = o->what == LMPI_GET_ACCUMULATE;
    return (fetches ? o->count : o->origin.count) > 0 && is_dense(o->type) && (!fetches || is_dense(o->result.type)) &&
           (is_dense(o->origin.type) || (fetches && o->op == MPI_NO_OP));
}
