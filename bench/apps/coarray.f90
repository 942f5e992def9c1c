! Heat on a square of N x N in coarrays: an image has a strip of columns and puts its border columns into its neighbours' halos. With
! OpenCoarrays a coarray is an MPI window. Image 1 prints the time of a step when the total heat is right.
program coarray
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 256, steps = 2000
  real(real64), allocatable :: now(:,:)[:], next(:,:)
  real(real64) :: total
  integer :: me, images, columns, j, step
  integer(int64) :: start, finish, rate

  me = this_image()
  images = num_images()
  columns = n / images
  allocate (now(n, 0:columns + 1)[*], next(n, columns))
  now = 0
  now(n / 2, 1) = 1000 * me
  sync all
  call system_clock(start, rate)
  do step = 1, steps
    if (me > 1) now(:, columns + 1)[me - 1] = now(:, 1)
    if (me < images) now(:, 0)[me + 1] = now(:, columns)
    sync all
    if (me == 1) now(:, 0) = now(:, 1)
    if (me == images) now(:, columns + 1) = now(:, columns)
    do j = 1, columns
      next(2:n - 1, j) = now(2:n - 1, j) + 0.2_real64 * (now(1:n - 2, j) + now(3:n, j) + now(2:n - 1, j - 1) + now(2:n - 1, j + 1) &
        - 4 * now(2:n - 1, j))
      next(1, j) = now(1, j) + 0.2_real64 * (now(2, j) + now(1, j - 1) + now(1, j + 1) - 3 * now(1, j))
      next(n, j) = now(n, j) + 0.2_real64 * (now(n - 1, j) + now(n, j - 1) + now(n, j + 1) - 3 * now(n, j))
    end do
    now(:, 1:columns) = next
    sync all
  end do
  call system_clock(finish)
  total = sum(now(:, 1:columns))
  call co_sum(total, 1)
  if (me == 1) then
    if (abs(total - 500 * images * (images + 1)) > 1e-6 * total) error stop 'coarray: the total is wrong'
    print '(a, es14.7, a)', '{"results": {"step": [', real(finish - start, real64) / rate / steps * 1e6, ', "us"]}}'
  end if
end program
