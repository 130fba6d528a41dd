! SPDX-License-Identifier: BSD-3-Clause
! A halo exchange from Fortran: each cell holds its number in the domain, and
! after the exchange each ghost cell must hold that of the cell behind it.
!
!   mpif90 nodewise_halo.f90 advance.f90 $(pkg-config --libs nodewise-openmpi)
program advance
  use mpi
  use nodewise_halo
  implicit none
  integer, parameter :: n(3) = [20, 12, 16]
  type(nw_halo_options) :: options
  type(nw_halo_quantity), target :: quantity(1) = nw_halo_quantity(8, 0)
  type(nw_halo_piece), pointer :: piece
  type(c_ptr) :: halo
  real(8), pointer :: u(:, :, :)
  integer :: error, rank, x, y, z, wrong, all

  call MPI_Init(error)
  call nw_halo_set(options, n, quantity)
  call nw_halo_radius(options, 1, .true._c_bool)
  if (nw_halo_plan_fortran(MPI_COMM_WORLD, options, halo) /= 0) stop 1
  call c_f_pointer(nw_halo_piece_of(halo, 0), piece)
  call c_f_pointer(nw_halo_base(halo, 0, 0), u, piece%allocated)
  u = -1
  do concurrent (x = 2:size(u, 1) - 1, y = 2:size(u, 2) - 1, z = 2:size(u, 3) - 1)
    u(x, y, z) = number(x, y, z)
  end do
  if (nw_halo_start(halo, c_null_ptr, 0) /= 0) stop 1
  ! cells that touch no ghost cell may be computed here
  if (nw_halo_wait(halo) /= 0) stop 1

  wrong = 0
  do z = 1, size(u, 3)
    do y = 1, size(u, 2)
      do x = 1, size(u, 1)
        if (u(x, y, z) /= number(x, y, z)) wrong = wrong + 1
      end do
    end do
  end do
  call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (rank == 0) print '(i0, a)', all, ' cells are wrong'
  call nw_halo_free(halo)
  call MPI_Finalize(error)
contains
  ! The number of the domain's cell behind a local one; the domain is periodic.
  pure real(8) function number(x, y, z)
    integer, intent(in) :: x, y, z
    integer :: at(3)

    at = modulo(int(piece%low) + [x, y, z] - 2, n)
    number = at(1) + n(1) * (at(2) + n(2) * at(3))
  end function
end program
