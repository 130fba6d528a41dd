c     SPDX-License-Identifier: BSD-3-Clause
c     A grid in FORTRAN 77: every vertex must find its neighbours where
c     the grid says; prints how many processes took another rank.
      program grid77
      include 'mpif.h'
      integer ierr, me, now, n, made, dims(2), at(2), before, after
      integer got, all(2), mine(2), index(8), edges(8)
      integer graph, i
      logical periods(2)
      integer status(MPI_STATUS_SIZE)
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierr)
      dims(1) = 2
      dims(2) = n / 2
      periods(1) = .false.
      periods(2) = .true.
      call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .true.,
     &     made, ierr)
      call MPI_COMM_RANK(made, now, ierr)
      call MPI_CART_COORDS(made, now, 2, at, ierr)
      call MPI_CART_SHIFT(made, 1, 1, before, after, ierr)
      call MPI_SENDRECV(now, 1, MPI_INTEGER, after, 0, got, 1,
     &     MPI_INTEGER, before, 0, made, status, ierr)
      mine(1) = 0
      if (now .ne. me) mine(1) = 1
      mine(2) = 0
      if (at(1) * dims(2) + at(2) .ne. now) mine(2) = 1
      if (got .ne. before) mine(2) = 1
      if (before .ne. at(1) * dims(2) + mod(at(2) + dims(2) - 1,
     &     dims(2))) mine(2) = 1
      call MPI_COMM_FREE(made, ierr)
c     a ring as a graph, of n vertices
      do 10 i = 1, n
         index(i) = i
         edges(i) = mod(i, n)
 10   continue
      call MPI_GRAPH_CREATE(MPI_COMM_WORLD, n, index, edges, .true.,
     &     graph, ierr)
      call MPI_COMM_RANK(graph, now, ierr)
      call MPI_GRAPH_NEIGHBORS(graph, now, 1, got, ierr)
      if (got .ne. mod(now + 1, n)) mine(2) = 1
      if (now .ne. me) mine(1) = 1
      call MPI_COMM_FREE(graph, ierr)
      call MPI_REDUCE(mine, all, 2, MPI_INTEGER, MPI_SUM, 0,
     &     MPI_COMM_WORLD, ierr)
      if (me .eq. 0) write(*,*) 'moved', all(1), 'wrong', all(2)
      call MPI_FINALIZE(ierr)
      end
