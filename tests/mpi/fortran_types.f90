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
    include 'fortran_extensions.inc'

    call MPIX_Put_notify(values, 4, MPI_INTEGER, other, disp, 4, MPI_INTEGER, 5, win)
    call MPIX_Win_wait_notify(win, 5, 1_c_long, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)

    call MPI_Win_unlock_all(win, error)
    call MPI_Win_free(win, error)
    include 'fortran_end.inc'
end program extensions
