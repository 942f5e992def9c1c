! Windows by the mpi_f08 module: every kind of window, every operation and synchronisation, reals of 16 bytes.
! ranks: 2
! ways: plain far
program windows
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: aint = MPI_ADDRESS_KIND, quad = selected_real_kind(33)
    integer :: me, ranks, next, unit, length, old(4), got(4), values(4), one = 1
    type(MPI_Win) :: win
    type(MPI_Info) :: info
    type(MPI_Group) :: world, neighbours
    type(MPI_Request) :: requests(4)
    type(MPI_Comm) :: node
    integer(kind=aint) :: bytes, attribute, places(0:3)
    type(c_ptr) :: address
    integer, pointer :: base(:)
    integer, asynchronous, target, save :: own(100)
    character(len=MPI_MAX_OBJECT_NAME) :: name
    logical :: found, done
    integer :: error

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = mod(me + 1, ranks)
    values = [me, me + 1, me + 2, me + 3]

    ! a created window
    call MPI_Win_create(own, 400_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call operations(own, 0_aint)
    call synchronisations(own)
    call quads()
    call MPI_Win_free(win)
    if (win /= MPI_WIN_NULL) call fail(1)

    ! an allocated one, and what it tells of itself
    call MPI_Win_allocate(400_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, address, win)
    call c_f_pointer(address, base, [100])
    call operations(base, 0_aint)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, found)
    if (.not. found .or. attribute /= 400) call fail(2)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, found)
    if (.not. found .or. attribute /= 4) call fail(3)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, attribute, found)
    if (.not. found .or. attribute /= transfer(address, attribute)) call fail(4)
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, attribute, found)
    if (.not. found .or. attribute /= MPI_WIN_UNIFIED) call fail(5)
    call MPI_Win_set_name(win, 'of reals')
    call MPI_Win_get_name(win, name, length)
    if (length /= 8 .or. name(1:1) /= 'o') call fail(6) ! Open MPI 4.1 gives no more of it
    call MPI_Win_get_group(win, world)
    call MPI_Group_size(world, length)
    if (length /= ranks) call fail(7)
    call MPI_Group_free(world)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'accumulate_ordering', 'none')
    call MPI_Win_set_info(win, info)
    call MPI_Info_free(info)
    call MPI_Win_get_info(win, info)
    call MPI_Info_free(info)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Put(values, 4, MPI_INTEGER, next, 0_aint, 4, MPI_INTEGER, win, error)
    if (error /= MPI_ERR_RMA_SYNC) call fail(8)
    call MPI_Win_free(win)

    ! a dynamic one
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_attach(win, own, 400_aint)
    call MPI_Get_address(own, places(0))
    call MPI_Sendrecv(places(0), 1, MPI_AINT, mod(me + ranks - 1, ranks), 0, places(1), 1, MPI_AINT, next, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call operations(own, places(1))
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_detach(win, own)
    call MPI_Win_free(win)

    ! a shared one, by whoever shares memory
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
    if (.not. far()) then
        call MPI_Win_allocate_shared(400_aint, 4, MPI_INFO_NULL, node, address, win)
        call c_f_pointer(address, base, [100])
        call MPI_Win_lock_all(0, win)
        base = me
        call MPI_Win_sync(win)
        call MPI_Barrier(node)
        call MPI_Win_sync(win)
        call MPI_Win_shared_query(win, next, bytes, unit, address)
        if (bytes /= 400 .or. unit /= 4) call fail(9)
        call c_f_pointer(address, base, [100])
        if (any(base /= next)) call fail(10)
        call MPI_Win_unlock_all(win)
        call MPI_Win_free(win)
    end if

    call MPI_Barrier(MPI_COMM_WORLD)
    if (me == 0) print '(a)', 'PASS'
    call MPI_Finalize()

contains

    ! Every operation, to the next rank's memory, which begins at `from` of the window.
    subroutine operations(memory, from)
        integer, intent(inout), asynchronous :: memory(100)
        integer(kind=aint), intent(in) :: from
        integer(kind=aint) :: step
        step = merge(4_aint, 1_aint, from /= 0)
        memory = 0
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_lock_all(0, win)
        call MPI_Put(values, 4, MPI_INTEGER, next, from + 10 * step, 4, MPI_INTEGER, win)
        call MPI_Win_flush(next, win)
        call MPI_Get(got, 4, MPI_INTEGER, next, from + 10 * step, 4, MPI_INTEGER, win)
        call MPI_Win_flush_local(next, win)
        if (any(got /= values)) call fail(20)
        call MPI_Accumulate(values, 4, MPI_INTEGER, next, from + 10 * step, 4, MPI_INTEGER, MPI_SUM, win)
        call MPI_Get_accumulate(values, 4, MPI_INTEGER, old, 4, MPI_INTEGER, next, from + 10 * step, 4, MPI_INTEGER, &
                                MPI_SUM, win)
        call MPI_Win_flush_all(win)
        if (any(old /= 2 * values)) call fail(21)
        call MPI_Fetch_and_op(one, old(1), MPI_INTEGER, next, from + 20 * step, MPI_SUM, win)
        call MPI_Win_flush_local_all(win)
        call MPI_Compare_and_swap(values(4), one, old(2), MPI_INTEGER, next, from + 20 * step, win)
        call MPI_Win_flush(next, win)
        if (old(1) /= 0 .or. old(2) /= 1) call fail(22)
        call MPI_Rput(values, 4, MPI_INTEGER, next, from + 30 * step, 4, MPI_INTEGER, win, requests(1))
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
        call MPI_Raccumulate(values, 4, MPI_INTEGER, next, from + 40 * step, 4, MPI_INTEGER, MPI_MAX, win, requests(2))
        call MPI_Rget(got, 4, MPI_INTEGER, next, from + 10 * step, 4, MPI_INTEGER, win, requests(3))
        call MPI_Rget_accumulate(values, 4, MPI_INTEGER, old, 4, MPI_INTEGER, next, from + 50 * step, 4, MPI_INTEGER, &
                                 MPI_REPLACE, win, requests(4))
        call MPI_Waitall(3, requests(2:4), MPI_STATUSES_IGNORE)
        if (any(got /= 3 * values) .or. any(old /= 0)) call fail(23)
        call MPI_Win_unlock_all(win)
        call MPI_Barrier(MPI_COMM_WORLD)
        if (any(memory(11:14) /= 3 * (values + next - me)) .or. memory(21) /= next + 3) call fail(24)
        if (any(memory(31:34) /= values + next - me) .or. any(memory(51:54) /= values + next - me)) call fail(25)
        if (any(memory(41:44) /= max(0, values + next - me))) call fail(26)
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine operations

    subroutine synchronisations(memory)
        integer, intent(inout), asynchronous :: memory(100)
        memory = 0
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
        call MPI_Put(values, 4, MPI_INTEGER, next, 0_aint, 4, MPI_INTEGER, win)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        if (memory(4) /= next + 3) call fail(30) ! of two ranks
        call MPI_Win_get_group(win, world)
        call MPI_Group_incl(world, 1, [next], neighbours)
        call MPI_Win_post(neighbours, 0, win)
        call MPI_Win_start(neighbours, 0, win)
        call MPI_Put(values, 4, MPI_INTEGER, next, 4_aint, 4, MPI_INTEGER, win)
        call MPI_Win_complete(win)
        call MPI_Win_wait(win)
        if (memory(8) /= next + 3) call fail(31)
        call MPI_Win_post(neighbours, 0, win)
        call MPI_Win_start(neighbours, 0, win)
        call MPI_Win_complete(win)
        done = .false.
        do while (.not. done)
            call MPI_Win_test(win, done)
        end do
        call MPI_Group_free(neighbours)
        call MPI_Group_free(world)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
        call MPI_Put(values, 1, MPI_INTEGER, next, 8_aint, 1, MPI_INTEGER, win)
        call MPI_Win_unlock(next, win)
        call MPI_Barrier(MPI_COMM_WORLD)
        if (memory(9) /= next) call fail(32)
    end subroutine synchronisations

    ! The compiler's own arithmetic knows the answers.
    subroutine quads()
        real(kind=quad) :: third, seen
        complex(kind=quad) :: turn, z
        third = 1.0_quad / 3
        turn = cmplx(third, -third / 7, quad)
        call MPI_Win_fence(0, win)
        call MPI_Put(third, 1, MPI_REAL16, next, 0_aint, 1, MPI_REAL16, win)
        call MPI_Put(turn, 1, MPI_COMPLEX32, next, 4_aint, 1, MPI_COMPLEX32, win)
        call MPI_Win_fence(0, win)
        call MPI_Accumulate(third * 5, 1, MPI_REAL16, next, 0_aint, 1, MPI_REAL16, MPI_SUM, win)
        call MPI_Accumulate(turn, 1, MPI_COMPLEX32, next, 4_aint, 1, MPI_COMPLEX32, MPI_PROD, win)
        call MPI_Win_fence(0, win)
        seen = transfer(own(1:4), seen)
        if (seen /= third + third * 5) call fail(40)
        z = transfer(own(5:12), z)
        if (z /= turn * turn) call fail(41)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win)
        call MPI_Fetch_and_op(third * 9, seen, MPI_REAL16, next, 0_aint, MPI_MAX, win)
        call MPI_Win_flush(next, win)
        if (seen /= third + third * 5) call fail(42)
        call MPI_Win_unlock(next, win)
        call MPI_Barrier(MPI_COMM_WORLD)
        seen = transfer(own(1:4), seen)
        if (seen /= third * 9) call fail(43)
    end subroutine quads

    logical function far()
        character(len=8) :: word
        call get_command_argument(1, word)
        far = word == 'far'
    end function far

    subroutine fail(number)
        integer, intent(in) :: number
        print '(a,i0,a,i0)', 'rank ', me, ': check ', number
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine fail
end program windows
