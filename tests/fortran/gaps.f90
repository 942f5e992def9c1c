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
    character(len=16) :: how
    call get_command_argument(1, how)
    call shmem_init()
    call mistaken()
    call shmem_finalize()
contains
    subroutine mistaken() ! what the main program itself declares is saved, and so symmetric
        integer :: mine(10)
        mine = 0
        if (how == "gaps") then
            call shmem_put(cells(1:9:2), mine, 5, 0)
        else
            call shmem_put(mine, cells, 5, 1)
        end if
    end subroutine
end program
