/* The functions of the program that only describe an operation: MPI's request forms and large-count forms, get_accumulate, and those of
 * mpix_rma.h. The others have a fast way in front (rma.c, accumulate.c, atomic.c). */
#include "mpi/core/real.h"
#include "mpi/ops/operation.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

/* Parameters, `count` is the type of counts, and how they are passed on. */
#define SOURCE(count) const void *origin, count origin_count, MPI_Datatype origin_type
#define DEST(count) void *origin, count origin_count, MPI_Datatype origin_type
#define RESULT(count) void *result, count result_count, MPI_Datatype result_type
#define TARGET(count) int rank, MPI_Aint disp, count target_count, MPI_Datatype target_type
#define MOVED origin, origin_count, origin_type, rank, disp, target_count, target_type
#define FETCHED \
    origin, origin_count, origin_type, result, result_count, result_type, rank, disp, target_count, target_type

/* What each does to a window of the layer. */
#define OLD .op = op, .result = {result, result_count, result_type}
#define CALL(kind, ...) lmpi_call(window, LMPI_OPERATION(kind, __VA_ARGS__))
#define START(kind, ...) lmpi_request_start(window, LMPI_OPERATION(kind, __VA_ARGS__), false, request)
#define START_REMOTE(kind, ...) lmpi_request_start(window, LMPI_OPERATION(kind, __VA_ARGS__), true, request)
#define NOTIFY(kind, ...) lmpi_notify(window, LMPI_OPERATION(kind, .id = notify_id, __VA_ARGS__))

#define FORM(name, ours, arguments, ...) LMPI_TAKE(name, lmpi_window, ours, arguments, __VA_ARGS__)
#define FORMS(suffix, count)                                                                                        \
    FORM(Rput##suffix, START(PUT), (MOVED, win, request), SOURCE(count), TARGET(count), MPI_Win win,                \
         MPI_Request *request);                                                                                     \
    FORM(Rget##suffix, START(GET), (MOVED, win, request), DEST(count), TARGET(count), MPI_Win win,                  \
         MPI_Request *request);                                                                                     \
    FORM(Raccumulate##suffix, START(ACCUMULATE, .op = op), (MOVED, op, win, request), SOURCE(count), TARGET(count), \
         MPI_Op op, MPI_Win win, MPI_Request *request);                                                             \
    FORM(Rget_accumulate##suffix, START(GET_ACCUMULATE, OLD), (FETCHED, op, win, request), SOURCE(count),           \
         RESULT(count), TARGET(count), MPI_Op op, MPI_Win win, MPI_Request *request);                               \
    FORM(Get_accumulate##suffix, CALL(GET_ACCUMULATE, OLD), (FETCHED, op, win), SOURCE(count), RESULT(count),       \
         TARGET(count), MPI_Op op, MPI_Win win)

FORMS(, int);
#if MPI_VERSION >= 4
FORMS(_c, MPI_Count);
FORM(Put_c, CALL(PUT), (MOVED, win), SOURCE(MPI_Count), TARGET(MPI_Count), MPI_Win win);
FORM(Get_c, CALL(GET), (MOVED, win), DEST(MPI_Count), TARGET(MPI_Count), MPI_Win win);
FORM(Accumulate_c, CALL(ACCUMULATE, .op = op), (MOVED, op, win), SOURCE(MPI_Count), TARGET(MPI_Count), MPI_Op op,
     MPI_Win win);
#endif

LMPI_OURS(Rrput, START_REMOTE(PUT), SOURCE(int), TARGET(int), MPI_Win win, MPI_Request *request);
LMPI_OURS(Rraccumulate, START_REMOTE(ACCUMULATE, .op = op), SOURCE(int), TARGET(int), MPI_Op op, MPI_Win win,
          MPI_Request *request);
LMPI_OURS(Rrget_accumulate, START_REMOTE(GET_ACCUMULATE, OLD), SOURCE(int), RESULT(int), TARGET(int), MPI_Op op,
          MPI_Win win, MPI_Request *request);
LMPI_OURS(Rrfetch_and_op, lmpi_request_start(window, LMPI_ELEMENT(GET_ACCUMULATE, .op = op), true, request),
          const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win,
          MPI_Request *request);
LMPI_OURS(Rrcompare_and_swap, lmpi_request_start(window, LMPI_ELEMENT(SWAP, .compare = compare), true, request),
          const void *origin, const void *compare, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
          MPI_Win win, MPI_Request *request);
LMPI_OURS(Put_notify, NOTIFY(PUT), SOURCE(int), TARGET(int), int notify_id, MPI_Win win);
LMPI_OURS(Get_notify, NOTIFY(GET), DEST(int), TARGET(int), int notify_id, MPI_Win win);
LMPI_OURS(Accumulate_notify, NOTIFY(ACCUMULATE, .op = op), SOURCE(int), TARGET(int), MPI_Op op, int notify_id,
          MPI_Win win);
