! The extensions from Fortran, by the mpi_f08 module: handles are types, and ierror may be left out.
! ranks: 2
! ways: plain far
! links: layer
program extensions
    use mpi_f08
    use mpix_rma
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: aint = MPI_ADDRESS_KIND
    integer :: me, ranks, other, error, bytes
    type(MPI_Win) :: win, twin, part
    type(MPI_Request) :: requests(3)
    type(MPI_Info) :: info
    integer(kind=c_long) :: count
    integer(kind=aint) :: disp
    type(c_ptr) :: address
    integer, pointer :: base(:)
    integer :: values(4), one, old
    character :: handle(MPIX_MAX_MEMHANDLE_SIZE), theirs(MPIX_MAX_MEMHANDLE_SIZE)
    logical :: is

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    other = mod(me + 1, ranks)
    call MPI_Win_allocate(400_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, address, win, error)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, error)
    call c_f_pointer(address, base, [100])
    base = 0
    one = 1
    values = [me, me + 1, me + 2, me + 3]
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Win_lock_all(0, win, error)

    ! arrays and scalars; a wait beside a remote-completing put and a barrier
    disp = 10
    call MPIX_Put_notify(values, 4, MPI_INTEGER, other, disp, 4, MPI_INTEGER, 3, win, error)
    if (error /= MPI_SUCCESS) call fail(1)
    call MPIX_Accumulate_notify(one, 1, MPI_INTEGER, other, 20_aint, 1, MPI_INTEGER, MPI_SUM, 3, win, error)
    call MPIX_Win_wait_notify(win, 3, 2_c_long, requests(1), error)
    call MPIX_Rrput(values, 4, MPI_INTEGER, other, 30_aint, 4, MPI_INTEGER, win, requests(2), error)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(3), error)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, error)
    if (base(11) /= other .or. base(14) /= other + 3 .or. base(21) /= 1) call fail(2)
    call MPIX_Win_notify_get_value(win, 3, count, error)
    if (count /= 2) call fail(3)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (base(31) /= other .or. base(34) /= other + 3) call fail(4)
    call MPIX_Win_notify_reset(win, 3, count, error)
    if (count /= 2) call fail(5)
    call MPIX_Win_wait_notify(win, 99999, 1_c_long, requests(1), error)
    if (error /= MPI_ERR_ARG) call fail(6)

    ! a duplicate with an order of its own
    call MPI_Info_create(info, error)
    call MPI_Info_set(info, 'mpi_win_order', 'true', error)
    call MPIX_Win_dup_with_info(win, info, twin, error)
    if (error /= MPI_SUCCESS) call fail(7)
    call MPIX_Rrfetch_and_op(one, old, MPI_INTEGER, other, 20_aint, MPI_SUM, twin, requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    if (old /= 1) call fail(8)
    call MPIX_Rrcompare_and_swap(values, 2, old, MPI_INTEGER, other, 20_aint, twin, requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    if (old /= 2) call fail(9)
    call MPIX_Rrget_accumulate(one, 1, MPI_INTEGER, old, 1, MPI_INTEGER, other, 20_aint, 1, MPI_INTEGER, MPI_NO_OP, twin, &
                               requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    if (old /= me) call fail(10)
    call MPIX_Rraccumulate(one, 1, MPI_INTEGER, other, 22_aint, 1, MPI_INTEGER, MPI_SUM, twin, requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_Win_free(twin, error)
    call MPI_Info_free(info, error)

    ! a memory handle
    call MPIX_Memhandle_create(base(51:), 80_aint, MPI_INFO_NULL, win, handle, bytes, error)
    if (error /= MPI_SUCCESS .or. bytes <= 0) call fail(11)
    call MPI_Sendrecv(handle, MPIX_MAX_MEMHANDLE_SIZE, MPI_CHARACTER, other, 0, theirs, MPIX_MAX_MEMHANDLE_SIZE, &
                      MPI_CHARACTER, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPIX_Win_from_memhandle(theirs, 80_aint, 4, MPI_INFO_NULL, other, win, part, error)
    if (error /= MPI_SUCCESS) call fail(12)
    call MPI_Put(values, 4, MPI_INTEGER, other, 2_aint, 4, MPI_INTEGER, part, error)
    call MPIX_Get_notify(values, 4, MPI_INTEGER, other, 2_aint, 4, MPI_INTEGER, 4, part, error)
    if (values(1) /= me) call fail(13)
    call MPI_Win_free(part, error)
    call MPIX_Win_wait_notify(win, 4, 1_c_long, requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (base(53) /= other .or. base(56) /= other + 3 .or. base(23) /= 1) call fail(14)
    call MPIX_Memhandle_release(handle, win, error)
    if (error /= MPI_SUCCESS) call fail(15)

    call MPIX_Win_op_intrinsic('sum,cas'//c_null_char, 1_aint, MPI_INTEGER, win, is, error)
    if (error /= MPI_SUCCESS) call fail(16)
    if (is .neqv. near()) call fail(17)

    call MPIX_Put_notify(values, 4, MPI_INTEGER, other, disp, 4, MPI_INTEGER, 5, win)
    call MPIX_Win_wait_notify(win, 5, 1_c_long, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)

    call MPI_Win_unlock_all(win, error)
    call MPI_Win_free(win, error)
    if (me == 0) print '(a)', 'PASS'
    call MPI_Finalize(error)

contains

    logical function near()
        character(len=8) :: word
        call get_command_argument(1, word)
        near = word /= 'far'
    end function near

    subroutine fail(number)
        integer, intent(in) :: number
        print '(a,i0,a,i0)', 'rank ', me, ': step ', number
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine fail
end program extensions
