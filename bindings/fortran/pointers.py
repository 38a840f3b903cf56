#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran modules whose procedures give memory to pointers: one procedure for each type and number of axes,
since Fortran has no templates, and gfortran warns of pointers that are passed to arguments of any number of axes.

    pointers.py redist_arrays|fftnd_arrays > MODULE.f90
"""
import sys

FIELDS = {"float": "real(c_float)", "double": "real(c_double)", "complex_float": "complex(c_float_complex)",
          "complex_double": "complex(c_double_complex)"}
OTHERS = {"long_double": "real(c_long_double)", "complex_long_double": "complex(c_long_double_complex)",
          "int32": "integer(c_int32_t)", "int64": "integer(c_int64_t)"}

REDIST = {
    "types": {**FIELDS, **OTHERS},
    "ranks": range(1, 8),
    "begin": """\
! Arrays that peers can map. Made by pointers.py, not to be edited.
module redist_arrays
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm
  use redist_c
  use redist_support
  implicit none
  private
  public :: redist_alloc, redist_free
""",
    "interface": """\
    function make_{name}(comm, space, array, naxes, counts, lower) bind(c, name='redist__f_alloc_array')
      import
      integer(c_int), value :: comm, space, naxes
      {type}, pointer, intent(inout) :: array(..)
      integer(c_int64_t), intent(in) :: counts(*), lower(*)
      integer(c_int) :: make_{name}
    end function make_{name}
    function release_{name}(array) bind(c, name='redist__f_free_array')
      import
      {type}, pointer, intent(inout) :: array(..)
      integer(c_int) :: release_{name}
    end function release_{name}
