! SPDX-License-Identifier: BSD-3-Clause
!> The functions of fftnd.h, which explains them, for Fortran, and all of module redist, with its conventions.
!>
!> fftnd_alloc(plan, side, array) allocates this rank's array of one side, memory that peers can map, and points to it:
!> the bounds are global indices, which count from 1. fftnd_point(plan, side, memory, array) points to other memory as
!> fftnd_alloc does, such as the other side of a transform in place. The pointer has as many axes as the plan, and one
!> more for a batch: the last one, or the first one with FFTND_BATCH_LAST. redist_free frees such arrays.
!> Of a side with padding before this rank's part, arrays are the part alone: fftnd_alloc returns an error, and
!> fftnd_point points to the part in other memory.
!> A physical side with ghosts has them in these arrays, beyond the bounds of the part (fftnd_plan_layout); transforms
!> take such an array, or its section without the ghosts.
!> fftnd_alloc(op, is_output, array) does so for the input or the output of an operator, whose fields are the batch.
!>
!> In the usual order the physical side is whole along the first axes, the halved axis of FFTND_R2C is the first, and
!> the spectral side is whole along the last one. Dimension j of a grid of g dimensions splits axis order(d - g + j) of
!> the physical side and axis order(d - g + j - 1) of the spectral side; order is 1, 2, .., d by default.
module fftnd
  use redist
  use fftnd_types
  use fftnd_arrays
  use fftnd_procedures
  use fftnd_operators
  implicit none
  private :: fftnd_options, fftnd_operator_options, fftnd__reverse
end module fftnd
