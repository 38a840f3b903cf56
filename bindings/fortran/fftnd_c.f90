! SPDX-License-Identifier: BSD-3-Clause
! The C functions that module fftnd calls.
module fftnd_c
  use, intrinsic :: iso_c_binding
  use redist_types
  use fftnd_types
  implicit none
  public

  !> A distributed transform, forward and backward; as struct fftnd__f_plan of fftnd.c.
  type, bind(c) :: fftnd_plan
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: comm = 0, space = 0, batch = 1, batch_last = 0, ndims = 0
  end type fftnd_plan

  interface
    subroutine c_version(major, minor, patch) bind(c, name='fftnd_version')
      import
      integer(c_int), intent(out) :: major, minor, patch
    end subroutine c_version

    function c_options_init(options, bytes) bind(c, name='fftnd_options_init')
      import
      type(fftnd_options), intent(out) :: options
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_options_init
    end function c_options_init

    function c_plan_create(comm, ndims, sizes, &
        kind, precision, options, plan) bind(c, name='fftnd__f_plan_create')
      import
      integer(c_int), value :: comm, ndims, kind, precision
      integer(c_int64_t), intent(in) :: sizes(*)
      type(fftnd_options), intent(in) :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: c_plan_create
    end function c_plan_create

    function c_layout_init(layout, bytes) bind(c, name='fftnd_layout_init')
      import
      type(fftnd_layout), intent(out) :: layout
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_layout_init
    end function c_layout_init

    function c_plan_layout(plan, side, layout) bind(c, name='fftnd_plan_layout')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: side
      type(fftnd_layout), intent(inout) :: layout
      integer(c_int) :: c_plan_layout
    end function c_plan_layout

    function c_plan_wavenumbers(plan, axis, k) bind(c, name='fftnd_plan_wavenumbers')
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: axis
      real(c_double), intent(out) :: k(*)
      integer(c_int) :: c_plan_wavenumbers
    end function c_plan_wavenumbers

    function c_execute(plan, direction, input, output) bind(c, name='fftnd__f_execute')
      import
      type(fftnd_plan), intent(in) :: plan
      integer(c_int), value :: direction
      type(*), intent(inout) :: input(..), output(..)
      integer(c_int) :: c_execute
    end function c_execute

    function c_start(plan, direction, input, output) bind(c, name='fftnd__f_start')
      import
      type(fftnd_plan), intent(in) :: plan
      integer(c_int), value :: direction
      type(*), intent(inout) :: input(..), output(..)
      integer(c_int) :: c_start
    end function c_start

    function c_transfer(plan, direction, input, output) bind(c, name='fftnd__f_transfer')
      import
      type(fftnd_plan), intent(in) :: plan
      integer(c_int), value :: direction
      type(*), intent(inout) :: input(..), output(..)
      integer(c_int) :: c_transfer
    end function c_transfer

    function c_wait(plan) bind(c, name='fftnd_wait')
      import
      type(c_ptr), value :: plan
      integer(c_int) :: c_wait
    end function c_wait

    function c_plan_query(plan) bind(c, name='fftnd_plan_query')
      import
      type(c_ptr), value :: plan
      integer(c_int) :: c_plan_query
    end function c_plan_query

    function c_plan_info_init(info, bytes) bind(c, name='fftnd_plan_info_init')
      import
      type(fftnd_plan_info), intent(out) :: info
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_plan_info_init
    end function c_plan_info_init

    function c_plan_get_info(plan, info) bind(c, name='fftnd_plan_get_info')
      import
      type(c_ptr), value :: plan
      type(fftnd_plan_info), intent(inout) :: info
      integer(c_int) :: c_plan_get_info
    end function c_plan_get_info

    function c_plan_get_comm(plan, comm) bind(c, name='fftnd__f_plan_get_comm')
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(out) :: comm
      integer(c_int) :: c_plan_get_comm
    end function c_plan_get_comm

    function c_plan_get_grid(plan, grid) bind(c, name='fftnd_plan_get_grid')
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: grid
      integer(c_int) :: c_plan_get_grid
    end function c_plan_get_grid

    function c_plan_get_method(plan, method) bind(c, name='fftnd_plan_get_method')
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: method
      integer(c_int) :: c_plan_get_method
    end function c_plan_get_method

    function c_phases_init(phases, bytes) bind(c, name='fftnd_phases_init')
      import
      type(fftnd_phases), intent(out) :: phases
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_phases_init
    end function c_phases_init

    function c_plan_get_phases(plan, phases) bind(c, name='fftnd_plan_get_phases')
      import
      type(c_ptr), value :: plan
      type(fftnd_phases), intent(inout) :: phases
      integer(c_int) :: c_plan_get_phases
    end function c_plan_get_phases

    function c_set_workspace(plan, workspace) bind(c, name='fftnd__f_set_workspace')
      import
      type(c_ptr), value :: plan
      type(*), intent(inout) :: workspace(..)
      integer(c_int) :: c_set_workspace
    end function c_set_workspace

    function c_predict(model, nranks, ndims, sizes, &
        kind, precision, options, seconds) bind(c, name='fftnd_predict')
      import
      type(redist_model), intent(in) :: model
      integer(c_int), value :: nranks, ndims, kind, precision
      integer(c_int64_t), intent(in) :: sizes(*)
      type(fftnd_options), intent(in) :: options
      real(c_double), intent(out) :: seconds
      integer(c_int) :: c_predict
    end function c_predict

    function c_plan_free(plan) bind(c, name='fftnd_plan_free')
      import
      type(c_ptr), intent(inout) :: plan
      integer(c_int) :: c_plan_free
    end function c_plan_free
  end interface
end module fftnd_c
