! SPDX-License-Identifier: BSD-3-Clause
! The procedures of module redist for distributions: balanced blocks, process grids, boxes.
module redist_grids
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm
  use redist_c
  use redist_support
  implicit none
  private

  !> The kind of extents, counts and indices.
  integer, parameter, public :: redist_index = int64

  !> A Cartesian process grid with its one-dimensional subgroups.
  type, public :: redist_grid
    type(c_ptr) :: handle = c_null_ptr
  end type redist_grid

  public :: redist_decompose, redist_subcomm, redist_grid_create, redist_grid_free, redist_grid_get
  public :: redist_grid_comm, redist_grid_subcomm, redist_grid_box, redist_box_init, redist_exchange_sizes

  !> Balanced block decomposition of n elements: `part` counts from 0, `start` from 1.
  interface redist_decompose
    module procedure decompose_short, decompose_long
  end interface redist_decompose

  !> The box that this rank holds when dimension i of the grid splits axis axes(i).
  interface redist_grid_box
    module procedure grid_box_short, grid_box_long
  end interface redist_grid_box

  !> The shapes of both arrays of an exchange on this rank: A is whole along axis_a, B along axis_b.
  interface redist_exchange_sizes
    module procedure exchange_sizes_short, exchange_sizes_long
  end interface redist_exchange_sizes

