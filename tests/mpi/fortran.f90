! Windows from Fortran, by the mpi module: attributes, put, accumulate, error codes.
! ranks: 2
program windows
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: me, ranks, win, error, unit
    integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, attribute
    logical :: found
    type(c_ptr) :: address
    integer, pointer :: base(:)
    integer :: values(4)

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    bytes = 400
    unit = 4
    call MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, address, win, error)
    call c_f_pointer(address, base, [100])
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, found, error)
    if (.not. found .or. attribute /= 400) call fail(1)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, found, error)
    if (.not. found .or. attribute /= 4) call fail(2)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, attribute, found, error)
    if (.not. found .or. attribute /= transfer(address, attribute)) call fail(3)
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, attribute, found, error)
    if (.not. found .or. attribute /= MPI_WIN_FLAVOR_ALLOCATE) call fail(4)
    base = 0
    values = [me, me + 1, me + 2, me + 3]
    disp = 10
    call MPI_Win_fence(0, win, error)
    call MPI_Put(values, 4, MPI_INTEGER, mod(me + 1, ranks), disp, 4, MPI_INTEGER, win, error)
    call MPI_Win_fence(0, win, error)
    if (base(14) /= mod(me + ranks - 1, ranks) + 3) call fail(5)
    disp = 0
    call MPI_Accumulate(values, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, win, error)
    call MPI_Win_fence(0, win, error)
    if (me == 0 .and. base(1) /= ranks * (ranks - 1) / 2) call fail(6)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, error)
    disp = 1000
    call MPI_Put(values, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, win, error)
    if (error /= MPI_ERR_RMA_RANGE) call fail(7)
    call MPI_Win_fence(0, win, error)
    call MPI_Win_free(win, error)
    if (win /= MPI_WIN_NULL) call fail(8)
    include 'fortran_end.inc'
end program
