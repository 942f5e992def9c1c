! The functions of mpix_rma.h for Fortran, for programs that use mpi or mpi_f08; mpix_rma.h says what they do.
!
!   use mpi_f08                      use mpi
!   use mpix_rma                     use mpix_rma
!   type(MPI_Win) :: win             integer :: win
!   call MPIX_Put_notify(..., win)   call MPIX_Put_notify(..., win, ierror)
!
! Handles are those of the module that the program uses: every function has a form for types (MPI_Win, MPI_Request, ...),
! whose ierror is optional, and one for integers. Buffers are of any type and rank; they must be contiguous, and have to
! stay in place as for MPI_Put. Displacements and sizes of memory are integer(kind=MPI_ADDRESS_KIND), counts of
! notifications integer(kind=c_long). A list of operations ends with c_null_char. Link as for C; there is no library besides
! the layer.
module mpix_rma
    use, intrinsic :: iso_c_binding, only: c_long
    use mpi_f08, only: MPI_Win, MPI_Info, MPI_Datatype, MPI_Op, MPI_Request, MPI_ADDRESS_KIND
    implicit none
    private

    integer, parameter, public :: MPIX_MAX_MEMHANDLE_SIZE = 320
    integer, parameter, public :: MPIX_WIN_FLAVOR_MEMHANDLE = int(z'4c01')

    public :: MPIX_Win_dup_with_info
    public :: MPIX_Memhandle_create
    public :: MPIX_Win_from_memhandle
    public :: MPIX_Memhandle_release
    public :: MPIX_Win_op_intrinsic
    public :: MPIX_Rrput
    public :: MPIX_Rraccumulate
    public :: MPIX_Rrget_accumulate
    public :: MPIX_Rrfetch_and_op
    public :: MPIX_Rrcompare_and_swap
    public :: MPIX_Put_notify
    public :: MPIX_Get_notify
    public :: MPIX_Accumulate_notify
    public :: MPIX_Win_wait_notify
    public :: MPIX_Win_notify_get_value
    public :: MPIX_Win_notify_reset

    interface MPIX_Win_dup_with_info
        subroutine mpix_win_dup_with_info_int(parentwin, info, newwin, ierror) &
            bind(C, name="lmpi_win_dup_with_info_f")
            integer, intent(in) :: parentwin
            integer, intent(in) :: info
            integer, intent(out) :: newwin
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_win_dup_with_info_f08(parentwin, info, newwin, ierror) &
            bind(C, name="lmpi_win_dup_with_info_f08")
            import :: MPI_Win, MPI_Info
            type(MPI_Win), intent(in) :: parentwin
            type(MPI_Info), intent(in) :: info
            type(MPI_Win), intent(out) :: newwin
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Memhandle_create
        subroutine mpix_memhandle_create_int(base, size, info, parentwin, memhandle, memhandle_size, ierror) &
            bind(C, name="lmpi_memhandle_create_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: base
            !DIR$ IGNORE_TKR base
            type(*) :: base(*)
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
            integer, intent(in) :: info
            integer, intent(in) :: parentwin
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*) :: memhandle(*)
            integer, intent(out) :: memhandle_size
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_memhandle_create_f08(base, size, info, parentwin, memhandle, memhandle_size, ierror) &
            bind(C, name="lmpi_memhandle_create_f08")
            import :: MPI_ADDRESS_KIND, MPI_Info, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: base
            !DIR$ IGNORE_TKR base
            type(*) :: base(*)
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
            type(MPI_Info), intent(in) :: info
            type(MPI_Win), intent(in) :: parentwin
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*) :: memhandle(*)
            integer, intent(out) :: memhandle_size
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_from_memhandle
        subroutine mpix_win_from_memhandle_int(memhandle, size, disp_unit, info, target, parentwin, newwin, &
            ierror) &
            bind(C, name="lmpi_win_from_memhandle_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*), intent(in) :: memhandle(*)
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
            integer, intent(in) :: disp_unit
            integer, intent(in) :: info
            integer, intent(in) :: target
            integer, intent(in) :: parentwin
            integer, intent(out) :: newwin
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_win_from_memhandle_f08(memhandle, size, disp_unit, info, target, parentwin, newwin, &
            ierror) &
            bind(C, name="lmpi_win_from_memhandle_f08")
            import :: MPI_ADDRESS_KIND, MPI_Info, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*), intent(in) :: memhandle(*)
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
            integer, intent(in) :: disp_unit
            type(MPI_Info), intent(in) :: info
            integer, intent(in) :: target
            type(MPI_Win), intent(in) :: parentwin
            type(MPI_Win), intent(out) :: newwin
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Memhandle_release
        subroutine mpix_memhandle_release_int(memhandle, parentwin, ierror) &
            bind(C, name="lmpi_memhandle_release_f")
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*) :: memhandle(*)
            integer, intent(in) :: parentwin
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_memhandle_release_f08(memhandle, parentwin, ierror) &
            bind(C, name="lmpi_memhandle_release_f08")
            import :: MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*) :: memhandle(*)
            type(MPI_Win), intent(in) :: parentwin
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_op_intrinsic
        subroutine mpix_win_op_intrinsic_int(ops, max_count, datatype, win, flag, ierror) &
            bind(C, name="lmpi_win_op_intrinsic_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: ops
            !DIR$ IGNORE_TKR ops
            type(*), intent(in) :: ops(*)
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: max_count
            integer, intent(in) :: datatype
            integer, intent(in) :: win
            logical, intent(out) :: flag
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_win_op_intrinsic_f08(ops, max_count, datatype, win, flag, ierror) &
            bind(C, name="lmpi_win_op_intrinsic_f08")
            import :: MPI_ADDRESS_KIND, MPI_Datatype, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: ops
            !DIR$ IGNORE_TKR ops
            type(*), intent(in) :: ops(*)
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: max_count
            type(MPI_Datatype), intent(in) :: datatype
            type(MPI_Win), intent(in) :: win
            logical, intent(out) :: flag
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Rrput
        subroutine mpix_rrput_int(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, &
            request, ierror) &
            bind(C, name="lmpi_rrput_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            integer, intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            integer, intent(in) :: target_type
            integer, intent(in) :: win
            integer, intent(out) :: request
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_rrput_f08(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, &
            request, ierror) &
            bind(C, name="lmpi_rrput_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            type(MPI_Datatype), intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            type(MPI_Datatype), intent(in) :: target_type
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Rraccumulate
        subroutine mpix_rraccumulate_int(origin, origin_count, origin_type, rank, disp, target_count, &
            target_type, op, win, request, ierror) &
            bind(C, name="lmpi_rraccumulate_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            integer, intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            integer, intent(in) :: target_type
            integer, intent(in) :: op
            integer, intent(in) :: win
            integer, intent(out) :: request
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_rraccumulate_f08(origin, origin_count, origin_type, rank, disp, target_count, &
            target_type, op, win, request, ierror) &
            bind(C, name="lmpi_rraccumulate_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Op, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            type(MPI_Datatype), intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            type(MPI_Datatype), intent(in) :: target_type
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Rrget_accumulate
        subroutine mpix_rrget_accumulate_int(origin, origin_count, origin_type, result, result_count, &
            result_type, rank, disp, target_count, target_type, op, win, request, ierror) &
            bind(C, name="lmpi_rrget_accumulate_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            integer, intent(in) :: origin_type
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            !DIR$ IGNORE_TKR result
            type(*) :: result(*)
            integer, intent(in) :: result_count
            integer, intent(in) :: result_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            integer, intent(in) :: target_type
            integer, intent(in) :: op
            integer, intent(in) :: win
            integer, intent(out) :: request
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_rrget_accumulate_f08(origin, origin_count, origin_type, result, result_count, &
            result_type, rank, disp, target_count, target_type, op, win, request, ierror) &
            bind(C, name="lmpi_rrget_accumulate_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Op, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            type(MPI_Datatype), intent(in) :: origin_type
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            !DIR$ IGNORE_TKR result
            type(*) :: result(*)
            integer, intent(in) :: result_count
            type(MPI_Datatype), intent(in) :: result_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            type(MPI_Datatype), intent(in) :: target_type
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Rrfetch_and_op
        subroutine mpix_rrfetch_and_op_int(origin, result, datatype, rank, disp, op, win, request, ierror) &
            bind(C, name="lmpi_rrfetch_and_op_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            !DIR$ IGNORE_TKR result
            type(*) :: result(*)
            integer, intent(in) :: datatype
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: op
            integer, intent(in) :: win
            integer, intent(out) :: request
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_rrfetch_and_op_f08(origin, result, datatype, rank, disp, op, win, request, ierror) &
            bind(C, name="lmpi_rrfetch_and_op_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Op, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            !DIR$ IGNORE_TKR result
            type(*) :: result(*)
            type(MPI_Datatype), intent(in) :: datatype
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Rrcompare_and_swap
        subroutine mpix_rrcompare_and_swap_int(origin, compare, result, datatype, rank, disp, win, request, &
            ierror) &
            bind(C, name="lmpi_rrcompare_and_swap_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: compare
            !DIR$ IGNORE_TKR compare
            type(*), intent(in) :: compare(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            !DIR$ IGNORE_TKR result
            type(*) :: result(*)
            integer, intent(in) :: datatype
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: win
            integer, intent(out) :: request
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_rrcompare_and_swap_f08(origin, compare, result, datatype, rank, disp, win, request, &
            ierror) &
            bind(C, name="lmpi_rrcompare_and_swap_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: compare
            !DIR$ IGNORE_TKR compare
            type(*), intent(in) :: compare(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            !DIR$ IGNORE_TKR result
            type(*) :: result(*)
            type(MPI_Datatype), intent(in) :: datatype
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Put_notify
        subroutine mpix_put_notify_int(origin, origin_count, origin_type, rank, disp, target_count, target_type, &
            notify_id, win, ierror) &
            bind(C, name="lmpi_put_notify_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            integer, intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            integer, intent(in) :: target_type
            integer, intent(in) :: notify_id
            integer, intent(in) :: win
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_put_notify_f08(origin, origin_count, origin_type, rank, disp, target_count, target_type, &
            notify_id, win, ierror) &
            bind(C, name="lmpi_put_notify_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            type(MPI_Datatype), intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            type(MPI_Datatype), intent(in) :: target_type
            integer, intent(in) :: notify_id
            type(MPI_Win), intent(in) :: win
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Get_notify
        subroutine mpix_get_notify_int(origin, origin_count, origin_type, rank, disp, target_count, target_type, &
            notify_id, win, ierror) &
            bind(C, name="lmpi_get_notify_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*) :: origin(*)
            integer, intent(in) :: origin_count
            integer, intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            integer, intent(in) :: target_type
            integer, intent(in) :: notify_id
            integer, intent(in) :: win
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_get_notify_f08(origin, origin_count, origin_type, rank, disp, target_count, target_type, &
            notify_id, win, ierror) &
            bind(C, name="lmpi_get_notify_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*) :: origin(*)
            integer, intent(in) :: origin_count
            type(MPI_Datatype), intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            type(MPI_Datatype), intent(in) :: target_type
            integer, intent(in) :: notify_id
            type(MPI_Win), intent(in) :: win
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Accumulate_notify
        subroutine mpix_accumulate_notify_int(origin, origin_count, origin_type, rank, disp, target_count, &
            target_type, op, notify_id, win, ierror) &
            bind(C, name="lmpi_accumulate_notify_f")
            import :: MPI_ADDRESS_KIND
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            integer, intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            integer, intent(in) :: target_type
            integer, intent(in) :: op
            integer, intent(in) :: notify_id
            integer, intent(in) :: win
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_accumulate_notify_f08(origin, origin_count, origin_type, rank, disp, target_count, &
            target_type, op, notify_id, win, ierror) &
            bind(C, name="lmpi_accumulate_notify_f08")
            import :: MPI_Datatype, MPI_ADDRESS_KIND, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin
            !DIR$ IGNORE_TKR origin
            type(*), intent(in) :: origin(*)
            integer, intent(in) :: origin_count
            type(MPI_Datatype), intent(in) :: origin_type
            integer, intent(in) :: rank
            integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
            integer, intent(in) :: target_count
            type(MPI_Datatype), intent(in) :: target_type
            type(MPI_Op), intent(in) :: op
            integer, intent(in) :: notify_id
            type(MPI_Win), intent(in) :: win
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_wait_notify
        subroutine mpix_win_wait_notify_int(win, notify_id, count, request, ierror) &
            bind(C, name="lmpi_win_wait_notify_f")
            import :: c_long
            integer, intent(in) :: win
            integer, intent(in) :: notify_id
            integer(kind=c_long), intent(in) :: count
            integer, intent(out) :: request
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_win_wait_notify_f08(win, notify_id, count, request, ierror) &
            bind(C, name="lmpi_win_wait_notify_f08")
            import :: MPI_Win, c_long, MPI_Request
            type(MPI_Win), intent(in) :: win
            integer, intent(in) :: notify_id
            integer(kind=c_long), intent(in) :: count
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_notify_get_value
        subroutine mpix_win_notify_get_value_int(win, notify_id, value, ierror) &
            bind(C, name="lmpi_win_notify_get_value_f")
            import :: c_long
            integer, intent(in) :: win
            integer, intent(in) :: notify_id
            integer(kind=c_long), intent(out) :: value
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_win_notify_get_value_f08(win, notify_id, value, ierror) &
            bind(C, name="lmpi_win_notify_get_value_f08")
            import :: MPI_Win, c_long
            type(MPI_Win), intent(in) :: win
            integer, intent(in) :: notify_id
            integer(kind=c_long), intent(out) :: value
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_notify_reset
        subroutine mpix_win_notify_reset_int(win, notify_id, value, ierror) &
            bind(C, name="lmpi_win_notify_reset_f")
            import :: c_long
            integer, intent(in) :: win
            integer, intent(in) :: notify_id
            integer(kind=c_long), intent(out) :: value
            integer, intent(out) :: ierror
        end subroutine
        subroutine mpix_win_notify_reset_f08(win, notify_id, value, ierror) &
            bind(C, name="lmpi_win_notify_reset_f08")
            import :: MPI_Win, c_long
            type(MPI_Win), intent(in) :: win
            integer, intent(in) :: notify_id
            integer(kind=c_long), intent(out) :: value
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface
end module mpix_rma
