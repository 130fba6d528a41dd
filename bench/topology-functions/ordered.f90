! SPDX-License-Identifier: BSD-3-Clause
! Stands for the module mpi in a program whose world is to be in order: compiled
! with -cpp -Dmpi=ordered -DMPI_Init=ordered_init -DMPI_COMM_WORLD=ordered_world
! it works, unchanged, on what MPI_Graph_create made of the graph in the file
! that GRAPH names ("from to weight", sorted), or on MPI_COMM_WORLD without.
module ordered
  use mpi
  implicit none
  integer :: ordered_world
contains
  subroutine ordered_init(ierr)
    integer, intent(out) :: ierr
    character(256) :: path
    integer :: file, ranks, from, to, weight, n, ends
    integer, allocatable :: place(:), edges(:)

    call MPI_Init(ierr)
    ordered_world = MPI_COMM_WORLD
    call get_environment_variable('GRAPH', path)
    if (path == '') return
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    allocate (place(ranks), edges(10 * ranks * ranks))
    place = 0
    n = 0
    open (newunit=file, file=path, action='read')
    do
      read (file, *, iostat=ends) from, to, weight
      if (ends /= 0) exit
      edges(n + 1:n + weight) = to
      n = n + weight
      place(from + 1) = place(from + 1) + weight
    end do
    close (file)
    do from = 2, ranks
      place(from) = place(from) + place(from - 1)
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, place, edges, .true., &
      ordered_world, ierr)
  end subroutine
end module
