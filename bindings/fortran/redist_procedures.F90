! SPDX-License-Identifier: BSD-3-Clause
! The procedures of module redist.
module redist_procedures
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm, MPI_Op
  use redist_c
  use redist_grids, only: redist_index
  use redist_support
  implicit none
  private

  !> A reusable exchange between two distributed arrays.
  type, public :: redist_plan
    type(c_ptr) :: handle = c_null_ptr
    integer :: ndims = 0
  end type redist_plan

  public :: redist_version, redist_error_name, redist_error_string, redist_error_message
  public :: redist_exchange, redist_plan_exchange, redist_plan_boxes, redist_plan_halo, redist_plan_execute
  public :: redist_plan_execute_arrays, redist_plan_start, redist_plan_start_arrays, redist_plan_wait
  public :: redist_plan_put_begin, redist_plan_put, redist_plan_put_progress, redist_plan_put_arrived
  public :: redist_plan_put_end, redist_plan_get_begin, redist_plan_get, redist_plan_get_end
  public :: redist_plan_get_info, redist_plan_get_comm, redist_plan_get_method, redist_plan_get_phases
  public :: redist_plan_put_wait, redist_plan_query, redist_plan_free, redist_alloc_info
  public :: redist_method_count, redist_method_name, redist_method_summary
  public :: redist_method_exists, redist_forget_wisdom, redist_model_fit, redist_model_seconds

  !> Plans the exchange between two arbitrary box distributions of one global array.
  interface redist_plan_boxes
    module procedure plan_boxes_short, plan_boxes_long
  end interface redist_plan_boxes

  !> Plans the exchange of ghosts in a distributed array.
  interface redist_plan_halo
    module procedure plan_halo_short, plan_halo_long
  end interface redist_plan_halo

