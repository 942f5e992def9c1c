! Windows by mpif.h: a base that is the program's own array, locks, PSCW, a fetching atomic, requests.
! ranks: 2
! ways: plain far
program windows
    implicit none
    include 'mpif.h'
    integer, parameter :: aint = MPI_ADDRESS_KIND
    integer :: me, ranks, next, before, error, win, request, world, group, unit, old, i, key
    integer :: status(MPI_STATUS_SIZE), base(0:99), got(4), counts(0:0)
    double precision :: sums(3)
    integer(kind=aint) :: model
    logical :: found
    common /shared/ base

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    next = mod(me + 1, ranks)
    before = mod(me + ranks - 1, ranks)
    base = [(1000 * me + i, i = 0, 99)]
    unit = 4
    call MPI_Win_create(base, int(400, aint), unit, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, model, found, error)
    if (.not. found .or. model /= MPI_WIN_UNIFIED) call fail(1)

    ! a lock, a get by request
    call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win, error)
    call MPI_Rget(got, 4, MPI_INTEGER, next, 5_aint, 4, MPI_INTEGER, win, request, error)
    call MPI_Wait(request, status, error)
    if (any(got /= [(1000 * next + i, i = 5, 8)])) call fail(2)
    call MPI_Win_unlock(next, win, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)

    ! a fetching atomic on rank 0: its ticket is unique
    call MPI_Win_lock_all(0, win, error)
    counts(0) = 1
    call MPI_Fetch_and_op(counts, old, MPI_INTEGER, 0, 50_aint, MPI_SUM, win, error)
    call MPI_Win_flush(0, win, error)
    if (old < 50 .or. old >= 50 + ranks) call fail(3)
    call MPI_Win_unlock_all(win, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (me == 0 .and. base(50) /= 50 + ranks) call fail(4)

    ! PSCW around the ring: the exposure is to the rank before
    call MPI_Comm_group(MPI_COMM_WORLD, world, error)
    call MPI_Group_incl(world, 1, [before], group, error)
    call MPI_Win_post(group, 0, win, error)
    call MPI_Group_free(group, error)
    call MPI_Group_incl(world, 1, [next], group, error)
    call MPI_Win_start(group, 0, win, error)
    got = [me, me * 2, me * 3, me * 4]
    call MPI_Put(got, 4, MPI_INTEGER, next, 60_aint, 4, MPI_INTEGER, win, error)
    call MPI_Win_complete(win, error)
    call MPI_Win_wait(win, error)
    if (any(base(60:63) /= [before, before * 2, before * 3, before * 4])) call fail(5)
    call MPI_Group_free(group, error)
    call MPI_Group_free(world, error)

    ! double precision sums into the same common block
    sums = [1d0, 2d0, 3d0]
    base(70:75) = 0
    call MPI_Win_fence(0, win, error)
    call MPI_Accumulate(sums, 3, MPI_DOUBLE_PRECISION, 0, 70_aint, 3, MPI_DOUBLE_PRECISION, MPI_SUM, win, error)
    call MPI_Win_fence(0, win, error)
    if (me == 0) then
        sums = transfer(base(70:75), sums)
        if (any(sums /= ranks * [1d0, 2d0, 3d0])) call fail(6)
    end if
    call MPI_Win_free(win, error)
    if (win /= MPI_WIN_NULL) call fail(7)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, 0_aint, error)
    do i = 1, 3 ! no attribute goes on to the next window
        call MPI_Win_create(base, int(400, aint), unit, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
        call MPI_Win_get_attr(win, key, model, found, error)
        if (found) call fail(8)
        call MPI_Win_set_attr(win, key, 7_aint, error)
        call MPI_Win_free(win, error)
    end do
    include 'fortran_end.inc'
end program
