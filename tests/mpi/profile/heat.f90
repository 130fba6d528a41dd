! SPDX-License-Identifier: BSD-3-Clause
! Explicit heat equation on a periodic grid cut in two dimensions, by a
! Cartesian communicator and derived types. A Fortran program that enters MPI
! by "use mpi_f08".
program heat
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1d0), n = 24
  real(dp) :: u(0:n + 1, 0:n + 1), v(n, n), energy, mine
  type(MPI_Comm) :: grid
  type(MPI_Datatype) :: row
  type(MPI_Request) :: request(4)
  integer :: ranks, rank, dims(2), west, east, south, north, step, i, j

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .true., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_shift(grid, 0, 1, west, east)
  call MPI_Cart_shift(grid, 1, 1, south, north)
  call MPI_Type_vector(n, 1, n + 2, MPI_DOUBLE_PRECISION, row)
  call MPI_Type_commit(row)
  u = 0
  do j = 1, n
    do i = 1, n
      u(i, j) = sin(0.1d0 * i * (rank + 1)) + cos(0.2d0 * j)
    end do
  end do
  do step = 1, 50
    call MPI_Sendrecv(u(1, 1), 1, row, west, 1, u(n + 1, 1), 1, row, east, 1, grid, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(u(n, 1), 1, row, east, 2, u(0, 1), 1, row, west, 2, grid, MPI_STATUS_IGNORE)
    call MPI_Irecv(u(1, 0), n, MPI_DOUBLE_PRECISION, south, 3, grid, request(1))
    call MPI_Irecv(u(1, n + 1), n, MPI_DOUBLE_PRECISION, north, 4, grid, request(2))
    call MPI_Isend(u(1, n), n, MPI_DOUBLE_PRECISION, north, 3, grid, request(3))
    call MPI_Isend(u(1, 1), n, MPI_DOUBLE_PRECISION, south, 4, grid, request(4))
    call MPI_Waitall(4, request, MPI_STATUSES_IGNORE)
    do j = 1, n
      do i = 1, n
        v(i, j) = u(i, j) + 0.2d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j))
      end do
    end do
    u(1:n, 1:n) = v
  end do
  mine = sum(v * v)
  call MPI_Reduce(mine, energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, grid)
  if (rank == 0) print '(a,es22.15)', 'energy ', energy
  call MPI_Type_free(row)
  call MPI_Comm_free(grid)
  call MPI_Finalize()
end program
