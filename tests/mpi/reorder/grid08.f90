! SPDX-License-Identifier: BSD-3-Clause
! A grid and a distributed graph by mpi_f08; prints as grid77 does.
program grid08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: made
  integer :: me, now, n, dims(2), at(2), before, after, got(2), mine(2), all(2)
  integer :: peers(1), one(1), to(1), sources(1), weights(1)
  logical :: periods(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  dims = [n / 2, 2]
  periods = [.true., .false.]
  mine = 0
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., made)
  call MPI_Comm_rank(made, now)
  call MPI_Cart_coords(made, now, 2, at)
  call MPI_Cart_shift(made, 0, 1, before, after)
  if (now /= me) mine(1) = 1
  if (at(1) * 2 + at(2) /= now) mine(2) = 1
  call MPI_Sendrecv(now, 1, MPI_INTEGER, after, 0, got(1), 1, MPI_INTEGER, &
                    before, 0, made, MPI_STATUS_IGNORE)
  if (got(1) /= before) mine(2) = 1
  if (before /= mod(at(1) + dims(1) - 1, dims(1)) * 2 + at(2)) mine(2) = 1
  call MPI_Comm_free(made)

  ! vertex v sends to n - 1 - v, with weights
  peers = n - 1 - me
  one = 1
  weights = 5
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, peers, weights, 1, &
       peers, weights, MPI_INFO_NULL, .true., made)
  call MPI_Comm_rank(made, now)
  call MPI_Dist_graph_neighbors(made, 1, sources, weights, 1, to, one)
  if (to(1) /= n - 1 - now .or. sources(1) /= n - 1 - now) mine(2) = 1
  if (weights(1) /= 5) mine(2) = 1
  if (now /= me) mine(1) = 1
  call MPI_Comm_free(made)
  call MPI_Reduce(mine, all, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (me == 0) print *, 'moved', all(1), 'wrong', all(2)
  call MPI_Finalize()
end program grid08
