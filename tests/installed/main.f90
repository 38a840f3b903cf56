! SPDX-License-Identifier: BSD-3-Clause
! A program of a user: built against the installed modules.
program main
  use mpi_f08
  use fftnd
  implicit none
  type(fftnd_plan) :: plan
  real(8), pointer :: field(:, :, :)
  complex(8), pointer :: modes(:, :, :)
  logical :: right
  call MPI_Init()
  call fftnd_plan_create(MPI_COMM_WORLD, [6, 5, 4], FFTND_R2C, FFTND_DOUBLE, plan)
  call fftnd_alloc(plan, FFTND_PHYSICAL, field)
  call fftnd_alloc(plan, FFTND_SPECTRAL, modes)
  field = 1
  call fftnd_forward(plan, field, modes)
  right = .true.
  if (size(modes) > 0 .and. all(lbound(modes) == 1)) right = abs(modes(1, 1, 1) - 120) < 1e-10
  call fftnd_backward(plan, modes, field)
  right = right .and. all(abs(field - 1) < 1e-14)
  call redist_free(modes)
  call redist_free(field)
  call fftnd_plan_free(plan)
  if (.not. right) error stop 'wrong modes'
  call MPI_Finalize()
end program main
