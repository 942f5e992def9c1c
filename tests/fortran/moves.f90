! Puts and gets of every kind and rank, strided, in blocks, of one element, with a signal; near and between nodes.
! pes: 2 3
! case: near
! case: nodes
! env: LATERAL_NODE_SIZE=1
module data
    use, intrinsic :: iso_fortran_env
    implicit none
    integer(int32), save :: in_module(4) = 0
end module

program moves
    use shmem
    use data
    use, intrinsic :: iso_c_binding
    implicit none
    integer(int8), save :: i1(3)
    integer(int16), save :: i2(2, 2)
    integer(int64), save :: i8(2, 2, 2)
    real(real32), save :: r4
    real(real64), save :: r8(10), rows(4, 5)
    complex(real32), save :: c4(2)
    complex(real32), asynchronous :: sent(2)
    complex(real64), save :: c8(2)
    logical, save :: flags(3)
    logical(c_bool), save :: small(2)
    character(len=8), save :: words(2)
    integer(int64), save :: signal
    type :: point
        real(real64) :: x, y
        integer :: tag
    end type
    type(point), save :: at(2)
    type(point) :: here(2)
    integer, pointer :: heap(:, :), own(:)
    type(c_ptr) :: memory
    integer :: me, n, to, from, i, common_of(3), four(4)
    character(len=8) :: text
    real(real64) :: some(5)
    common /shared/ common_of

    call shmem_init()
    me = shmem_my_pe()
    n = shmem_n_pes()
    to = mod(me + 1, n)
    from = mod(me + n - 1, n)
    i1 = 0; i2 = 0; i8 = 0; r4 = 0; r8 = 0; c4 = 0; c8 = 0; flags = .false.; small = .false.; words = ""; signal = 0; common_of = 0
    nullify(heap)
    call shmem_allocate(heap, [3, 4])
    memory = shmem_malloc_with_hints(16_int64, SHMEM_MALLOC_ATOMICS_REMOTE)
    call c_f_pointer(memory, own, [4])
    own = 0; heap = -1; rows = 0
    call shmem_barrier_all()

    call shmem_put(i1, [1_int8, 2_int8, int(me, int8)], pe=to)
    call shmem_put(i2, reshape([1_int16, 2_int16, 3_int16, int(me, int16)], [2, 2]), 4, to)
    call shmem_put(i8, reshape([(int(me, int64) * 10_int64**10 + i, i = 1, 8)], [2, 2, 2]), pe=to)
    call shmem_put(SHMEM_CTX_DEFAULT, in_module, [(me * 100 + i, i = 1, 4)], 4_int64, to)
    call shmem_p(r4, real(me) + 0.5, to)
    sent = [cmplx(me, 1), cmplx(2, me)]
    call shmem_put_nbi(c4, sent, 2, to)
    call shmem_put(c8, [cmplx(me, 1, real64), cmplx(2, me, real64)], 2, to)
    call shmem_put(flags, [.true., .false., .true.], pe=to)
    call shmem_put(small, [.false._c_bool, .true._c_bool], pe=to)
    call shmem_put(words, ["first   ", "second  "], pe=to)
    call shmem_put(common_of, [me, me + 1, me + 2], 3, to)
    call shmem_put(heap(2, 3), me * 7, 1, to)
    call shmem_atomic_add(own(3), me + 5, to)
    here = [point(1.5_real64, me, 3), point(me, 2.5_real64, 4)]
    call shmem_putmem(at, here, int(2 * storage_size(here(1)) / 8), to)
    call shmem_iput(r8, [1.0_real64, 2.0_real64, 3.0_real64], 3, 1, 3, to)
    call shmem_ibput(rows, [(real(me * 20 + i, real64), i = 1, 4)], 4, 2, 2, 2, to)
    call shmem_quiet()
    call shmem_put_signal(r8(10), 99.0_real64 + me, 1, signal, 1, SHMEM_SIGNAL_OP_ADD, to)
    if (shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1) /= 1) call wrong("signal")
    call shmem_barrier_all()

    call expect("int8", all(i1 == [1, 2, from]))
    call expect("int16", all(i2 == reshape([1, 2, 3, from], [2, 2])))
    call expect("int64", all(reshape(i8, [8]) == [(int(from, int64) * 10_int64**10 + i, i = 1, 8)]))
    call expect("a module's variable", all(in_module == [(from * 100 + i, i = 1, 4)]))
    call expect("real", abs(r4 - (from + 0.5)) < 1e-6)
    call expect("complex", all(c4 == [cmplx(from, 1), cmplx(2, from)]))
    call expect("double complex", all(c8 == [cmplx(from, 1, real64), cmplx(2, from, real64)]))
    call expect("logical", flags(1) .and. .not. flags(2) .and. flags(3))
    call expect("c_bool", logical(small(2)) .and. .not. small(1))
    call expect("character", words(1) == "first" .and. words(2) == "second")
    call expect("a common block", all(common_of == [from, from + 1, from + 2]))
    call expect("an element of the heap", heap(2, 3) == from * 7 .and. count(heap == -1) == 11)
    call expect("memory of shmem_malloc", all(own == [0, 0, from + 5, 0]))
    call expect("a derived type", at(1)%y == from .and. at(2)%x == from .and. at(2)%tag == 4)
    call expect("strided", all(r8([1, 4, 7]) == [1, 2, 3]) .and. all(r8([2, 3, 5, 6, 8, 9]) == 0))
    call expect("put with signal", r8(10) == 99 + from)
    call expect("blocks", all(reshape(rows(1:2, 1:2), [4]) == [(from * 20 + i, i = 1, 4)]))

    call shmem_get(four, in_module, 4, to)
    call expect("get", all(four == [(me * 100 + i, i = 1, 4)]))
    four = 0
    call shmem_get_nbi(four(2:3), in_module(2), 2, to)
    call shmem_quiet()
    call expect("get of a part", all(four == [0, me * 100 + 2, me * 100 + 3, 0]))
    some = 0
    call shmem_iget(some, r8, 1, 3, 3, to)
    call expect("iget", all(some == [1, 2, 3, 0, 0]))
    call expect("g", shmem_g(heap(2, 3), to) == me * 7)
    call expect("g of real", shmem_g(r4, to) == me + 0.5)
    text = shmem_g(words(2), to)
    call expect("g of character", text == "second")
    call expect("g of complex", shmem_g(c4(2), to) == cmplx(2, me))
    call shmem_barrier_all()
    call shmem_deallocate(heap)
    call shmem_free(memory)
    if (associated(heap)) call wrong("deallocate")
    call shmem_finalize()
contains
    subroutine expect(what, holds)
        character(len=*), intent(in) :: what
        logical, intent(in) :: holds
        if (.not. holds) call wrong(what)
    end subroutine
    subroutine wrong(what)
        character(len=*), intent(in) :: what
        write (error_unit, "(a,i0,2a)") "PE ", me, ": wrong: ", what
        call shmem_global_exit(3)
    end subroutine
end program
