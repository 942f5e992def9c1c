/* The functions of the program that only describe an operation: MPI's request forms and large-count forms, get_accumulate, and those of
 * mpix_rma.h. The others have a fast way in front (rma.c, accumulate.c, atomic.c). */
#include "mpi/core/real.h"
#include "mpi/ops/operation.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

/* ---- of MPI; `count` is the type of counts ---- */

#define ORIGIN(count) const void *origin, count origin_count, MPI_Datatype origin_type
#define RESULT(count) void *result, count result_count, MPI_Datatype result_type
#define TARGET(count) int rank, MPI_Aint disp, count target_count, MPI_Datatype target_type
#define MOVED origin, origin_count, origin_type, rank, disp, target_count, target_type
#define FETCHED \
    origin, origin_count, origin_type, result, result_count, result_type, rank, disp, target_count, target_type
#define OLD .result = {result, result_count, result_type}

/* Ends a function: the window is ours, or the MPI's function does it. */
#define DO(start, name, ...)                                 \
    {                                                        \
        struct lmpi_window *window = lmpi_window(win);       \
        return window ? start : lmpi_real.name(__VA_ARGS__); \
    }                                                        \
    LMPI_NAME(name)

#define RPUT(name, count)                                                                       \
    LMPI_EXPORT int MPI_##name(ORIGIN(count), TARGET(count), MPI_Win win, MPI_Request *request) \
        DO(lmpi_request_start(window, LMPI_OPERATION(PUT, __func__), request), name, MOVED, win, request)

#define RGET(name, count)                                                                                              \
    LMPI_EXPORT int MPI_##name(void *origin, count origin_count, MPI_Datatype origin_type, TARGET(count), MPI_Win win, \
                               MPI_Request *request)                                                                   \
        DO(lmpi_request_start(window, LMPI_OPERATION(GET, __func__), request), name, MOVED, win, request)

#define RACCUMULATE(name, count)                                                                                      \
    LMPI_EXPORT int MPI_##name(ORIGIN(count), TARGET(count), MPI_Op op, MPI_Win win, MPI_Request *request)            \
        DO(lmpi_request_start(window, LMPI_OPERATION(ACCUMULATE, __func__, .op = op), request), name, MOVED, op, win, \
           request)

#define RGET_ACCUMULATE(name, count)                                                                           \
    LMPI_EXPORT int MPI_##name(ORIGIN(count), RESULT(count), TARGET(count), MPI_Op op, MPI_Win win,            \
                               MPI_Request *request)                                                           \
        DO(lmpi_request_start(window, LMPI_OPERATION(GET_ACCUMULATE, __func__, .op = op, OLD), request), name, \
           FETCHED, op, win, request)

#define GET_ACCUMULATE(name, count)                                                                 \
    LMPI_EXPORT int MPI_##name(ORIGIN(count), RESULT(count), TARGET(count), MPI_Op op, MPI_Win win) \
        DO(lmpi_call(window, LMPI_OPERATION(GET_ACCUMULATE, __func__, .op = op, OLD)), name, FETCHED, op, win)

RPUT(Rput, int);
RGET(Rget, int);
RACCUMULATE(Raccumulate, int);
RGET_ACCUMULATE(Rget_accumulate, int);
GET_ACCUMULATE(Get_accumulate, int);

#if MPI_VERSION >= 4
RPUT(Rput_c, MPI_Count);
RGET(Rget_c, MPI_Count);
RACCUMULATE(Raccumulate_c, MPI_Count);
RGET_ACCUMULATE(Rget_accumulate_c, MPI_Count);
GET_ACCUMULATE(Get_accumulate_c, MPI_Count);

LMPI_EXPORT int MPI_Put_c(ORIGIN(MPI_Count), TARGET(MPI_Count), MPI_Win win)
    DO(lmpi_call(window, LMPI_OPERATION(PUT, __func__)), Put_c, MOVED, win);

LMPI_EXPORT int MPI_Get_c(void *origin, MPI_Count origin_count, MPI_Datatype origin_type, TARGET(MPI_Count),
                          MPI_Win win) DO(lmpi_call(window, LMPI_OPERATION(GET, __func__)), Get_c, MOVED, win);

LMPI_EXPORT int MPI_Accumulate_c(ORIGIN(MPI_Count), TARGET(MPI_Count), MPI_Op op, MPI_Win win)
    DO(lmpi_call(window, LMPI_OPERATION(ACCUMULATE, __func__, .op = op)), Accumulate_c, MOVED, op, win);
#endif

/* ---- of mpix_rma.h: windows of the layer only ---- */

#define DO_OURS(start)                                 \
    {                                                  \
        struct lmpi_window *window = lmpi_window(win); \
        return window ? start : MPI_ERR_WIN;           \
    }

int MPIX_Rrput(ORIGIN(int), TARGET(int), MPI_Win win, MPI_Request *request)
    DO_OURS(lmpi_request_start_remote(window, LMPI_OPERATION(PUT, __func__), request))

        int MPIX_Rraccumulate(ORIGIN(int), TARGET(int), MPI_Op op, MPI_Win win, MPI_Request *request)
            DO_OURS(lmpi_request_start_remote(window, LMPI_OPERATION(ACCUMULATE, __func__, .op = op), request))

                int MPIX_Rrget_accumulate(ORIGIN(int), RESULT(int), TARGET(int), MPI_Op op, MPI_Win win,
                                          MPI_Request *request)
                    DO_OURS(lmpi_request_start_remote(window, LMPI_OPERATION(GET_ACCUMULATE, __func__, .op = op, OLD),
                                                      request))

                        int MPIX_Rrfetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank,
                                                MPI_Aint disp, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return MPIX_Rrget_accumulate(origin, 1, type, result, 1, type, rank, disp, 1, type, op, win, request);
}

int MPIX_Rrcompare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type, int rank,
                            MPI_Aint disp, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    const struct lmpi_operation swap = {.what = LMPI_SWAP,
                                        .origin = {(char *)origin, 1, type},
                                        .result = {result, 1, type},
                                        .compare = compare,
                                        .rank = rank,
                                        .disp = disp,
                                        .count = 1,
                                        .type = type,
                                        .call = __func__};
    return window ? lmpi_request_start_remote(window, &swap, request) : MPI_ERR_WIN;
}

int MPIX_Put_notify(ORIGIN(int), TARGET(int), int notify_id, MPI_Win win)
    DO_OURS(lmpi_notify(window, LMPI_OPERATION(PUT, __func__, .id = notify_id)))

        int MPIX_Get_notify(void *origin, int origin_count, MPI_Datatype origin_type, TARGET(int), int notify_id,
                            MPI_Win win) DO_OURS(lmpi_notify(window, LMPI_OPERATION(GET, __func__, .id = notify_id)))

            int MPIX_Accumulate_notify(ORIGIN(int), TARGET(int), MPI_Op op, int notify_id, MPI_Win win)
                DO_OURS(lmpi_notify(window, LMPI_OPERATION(ACCUMULATE, __func__, .op = op, .id = notify_id)))