contains

  subroutine decompose_long(n, nparts, part, count, start, ierror)
    integer(int64), intent(in) :: n
    integer, intent(in) :: nparts, part
    integer(int64), intent(out) :: count, start
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    count = 0
    start = 0
    code = c_decompose(n, nparts, part, count, start)
    start = start + 1
    call redist__finish(code, ierror)
  end subroutine decompose_long

  subroutine decompose_short(n, nparts, part, count, start, ierror)
    integer(int32), intent(in) :: n
    integer, intent(in) :: nparts, part
    integer(int32), intent(out) :: count, start
    integer, intent(out), optional :: ierror
    integer(int64) :: long_count, long_start
    call decompose_long(int(n, int64), nparts, part, long_count, long_start, ierror)
    count = int(long_count, int32)
    start = int(long_start, int32)
  end subroutine decompose_short

  subroutine exchange_sizes_long(comm, sizes, axis_a, axis_b, sizes_a, sizes_b, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: sizes(:)
    integer, intent(in) :: axis_a, axis_b
    integer(int64), intent(out) :: sizes_a(:), sizes_b(:)
    integer, intent(out), optional :: ierror
    integer(int64) :: a(size(sizes)), b(size(sizes))
    integer(c_int) :: code
    integer :: d
    d = size(sizes)
    code = c_exchange_sizes(comm%MPI_VAL, d, sizes(d:1:-1), d - axis_a, d - axis_b, a, b)
    if (code == REDIST_OK) sizes_a(1:d) = a(d:1:-1)
    if (code == REDIST_OK) sizes_b(1:d) = b(d:1:-1)
    call redist__finish(code, ierror)
  end subroutine exchange_sizes_long

  subroutine exchange_sizes_short(comm, sizes, axis_a, axis_b, sizes_a, sizes_b, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: sizes(:)
    integer, intent(in) :: axis_a, axis_b
    integer(int32), intent(out) :: sizes_a(:), sizes_b(:)
    integer, intent(out), optional :: ierror
    integer(int64) :: a(size(sizes)), b(size(sizes))
    a = 0
    b = 0
    call exchange_sizes_long(comm, int(sizes, int64), axis_a, axis_b, a, b, ierror)
    sizes_a(1:size(sizes)) = int(a, int32)
    sizes_b(1:size(sizes)) = int(b, int32)
  end subroutine exchange_sizes_short

  !> Splits a communicator in the one-dimensional subgroups of a balanced grid of size(subcomms) dimensions.
  subroutine redist_subcomm(comm, subcomms, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Comm), intent(out) :: subcomms(:)
    integer, intent(out), optional :: ierror
    integer(c_int) :: made(size(subcomms)), code
    made = comm%MPI_VAL
    code = c_subcomm(comm%MPI_VAL, size(subcomms), made)
    if (code == REDIST_OK) subcomms(:)%MPI_VAL = made(size(made):1:-1)
    call redist__finish(code, ierror)
  end subroutine redist_subcomm

  !> Arranges the ranks of a communicator as a Cartesian grid; the first dimension varies fastest.
  !>   dims     processes along each dimension, 0 = choose
  !>   by_node  as redist_grid_create_by_node
  subroutine redist_grid_create(comm, dims, grid, by_node, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: dims(:)
    type(redist_grid), intent(out) :: grid
    logical, intent(in), optional :: by_node
    integer, intent(out), optional :: ierror
    integer(c_int) :: node
    node = 0
    call redist__flag(by_node, node)
    call redist__finish(c_grid_create(comm%MPI_VAL, node, size(dims), dims(size(dims):1:-1), grid%handle), ierror)
  end subroutine redist_grid_create

  !> Frees a grid. Collective on its communicator.
  subroutine redist_grid_free(grid, ierror)
    type(redist_grid), intent(inout) :: grid
    integer, intent(out), optional :: ierror
    call redist__finish(c_grid_free(grid%handle), ierror)
  end subroutine redist_grid_free

  !> The shape of a grid and this rank's coordinates, which count from 0.
  subroutine redist_grid_get(grid, dims, coords, ierror)
    type(redist_grid), intent(in) :: grid
    integer, allocatable, intent(out), optional :: dims(:), coords(:)
    integer, intent(out), optional :: ierror
    integer(c_int) :: n, own_dims(REDIST_MAX_NDIMS), own_coords(REDIST_MAX_NDIMS), code
    n = 0
    code = c_grid_get(grid%handle, n, own_dims, own_coords)
    if (present(dims)) dims = own_dims(n:1:-1)
    if (present(coords)) coords = own_coords(n:1:-1)
    call redist__finish(code, ierror)
  end subroutine redist_grid_get

  !> Returns the communicator of all ranks in grid order, which the grid owns.
  subroutine redist_grid_comm(grid, comm, ierror)
    type(redist_grid), intent(in) :: grid
    type(MPI_Comm), intent(out) :: comm
    integer, intent(out), optional :: ierror
    call redist__finish(c_grid_comm(grid%handle, comm%MPI_VAL), ierror)
  end subroutine redist_grid_comm

  !> The ranks that differ from this one only in dimension dim.
  subroutine redist_grid_subcomm(grid, dim, comm, ierror)
    type(redist_grid), intent(in) :: grid
    integer, intent(in) :: dim
    type(MPI_Comm), intent(out) :: comm
    integer, intent(out), optional :: ierror
    integer, allocatable :: dims(:)
    integer :: code
    call redist_grid_get(grid, dims, ierror=code)
    if (code == REDIST_OK) code = c_grid_subcomm(grid%handle, size(dims) - dim, comm%MPI_VAL)
    call redist__finish(code, ierror)
  end subroutine redist_grid_subcomm

  subroutine grid_box_long(grid, sizes, axes, box, ierror)
    type(redist_grid), intent(in) :: grid
    integer(int64), intent(in) :: sizes(:)
    integer, intent(in) :: axes(:)
    type(redist_box), intent(out) :: box
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    integer, allocatable :: dims(:)
    character(len=:), allocatable :: wrong
    integer :: d, g
    d = size(sizes)
    g = size(axes)
    code = c_box_init(box, c_sizeof(box))
    call redist_grid_get(grid, dims, ierror=code)
    if (code == REDIST_OK .and. size(dims) /= g) then
      code = REDIST_ERR_ARGUMENT
      wrong = 'axes has another number of values than the grid has dimensions'
    end if
    if (code == REDIST_OK) code = c_grid_box(grid%handle, d, sizes(d:1:-1), d - axes(g:1:-1), box)
    if (code == REDIST_OK) box = redist__reversed(box, d, 1)
    call redist__explain(wrong)
    call redist__finish(code, ierror)
  end subroutine grid_box_long

  subroutine grid_box_short(grid, sizes, axes, box, ierror)
    type(redist_grid), intent(in) :: grid
    integer(int32), intent(in) :: sizes(:)
    integer, intent(in) :: axes(:)
    type(redist_box), intent(out) :: box
    integer, intent(out), optional :: ierror
    call grid_box_long(grid, int(sizes, int64), axes, box, ierror)
  end subroutine grid_box_short

  !> An empty box, to be filled in: start from 1; offset is the number of elements before the box.
  subroutine redist_box_init(box, ierror)
    type(redist_box), intent(out) :: box
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    code = c_box_init(box, c_sizeof(box))
    box%start = 1
    call redist__finish(code, ierror)
  end subroutine redist_box_init

end module redist_grids
