! SPDX-License-Identifier: BSD-3-Clause
! The procedures of module fftnd.
module fftnd_procedures
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm
  use redist_c, only: c_field_set_name
  use redist, only: redist_box, redist_field, redist_grid, redist_model, REDIST_BACKWARD, REDIST_FORWARD, &
    REDIST_MAX_NDIMS, REDIST_OK, REDIST_SPACE_HOST
  use redist_support
  use fftnd_c
  implicit none
  private

  ! Targets of the options' pointers
  type :: held_options
    integer(c_int), allocatable :: grid(:), order(:), r2r(:), axes(:), memory_order_1(:), memory_order_2(:), split_1(:), &
      split_2(:)
    integer(c_int64_t), allocatable :: retained_modes(:), padding_1(:), padding_2(:), offset_1(:), offset_2(:), filled(:)
    type(redist_box) :: box_1, box_2
    type(redist_halo) :: ghosts
    character(len=:), allocatable :: method, wisdom_file
    character(len=:), allocatable :: wrong ! error of the first array of a wrong length
  end type held_options

  public :: fftnd_plan, fftnd_version, fftnd_plan_create, fftnd_plan_layout, fftnd_plan_wavenumbers
  public :: fftnd_forward, fftnd_backward, fftnd_start, fftnd_wait, fftnd_plan_transfer, fftnd_plan_get_info
  public :: fftnd_plan_get_comm, fftnd_plan_get_grid, fftnd_plan_get_method, fftnd_plan_get_phases
  public :: fftnd_plan_field, fftnd_plan_set_workspace, fftnd_plan_query, fftnd_predict, fftnd_plan_free, fftnd__reverse
  public :: fftnd_cache_clear

  !> Plans a distributed transform of an array with extents `sizes`.
  interface fftnd_plan_create
    module procedure plan_create_short, plan_create_long
  end interface fftnd_plan_create

  !> Predicts the time of the exchanges of a transform in one direction.
  interface fftnd_predict
    module procedure predict_short, predict_long
  end interface fftnd_predict

contains

  !> The version of the loaded library.
  subroutine fftnd_version(major, minor, patch)
    integer, intent(out), optional :: major, minor, patch
    integer :: version(3)
    call c_version(version(1), version(2), version(3))
    if (present(major)) major = version(1)
    if (present(minor)) minor = version(2)
    if (present(patch)) patch = version(3)
  end subroutine fftnd_version

  ! ---------------------------------------------------------------- plans

#define INDEX int64
  ! Options for C. d is the number of axes.
  subroutine fill(options, d, &
#include "fftnd_arguments.inc"
      held)
    type(fftnd_options), intent(out) :: options
    integer, intent(in) :: d
