/* Runs an operation that has a request or a notification, and makes requests that are complete. */
#include "real.h"
#include "request.h"

/* An operation on a wrong place gives its error at the call. */
int lmpi_request_finish(const struct lmpi_window *window, int status, MPI_Request *request, const char *call)
{
    return status == MPI_SUCCESS ? PMPI_Isend(0, 0, MPI_BYTE, MPI_PROC_NULL, 0, lmpi_life.self, request)
                                 : lmpi_error_of(window, status, call);
}

int lmpi_work_run(struct lmpi_window *window, const struct lmpi_work *work, const struct uccs_op *op)
{
    if (work->move) {
        work->move->op = op;
        return lmpi_move(window, work->move);
    }
    if (work->swap) {
        work->swap->way = op;
        return lmpi_swap(window, work->swap);
    }
    work->update->way = op;
    return lmpi_update(window, work->update);
}

bool lmpi_work_is_whole(MPI_Aint count, MPI_Datatype origin, MPI_Datatype target)
{
    const struct lmpi_type *first = lmpi_type(origin), *second = lmpi_type(target);
    return count > 0 && first && second && first->dense && second->dense && first->size && second->size;
}