""",
    "generics": {"redist_alloc": ["alloc_{name}_{rank}_short", "alloc_{name}_{rank}_long"],
                 "redist_free": ["free_{name}_{rank}"]},
    "more": {"redist_alloc": ["alloc_bytes"], "redist_free": ["free_bytes"]},
    "contains": """\
  integer(c_int) function space_or_host(space)
    integer, intent(in), optional :: space
    space_or_host = REDIST_SPACE_HOST
    if (present(space)) space_or_host = space
  end function space_or_host

  ! How many values shape and lower have, -1 if they differ; and lower for C.
  subroutine read_lower(shape, lower, naxes, first)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: lower(:)
    integer(c_int), intent(out) :: naxes
    integer(c_int64_t), intent(out) :: first(size(shape))
    naxes = size(shape)
    first = 1
    if (.not. present(lower)) return
    if (size(lower) == naxes) first = lower
    if (size(lower) /= naxes) naxes = -1
  end subroutine read_lower

  subroutine alloc_bytes(comm, bytes, memory, space, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(out) :: memory
    integer, intent(in), optional :: space
    integer, intent(out), optional :: ierror
    call redist__finish(c_alloc_bytes(comm%MPI_VAL, space_or_host(space), bytes, memory), ierror)
  end subroutine alloc_bytes

  subroutine free_bytes(memory, ierror)
    type(c_ptr), intent(inout) :: memory
    integer, intent(out), optional :: ierror
    call redist__finish(c_free(memory), ierror)
  end subroutine free_bytes
""",
    "procedure": """\

  subroutine alloc_{name}_{rank}_long(comm, shape, array, lower, space, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: shape(:)
    {type}, pointer, intent(out) :: array({colons})
    integer(int64), intent(in), optional :: lower(:)
    integer, intent(in), optional :: space
    integer, intent(out), optional :: ierror
    integer(c_int64_t) :: first(size(shape))
    integer(c_int) :: naxes
    nullify (array)
    call read_lower(shape, lower, naxes, first)
    call redist__finish(make_{name}(comm%MPI_VAL, space_or_host(space), array, naxes, shape, first), ierror)
  end subroutine alloc_{name}_{rank}_long

  subroutine alloc_{name}_{rank}_short(comm, shape, array, lower, space, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: shape(:)
    {type}, pointer, intent(out) :: array({colons})
    integer(int32), intent(in), optional :: lower(:)
    integer, intent(in), optional :: space
    integer, intent(out), optional :: ierror
    integer(int64), allocatable :: first(:)
    if (present(lower)) first = int(lower, int64)
    call alloc_{name}_{rank}_long(comm, int(shape, int64), array, first, space, ierror)
  end subroutine alloc_{name}_{rank}_short

  subroutine free_{name}_{rank}(array, ierror)
    {type}, pointer, intent(inout) :: array({colons})
    integer, intent(out), optional :: ierror
    call redist__finish(release_{name}(array), ierror)
  end subroutine free_{name}_{rank}
""",
    "end": "end module redist_arrays",
}

FFTND = {
    "types": FIELDS,
    "ranks": range(1, 9),
    "begin": """\
! Arrays of a transform. Made by pointers.py, not to be edited.
module fftnd_arrays
  use, intrinsic :: iso_c_binding
  use redist_support
  use fftnd_c
  implicit none
  private
  public :: fftnd_alloc, fftnd_point
""",
    "interface": """\
    function make_{name}(plan, side, array) bind(c, name='fftnd__f_alloc')
      import
      type(fftnd_plan), intent(in) :: plan
      integer(c_int), value :: side
      {type}, pointer, intent(inout) :: array(..)
      integer(c_int) :: make_{name}
    end function make_{name}
    function make_for_{name}(op, is_output, array) bind(c, name='fftnd__f_alloc_operator')
      import
      type(fftnd_operator), intent(in) :: op
      integer(c_int), value :: is_output
      {type}, pointer, intent(inout) :: array(..)
      integer(c_int) :: make_for_{name}
    end function make_for_{name}
    function associate_{name}(plan, side, memory, array) bind(c, name='fftnd__f_point')
      import
      type(fftnd_plan), intent(in) :: plan
      integer(c_int), value :: side
      type(*), intent(in) :: memory(..)
      {type}, pointer, intent(inout) :: array(..)
      integer(c_int) :: associate_{name}
    end function associate_{name}
""",
    "generics": {"fftnd_alloc": ["alloc_{name}_{rank}", "alloc_for_{name}_{rank}"],
                 "fftnd_point": ["point_{name}_{rank}"]},
    "more": {},
    "contains": "",
    "procedure": """\

  subroutine alloc_{name}_{rank}(plan, side, array, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: side
    {type}, pointer, intent(out) :: array({colons})
    integer, intent(out), optional :: ierror
    nullify (array)
    call redist__finish(make_{name}(plan, side, array), ierror)
  end subroutine alloc_{name}_{rank}

  subroutine alloc_for_{name}_{rank}(op, is_output, array, ierror)
    type(fftnd_operator), intent(in) :: op
    logical, intent(in) :: is_output
    {type}, pointer, intent(out) :: array({colons})
    integer, intent(out), optional :: ierror
    nullify (array)
    call redist__finish(make_for_{name}(op, merge(1, 0, is_output), array), ierror)
  end subroutine alloc_for_{name}_{rank}

  subroutine point_{name}_{rank}(plan, side, memory, array, ierror)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: side
    type(*), target, intent(in) :: memory(..)
    {type}, pointer, intent(out) :: array({colons})
    integer, intent(out), optional :: ierror
    nullify (array)
    call redist__finish(associate_{name}(plan, side, memory, array), ierror)
  end subroutine point_{name}_{rank}
""",
    "end": "end module fftnd_arrays",
}


def cases(parts):
    for name, kind in parts["types"].items():
        for rank in parts["ranks"]:
            yield {"name": name, "type": kind, "rank": rank, "colons": ", ".join(":" * rank)}


def write(parts):
    print(parts["begin"])
    print("  interface")
    for name, kind in parts["types"].items():
        print(parts["interface"].format(name=name, type=kind), end="")
    print("  end interface\n")
    for generic, specifics in parts["generics"].items():
        print(f"  interface {generic}")
        for specific in parts["more"].get(generic, []):
            print(f"    module procedure {specific}")
        for case in cases(parts):
            for specific in specifics:
                print("    module procedure", specific.format(**case))
        print(f"  end interface {generic}\n")
    print("contains\n")
    print(parts["contains"], end="")
    for case in cases(parts):
        print(parts["procedure"].format(**case), end="")
    print("\n" + parts["end"])


write({"redist_arrays": REDIST, "fftnd_arrays": FFTND}[sys.argv[1]])
