! SPDX-License-Identifier: BSD-3-Clause
! The C functions that module redist calls.
module redist_c
  use, intrinsic :: iso_c_binding
  use redist_types
  implicit none
  public

  interface
    subroutine c_version(major, minor, patch) bind(c, name='redist_version')
      import
      integer(c_int), intent(out) :: major, minor, patch
    end subroutine c_version

    function c_error_name(code) bind(c, name='redist_error_name')
      import
      integer(c_int), value :: code
      type(c_ptr) :: c_error_name
    end function c_error_name

    function c_error_string(code) bind(c, name='redist_error_string')
      import
      integer(c_int), value :: code
      type(c_ptr) :: c_error_string
    end function c_error_string

    function c_error_message() bind(c, name='redist_error_message')
      import
      type(c_ptr) :: c_error_message
    end function c_error_message

    function c_decompose(n, nparts, part, count, start) bind(c, name='redist_decompose')
      import
      integer(c_int64_t), value :: n
      integer(c_int), value :: nparts, part
      integer(c_int64_t), intent(out) :: count, start
      integer(c_int) :: c_decompose
    end function c_decompose

    function c_subcomm(comm, ndims, subcomms) bind(c, name='redist__f_subcomm')
      import
      integer(c_int), value :: comm, ndims
      integer(c_int), intent(out) :: subcomms(*)
      integer(c_int) :: c_subcomm
    end function c_subcomm

    function c_grid_create(comm, by_node, ndims, dims, grid) bind(c, name='redist__f_grid_create')
      import
      integer(c_int), value :: comm, by_node, ndims
      integer(c_int), intent(in) :: dims(*)
      type(c_ptr), intent(out) :: grid
      integer(c_int) :: c_grid_create
    end function c_grid_create

    function c_grid_free(grid) bind(c, name='redist_grid_free')
      import
      type(c_ptr), intent(inout) :: grid
      integer(c_int) :: c_grid_free
    end function c_grid_free

    function c_grid_get(grid, ndims, dims, coords) bind(c, name='redist_grid_get')
      import
      type(c_ptr), value :: grid
      integer(c_int), intent(out) :: ndims, dims(*), coords(*)
      integer(c_int) :: c_grid_get
    end function c_grid_get

    function c_grid_comm(grid, comm) bind(c, name='redist__f_grid_comm')
      import
      type(c_ptr), value :: grid
      integer(c_int), intent(out) :: comm
      integer(c_int) :: c_grid_comm
    end function c_grid_comm

    function c_grid_subcomm(grid, dim, comm) bind(c, name='redist__f_grid_subcomm')
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: dim
      integer(c_int), intent(out) :: comm
      integer(c_int) :: c_grid_subcomm
    end function c_grid_subcomm

    function c_grid_box(grid, ndims, sizes, axes, box) bind(c, name='redist_grid_box')
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: ndims
      integer(c_int64_t), intent(in) :: sizes(*)
      integer(c_int), intent(in) :: axes(*)
      type(redist_box), intent(inout) :: box
      integer(c_int) :: c_grid_box
    end function c_grid_box

    function c_box_init(box, bytes) bind(c, name='redist_box_init')
      import
      type(redist_box), intent(out) :: box
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_box_init
    end function c_box_init

    function c_alloc_bytes(comm, space, bytes, memory) bind(c, name='redist__f_alloc_bytes')
      import
      integer(c_int), value :: comm, space
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(out) :: memory
      integer(c_int) :: c_alloc_bytes
    end function c_alloc_bytes

    function c_free(array) bind(c, name='redist_free')
      import
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: c_free
    end function c_free

    function c_exchange(comm, a, axis_a, b, axis_b) bind(c, name='redist__f_exchange')
      import
      integer(c_int), value :: comm, axis_a, axis_b
      type(*), intent(in) :: a(..)
      type(*), intent(inout) :: b(..)
      integer(c_int) :: c_exchange
    end function c_exchange

    function c_options_init(options, bytes) bind(c, name='redist_options_init')
      import
      type(redist_options), intent(out) :: options
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_options_init
    end function c_options_init

    function c_plan_exchange(comm, a, axis_a, &
        b, axis_b, options, plan) bind(c, name='redist__f_plan_exchange')
      import
      integer(c_int), value :: comm, axis_a, axis_b
      type(*), intent(in) :: a(..), b(..)
      type(redist_options), intent(in) :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: c_plan_exchange
    end function c_plan_exchange

    function c_plan_boxes(comm, ndims, sizes, box_a, &
        a, box_b, b, options, plan) bind(c, name='redist__f_plan_boxes')
      import
      integer(c_int), value :: comm, ndims
      integer(c_int64_t), intent(in) :: sizes(*)
      type(redist_box), intent(in) :: box_a, box_b
      type(*), intent(in) :: a(..), b(..)
      type(redist_options), intent(in) :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: c_plan_boxes
    end function c_plan_boxes

    function c_plan_execute(plan, direction) bind(c, name='redist_plan_execute')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: direction
      integer(c_int) :: c_plan_execute
    end function c_plan_execute

    function c_plan_execute_arrays(plan, direction, a, b) bind(c, name='redist__f_plan_execute_arrays')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: direction
      type(*), intent(inout) :: a(..), b(..)
      integer(c_int) :: c_plan_execute_arrays
    end function c_plan_execute_arrays

    function c_plan_start(plan, direction) bind(c, name='redist_plan_start')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: direction
      integer(c_int) :: c_plan_start
    end function c_plan_start

    function c_plan_start_arrays(plan, direction, a, b) bind(c, name='redist__f_plan_start_arrays')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: direction
      type(*), intent(inout) :: a(..), b(..)
      integer(c_int) :: c_plan_start_arrays
    end function c_plan_start_arrays

    function c_plan_wait(plan) bind(c, name='redist_plan_wait')
      import
      type(c_ptr), value :: plan
      integer(c_int) :: c_plan_wait
    end function c_plan_wait

    function c_plan_put_begin(plan, destination) bind(c, name='redist__f_plan_put_begin')
      import
      type(c_ptr), value :: plan
      type(*), intent(inout) :: destination(..)
      integer(c_int) :: c_plan_put_begin
    end function c_plan_put_begin

    function c_plan_put(plan, ndims, nstart, start, tile) bind(c, name='redist__f_plan_put')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: ndims, nstart
      integer(c_int64_t), intent(in) :: start(*)
      type(*), intent(in) :: tile(..)
      integer(c_int) :: c_plan_put
    end function c_plan_put

    function c_plan_put_progress(plan) bind(c, name='redist_plan_put_progress')
      import
      type(c_ptr), value :: plan
      integer(c_int) :: c_plan_put_progress
    end function c_plan_put_progress

    function c_plan_put_arrived(plan, partitions) bind(c, name='redist_plan_put_arrived')
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(out) :: partitions
      integer(c_int) :: c_plan_put_arrived
    end function c_plan_put_arrived

    function c_plan_put_wait(plan, partitions) bind(c, name='redist_plan_put_wait')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: partitions
      integer(c_int) :: c_plan_put_wait
    end function c_plan_put_wait

    function c_plan_query(plan) bind(c, name='redist_plan_query')
      import
      type(c_ptr), value :: plan
      integer(c_int) :: c_plan_query
    end function c_plan_query

    function c_plan_put_end(plan) bind(c, name='redist_plan_put_end')
      import
      type(c_ptr), value :: plan
      integer(c_int) :: c_plan_put_end
    end function c_plan_put_end

    function c_plan_get_begin(plan, source) bind(c, name='redist__f_plan_get_begin')
      import
      type(c_ptr), value :: plan
      type(*), intent(in) :: source(..)
      integer(c_int) :: c_plan_get_begin
    end function c_plan_get_begin

    function c_plan_get(plan, ndims, nstart, start, tile) bind(c, name='redist__f_plan_get')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: ndims, nstart
      integer(c_int64_t), intent(in) :: start(*)
      type(*), intent(inout) :: tile(..)
      integer(c_int) :: c_plan_get
    end function c_plan_get

    function c_plan_get_end(plan) bind(c, name='redist_plan_get_end')
      import
      type(c_ptr), value :: plan
      integer(c_int) :: c_plan_get_end
    end function c_plan_get_end

    function c_plan_free(plan) bind(c, name='redist_plan_free')
      import
      type(c_ptr), intent(inout) :: plan
      integer(c_int) :: c_plan_free
    end function c_plan_free

    function c_plan_info_init(info, bytes) bind(c, name='redist_plan_info_init')
      import
      type(redist_plan_info), intent(out) :: info
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_plan_info_init
    end function c_plan_info_init

    function c_plan_get_info(plan, info) bind(c, name='redist_plan_get_info')
      import
      type(c_ptr), value :: plan
      type(redist_plan_info), intent(inout) :: info
      integer(c_int) :: c_plan_get_info
    end function c_plan_get_info

    function c_plan_get_comm(plan, comm) bind(c, name='redist__f_plan_get_comm')
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(out) :: comm
      integer(c_int) :: c_plan_get_comm
    end function c_plan_get_comm

    function c_plan_get_method(plan, method) bind(c, name='redist_plan_get_method')
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: method
      integer(c_int) :: c_plan_get_method
    end function c_plan_get_method

    function c_phases_init(phases, bytes) bind(c, name='redist_phases_init')
      import
      type(redist_phases), intent(out) :: phases
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_phases_init
    end function c_phases_init

    function c_plan_get_phases(plan, phases) bind(c, name='redist_plan_get_phases')
      import
      type(c_ptr), value :: plan
      type(redist_phases), intent(inout) :: phases
      integer(c_int) :: c_plan_get_phases
    end function c_plan_get_phases

    function c_method_count() bind(c, name='redist_method_count')
      import
      integer(c_int) :: c_method_count
    end function c_method_count

    function c_method_name(index) bind(c, name='redist_method_name')
      import
      integer(c_int), value :: index
      type(c_ptr) :: c_method_name
    end function c_method_name

    function c_method_summary(index) bind(c, name='redist_method_summary')
      import
      integer(c_int), value :: index
      type(c_ptr) :: c_method_summary
    end function c_method_summary

    function c_method_exists(request) bind(c, name='redist_method_exists')
      import
      character(kind=c_char), intent(in) :: request(*)
      integer(c_int) :: c_method_exists
    end function c_method_exists

    subroutine c_forget_wisdom() bind(c, name='redist_forget_wisdom')
    end subroutine c_forget_wisdom

    function c_model_init(model, bytes) bind(c, name='redist_model_init')
      import
      type(redist_model), intent(out) :: model
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_model_init
    end function c_model_init

    function c_model_fit(comm, options, model) bind(c, name='redist__f_model_fit')
      import
      integer(c_int), value :: comm
      type(redist_options), intent(in) :: options
      type(redist_model), intent(inout) :: model
      integer(c_int) :: c_model_fit
    end function c_model_fit

    function c_model_seconds(model, nranks, nparts, stride, bytes) bind(c, name='redist_model_seconds')
      import
      type(redist_model), intent(in) :: model
      integer(c_int), value :: nranks, nparts, stride
      real(c_double), value :: bytes
      real(c_double) :: c_model_seconds
    end function c_model_seconds
  end interface
end module redist_c
