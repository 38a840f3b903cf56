! SPDX-License-Identifier: BSD-3-Clause
! The functions of fftnd_operators.h, which explains them. Components of vectors are in the order of the axes, of which
! the first one is contiguous.
module fftnd_operators
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use redist, only: REDIST_OK
  use redist_support
  use fftnd_c
  use fftnd_procedures, only: fftnd__reverse
  implicit none
  private
  public :: fftnd_operator, fftnd_symbol, fftnd_row_function, fftnd_operator_create, fftnd_operator_free
  public :: fftnd_operator_from_kernel, fftnd_operator_layout, fftnd_apply, fftnd_apply_physical
  public :: fftnd_row_input, fftnd_row_output, fftnd_row_wavenumbers, fftnd_row_axis, fftnd_row_start

  !> Factors of all modes of the spectral side along one axis, for FFTND_SYMBOLS; not allocated = 1.
  type :: fftnd_symbol
    complex(c_double_complex), allocatable :: values(:)
  end type fftnd_symbol

  abstract interface
    !> The user's function of FFTND_MODES and FFTND_POINTS: 0, or else the call fails. Several threads of a plan call it
    !> at once.
    function fftnd_row_function(data, row) bind(c) result(code)
      import
      type(c_ptr), value :: data
      type(fftnd_row), intent(in) :: row
      integer(c_int) :: code
    end function fftnd_row_function
  end interface

  !> Points to the values of field i (from 1): complex for modes and for points of a complex side, else real; to nothing
  !> if the type is the other one.
  interface fftnd_row_input
    module procedure input_complex, input_real
  end interface fftnd_row_input
  !> Points to the values of output field i in the same way; the function writes them.
  interface fftnd_row_output
    module procedure output_complex, output_real
  end interface fftnd_row_output

