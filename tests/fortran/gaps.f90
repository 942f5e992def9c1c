! A section with gaps and a private variable are refused with a line that names call and argument.
! pes: 2
! case: gaps
! args: gaps
! fails: lateral: PE [01]: shmem_put: dest has gaps between its elements; use shmem_iput
! case: private
! args: private
! fails: lateral: PE [01]: shmem_.*put.*: dest 0x[0-9a-f]+ is not a symmetric address
program gaps
    use shmem
    implicit none
    integer, save :: cells(10) = 0
    integer :: mine(10)
    character(len=16) :: how
    call get_command_argument(1, how)
    mine = 0
    call shmem_init()
    if (how == "gaps") then
        call shmem_put(cells(1:9:2), mine, 5, 0)
    else
        call shmem_put(mine, cells, 5, 1)
    end if
    call shmem_finalize()
end program
