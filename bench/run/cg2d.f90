! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients as in the NAS benchmark of that name: a sparse symmetric
! matrix in blocks over a square grid of ranks (4, 16, 64), partial products
! summed along rows by pairwise exchanges, the result handed to the transposed
! rank. Prints the seconds of the iterations and the error of the solution.
program cg2d
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0), steps = 12, offsets(4) = [1, 19, 401, 8009]
  integer :: n, ierr, rank, ranks, side, row, col, peer, i, k, step, width
  real(dp), allocatable :: p(:), q(:), r(:), x(:), w(:), other(:), want(:)
  real(dp) :: rho, rho0, alpha, begin, seconds, worst
  character(32) :: word

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = 96000
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) n
  end if
  side = nint(sqrt(real(ranks)))
  if (side * side /= ranks .or. mod(n, side) /= 0 .or. iand(side, side - 1) /= 0) then
    if (rank == 0) print '(a)', 'ranks are 4, 16 or 64, unknowns a multiple of the side'
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end if
  width = n / side
  row = rank / side
  col = mod(rank, side)
  peer = col * side + row
  allocate (p(width), q(width), r(width), x(width), w(width), other(width), want(width))
  want = [(1 + mod(7 * (col * width + i), 13) / 13d0, i = 1, width)]
  x = 0
  p = want
  call multiply()
  r = q
  p = r
  rho = dot(r, r)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  begin = MPI_Wtime()
  do step = 1, steps
    call multiply()
    alpha = rho / dot(p, q)
    x = x + alpha * p
    r = r - alpha * q
    rho0 = rho
    rho = dot(r, r)
    p = r + rho / rho0 * p
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  seconds = MPI_Wtime() - begin
  worst = maxval(abs(x - want))
  call MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,f9.4,a,es9.2)', 'seconds ', seconds, ' error ', worst
  call MPI_Finalize(ierr)
contains
  ! q = A p; p and q are the part of the rank's column
  subroutine multiply()
    integer :: first, last, column, j
    first = row * width
    last = first + width
    w = 0
    do i = 1, width
      column = col * width + i - 1
      if (column >= first .and. column < last) w(column - first + 1) = w(column - first + 1) + 12 * p(i)
      do k = 1, size(offsets)
        j = modulo(column + offsets(k), n)
        if (j >= first .and. j < last) w(j - first + 1) = w(j - first + 1) - p(i)
        j = modulo(column - offsets(k), n)
        if (j >= first .and. j < last) w(j - first + 1) = w(j - first + 1) - p(i)
      end do
    end do
    k = 1
    do while (k < side)
      j = row * side + ieor(col, k)
      call MPI_Sendrecv(w, width, MPI_DOUBLE_PRECISION, j, 1, other, width, &
                        MPI_DOUBLE_PRECISION, j, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      w = w + other
      k = 2 * k
    end do
    call MPI_Sendrecv(w, width, MPI_DOUBLE_PRECISION, peer, 2, q, width, &
                      MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  ! over the ranks of a row, which have all parts
  function dot(a, b) result(total)
    real(dp), intent(in) :: a(:), b(:)
    real(dp) :: total, part
    integer :: j
    total = sum(a * b)
    k = 1
    do while (k < side)
      j = row * side + ieor(col, k)
      call MPI_Sendrecv(total, 1, MPI_DOUBLE_PRECISION, j, 3, part, 1, &
                        MPI_DOUBLE_PRECISION, j, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      total = total + part
      k = 2 * k
    end do
  end function
end program
