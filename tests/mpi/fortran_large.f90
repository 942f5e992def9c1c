! The large-count forms of MPI 4 by the mpi_f08 module: generic names with counts of MPI_COUNT_KIND.
! ranks: 2
! ways: plain far
program large_counts
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: aint = MPI_ADDRESS_KIND, wide = MPI_COUNT_KIND
    integer(kind=wide), parameter :: n = 1000
    integer :: me, ranks, next, error, i
    integer(kind=aint) :: bytes, unit
    integer(kind=wide) :: wraps
    type(MPI_Win) :: win
    type(MPI_Request) :: requests(4)
    type(c_ptr) :: address
    integer, pointer :: base(:)
    integer, asynchronous, save :: own(4000), values(1000), got(1000), old(1000)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = mod(me + 1, ranks)
    values = [(me + i, i = 1, 1000)]

    call MPI_Win_create(own, 16000_aint, 4_aint, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call operations(own)
    call outside()
    call MPI_Win_free(win)

    call MPI_Win_allocate(16000_aint, 4_aint, MPI_INFO_NULL, MPI_COMM_WORLD, address, win)
    call c_f_pointer(address, base, [4000])
    call operations(base)
    call MPI_Win_shared_query(win, me, bytes, unit, address)
    if (bytes /= 16000 .or. unit /= 4) call fail(1)
    call MPI_Win_free(win)

    call MPI_Barrier(MPI_COMM_WORLD)
    if (me == 0) print '(a)', 'PASS'
    call MPI_Finalize()

contains

    subroutine operations(memory)
        integer, intent(inout), asynchronous :: memory(4000)
        memory = 0
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_lock_all(0, win)
        call MPI_Put(values, n, MPI_INTEGER, next, 0_aint, n, MPI_INTEGER, win)
        call MPI_Win_flush(next, win)
        call MPI_Get(got, n, MPI_INTEGER, next, 0_aint, n, MPI_INTEGER, win)
        call MPI_Win_flush(next, win)
        if (any(got /= values)) call fail(10)
        call MPI_Accumulate(values, n, MPI_INTEGER, next, 0_aint, n, MPI_INTEGER, MPI_SUM, win)
        call MPI_Get_accumulate(values, n, MPI_INTEGER, old, n, MPI_INTEGER, next, 0_aint, n, MPI_INTEGER, MPI_SUM, win)
        call MPI_Win_flush(next, win)
        if (any(old /= 2 * values)) call fail(11)
        call MPI_Rput(values, n, MPI_INTEGER, next, 1000_aint, n, MPI_INTEGER, win, requests(1))
        call MPI_Raccumulate(values, n, MPI_INTEGER, next, 2000_aint, n, MPI_INTEGER, MPI_SUM, win, requests(2))
        call MPI_Rget(got, n, MPI_INTEGER, next, 0_aint, n, MPI_INTEGER, win, requests(3))
        call MPI_Rget_accumulate(values, n, MPI_INTEGER, old, n, MPI_INTEGER, next, 3000_aint, n, MPI_INTEGER, MPI_SUM, &
                                 win, requests(4))
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
        if (any(got /= 3 * values) .or. any(old /= 0)) call fail(12)
        call MPI_Win_unlock_all(win)
        call MPI_Barrier(MPI_COMM_WORLD)
        if (any(memory(1:1000) /= 3 * (values + next - me))) call fail(13)
        do i = 1, 3
            if (any(memory(1000 * i + 1:1000 * i + 1000) /= values + next - me)) call fail(13 + i)
        end do
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine operations

    ! A count of 2**32 + 1 is not cut to 1.
    subroutine outside()
        wraps = ishft(1_wide, 32) + 1
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
        call MPI_Win_lock_all(0, win)
        call MPI_Put(values, wraps, MPI_INTEGER, next, 0_aint, wraps, MPI_INTEGER, win, error)
        if (error /= MPI_ERR_RMA_RANGE) call fail(20)
        call MPI_Get(values, wraps, MPI_INTEGER, next, 0_aint, wraps, MPI_INTEGER, win, error)
        if (error /= MPI_ERR_RMA_RANGE) call fail(21)
        call MPI_Accumulate(values, wraps, MPI_INTEGER, next, 0_aint, wraps, MPI_INTEGER, MPI_SUM, win, error)
        if (error /= MPI_ERR_RMA_RANGE) call fail(22)
        call MPI_Win_unlock_all(win)
    end subroutine outside

    subroutine fail(number)
        integer, intent(in) :: number
        print '(a,i0,a,i0)', 'rank ', me, ': check ', number
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine fail
end program large_counts
