! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients on the 5-point Laplacian, rows of the grid dealt out in
! slabs; halos by nonblocking messages. A Fortran program that
! enters MPI by "use mpi".
program cg
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0), n = 96
  real(dp), allocatable :: p(:,:), q(:,:), r(:,:), x(:,:)
  real(dp) :: rho, rho0, alpha, mine, norm
  integer :: ierr, rank, ranks, rows, up, down, step
  integer :: request(4)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  rows = n / ranks
  if (rank < mod(n, ranks)) rows = rows + 1
  up = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  down = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  allocate (p(n, 0:rows + 1), q(n, rows), r(n, rows), x(n, rows))
  p = 0; x = 0; r = 1
  p(:, 1:rows) = r
  rho = total(sum(r * r))
  norm = rho
  do step = 1, 200
    call MPI_Irecv(p(1, 0), n, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, request(1), ierr)
    call MPI_Isend(p(1, rows), n, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, request(2), ierr)
    call MPI_Irecv(p(1, rows + 1), n, MPI_DOUBLE_PRECISION, down, 2, MPI_COMM_WORLD, request(3), ierr)
    call MPI_Isend(p(1, 1), n, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, request(4), ierr)
    call MPI_Waitall(4, request, MPI_STATUSES_IGNORE, ierr)
    call apply()
    alpha = rho / total(sum(p(:, 1:rows) * q))
    x = x + alpha * p(:, 1:rows)
    r = r - alpha * q
    rho0 = rho
    rho = total(sum(r * r))
    if (rho < 1d-16 * norm) exit
    p(:, 1:rows) = r + rho / rho0 * p(:, 1:rows)
  end do
  mine = total(sum(x))
  if (rank == 0) print '(a,i0,a,es22.15)', 'steps ', step, ' sum ', mine
  call MPI_Finalize(ierr)
contains
  function total(part) result(all)
    real(dp), intent(in) :: part
    real(dp) :: all
    call MPI_Allreduce(part, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end function

  subroutine apply()
    integer :: i, j
    do j = 1, rows
      do i = 1, n
        q(i, j) = 4 * p(i, j) - p(i, j - 1) - p(i, j + 1)
        if (i > 1) q(i, j) = q(i, j) - p(i - 1, j)
        if (i < n) q(i, j) = q(i, j) - p(i + 1, j)
      end do
    end do
  end subroutine
end program
