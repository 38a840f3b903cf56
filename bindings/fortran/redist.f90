! SPDX-License-Identifier: BSD-3-Clause
!> The functions of redist.h, redist_halo.h, redist_file.h and redist_checkpoint.h, which explain them, for Fortran.
!> Differences:
!>
!>  - Axes, dimensions of a process grid, and elements along an axis count from 1, and axes and dimensions come in
!>    Fortran's order: axis i of d is axis d - i of redist.h, so that the first one is contiguous. Ranks, parts,
!>    coordinates and partitions count from 0, as in MPI. Messages of errors count as redist.h does.
!>  - Arrays are given as they are, of any type, kind and rank: the library takes their shapes and the size of their
!>    elements. They are contiguous (an array that is not counts as a null pointer), except tiles and those of fields. An
!>    array to which a plan is bound, or of which a field is made, has the attribute TARGET or POINTER.
!>  - redist_alloc(comm, shape, array, lower, space) takes a pointer of as many axes as shape has values, to real or
!>    complex elements of any kind, or integers of 32 or 64 bits; lower is the first index along each axis (1). For other
!>    types, redist_alloc(comm, bytes, memory, space) with integer(c_size_t) and type(c_ptr), and c_f_pointer.
!>  - Each structure of options is a list of optional arguments. Ghosts are the arguments low, high, periodic and corners
!>    of redist_plan_halo; elements that are added are integers, real or complex.
!>  - The last argument, ierror, becomes REDIST_OK or a code. Without it, an error prints its message and ends the
!>    program on all ranks.
module redist
  use redist_types, redist__c_info => redist_checkpoint_info, redist__c_info_field => redist_checkpoint_field
  use redist_field_type
  use redist_arrays
  use redist_grids
  use redist_procedures
  use redist_files
  implicit none
  private :: redist_options, redist_halo, redist_file_options, redist_checkpoint_options, redist__c_info, &
    redist__c_info_field
end module redist
