! Atomics, waits, locks, teams, contexts, collectives, reductions, requests and counters.
! pes: 2 4
program sync
    use shmem
    use, intrinsic :: iso_fortran_env
    implicit none
    integer(int32), save :: number, cells(4), many(64), one(2)
    integer(int64), save :: big, lock, held
    real(real64), save :: sums(3), mine(3), largest
    complex(real32), save :: z(2), zs(2)
    integer :: me, n, i, indices(4), found, major, minor, ierror, level
    integer(int32) :: old
    type(shmem_team_t) :: evens, copy
    type(shmem_ctx_t) :: ctx
    type(shmem_team_config_t) :: config
    type(shmemx_request_t) :: request
    type(shmemx_ct_t) :: counter
    character(len=SHMEM_MAX_NAME_LEN) :: name

    call shmem_init_thread(SHMEM_THREAD_MULTIPLE, level)
    me = shmem_my_pe()
    n = shmem_n_pes()
    call expect("thread level", level == SHMEM_THREAD_MULTIPLE)
    call shmem_info_get_version(major, minor)
    call shmem_info_get_name(name)
    call expect("version", major == 1 .and. minor == 6 .and. len_trim(name) > 0)
    call expect("accessible PE", shmem_pe_accessible(0) .and. .not. shmem_pe_accessible(n))
    call expect("accessible address", shmem_addr_accessible(number, 0) .and. .not. shmem_addr_accessible(me, 0))
    number = 0; big = 0; cells = 0; lock = 0; held = 0; one = 0
    call shmem_barrier_all()

    call shmem_atomic_add(number, 2, 0)
    old = shmem_atomic_fetch_add(number, 1, 0)
    call shmem_atomic_add(big, 5000000000_int64, 0)
    call shmem_barrier_all()
    call expect("fetch_add", shmem_atomic_fetch(number, 0) == 3 * n .and. old >= 2)
    call expect("64 bits", shmem_atomic_fetch(big, 0) == n * 5000000000_int64)
    if (me == 1) call expect("swap", shmem_atomic_swap(cells(1), 9, 1) == 0)
    if (me == 1) call expect("compare_swap", shmem_atomic_compare_swap(cells(1), 9, 4, 1) == 9 .and. cells(1) == 4)
    cells = 0
    call shmem_barrier_all()

    do i = 1, 3
        call shmem_set_lock(lock)
        held = shmem_g(held, 0) + 1
        if (me /= 0) call shmem_p(held, held, 0)
        call shmem_quiet()
        call shmem_clear_lock(lock)
    end do
    call shmem_barrier_all()
    call expect("lock", shmem_g(held, 0) == 3 * n)

    if (me == 0) then
        call shmem_p(cells(3), 5, 1)
    else if (me == 1) then
        found = shmem_wait_until_any(cells, 4, cmp=SHMEM_CMP_GT, cmp_value=0)
        call expect("wait_until_any counts from 1", found == 3)
        call shmem_wait_until(cells(3), SHMEM_CMP_EQ, 5)
        call expect("test", shmem_test(cells(3), SHMEM_CMP_EQ, 5) .and. .not. shmem_test(cells(1), SHMEM_CMP_NE, 0))
        call expect("none", shmem_test_any(cells, 4, cmp=SHMEM_CMP_EQ, cmp_value=77) == 0)
        found = shmem_wait_until_some(cells, 4, indices, cmp=SHMEM_CMP_NE, cmp_value=0)
        call expect("wait_until_some", found == 1 .and. indices(1) == 3)
        call shmem_wait_until_all(cells, 4, status=[1, 1, 0, 1], cmp=SHMEM_CMP_GE, cmp_value=5)
    end if

    mine = [real(me, real64), 1.0_real64, -real(me, real64)]
    call shmem_sum_reduce(SHMEM_TEAM_WORLD, sums, mine)
    call expect("sum", all(abs(sums - [n * (n - 1) / 2.0, real(n), -n * (n - 1) / 2.0]) < 1e-12))
    call shmem_max_reduce(SHMEM_TEAM_WORLD, largest, mine(1), 1, ierror)
    call expect("max", ierror == 0 .and. largest == n - 1)
    z = cmplx(me, 1)
    call shmem_sum_reduce(SHMEM_TEAM_WORLD, zs, z, 2)
    call expect("complex sum", all(zs == cmplx(n * (n - 1) / 2, n)))
    call shmem_sum_inscan(SHMEM_TEAM_WORLD, largest, mine(2), 1)
    call expect("scan", largest == me + 1)
    one = [me, -me]
    call shmem_fcollect(SHMEM_TEAM_WORLD, many, one, 2)
    call expect("fcollect", all(many(1:2 * n) == [(merge((i - 1) / 2, -((i - 1) / 2), mod(i, 2) == 1), i = 1, 2 * n)]))
    number = merge(4711, 0, me == n - 1)
    call shmem_broadcast(SHMEM_TEAM_WORLD, number, number, 1, n - 1)
    call expect("broadcast", number == 4711)
    many(1:n) = [(me * 10 + i, i = 0, n - 1)]
    call shmem_alltoall(SHMEM_TEAM_WORLD, many(33), many, 1)
    call expect("alltoall", all(many(33:32 + n) == [(i * 10 + me, i = 0, n - 1)]))

    call shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, config, 0, evens, ierror)
    call expect("split", (mod(me, 2) == 0) .eqv. (evens /= SHMEM_TEAM_INVALID))
    if (evens /= SHMEM_TEAM_INVALID) then
        call expect("team", shmem_team_my_pe(evens) == me / 2 .and. shmem_team_n_pes(evens) == (n + 1) / 2)
        call expect("translate", shmem_team_translate_pe(evens, 0, SHMEM_TEAM_WORLD) == 0)
        call shmem_team_sync(evens)
        call shmem_team_create_ctx(evens, SHMEM_CTX_SERIALIZED, ctx, ierror)
        call expect("context", ierror == 0 .and. ctx /= SHMEM_CTX_INVALID)
        call shmem_p(ctx, cells(2), 31, 0)
        call shmem_ctx_quiet(ctx)
        call shmem_ctx_get_team(ctx, copy)
        call expect("the context's team", copy == evens)
        call shmem_ctx_destroy(ctx)
        call shmem_team_destroy(evens)
    end if
    call shmem_barrier_all()
    if (me == 0) call expect("put on a context", cells(2) == 31)

    call shmemx_ct_create(counter)
    request = SHMEMX_REQUEST_NULL
    call shmemx_put_ct(counter, cells(4), me + 1, 1, mod(me + 1, n))
    call expect("counter", shmemx_ct_wait(counter, 1) >= 1 .and. cells(4) == mod(me + n - 1, n) + 1)
    call shmemx_get_nbe(one, cells(4), 1, mod(me + 1, n), request)
    call shmemx_request_wait(request)
    call expect("request", one(1) == me + 1)
    call shmem_barrier_all()
    call shmemx_ct_free(counter)
    call shmem_finalize()
contains
    subroutine expect(what, holds)
        character(len=*), intent(in) :: what
        logical, intent(in) :: holds
        if (holds) return
        write (error_unit, "(a,i0,2a)") "PE ", me, ": wrong: ", what
        call shmem_global_exit(3)
    end subroutine
end program
