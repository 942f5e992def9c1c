! The extensions from Fortran, by the mpi module: handles are integers.
! ranks: 2
! ways: plain far
! links: layer
program extensions
    use mpi
    use mpix_rma
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: aint = MPI_ADDRESS_KIND
    integer :: me, ranks, other, error, bytes
    integer :: win, twin, part
    integer :: requests(3)
    integer :: info
    include 'fortran_extensions.inc'

    call MPI_Win_unlock_all(win, error)
    call MPI_Win_free(win, error)
    include 'fortran_end.inc'
end program extensions
