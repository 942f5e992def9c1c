/* The C side of the module mpix_rma (mpix_rma.f90): handles come as the integers that they are in Fortran, also inside of
 * the types of mpi_f08, which have that one component. */
#include "mpi/core/real.h"
#include "mpix_rma.h"

#ifndef MPI_ABI /* Fortran has no part in the binary interface of MPI 5 */

/* Two names for a function: the module has a form for integers and one for types. */
#define SUBROUTINE(name, ...)                                                              \
    LMPI_EXPORT void name##_f(__VA_ARGS__, MPI_Fint *ierror);                              \
    LMPI_EXPORT extern __typeof__(name##_f) name##_f08 __attribute__((alias(#name "_f"))); \
    void name##_f(__VA_ARGS__, MPI_Fint *ierror)

static void set_error(int status, MPI_Fint *ierror)
{
    if (ierror)
        *ierror = status;
}

SUBROUTINE(lmpi_win_dup_with_info, const MPI_Fint *parentwin, const MPI_Fint *info, MPI_Fint *newwin)
{
    MPI_Win made = MPI_WIN_NULL;
    int status = MPIX_Win_dup_with_info(PMPI_Win_f2c(*parentwin), PMPI_Info_f2c(*info), &made);
    if (status == MPI_SUCCESS)
        *newwin = PMPI_Win_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_memhandle_create, void *base, const MPI_Aint *size, const MPI_Fint *info, const MPI_Fint *parentwin,
           void *memhandle, MPI_Fint *memhandle_size)
{
    int bytes = 0;
    int status = MPIX_Memhandle_create(base, *size, PMPI_Info_f2c(*info), PMPI_Win_f2c(*parentwin), memhandle, &bytes);
    *memhandle_size = bytes;
    set_error(status, ierror);
}

SUBROUTINE(lmpi_win_from_memhandle, const void *memhandle, const MPI_Aint *size, const MPI_Fint *disp_unit,
           const MPI_Fint *info, const MPI_Fint *target, const MPI_Fint *parentwin, MPI_Fint *newwin)
{
    MPI_Win made = MPI_WIN_NULL;
    int status = MPIX_Win_from_memhandle(memhandle, *size, *disp_unit, PMPI_Info_f2c(*info), *target,
                                         PMPI_Win_f2c(*parentwin), &made);
    if (status == MPI_SUCCESS)
        *newwin = PMPI_Win_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_memhandle_release, void *memhandle, const MPI_Fint *parentwin)
{
    int status = MPIX_Memhandle_release(memhandle, PMPI_Win_f2c(*parentwin));
    set_error(status, ierror);
}

SUBROUTINE(lmpi_win_op_intrinsic, const char *ops, const MPI_Aint *max_count, const MPI_Fint *datatype,
           const MPI_Fint *win, MPI_Fint *flag)
{
    int is = 0;
    int status = MPIX_Win_op_intrinsic(ops, *max_count, PMPI_Type_f2c(*datatype), PMPI_Win_f2c(*win), &is);
    *flag = is;
    set_error(status, ierror);
}

SUBROUTINE(lmpi_rrput, const void *origin, const MPI_Fint *origin_count, const MPI_Fint *origin_type,
           const MPI_Fint *rank, const MPI_Aint *disp, const MPI_Fint *target_count, const MPI_Fint *target_type,
           const MPI_Fint *win, MPI_Fint *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int status = MPIX_Rrput(origin, *origin_count, PMPI_Type_f2c(*origin_type), *rank, *disp, *target_count,
                            PMPI_Type_f2c(*target_type), PMPI_Win_f2c(*win), &made);
    if (status == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_rraccumulate, const void *origin, const MPI_Fint *origin_count, const MPI_Fint *origin_type,
           const MPI_Fint *rank, const MPI_Aint *disp, const MPI_Fint *target_count, const MPI_Fint *target_type,
           const MPI_Fint *op, const MPI_Fint *win, MPI_Fint *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int status = MPIX_Rraccumulate(origin, *origin_count, PMPI_Type_f2c(*origin_type), *rank, *disp, *target_count,
                                   PMPI_Type_f2c(*target_type), PMPI_Op_f2c(*op), PMPI_Win_f2c(*win), &made);
    if (status == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_rrget_accumulate, const void *origin, const MPI_Fint *origin_count, const MPI_Fint *origin_type,
           void *result, const MPI_Fint *result_count, const MPI_Fint *result_type, const MPI_Fint *rank,
           const MPI_Aint *disp, const MPI_Fint *target_count, const MPI_Fint *target_type, const MPI_Fint *op,
           const MPI_Fint *win, MPI_Fint *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int status = MPIX_Rrget_accumulate(origin, *origin_count, PMPI_Type_f2c(*origin_type), result, *result_count,
                                       PMPI_Type_f2c(*result_type), *rank, *disp, *target_count,
                                       PMPI_Type_f2c(*target_type), PMPI_Op_f2c(*op), PMPI_Win_f2c(*win), &made);
    if (status == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_rrfetch_and_op, const void *origin, void *result, const MPI_Fint *datatype, const MPI_Fint *rank,
           const MPI_Aint *disp, const MPI_Fint *op, const MPI_Fint *win, MPI_Fint *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int status = MPIX_Rrfetch_and_op(origin, result, PMPI_Type_f2c(*datatype), *rank, *disp, PMPI_Op_f2c(*op),
                                     PMPI_Win_f2c(*win), &made);
    if (status == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_rrcompare_and_swap, const void *origin, const void *compare, void *result, const MPI_Fint *datatype,
           const MPI_Fint *rank, const MPI_Aint *disp, const MPI_Fint *win, MPI_Fint *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int status = MPIX_Rrcompare_and_swap(origin, compare, result, PMPI_Type_f2c(*datatype), *rank, *disp,
                                         PMPI_Win_f2c(*win), &made);
    if (status == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_put_notify, const void *origin, const MPI_Fint *origin_count, const MPI_Fint *origin_type,
           const MPI_Fint *rank, const MPI_Aint *disp, const MPI_Fint *target_count, const MPI_Fint *target_type,
           const MPI_Fint *notify_id, const MPI_Fint *win)
{
    int status = MPIX_Put_notify(origin, *origin_count, PMPI_Type_f2c(*origin_type), *rank, *disp, *target_count,
                                 PMPI_Type_f2c(*target_type), *notify_id, PMPI_Win_f2c(*win));
    set_error(status, ierror);
}

SUBROUTINE(lmpi_get_notify, void *origin, const MPI_Fint *origin_count, const MPI_Fint *origin_type,
           const MPI_Fint *rank, const MPI_Aint *disp, const MPI_Fint *target_count, const MPI_Fint *target_type,
           const MPI_Fint *notify_id, const MPI_Fint *win)
{
    int status = MPIX_Get_notify(origin, *origin_count, PMPI_Type_f2c(*origin_type), *rank, *disp, *target_count,
                                 PMPI_Type_f2c(*target_type), *notify_id, PMPI_Win_f2c(*win));
    set_error(status, ierror);
}

SUBROUTINE(lmpi_accumulate_notify, const void *origin, const MPI_Fint *origin_count, const MPI_Fint *origin_type,
           const MPI_Fint *rank, const MPI_Aint *disp, const MPI_Fint *target_count, const MPI_Fint *target_type,
           const MPI_Fint *op, const MPI_Fint *notify_id, const MPI_Fint *win)
{
    int status = MPIX_Accumulate_notify(origin, *origin_count, PMPI_Type_f2c(*origin_type), *rank, *disp, *target_count,
                                        PMPI_Type_f2c(*target_type), PMPI_Op_f2c(*op), *notify_id, PMPI_Win_f2c(*win));
    set_error(status, ierror);
}

SUBROUTINE(lmpi_win_wait_notify, const MPI_Fint *win, const MPI_Fint *notify_id, const long *count, MPI_Fint *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int status = MPIX_Win_wait_notify(PMPI_Win_f2c(*win), *notify_id, *count, &made);
    if (status == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_win_notify_get_value, const MPI_Fint *win, const MPI_Fint *notify_id, long *value)
{
    int status = MPIX_Win_notify_get_value(PMPI_Win_f2c(*win), *notify_id, value);
    set_error(status, ierror);
}

SUBROUTINE(lmpi_win_notify_reset, const MPI_Fint *win, const MPI_Fint *notify_id, long *value)
{
    int status = MPIX_Win_notify_reset(PMPI_Win_f2c(*win), *notify_id, value);
    set_error(status, ierror);
}

#endif
