! SPDX-License-Identifier: BSD-3-Clause
module fftnd_handle
  use, intrinsic :: iso_c_binding
  use redist_types, only: redist_halo
  implicit none
  public

  !> A distributed transform, forward and backward; as struct fftnd__f_plan of fftnd.c.
  type, bind(c) :: fftnd_plan
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: comm = 0, space = 0, batch_last = 0, ndims = 0, precision = 0
    type(redist_halo) :: ghosts ! of the physical side, in C's order
  end type fftnd_plan

  !> An operator for a plan; as struct fftnd__f_operator of fftnd.c.
  type, bind(c) :: fftnd_operator
    type(c_ptr) :: handle = c_null_ptr
    type(fftnd_plan) :: plan
  end type fftnd_operator
end module fftnd_handle
