! Heat in a rod, as a coarray program would have it: each PE has a part and puts its edge cells into its neighbours' halos.
! oshfort -O2 heat.f90 -o heat && oshrun -n 4 ./heat
! pes: 1 4
! prints: heat left of 1.000: 1.000
program heat
    use shmem
    use, intrinsic :: iso_fortran_env, only: real64
    implicit none
    integer, parameter :: cells = 64, steps = 500
    real(real64), pointer :: rod(:)
    real(real64), allocatable :: next(:)
    real(real64), save :: mine, total
    integer :: me, n, step

    call shmem_init()
    me = shmem_my_pe()
    n = shmem_n_pes()
    nullify(rod)
    call shmem_allocate(rod, [cells + 2])          ! 1 and cells + 2 are the halo
    rod = 0
    if (me == 0) rod(2) = 1                        ! all heat begins in the first cell
    allocate(next(cells + 2))
    call shmem_barrier_all()
    do step = 1, steps
        if (me > 0) call shmem_put(rod(cells + 2), rod(2), 1, me - 1)
        if (me < n - 1) call shmem_put(rod(1), rod(cells + 1), 1, me + 1)
        call shmem_barrier_all()
        if (me == 0) rod(1) = rod(2)               ! no heat leaves at the ends
        if (me == n - 1) rod(cells + 2) = rod(cells + 1)
        next(2:cells + 1) = rod(2:cells + 1) + 0.25_real64 * (rod(1:cells) - 2 * rod(2:cells + 1) + rod(3:cells + 2))
        rod(2:cells + 1) = next(2:cells + 1)
        call shmem_barrier_all()
    end do
    mine = sum(rod(2:cells + 1))
    call shmem_sum_reduce(SHMEM_TEAM_WORLD, total, mine, 1)
    if (me == 0) print "(a,f5.3)", "heat left of 1.000: ", total
    call shmem_deallocate(rod)
    call shmem_finalize()
end program
