/* The large-count forms of MPI 4. */
#include "accumulate.h"
#include "mpi/core/real.h"
#include "mpi/ops/accumulate.h"
#include "mpi/ops/request.h"
#include "mpi/ops/rma.h"
#include "mpi/window/window.h"
#include "request.h"
#include "rma.h"

#if MPI_VERSION >= 4
#include "accumulate.h"
#include "request.h"
#include "rma.h"

#include <limits.h>
#include <string.h>

/* The last argument is null for a form without a request. */
static int move(struct lmpi_window *window, const struct lmpi_move *move, MPI_Request *request)
{
    if (request)
        return lmpi_request_move(window, move, request);
    struct lmpi_move later = *move;
    later.later = true;
    int status = lmpi_move(window, &later);
    return status == MPI_SUCCESS ? status : lmpi_error_of(window, status, move->put ? "MPI_Put_c" : "MPI_Get_c");
}

static int update(struct lmpi_window *window, const struct lmpi_update *update, MPI_Request *request)
{
    if (request)
        return lmpi_request_update(window, update, request);
    struct lmpi_update later = *update;
    later.later = true;
    int status = lmpi_update(window, &later);
    return status == MPI_SUCCESS
               ? status
               : lmpi_error_of(window, status, update->fetch ? "MPI_Get_accumulate_c" : "MPI_Accumulate_c");
}

LMPI_EXPORT int MPI_Put_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                          MPI_Count target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Put_c(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    return move(window,
                &(struct lmpi_move){(char *)origin, origin_count, origin_type, rank, disp, target_count, target_type,
                                    true, 0, false},
                0);
}
LMPI_NAME(Put_c);

LMPI_EXPORT int MPI_Get_c(void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                          MPI_Count target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Get_c(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    return move(window,
                &(struct lmpi_move){origin, origin_count, origin_type, rank, disp, target_count, target_type, false, 0,
                                    false},
                0);
}
LMPI_NAME(Get_c);

LMPI_EXPORT int MPI_Rput_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
                           MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type, MPI_Win win,
                           MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rput_c(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, request);
    return move(window,
                &(struct lmpi_move){(char *)origin, origin_count, origin_type, rank, disp, target_count, target_type,
                                    true, 0, false},
                request);
}
LMPI_NAME(Rput_c);

LMPI_EXPORT int MPI_Rget_c(void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                           MPI_Count target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rget_c(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, request);
    return move(window,
                &(struct lmpi_move){origin, origin_count, origin_type, rank, disp, target_count, target_type, false, 0,
                                    false},
                request);
}
LMPI_NAME(Rget_c);

LMPI_EXPORT int MPI_Accumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
                                 MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                                 MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Accumulate_c(origin, origin_count, origin_type, rank, disp, target_count, target_type, op,
                                      win);
    return update(window,
                  &(struct lmpi_update){{(char *)origin, origin_count, origin_type},
                                        {0},
                                        false,
                                        rank,
                                        disp,
                                        target_count,
                                        target_type,
                                        op,
                                        0,
                                        false},
                  0);
}
LMPI_NAME(Accumulate_c);

LMPI_EXPORT int MPI_Raccumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
                                  MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                                  MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Raccumulate_c(origin, origin_count, origin_type, rank, disp, target_count, target_type, op,
                                       win, request);
    return update(window,
                  &(struct lmpi_update){{(char *)origin, origin_count, origin_type},
                                        {0},
                                        false,
                                        rank,
                                        disp,
                                        target_count,
                                        target_type,
                                        op,
                                        0,
                                        false},
                  request);
}
LMPI_NAME(Raccumulate_c);

LMPI_EXPORT int MPI_Get_accumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type, void *result,
                                     MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                                     MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Get_accumulate_c(origin, origin_count, origin_type, result, result_count, result_type, rank,
                                          disp, target_count, target_type, op, win);
    return update(window,
                  &(struct lmpi_update){{(char *)origin, origin_count, origin_type},
                                        {result, result_count, result_type},
                                        true,
                                        rank,
                                        disp,
                                        target_count,
                                        target_type,
                                        op,
                                        0,
                                        false},
                  0);
}
LMPI_NAME(Get_accumulate_c);

LMPI_EXPORT int MPI_Rget_accumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type,
                                      void *result, MPI_Count result_count, MPI_Datatype result_type, int rank,
                                      MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                                      MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rget_accumulate_c(origin, origin_count, origin_type, result, result_count, result_type, rank,
                                           disp, target_count, target_type, op, win, request);
    return update(window,
                  &(struct lmpi_update){{(char *)origin, origin_count, origin_type},
                                        {result, result_count, result_type},
                                        true,
                                        rank,
                                        disp,
                                        target_count,
                                        target_type,
                                        op,
                                        0,
                                        false},
                  request);
}
LMPI_NAME(Rget_accumulate_c);
#endif