#include "fftnd_options.inc"
    type(held_options), target, intent(inout) :: held
    integer(c_int) :: code
    code = c_options_init(options, c_sizeof(options))
    if (present(grid_ndims)) options%grid_ndims = grid_ndims
    if (present(grid)) then
      call check_length('grid', size(grid), merge(options%grid_ndims, size(grid), options%grid_ndims > 0), held%wrong)
      held%grid = grid(size(grid):1:-1)
      options%grid_ndims = size(grid)
      options%grid = c_loc(held%grid)
    end if
    options%order = axes_of('order', order, d, held%wrong, held%order)
    options%memory_order(1) = axes_of('physical_order', physical_order, d, held%wrong, held%memory_order_1)
    options%memory_order(2) = axes_of('spectral_order', spectral_order, d, held%wrong, held%memory_order_2)
    options%split(1) = axes_of('physical_split', physical_split, d, held%wrong, held%split_1, options%grid_ndims)
    options%split(2) = axes_of('spectral_split', spectral_split, d, held%wrong, held%split_2, options%grid_ndims)
    options%r2r = values_of('r2r', r2r, d, held%wrong, held%r2r)
    options%axes = values_of('axes', axes, d, held%wrong, held%axes)
    options%retained_modes = extents_of('retained_modes', retained_modes, d, held%wrong, held%retained_modes)
    options%filled = extents_of('filled', filled, d, held%wrong, held%filled)
    options%padding(1) = extents_of('physical_padding', physical_padding, d, held%wrong, held%padding_1)
    options%padding(2) = extents_of('spectral_padding', spectral_padding, d, held%wrong, held%padding_2)
    options%offset(1) = extents_of('physical_offset', physical_offset, d, held%wrong, held%offset_1)
    options%offset(2) = extents_of('spectral_offset', spectral_offset, d, held%wrong, held%offset_2)
    options%box(1) = box_of(physical_box, d, held%box_1)
    options%box(2) = box_of(spectral_box, d, held%box_2)
    options%ghosts = ghosts_of(ghosts_low, ghosts_high, ghosts_periodic, ghosts_corners, d, held%wrong, held%ghosts)
    if (present(physical_blocks)) options%blocks(1) = physical_blocks
    if (present(spectral_blocks)) options%blocks(2) = spectral_blocks
    if (present(wait_seconds)) options%wait_seconds = wait_seconds
    if (present(wire)) options%wire = wire
    if (present(wire_scope)) options%wire_scope = wire_scope
    if (present(tolerance)) options%tolerance = tolerance
    if (present(ranks)) options%ranks = ranks
    options%method = redist__c_text(method, held%method)
    options%wisdom_file = redist__c_text(wisdom_file, held%wisdom_file)
    if (present(scaling)) options%scaling = scaling
    if (present(alignment)) options%alignment = alignment
    if (present(batch)) options%batch = batch
    if (present(batch_position)) options%batch_position = batch_position
    if (present(halved_axis)) options%halved_axis = d - halved_axis
    if (present(space)) options%space = space
    if (present(stream)) options%stream = stream
    if (present(device)) options%device = device
    if (present(device_bytes)) options%device_bytes = device_bytes
    if (present(effort)) options%effort = effort
    if (present(fusion)) options%fusion = fusion
    if (present(local_transpose)) options%local_transpose = local_transpose
    if (present(staging)) options%staging = staging
    if (present(plan_seconds)) options%plan_seconds = plan_seconds
    if (present(tile_bytes)) options%tile_bytes = tile_bytes
    if (present(threads)) options%threads = threads
    call redist__flag(by_node, options%by_node)
    call redist__flag(in_place, options%in_place)
    call redist__flag(overwrite_input, options%overwrite_input)
    call redist__flag(mapped_arrays, options%mapped_arrays)
    call redist__flag(user_workspace, options%user_workspace)
    call redist__flag(pin_arrays, options%pin_arrays)
    call redist__flag(skip_agreement, options%skip_agreement)
    call redist__flag(verbose, options%verbose)
    call redist__flag(phases, options%phases)
    call redist__flag(asynchronous, options%asynchronous)
    call redist__flag(fill_ghosts, options%fill_ghosts)
    call redist__flag(accumulate_ghosts, options%accumulate_ghosts)
    call redist__flag(keep, options%keep)
  end subroutine fill

  ! Records the first array with fewer values than the library reads.
  subroutine check_length(name, length, wanted, wrong)
    character(len=*), intent(in) :: name
    integer, intent(in) :: length, wanted
    character(len=:), allocatable, intent(inout) :: wrong
    character(len=12) :: numbers(2)
    if (length == wanted .or. allocated(wrong)) return
    write (numbers, '(i0)') length, wanted
    wrong = 'option '//name//' has '//trim(numbers(1))//' values, but the plan takes '//trim(numbers(2))
  end subroutine check_length

  ! Values for C, in memory of `keep`: axes (`number` of them, if that is known, else d), numbers, extents, a box, ghosts;
  ! null without any.
  function axes_of(name, axes, d, wrong, keep, number) result(pointer)
    character(len=*), intent(in) :: name
    integer, intent(in), optional :: axes(:), number
    integer, intent(in) :: d
    character(len=:), allocatable, intent(inout) :: wrong
    integer(c_int), allocatable, target, intent(inout) :: keep(:)
    type(c_ptr) :: pointer
    integer :: wanted
    pointer = c_null_ptr
    if (.not. present(axes)) return
    wanted = d
    if (present(number)) wanted = merge(number, size(axes), number > 0)
    call check_length(name, size(axes), wanted, wrong)
    keep = d - axes(size(axes):1:-1)
    pointer = c_loc(keep)
  end function axes_of

  function values_of(name, values, d, wrong, keep) result(pointer)
    character(len=*), intent(in) :: name
    integer, intent(in), optional :: values(:)
    integer, intent(in) :: d
    character(len=:), allocatable, intent(inout) :: wrong
    integer(c_int), allocatable, target, intent(inout) :: keep(:)
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (.not. present(values)) return
    call check_length(name, size(values), d, wrong)
    keep = values(size(values):1:-1)
    pointer = c_loc(keep)
  end function values_of

  function extents_of(name, extents, d, wrong, keep) result(pointer)
    character(len=*), intent(in) :: name
    integer(int64), intent(in), optional :: extents(:)
    integer, intent(in) :: d
    character(len=:), allocatable, intent(inout) :: wrong
    integer(c_int64_t), allocatable, target, intent(inout) :: keep(:)
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (.not. present(extents)) return
    call check_length(name, size(extents), d, wrong)
    keep = extents(size(extents):1:-1)
    pointer = c_loc(keep)
  end function extents_of

  function box_of(box, d, keep) result(pointer)
    type(redist_box), intent(in), optional :: box
    integer, intent(in) :: d
    type(redist_box), target, intent(inout) :: keep
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (.not. present(box)) return
    keep = redist__reversed(box, d, -1)
    pointer = c_loc(keep)
  end function box_of

  function ghosts_of(low, high, periodic, corners, d, wrong, keep) result(pointer)
    integer(int64), intent(in), optional :: low(:), high(:)
    logical, intent(in), optional :: periodic(:), corners
    integer, intent(in) :: d
    character(len=:), allocatable, intent(inout) :: wrong
    type(redist_halo), target, intent(inout) :: keep
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (d > REDIST_MAX_NDIMS .or. .not. (present(low) .or. present(high))) return
    keep%size = c_sizeof(keep)
    if (present(low)) call set_widths('ghosts_low', low, d, wrong, keep%low)
    if (present(high)) call set_widths('ghosts_high', high, d, wrong, keep%high)
    if (present(periodic)) then
      call check_length('ghosts_periodic', size(periodic), d, wrong)
      if (.not. allocated(wrong)) keep%periodic(1:d) = merge(1, 0, periodic(d:1:-1))
    end if
    call redist__flag(corners, keep%corners)
    pointer = c_loc(keep)
  end function ghosts_of

  ! Sets the widths of ghosts on one side.
  subroutine set_widths(name, given, d, wrong, widths)
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: given(:)
    integer, intent(in) :: d
    character(len=:), allocatable, intent(inout) :: wrong
    integer(c_int64_t), intent(inout) :: widths(:)
    call check_length(name, size(given), d, wrong)
    if (.not. allocated(wrong)) widths(1:d) = given(d:1:-1)
  end subroutine set_widths

  subroutine plan_create_long(comm, sizes, kind, precision, plan, &
#include "fftnd_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: sizes(:)
    integer, intent(in) :: kind, precision
    type(fftnd_plan), intent(out) :: plan
#include "fftnd_options.inc"
    integer, intent(out), optional :: ierror
    type(held_options), target :: held
    type(fftnd_options) :: options
    integer(c_int) :: code
    integer :: d
    d = size(sizes)
    call fill(options, d, &
#include "fftnd_arguments.inc"
      held)
    ! no axes: an error on all ranks, so that none waits for one whose options do not fit
    code = c_plan_create(comm%MPI_VAL, merge(0, d, allocated(held%wrong)), sizes(d:1:-1), kind, precision, options, &
      plan%handle)
    call redist__explain(held%wrong)
    plan%ndims = d
    plan%comm = comm%MPI_VAL
    plan%space = merge(options%space, REDIST_SPACE_HOST, options%space /= 0)
    plan%batch_last = options%batch_position
    plan%precision = precision
    plan%ghosts = held%ghosts
    call redist__finish(code, ierror)
  end subroutine plan_create_long

  subroutine predict_long(model, nranks, sizes, kind, precision, grid, seconds, order, batch, retained_modes, &
      halved_axis, filled, ierror)
    type(redist_model), intent(in) :: model
    integer, intent(in) :: nranks, kind, precision, grid(:)
    integer(int64), intent(in) :: sizes(:)
    real(c_double), intent(out) :: seconds
    integer, intent(in), optional :: order(:), batch, halved_axis
    integer(int64), intent(in), optional :: retained_modes(:), filled(:)
    integer, intent(out), optional :: ierror
    type(held_options), target :: held
    type(fftnd_options) :: options
    integer(c_int) :: code
    integer :: d
    d = size(sizes)
    seconds = 0
    call fill(options, d, grid=grid, order=order, batch=batch, retained_modes=retained_modes, &
      halved_axis=halved_axis, filled=filled, held=held)
    code = c_predict(model, nranks, merge(0, d, allocated(held%wrong)), sizes(d:1:-1), kind, precision, options, seconds)
    call redist__explain(held%wrong)
    call redist__finish(code, ierror)
  end subroutine predict_long
#undef INDEX

#define INDEX int32
  subroutine plan_create_short(comm, sizes, kind, precision, plan, &
#include "fftnd_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: sizes(:)
    integer, intent(in) :: kind, precision
    type(fftnd_plan), intent(out) :: plan
#include "fftnd_options.inc"
    integer, intent(out), optional :: ierror
    integer(int64), allocatable :: long_modes(:), long_padding_1(:), long_padding_2(:), long_offset_1(:), long_offset_2(:), &
      long_low(:), long_high(:), long_filled(:)
    if (present(retained_modes)) long_modes = int(retained_modes, int64)
    if (present(physical_padding)) long_padding_1 = int(physical_padding, int64)
    if (present(spectral_padding)) long_padding_2 = int(spectral_padding, int64)
    if (present(physical_offset)) long_offset_1 = int(physical_offset, int64)
    if (present(spectral_offset)) long_offset_2 = int(spectral_offset, int64)
    if (present(ghosts_low)) long_low = int(ghosts_low, int64)
    if (present(ghosts_high)) long_high = int(ghosts_high, int64)
    if (present(filled)) long_filled = int(filled, int64)
#define retained_modes long_modes
#define physical_padding long_padding_1
#define spectral_padding long_padding_2
#define physical_offset long_offset_1
#define spectral_offset long_offset_2
#define ghosts_low long_low
#define ghosts_high long_high
#define filled long_filled
    call plan_create_long(comm, int(sizes, int64), kind, precision, plan, &
#include "fftnd_arguments.inc"
      ierror)
#undef retained_modes
#undef physical_padding
#undef spectral_padding
#undef physical_offset
#undef spectral_offset
#undef ghosts_low
#undef ghosts_high
#undef filled
  end subroutine plan_create_short

  subroutine predict_short(model, nranks, sizes, kind, precision, grid, seconds, order, batch, retained_modes, &
      halved_axis, filled, ierror)
    type(redist_model), intent(in) :: model
    integer, intent(in) :: nranks, kind, precision, grid(:)
    integer(int32), intent(in) :: sizes(:)
    real(c_double), intent(out) :: seconds
    integer, intent(in), optional :: order(:), batch, halved_axis
    integer(int32), intent(in), optional :: retained_modes(:), filled(:)
    integer, intent(out), optional :: ierror
    integer(int64), allocatable :: long_modes(:), long_filled(:)
    if (present(retained_modes)) long_modes = int(retained_modes, int64)
    if (present(filled)) long_filled = int(filled, int64)
    call predict_long(model, nranks, int(sizes, int64), kind, precision, grid, seconds, order, batch, long_modes, &
      halved_axis, long_filled, ierror)
  end subroutine predict_short
#undef INDEX

  !> Frees a plan; does nothing for one that was never made.
  subroutine fftnd_plan_free(plan, ierror)
    type(fftnd_plan), intent(inout) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_free(plan%handle), ierror)
  end subroutine fftnd_plan_free

  !> Frees the plans that a communicator keeps by the option keep.
  subroutine fftnd_cache_clear(comm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    call redist__finish(c_cache_clear(comm%MPI_VAL), ierror)
  end subroutine fftnd_cache_clear

  ! ---------------------------------------------------------------- arrays

  !> The local array of one side; start counts from 1, strides and bytes are those of fftnd.h.
  subroutine fftnd_plan_layout(plan, side, layout, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: side
    type(fftnd_layout), intent(out) :: layout
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    code = c_layout_init(layout, c_sizeof(layout))
    if (code == REDIST_OK) code = c_plan_layout(plan%handle, side, layout)
    call fftnd__reverse(layout)
    call redist__finish(code, ierror)
  end subroutine fftnd_plan_layout

  ! Converts axes and indices to Fortran's.
  subroutine fftnd__reverse(layout)
    type(fftnd_layout), intent(inout) :: layout
    integer :: d
    d = layout%ndims
    layout%sizes(1:d) = layout%sizes(d:1:-1)
    layout%start(1:d) = layout%start(d:1:-1) + 1
    layout%count(1:d) = layout%count(d:1:-1)
    layout%stride(1:d) = layout%stride(d:1:-1)
  end subroutine fftnd__reverse

  !> The wavenumbers of this rank's part of the spectral side along one axis. Allocates k, whose bounds are global
  !> indices, as those of an array of fftnd_alloc.
  subroutine fftnd_plan_wavenumbers(plan, axis, k, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: axis
    real(c_double), allocatable, intent(out) :: k(:)
    integer, intent(out), optional :: ierror
    type(fftnd_layout) :: layout
    integer :: code
    integer(int64) :: start, count
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, layout, code)
    start = 1
    count = 0
    if (code == REDIST_OK .and. axis >= 1 .and. axis <= layout%ndims) then
      start = layout%start(axis)
      count = layout%count(axis)
    end if
    allocate (k(start:start + count - 1))
    if (code == REDIST_OK) code = c_plan_wavenumbers(plan%handle, plan%ndims - axis, k)
    call redist__finish(code, ierror)
  end subroutine fftnd_plan_wavenumbers

  !> Describes the array of one side as a field of a file: an array as fftnd_forward takes it, with the attribute TARGET or
  !> POINTER. A batch is the last axis of the field, for FFTND_BATCH_LAST too; ghosts and padding are left out.
  !>   name  of the field in a checkpoint
  subroutine fftnd_plan_field(plan, side, array, field, name, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: side
    type(*), intent(in), target :: array(..)
    type(redist_field), intent(out) :: field
    character(len=*), intent(in), optional :: name
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    code = REDIST_OK
    if (present(name)) code = c_field_set_name(field, trim(name)//c_null_char)
    if (code == REDIST_OK) code = c_plan_field(plan, side, array, field)
    call redist__finish(code, ierror)
  end subroutine fftnd_plan_field

  !> Gives work space to a plan made with user_workspace: a contiguous array of any type.
  subroutine fftnd_plan_set_workspace(plan, workspace, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(*), intent(inout) :: workspace(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_set_workspace(plan%handle, workspace), ierror)
  end subroutine fftnd_plan_set_workspace

  ! ---------------------------------------------------------------- transforms

  !> Transforms `physical` to `spectral`: arrays of fftnd_alloc or fftnd_point, or others with the same extents and
  !> strides, with the ghosts or without. An array that does not fit counts as a null pointer.
  subroutine fftnd_forward(plan, physical, spectral, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(*), intent(inout) :: physical(..), spectral(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_execute(plan, REDIST_FORWARD, physical, spectral), ierror)
  end subroutine fftnd_forward

  !> Transforms `spectral` to `physical`.
  subroutine fftnd_backward(plan, spectral, physical, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(*), intent(inout) :: spectral(..), physical(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_execute(plan, REDIST_BACKWARD, spectral, physical), ierror)
  end subroutine fftnd_backward

  !> Starts a transform that fftnd_wait completes; both arrays have the attribute TARGET or POINTER.
  subroutine fftnd_start(plan, direction, input, output, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: direction
    type(*), intent(inout), asynchronous :: input(..), output(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_start(plan, direction, input, output), ierror)
  end subroutine fftnd_start

  !> Completes a transform of fftnd_start. Collective on the plan's communicator.
  subroutine fftnd_wait(plan, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_wait(plan%handle), ierror)
  end subroutine fftnd_wait

  !> Makes the copies of one direction of a plan with tiles on a device, without transforms.
  subroutine fftnd_plan_transfer(plan, direction, input, output, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: direction
    type(*), intent(inout) :: input(..), output(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_transfer(plan, direction, input, output), ierror)
  end subroutine fftnd_plan_transfer

  ! ---------------------------------------------------------------- queries

  !> Properties of a plan. Grid, order and halved_axis are Fortran's.
  subroutine fftnd_plan_get_info(plan, info, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(fftnd_plan_info), intent(out) :: info
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    integer :: d, g
    code = c_plan_info_init(info, c_sizeof(info))
    if (code == REDIST_OK) code = c_plan_get_info(plan%handle, info)
    if (code == REDIST_OK) then
      d = plan%ndims
      g = info%grid_ndims
      info%grid(1:g) = info%grid(g:1:-1)
      info%order(1:d) = d - info%order(d:1:-1)
      if (info%halved_axis >= 0) info%halved_axis = d - info%halved_axis
    end if
    call redist__finish(code, ierror)
  end subroutine fftnd_plan_get_info

  !> Returns the communicator of the plan's ranks, which the library owns: for its ranks, not for messages.
  subroutine fftnd_plan_get_comm(plan, comm, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(MPI_Comm), intent(out) :: comm
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_get_comm(plan%handle, comm%MPI_VAL), ierror)
  end subroutine fftnd_plan_get_comm

  !> The plan's process grid, for redist_grid_get; the plan owns it.
  subroutine fftnd_plan_get_grid(plan, grid, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(redist_grid), intent(out) :: grid
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_get_grid(plan%handle, grid%handle), ierror)
  end subroutine fftnd_plan_get_grid

  !> Returns whether transforms have failed, as far as the device has reached them.
  subroutine fftnd_plan_query(plan, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_query(plan%handle), ierror)
  end subroutine fftnd_plan_query

  !> The method of the first exchange.
  subroutine fftnd_plan_get_method(plan, method, ierror)
    type(fftnd_plan), intent(in) :: plan
    character(len=:), allocatable, intent(out) :: method
    integer, intent(out), optional :: ierror
    type(c_ptr) :: found
    integer(c_int) :: code
    found = c_null_ptr
    code = c_plan_get_method(plan%handle, found)
    method = redist__text(found)
    call redist__finish(code, ierror)
  end subroutine fftnd_plan_get_method

  !> Returns the time of a plan's transforms by phase, if it was made with `phases`.
  subroutine fftnd_plan_get_phases(plan, phases, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(fftnd_phases), intent(out) :: phases
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    code = c_phases_init(phases, c_sizeof(phases))
    if (code == REDIST_OK) code = c_plan_get_phases(plan%handle, phases)
    call redist__finish(code, ierror)
  end subroutine fftnd_plan_get_phases

end module fftnd_procedures