contains

  !> Makes an operator for a plan. `axes` are those that take part, `free_axes` those in free space; `data` is passed to
  !> the function. `multiplier` is an array of the spectral side, of complex or of real numbers.
  subroutine fftnd_operator_create(plan, kind, op, lengths, axes, orders, shift, zero_mode, coefficient, shell, symbols, &
      inputs, outputs, function, data, multiplier, conjugated, free_axes, green, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: kind
    type(fftnd_operator), intent(out) :: op
    real(c_double), intent(in), optional :: lengths(:), shift(:), zero_mode, coefficient, shell(2)
    integer, intent(in), optional :: axes(:), orders(:), inputs, outputs
    type(fftnd_symbol), intent(in), optional, target :: symbols(:)
    procedure(fftnd_row_function), optional :: function
    type(c_ptr), intent(in), optional :: data
    type(*), intent(in), optional :: multiplier(..)
    logical, intent(in), optional :: conjugated
    integer, intent(in), optional :: free_axes(:), green
    integer, intent(out), optional :: ierror
    type(fftnd_operator_options), target :: options
    real(c_double), allocatable, target :: all_lengths(:), all_shifts(:)
    integer(c_int), allocatable, target :: all_axes(:), all_orders(:), all_free(:)
    type(c_ptr), target :: tables(plan%ndims)
    character(len=:), allocatable :: wrong
    type(c_funptr) :: address
    integer(c_int) :: code
    integer :: d
    d = plan%ndims
    code = c_operator_options_init(options, c_sizeof(options))
    options%last_axis_first = 1
    options%lengths = reals_of('lengths', lengths, d, wrong, all_lengths)
    options%shift = reals_of('shift', shift, d, wrong, all_shifts)
    if (present(orders)) then
      if (size(orders) /= d) wrong = 'orders has another number of values than the plan has axes'
      all_orders = orders(size(orders):1:-1)
      options%orders = c_loc(all_orders)
    end if
    options%axes = listed('axes', axes, d, wrong, all_axes)
    options%free_axes = listed('free_axes', free_axes, d, wrong, all_free)
    if (present(multiplier)) then
      if (c_multiplier(plan, multiplier, options%real_multiplier, options%multiplier) /= REDIST_OK) &
        wrong = 'multiplier is no array of the spectral side of the plan'
    end if
    if (present(conjugated)) options%conjugated = merge(1, 0, conjugated)
    if (present(green)) options%green = green
    if (present(symbols)) then
      call find_tables(plan, symbols, tables, wrong)
      options%symbols = c_loc(tables)
    end if
    if (present(zero_mode)) options%zero_mode = zero_mode
    if (present(coefficient)) options%coefficient = coefficient
    if (present(shell)) options%shell = shell
    if (present(inputs)) options%inputs = inputs
    if (present(outputs)) options%outputs = outputs
    if (present(function)) then
      address = c_funloc(function)
      options%function = transfer(address, c_null_ptr)
    end if
    if (present(data)) options%data = data
    ! no kind: an error on all ranks, so that none waits for one whose options do not fit
    code = c_operator_create(plan, merge(-1, kind, allocated(wrong)), options, op%handle)
    call redist__explain(wrong)
    op%plan = plan
    if (kind == FFTND_POINTS) op%plan%ghosts = redist_halo() ! arrays of the spectral side have none
    call redist__finish(code, ierror)
  end subroutine fftnd_operator_create

  ! Values for C in its order, in memory of `keep`; null without any.
  function reals_of(name, values, d, wrong, keep) result(pointer)
    character(len=*), intent(in) :: name
    real(c_double), intent(in), optional :: values(:)
    integer, intent(in) :: d
    character(len=:), allocatable, intent(inout) :: wrong
    real(c_double), allocatable, target, intent(inout) :: keep(:)
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (.not. present(values)) return
    if (size(values) /= d) wrong = name//' has another number of values than the plan has axes'
    keep = values(size(values):1:-1)
    pointer = c_loc(keep)
  end function reals_of

  ! Nonzero for each axis of a list, in the order of C, in memory of `keep`; null without a list.
  function listed(name, axes, d, wrong, keep) result(pointer)
    character(len=*), intent(in) :: name
    integer, intent(in), optional :: axes(:)
    integer, intent(in) :: d
    character(len=:), allocatable, intent(inout) :: wrong
    integer(c_int), allocatable, target, intent(inout) :: keep(:)
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (.not. present(axes)) return
    allocate (keep(d), source=0)
    if (any(axes < 1 .or. axes > d)) then
      wrong = name//' has a number that is no axis of the plan'
    else
      keep(d + 1 - axes) = 1
    end if
    pointer = c_loc(keep)
  end function listed

  subroutine find_tables(plan, symbols, tables, wrong)
    type(fftnd_plan), intent(in) :: plan
    type(fftnd_symbol), intent(in), target :: symbols(:)
    type(c_ptr), intent(out) :: tables(:)
    character(len=:), allocatable, intent(inout) :: wrong
    type(fftnd_layout) :: layout
    integer :: d, axis
    d = size(tables)
    tables = c_null_ptr
    if (size(symbols) /= d) then
      wrong = 'symbols has another number of values than the plan has axes'
      return
    end if
    axis = c_layout_init(layout, c_sizeof(layout))
    axis = c_plan_layout(plan%handle, FFTND_SPECTRAL, layout)
    do axis = 1, d
      if (.not. allocated(symbols(axis)%values)) cycle
      if (size(symbols(axis)%values) /= layout%sizes(d + 1 - axis)) then
        wrong = 'symbols has another number of values along an axis than there are modes'
        return
      end if
      tables(d + 1 - axis) = c_loc(symbols(axis)%values)
    end do
  end subroutine find_tables

  !> Makes the operator that convolves with a kernel, an array of the physical side, perhaps of another plan;
  !> `conjugated`: the correlation.
  subroutine fftnd_operator_from_kernel(plan, kernel, op, conjugated, kernel_plan, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(*), intent(in) :: kernel(..)
    type(fftnd_operator), intent(out) :: op
    logical, intent(in), optional :: conjugated
    type(fftnd_plan), intent(in), optional :: kernel_plan
    integer, intent(out), optional :: ierror
    type(fftnd_plan) :: of
    integer(c_int) :: correlates
    correlates = 0
    if (present(conjugated)) correlates = merge(1, 0, conjugated)
    of = plan
    if (present(kernel_plan)) of = kernel_plan
    op%plan = plan
    call redist__finish(c_operator_from_kernel(plan, of, kernel, correlates, op%handle), ierror)
  end subroutine fftnd_operator_from_kernel

  !> Frees an operator; does nothing for one that was never made.
  subroutine fftnd_operator_free(op, ierror)
    type(fftnd_operator), intent(inout) :: op
    integer, intent(out), optional :: ierror
    call redist__finish(c_operator_free(op%handle), ierror)
  end subroutine fftnd_operator_free

  !> The local array that an operator reads or writes; as fftnd_plan_layout.
  subroutine fftnd_operator_layout(op, is_output, layout, ierror)
    type(fftnd_operator), intent(in) :: op
    logical, intent(in) :: is_output
    type(fftnd_layout), intent(out) :: layout
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    code = c_layout_init(layout, c_sizeof(layout))
    if (code == REDIST_OK) code = c_operator_layout(op%handle, merge(1, 0, is_output), layout)
    call fftnd__reverse(layout)
    call redist__finish(code, ierror)
  end subroutine fftnd_operator_layout

  !> Transforms the fields of `input`, applies the operator, and transforms back to `output`. Arrays are those of
  !> fftnd_alloc(op, is_output, array), or others with the same extents and strides.
  subroutine fftnd_apply(plan, op, input, output, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(fftnd_operator), intent(in) :: op
    type(*), intent(inout) :: input(..), output(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_apply(plan, op, input, output), ierror)
  end subroutine fftnd_apply

  !> The same from spectra to spectra, with an operator of FFTND_POINTS.
  subroutine fftnd_apply_physical(plan, op, input, output, ierror)
    type(fftnd_plan), intent(in) :: plan
    type(fftnd_operator), intent(in) :: op
    type(*), intent(inout) :: input(..), output(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_apply_physical(plan, op, input, output), ierror)
  end subroutine fftnd_apply_physical

  ! ---------------------------------------------------------------- rows

  ! Pointer number i of a list of C.
  function entry(list, i) result(found)
    type(c_ptr), intent(in) :: list
    integer, intent(in) :: i
    type(c_ptr) :: found
    type(c_ptr), pointer :: entries(:)
    found = c_null_ptr
    if (.not. c_associated(list)) return
    call c_f_pointer(list, entries, [i])
    found = entries(i)
  end function entry

  subroutine point_complex(row, list, i, values)
    type(fftnd_row), intent(in) :: row
    type(c_ptr), intent(in) :: list
    integer, intent(in) :: i
    complex(c_double_complex), pointer, intent(out) :: values(:)
    nullify (values)
    if (row%numbers == 2) call c_f_pointer(entry(list, i), values, [row%n])
  end subroutine point_complex

  subroutine point_real(row, list, i, values)
    type(fftnd_row), intent(in) :: row
    type(c_ptr), intent(in) :: list
    integer, intent(in) :: i
    real(c_double), pointer, intent(out) :: values(:)
    nullify (values)
    if (row%numbers == 1) call c_f_pointer(entry(list, i), values, [row%n])
  end subroutine point_real

  subroutine input_complex(row, i, values)
    type(fftnd_row), intent(in) :: row
    integer, intent(in) :: i
    complex(c_double_complex), pointer, intent(out) :: values(:)
    call point_complex(row, row%inputs, i, values)
  end subroutine input_complex

  subroutine input_real(row, i, values)
    type(fftnd_row), intent(in) :: row
    integer, intent(in) :: i
    real(c_double), pointer, intent(out) :: values(:)
    call point_real(row, row%inputs, i, values)
  end subroutine input_real

  subroutine output_complex(row, i, values)
    type(fftnd_row), intent(in) :: row
    integer, intent(in) :: i
    complex(c_double_complex), pointer, intent(out) :: values(:)
    call point_complex(row, row%outputs, i, values)
  end subroutine output_complex

  subroutine output_real(row, i, values)
    type(fftnd_row), intent(in) :: row
    integer, intent(in) :: i
    real(c_double), pointer, intent(out) :: values(:)
    call point_real(row, row%outputs, i, values)
  end subroutine output_real

  !> Points to the wavenumbers of a row of modes along an axis, with `odd` those for derivatives of odd order; to nothing
  !> for an axis that takes no part.
  subroutine fftnd_row_wavenumbers(row, axis, k, odd)
    type(fftnd_row), intent(in) :: row
    integer, intent(in) :: axis
    real(c_double), pointer, intent(out) :: k(:)
    logical, intent(in), optional :: odd
    type(c_ptr) :: table
    table = entry(row%k, row%ndims + 1 - axis)
    if (present(odd)) then
      if (odd) table = entry(row%odd, row%ndims + 1 - axis)
    end if
    nullify (k)
    if (c_associated(table)) call c_f_pointer(table, k, [row%n])
  end subroutine fftnd_row_wavenumbers

  !> The axis along which the elements of a row are consecutive.
  integer function fftnd_row_axis(row)
    type(fftnd_row), intent(in) :: row
    fftnd_row_axis = row%ndims - row%axis
  end function fftnd_row_axis

  !> The global indices of the first element of a row.
  function fftnd_row_start(row) result(start)
    type(fftnd_row), intent(in) :: row
    integer(int64) :: start(row%ndims)
    integer(c_int64_t), pointer :: first(:)
    call c_f_pointer(row%start, first, [row%ndims])
    start = first(row%ndims:1:-1) + 1
  end function fftnd_row_start

end module fftnd_operators
