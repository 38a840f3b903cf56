! SPDX-License-Identifier: BSD-3-Clause
module redist_field_type
  use, intrinsic :: iso_c_binding
  use redist_types, only: REDIST_MAX_NDIMS, REDIST_SPACE_AUTO
  implicit none
  private

  !> A distributed array in a file, made by redist_field_set_box or fftnd_plan_field; as struct redist__f_field of
  !> fields.h. Axes are Fortran's, start and selected_start count from 1; strides and offset are elements. The selection,
  !> all of the array at first, may be changed: a plane has the count 1 along its axis, a count of 0 is from the start to
  !> the end, and every selected_step-th element is in the file.
  type, bind(c), public :: redist_field
    integer(c_int) :: ndims = 0, space = REDIST_SPACE_AUTO
    integer(c_int64_t), dimension(REDIST_MAX_NDIMS) :: sizes = 0, start = 1, count = 0
    integer(c_ptrdiff_t) :: stride(REDIST_MAX_NDIMS) = 0, offset = 0
    integer(c_int64_t), dimension(REDIST_MAX_NDIMS) :: selected_start = 1, selected_count = 0, selected_step = 1
    type(c_ptr) :: array = c_null_ptr
    integer(c_size_t) :: element_bytes = 0
    integer(c_int) :: element_type = 0
    character(kind=c_char) :: name(256) = c_null_char ! text of C
  end type redist_field
end module redist_field_type
