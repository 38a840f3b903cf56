! SPDX-License-Identifier: BSD-3-Clause
! Transforms whose physical side is filled in part, against those of an array with its zeros.
program test_filled
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use fftnd
  use checks
  implicit none
  integer, parameter :: sizes(3) = [8, 9, 10], filled(3) = [4, 5, 10]
  type(fftnd_plan) :: plan, whole
  type(fftnd_layout) :: layout
  type(redist_model) :: model
  real(real64), pointer :: u(:, :, :), w(:, :, :)
  complex(real64), pointer :: modes(:, :, :), expected(:, :, :)
  real(real64) :: seconds(2)
  integer :: nranks, code

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, whole, effort=FFTND_ESTIMATE)
  call fftnd_alloc(whole, FFTND_PHYSICAL, w)
  call fftnd_alloc(whole, FFTND_SPECTRAL, expected)
  call set(w)
  call fftnd_forward(whole, w, expected)

  call fftnd_plan_create(MPI_COMM_WORLD, int(sizes, int64), FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, &
    filled=int(filled, int64))
  call fftnd_plan_free(plan)
  call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, filled=filled)
  call fftnd_plan_layout(plan, FFTND_PHYSICAL, layout)
  call check(all(layout%sizes(1:3) == filled), 'extents of the physical side')
  call fftnd_alloc(plan, FFTND_PHYSICAL, u)
  call fftnd_alloc(plan, FFTND_SPECTRAL, modes)
  call set(u)
  call fftnd_forward(plan, u, modes)
  call check(all(shape(modes) == shape(expected)), 'the spectral side')
  call check(all(abs(modes - expected) < 1e-9_real64), 'modes')
  call fftnd_backward(plan, modes, u)
  call check(holds(u), 'there and back')

  call redist_free(modes)
  call redist_free(u)
  call redist_free(expected)
  call redist_free(w)
  call fftnd_plan_free(plan)
  call fftnd_plan_free(whole)

  call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, filled=[4, 5, 11], ierror=code)
  call check(code == REDIST_ERR_SIZE .and. index(redist_error_message(), 'options->filled[0] = 11') > 0, 'too many')
  call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, filled=[4, 5], ierror=code)
  call check(code /= REDIST_OK .and. index(redist_error_message(), 'option filled has') > 0, 'a wrong length')
  call redist_model_fit(MPI_COMM_WORLD, model)
  call fftnd_predict(model, 2, sizes, FFTND_C2C, FFTND_DOUBLE, [2], seconds(1))
  call fftnd_predict(model, 2, sizes, FFTND_C2C, FFTND_DOUBLE, [2], seconds(2), filled=filled)
  call check(seconds(2) <= seconds(1), 'a prediction')
  call finish()

contains

  ! Values of the points that are filled, zero elsewhere.
  pure real(real64) function expected_at(i, j, k)
    integer, intent(in) :: i, j, k
    expected_at = 0
    if (all([i, j, k] <= filled)) expected_at = value_at([i, j, k])/1000
  end function expected_at

  subroutine set(array)
    real(real64), pointer, intent(in) :: array(:, :, :)
    integer :: i, j, k
    do k = lbound(array, 3), ubound(array, 3)
      do j = lbound(array, 2), ubound(array, 2)
        do i = lbound(array, 1), ubound(array, 1)
          array(i, j, k) = expected_at(i, j, k)
        end do
      end do
    end do
  end subroutine set

  logical function holds(array)
    real(real64), pointer, intent(in) :: array(:, :, :)
    integer :: i, j, k
    holds = .true.
    do k = lbound(array, 3), ubound(array, 3)
      do j = lbound(array, 2), ubound(array, 2)
        do i = lbound(array, 1), ubound(array, 1)
          holds = holds .and. abs(array(i, j, k) - expected_at(i, j, k)) < 1e-11_real64
        end do
      end do
    end do
  end function holds

end program test_filled
