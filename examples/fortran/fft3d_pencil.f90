! SPDX-License-Identifier: BSD-3-Clause
! A complex FFT in three dimensions on a two-dimensional process grid ("pencils"): Appendix A of Dalcin, Mortensen,
! Keyes, "Fast parallel multidimensional FFT using advanced MPI", in Fortran's order.
!
! The array is transformed along the axis in which it is whole; an exchange within a row or column of the process grid
! then makes the next axis whole.
program fft3d_pencil
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use redist
  implicit none
  include 'fftw3.f03'
  integer, parameter :: n(3) = [256, 127, 42]
  type(MPI_Comm) :: groups(2) ! the ranks that differ in one dimension of the process grid only
  integer :: n1, n2, n3, n2_in_1
  complex(c_double_complex), pointer :: a(:, :, :), b(:, :, :), c(:, :, :)
  complex(c_double_complex), allocatable :: original(:, :, :)
  real(c_double) :: spectrum_squares, squares, error
  integer :: rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call redist_subcomm(MPI_COMM_WORLD, groups)

  ! Three alignments: whole along axis 1 (a), axis 2 (b), axis 3 (c)
  n1 = local_size(n(1), groups(1))
  n2_in_1 = local_size(n(2), groups(1))
  n2 = local_size(n(2), groups(2))
  n3 = local_size(n(3), groups(2))
  call redist_alloc(MPI_COMM_WORLD, [n(1), n2_in_1, n3], a)
  call redist_alloc(MPI_COMM_WORLD, [n1, n(2), n3], b)
  call redist_alloc(MPI_COMM_WORLD, [n1, n2, n(3)], c)
  call fill(a)
  original = a

  call transform(1, size(a, 1), size(a, 2)*size(a, 3), a, FFTW_FORWARD)
  call redist_exchange(groups(1), a, 1, b, 2)
  call transform(size(b, 1), size(b, 2), size(b, 3), b, FFTW_FORWARD)
  call redist_exchange(groups(2), b, 2, c, 3)
  call transform(size(c, 1)*size(c, 2), size(c, 3), 1, c, FFTW_FORWARD)

  spectrum_squares = sum_of_squares(c)

  call transform(size(c, 1)*size(c, 2), size(c, 3), 1, c, FFTW_BACKWARD)
  call redist_exchange(groups(2), c, 3, b, 2)
  call transform(size(b, 1), size(b, 2), size(b, 3), b, FFTW_BACKWARD)
  call redist_exchange(groups(1), b, 2, a, 1)
  call transform(1, size(a, 1), size(a, 2)*size(a, 3), a, FFTW_BACKWARD)

  ! The round trip, and Parseval's theorem
  squares = sum_of_squares(original)
  original = original - a
  error = sqrt(sum_of_squares(original)/squares)
  if (rank == 0) write (*, '(2(a, es8.1))') 'relative error of the round trip', error, ', of Parseval''s sum', &
    abs(spectrum_squares/(squares*product(real(n, c_double))) - 1)
  if (.not. error < 1e-14_c_double) error stop
  if (.not. abs(spectrum_squares/(squares*product(real(n, c_double))) - 1) < 1e-12_c_double) error stop

  call redist_free(c)
  call redist_free(b)
  call redist_free(a)
  call MPI_Comm_free(groups(1))
  call MPI_Comm_free(groups(2))
  call MPI_Finalize()

contains

  ! How many of n elements this rank has when they are split among the ranks of a group.
  integer function local_size(n, group)
    integer, intent(in) :: n
    type(MPI_Comm), intent(in) :: group
    integer :: nranks, rank, start
    call MPI_Comm_size(group, nranks)
    call MPI_Comm_rank(group, rank)
    call redist_decompose(n, nranks, rank, local_size, start)
  end function local_size

  subroutine fill(array)
    complex(c_double_complex), intent(out) :: array(:, :, :)
    integer :: i, j, k
    do k = 1, size(array, 3)
      do j = 1, size(array, 2)
        do i = 1, size(array, 1)
          array(i, j, k) = cmplx(sin(real(i*j, c_double)), cos(real(j + k*k, c_double)), c_double_complex)
        end do
      end do
    end do
  end subroutine fill

  ! Transforms an array along its second axis; backward divides by the extent.
  subroutine transform(before, n, behind, array, sign)
    integer, intent(in) :: before, n, behind
    complex(c_double_complex), intent(inout) :: array(before, n, behind)
    integer(c_int), intent(in) :: sign
    type(fftw_iodim) :: along(1), others(2)
    complex(c_double_complex), allocatable :: input(:, :, :)
    type(c_ptr) :: plan
    if (size(array) == 0) return
    input = array
    along = fftw_iodim(n, before, before)
    others = [fftw_iodim(behind, n*before, n*before), fftw_iodim(before, 1, 1)]
    plan = fftw_plan_guru_dft(1, along, 2, others, input, array, sign, FFTW_ESTIMATE)
    call fftw_execute_dft(plan, input, array)
    call fftw_destroy_plan(plan)
    if (sign == FFTW_BACKWARD) array = array/n
  end subroutine transform

  ! The squared magnitudes of all elements on all ranks.
  real(c_double) function sum_of_squares(array)
    complex(c_double_complex), intent(in) :: array(:, :, :)
    sum_of_squares = sum(real(array)**2 + aimag(array)**2)
    call MPI_Allreduce(MPI_IN_PLACE, sum_of_squares, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function sum_of_squares

end program fft3d_pencil
