! SPDX-License-Identifier: BSD-3-Clause
! nodewise/halo.h for Fortran: the same structs and functions by name, so that
! what the header says holds here. Take this file along with the program.
module nodewise_halo
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: nw_halo_quantity
    integer(c_size_t) :: bytes = 0, stride = 0
  end type

  type, bind(c) :: nw_halo_piece
    integer(c_int64_t) :: low(3), high(3), low_ghost(3), high_ghost(3), allocated(3)
    integer(c_int32_t) :: node, slot, rank
  end type

  ! As NW_HALO_OPTIONS_INIT leaves it, but for size: nw_halo_set sets that.
  type, bind(c) :: nw_halo_options
    integer(c_size_t) :: size = 0
    integer(c_int64_t) :: extent(3) = 1
    integer(c_int32_t) :: radius(27) = 0
    integer(c_int) :: border(6) = 0
    type(c_ptr) :: quantity = c_null_ptr
    integer(c_int32_t) :: quantity_count = 0, interval = 1
    integer(c_int) :: partition = 0, placement = 0
    integer(c_int64_t) :: seed = 0
    type(c_ptr) :: topology = c_null_ptr
    integer(c_int32_t) :: pieces_per_rank = 1, ranks_per_node = 0
    type(c_ptr) :: box = c_null_ptr
    integer(c_int32_t) :: box_count = 0
    type(c_ptr) :: base = c_null_ptr, pitch = c_null_ptr
    type(c_funptr) :: memory = c_null_funptr
    type(c_ptr) :: context = c_null_ptr, arrays = c_null_ptr
    integer(c_size_t) :: row_align = 0
    integer(c_int) :: memory_kind = 0
    type(c_ptr) :: gpu = c_null_ptr, stream = c_null_ptr
    integer(c_int32_t) :: methods = 0
    integer(c_int) :: schedule = 0, choice = 0
    type(c_ptr) :: cache = c_null_ptr
    real(c_double) :: timeout = 0
    type(c_ptr) :: progress = c_null_ptr
  end type

  interface
    subroutine nw_halo_radius(options, radius, corners) bind(c)
      import
      type(nw_halo_options), intent(inout) :: options
      integer(c_int32_t), value :: radius
      logical(c_bool), value :: corners
    end subroutine
    integer(c_int) function nw_halo_plan_fortran(comm, options, halo) bind(c)
      import
      integer, value :: comm
      type(nw_halo_options), intent(in) :: options
      type(c_ptr), intent(out) :: halo
    end function
    type(c_ptr) function nw_halo_base(halo, piece, quantity) bind(c)
      import
      type(c_ptr), value :: halo
      integer(c_int32_t), value :: piece, quantity
    end function
    type(c_ptr) function nw_halo_piece_of(halo, piece) bind(c, name='nw_halo_piece')
      import
      type(c_ptr), value :: halo
      integer(c_int32_t), value :: piece
    end function
    ! subset: c_null_ptr and 0 for all quantities
    integer(c_int) function nw_halo_start(halo, subset, count) bind(c)
      import
      type(c_ptr), value :: halo, subset
      integer(c_int32_t), value :: count
    end function
    integer(c_int) function nw_halo_test(halo, done) bind(c)
      import
      type(c_ptr), value :: halo
      logical(c_bool), intent(out) :: done
    end function
    integer(c_int) function nw_halo_wait(halo) bind(c)
      import
      type(c_ptr), value :: halo
    end function
    subroutine nw_halo_free(halo) bind(c)
      import
      type(c_ptr), value :: halo
    end subroutine
  end interface
contains
  ! A domain and one quantity or several: what every program begins with.
  subroutine nw_halo_set(options, extent, quantity)
    type(nw_halo_options), intent(inout) :: options
    integer, intent(in) :: extent(3)
    type(nw_halo_quantity), target, intent(in) :: quantity(:)

    options%size = c_sizeof(options)
    options%extent = extent
    options%quantity = c_loc(quantity)
    options%quantity_count = size(quantity)
  end subroutine
end module