contains

  ! ---------------------------------------------------------------- version and errors

  !> The version of the loaded library.
  subroutine redist_version(major, minor, patch)
    integer, intent(out), optional :: major, minor, patch
    integer :: version(3)
    call c_version(version(1), version(2), version(3))
    if (present(major)) major = version(1)
    if (present(minor)) minor = version(2)
    if (present(patch)) patch = version(3)
  end subroutine redist_version

  !> The name of a code, such as "REDIST_ERR_AXIS".
  function redist_error_name(code) result(name)
    integer, intent(in) :: code
    character(len=:), allocatable :: name
    name = redist__text(c_error_name(code))
  end function redist_error_name

  !> The sentence that explains a code.
  function redist_error_string(code) result(sentence)
    integer, intent(in) :: code
    character(len=:), allocatable :: sentence
    sentence = redist__text(c_error_string(code))
  end function redist_error_string

  !> The message of this thread's last failed call.
  function redist_error_message() result(message)
    character(len=:), allocatable :: message
    message = redist__text(c_error_message())
  end function redist_error_message

  ! ---------------------------------------------------------------- exchanges and plans

  !> Moves a distributed array from one alignment to another, once: a is whole along axis_a, b along axis_b.
  subroutine redist_exchange(comm, a, axis_a, b, axis_b, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(*), intent(in) :: a(..)
    type(*), intent(inout) :: b(..)
    integer, intent(in) :: axis_a, axis_b
    integer, intent(out), optional :: ierror
    call redist__finish(c_exchange(comm%MPI_VAL, a, axis_a, b, axis_b), ierror)
  end subroutine redist_exchange

  ! Options for C; the texts live in `held` and `file`, C's operation in `handle`. d is the number of axes.
  subroutine fill(options, held, handle, d, &
#include "redist_arguments.inc"
      file)
    type(redist_options), intent(out) :: options
    character(len=:), allocatable, target, intent(inout) :: held, file
    integer(c_intptr_t), target, intent(inout) :: handle
    integer, intent(in) :: d
#include "redist_options.inc"
    integer(c_int) :: code
    code = c_options_init(options, c_sizeof(options))
    options%method = redist__c_text(method, held)
    options%wisdom_file = redist__c_text(wisdom_file, file)
    if (present(effort)) options%effort = effort
    if (present(tune_seconds)) options%tune_seconds = tune_seconds
    if (present(nontemporal_bytes)) options%nontemporal_bytes = nontemporal_bytes
    if (present(space)) options%space = space
    if (present(staging)) options%staging = staging
    if (present(stream)) options%stream = stream
    if (present(bind_a)) options%bind_a = bind_a
    if (present(bind_b)) options%bind_b = bind_b
    if (present(tiles)) options%tiles = tiles
    if (present(partitions)) options%partitions = partitions
    if (present(partition_axis)) options%partition_axis = d - partition_axis
    call redist__flag(verbose, options%verbose)
    call redist__flag(concurrent, options%concurrent)
    call redist__flag(skip_agreement, options%skip_agreement)
    if (present(wait_seconds)) options%wait_seconds = wait_seconds
    if (present(overlap)) options%overlap = overlap
    if (present(wire)) options%wire = wire
    if (present(wire_scope)) options%wire_scope = wire_scope
    if (present(operation)) then
      code = c_operation(operation%MPI_VAL, c_loc(handle))
      options%operation = c_loc(handle)
    end if
    call redist__flag(phases, options%phases)
    call redist__flag(asynchronous, options%asynchronous)
  end subroutine fill

  !> Plans the exchange of redist_exchange, for repeated use in both directions.
  subroutine redist_plan_exchange(comm, a, axis_a, b, axis_b, plan, &
#include "redist_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    type(*), intent(in), target :: a(..), b(..)
    integer, intent(in) :: axis_a, axis_b
    type(redist_plan), intent(out) :: plan
#include "redist_options.inc"
    integer, intent(out), optional :: ierror
    type(redist_options) :: options
    character(len=:), allocatable, target :: held, file
    integer(c_intptr_t), target :: handle
    plan%ndims = rank(a)
    call fill(options, held, handle, rank(a), &
#include "redist_arguments.inc"
      file)
    call redist__finish(c_plan_exchange(comm%MPI_VAL, a, axis_a, b, axis_b, options, plan%handle), ierror)
  end subroutine redist_plan_exchange

  ! a and b: arrays with as many axes as sizes has values are the local arrays; others have the extents box%extent.
  subroutine plan_boxes_long(comm, sizes, box_a, a, box_b, b, plan, &
#include "redist_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: sizes(:)
    type(redist_box), intent(in) :: box_a, box_b
    type(*), intent(in), target :: a(..), b(..)
    type(redist_plan), intent(out) :: plan
#include "redist_options.inc"
    integer, intent(out), optional :: ierror
    type(redist_options) :: options
    character(len=:), allocatable, target :: held, file
    integer(c_intptr_t), target :: handle
    integer :: d
    d = size(sizes)
    plan%ndims = d
    call fill(options, held, handle, d, &
#include "redist_arguments.inc"
      file)
    call redist__finish(c_plan_boxes(comm%MPI_VAL, d, sizes(d:1:-1), redist__reversed(box_a, d, -1), a, &
      redist__reversed(box_b, d, -1), b, options, plan%handle), ierror)
  end subroutine plan_boxes_long

  subroutine plan_boxes_short(comm, sizes, box_a, a, box_b, b, plan, &
#include "redist_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: sizes(:)
    type(redist_box), intent(in) :: box_a, box_b
    type(*), intent(in), target :: a(..), b(..)
    type(redist_plan), intent(out) :: plan
#include "redist_options.inc"
    integer, intent(out), optional :: ierror
    call plan_boxes_long(comm, int(sizes, int64), box_a, a, box_b, b, plan, &
#include "redist_arguments.inc"
      ierror)
  end subroutine plan_boxes_short

  ! low and high: ghosts before and behind the box along each axis. The array is that of the box, as in
  ! redist_plan_boxes, with room for them.
  subroutine plan_halo_long(comm, sizes, box, array, low, high, plan, periodic, corners, &
#include "redist_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: sizes(:), low(:), high(:)
    type(redist_box), intent(in) :: box
    type(*), intent(in), target :: array(..)
    type(redist_plan), intent(out) :: plan
    logical, intent(in), optional :: periodic(:), corners
#include "redist_options.inc"
    integer, intent(out), optional :: ierror
    type(redist_options) :: options
    type(redist_halo) :: halo
    character(len=:), allocatable, target :: held, file
    integer(c_intptr_t), target :: handle
    character(len=:), allocatable :: wrong
    logical :: around(size(sizes))
    integer(c_int) :: code
    integer :: d, n
    d = size(sizes)
    n = d
    plan%ndims = d
    call fill(options, held, handle, d, &
#include "redist_arguments.inc"
      file)
    code = c_halo_init(halo, c_sizeof(halo))
    around = .false.
    if (size(low) /= d .or. size(high) /= d) n = 0
    if (present(periodic)) then
      if (size(periodic) /= d) n = 0
      around(1:n) = periodic(1:n)
    end if
    if (n /= d) wrong = 'low, high and periodic must have as many values as sizes'
    halo%low(1:n) = low(n:1:-1)
    halo%high(1:n) = high(n:1:-1)
    halo%periodic(1:n) = merge(1, 0, around(n:1:-1))
    call redist__flag(corners, halo%corners)
    ! no axes: an error on all ranks, so that none waits for one whose widths do not fit
    if (code == REDIST_OK) code = c_plan_halo(comm%MPI_VAL, n, sizes(d:1:-1), redist__reversed(box, d, -1), array, halo, &
      options, plan%handle)
    call redist__explain(wrong)
    call redist__finish(code, ierror)
  end subroutine plan_halo_long

  subroutine plan_halo_short(comm, sizes, box, array, low, high, plan, periodic, corners, &
#include "redist_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: sizes(:), low(:), high(:)
    type(redist_box), intent(in) :: box
    type(*), intent(in), target :: array(..)
    type(redist_plan), intent(out) :: plan
    logical, intent(in), optional :: periodic(:), corners
#include "redist_options.inc"
    integer, intent(out), optional :: ierror
    call plan_halo_long(comm, int(sizes, int64), box, array, int(low, int64), int(high, int64), plan, periodic, corners, &
#include "redist_arguments.inc"
      ierror)
  end subroutine plan_halo_short

  !> Executes a plan: REDIST_FORWARD moves A to B, REDIST_BACKWARD moves B to A; or REDIST_FILL and REDIST_ACCUMULATE.
  subroutine redist_plan_execute(plan, direction, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(in) :: direction
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_execute(plan%handle, direction), ierror)
  end subroutine redist_plan_execute

  !> Executes a plan on other arrays of its shapes.
  subroutine redist_plan_execute_arrays(plan, direction, a, b, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(in) :: direction
    type(*), intent(inout) :: a(..), b(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_execute_arrays(plan%handle, direction, a, b), ierror)
  end subroutine redist_plan_execute_arrays

  !> Starts an execution that redist_plan_wait completes.
  subroutine redist_plan_start(plan, direction, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(in) :: direction
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_start(plan%handle, direction), ierror)
  end subroutine redist_plan_start

  !> Starts an execution on other arrays; these have the attribute TARGET or POINTER.
  subroutine redist_plan_start_arrays(plan, direction, a, b, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(in) :: direction
    type(*), intent(inout), asynchronous :: a(..), b(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_start_arrays(plan%handle, direction, a, b), ierror)
  end subroutine redist_plan_start_arrays

  !> Completes an execution of redist_plan_start. Collective on the plan's communicator.
  subroutine redist_plan_wait(plan, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_wait(plan%handle), ierror)
  end subroutine redist_plan_wait

  ! ---------------------------------------------------------------- tiles

  !> Opens a forward execution that puts array A tile by tile.
  subroutine redist_plan_put_begin(plan, destination, ierror)
    type(redist_plan), intent(in) :: plan
    type(*), intent(inout), asynchronous :: destination(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_put_begin(plan%handle, destination), ierror)
  end subroutine redist_plan_put_begin

  !> Puts a tile, which may be a section of an array; start is the index of its first element in array A.
  subroutine redist_plan_put(plan, start, tile, ierror)
    type(redist_plan), intent(in) :: plan
    integer(redist_index), intent(in) :: start(:)
    type(*), intent(in) :: tile(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_put(plan%handle, plan%ndims, size(start), start(size(start):1:-1) - 1, tile), ierror)
  end subroutine redist_plan_put

  !> Lets an execution in puts make progress, without waiting.
  subroutine redist_plan_put_progress(plan, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_put_progress(plan%handle), ierror)
  end subroutine redist_plan_put_progress

  !> Counts the partitions of array B that have arrived, without waiting.
  subroutine redist_plan_put_arrived(plan, partitions, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(out) :: partitions
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_put_arrived(plan%handle, partitions), ierror)
  end subroutine redist_plan_put_arrived

  !> Waits until partitions of array B have arrived.
  subroutine redist_plan_put_wait(plan, partitions, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(in) :: partitions
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_put_wait(plan%handle, partitions), ierror)
  end subroutine redist_plan_put_wait

  !> Closes an execution in puts, after which array B is complete. Collective on the plan's communicator.
  subroutine redist_plan_put_end(plan, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_put_end(plan%handle), ierror)
  end subroutine redist_plan_put_end

  !> Opens a forward execution that gets array B tile by tile.
  subroutine redist_plan_get_begin(plan, source, ierror)
    type(redist_plan), intent(in) :: plan
    type(*), intent(in), asynchronous :: source(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_get_begin(plan%handle, source), ierror)
  end subroutine redist_plan_get_begin

  !> Gets a tile, which may be a section of an array; start is the index of its first element in array B.
  subroutine redist_plan_get(plan, start, tile, ierror)
    type(redist_plan), intent(in) :: plan
    integer(redist_index), intent(in) :: start(:)
    type(*), intent(inout) :: tile(..)
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_get(plan%handle, plan%ndims, size(start), start(size(start):1:-1) - 1, tile), ierror)
  end subroutine redist_plan_get

  !> Closes an execution in gets. Collective on the plan's communicator.
  subroutine redist_plan_get_end(plan, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_get_end(plan%handle), ierror)
  end subroutine redist_plan_get_end

  !> Frees a plan; completes a pending execution first. Collective on the plan's communicator.
  subroutine redist_plan_free(plan, ierror)
    type(redist_plan), intent(inout) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_free(plan%handle), ierror)
  end subroutine redist_plan_free

  ! ---------------------------------------------------------------- queries

  !> Returns whether peers can map an array of redist_alloc: c_loc of it, or memory of redist_alloc.
  subroutine redist_alloc_info(array, mappable, ierror)
    type(c_ptr), intent(in) :: array
    logical, intent(out) :: mappable
    integer, intent(out), optional :: ierror
    integer(c_int) :: found
    found = 0
    call redist__finish(c_alloc_info(array, found), ierror)
    mappable = found /= 0
  end subroutine redist_alloc_info

  !> Returns the properties of a plan.
  subroutine redist_plan_get_info(plan, info, ierror)
    type(redist_plan), intent(in) :: plan
    type(redist_plan_info), intent(out) :: info
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    code = c_plan_info_init(info, c_sizeof(info))
    if (code == REDIST_OK) code = c_plan_get_info(plan%handle, info)
    call redist__finish(code, ierror)
  end subroutine redist_plan_get_info

  !> Returns the plan's communicator, which the library owns: for its ranks, not for messages.
  subroutine redist_plan_get_comm(plan, comm, ierror)
    type(redist_plan), intent(in) :: plan
    type(MPI_Comm), intent(out) :: comm
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_get_comm(plan%handle, comm%MPI_VAL), ierror)
  end subroutine redist_plan_get_comm

  !> Returns whether executions have failed, as far as the device has reached them.
  subroutine redist_plan_query(plan, ierror)
    type(redist_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call redist__finish(c_plan_query(plan%handle), ierror)
  end subroutine redist_plan_query

  !> The plan's method, with its variant.
  subroutine redist_plan_get_method(plan, method, ierror)
    type(redist_plan), intent(in) :: plan
    character(len=:), allocatable, intent(out) :: method
    integer, intent(out), optional :: ierror
    type(c_ptr) :: found
    integer(c_int) :: code
    found = c_null_ptr
    code = c_plan_get_method(plan%handle, found)
    method = redist__text(found)
    call redist__finish(code, ierror)
  end subroutine redist_plan_get_method

  !> Returns the time of a plan's executions by phase, if it was made with `phases`.
  subroutine redist_plan_get_phases(plan, phases, ierror)
    type(redist_plan), intent(in) :: plan
    type(redist_phases), intent(out) :: phases
    integer, intent(out), optional :: ierror
    integer(c_int) :: code
    code = c_phases_init(phases, c_sizeof(phases))
    if (code == REDIST_OK) code = c_plan_get_phases(plan%handle, phases)
    call redist__finish(code, ierror)
  end subroutine redist_plan_get_phases

  !> Returns the number of methods.
  integer function redist_method_count()
    redist_method_count = c_method_count()
  end function redist_method_count

  !> The name of a method, 1 <= index <= redist_method_count().
  function redist_method_name(index) result(name)
    integer, intent(in) :: index
    character(len=:), allocatable :: name
    name = redist__text(c_method_name(index - 1))
  end function redist_method_name

  !> One sentence on how a method moves the bytes.
  function redist_method_summary(index) result(summary)
    integer, intent(in) :: index
    character(len=:), allocatable :: summary
    summary = redist__text(c_method_summary(index - 1))
  end function redist_method_summary

  !> Returns whether `method` of a plan may be `request`.
  logical function redist_method_exists(request)
    character(len=*), intent(in) :: request
    redist_method_exists = c_method_exists(trim(request)//c_null_char) /= 0
  end function redist_method_exists

  !> Forgets the measurements of this process, not those in files. All ranks call it, or none.
  subroutine redist_forget_wisdom()
    call c_forget_wisdom()
  end subroutine redist_forget_wisdom

  !> Measures the cost of messages, with a given method.
  subroutine redist_model_fit(comm, model, method, space, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(redist_model), intent(out) :: model
    character(len=*), intent(in), optional :: method
    integer, intent(in), optional :: space
    integer, intent(out), optional :: ierror
    type(redist_options) :: options
    character(len=:), allocatable, target :: held, file
    integer(c_intptr_t), target :: handle
    integer(c_int) :: code
    call fill(options, held, handle, 0, method=method, space=space, file=file)
    code = c_model_init(model, c_sizeof(model))
    if (code == REDIST_OK) code = c_model_fit(comm%MPI_VAL, options, model)
    call redist__finish(code, ierror)
  end subroutine redist_model_fit

  !> The time of an exchange by the model, in seconds.
  real(c_double) function redist_model_seconds(model, nranks, nparts, stride, bytes)
    type(redist_model), intent(in) :: model
    integer, intent(in) :: nranks, nparts, stride
    real(c_double), intent(in) :: bytes
    redist_model_seconds = c_model_seconds(model, nranks, nparts, stride, bytes)
  end function redist_model_seconds

end module redist_procedures
