! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program for FFTW-MPI alone, through fftw3-mpi.f03: a real transform in three dimensions and back.
program fortran
  use, intrinsic :: iso_c_binding
  implicit none
  include 'mpif.h'
  include 'fftw3-mpi.f03'
  integer(C_INTPTR_T), parameter :: l = 12, m = 9, n = 14
  type(C_PTR) :: plan_forward, plan_backward, memory
  real(C_DOUBLE), pointer :: field(:, :, :)
  complex(C_DOUBLE_COMPLEX), pointer :: modes(:, :, :)
  integer(C_INTPTR_T) :: all, mine, first, i, j, k
  real(8) :: sums(2), total(2)
  integer :: code, rank
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call fftw_mpi_init()
  all = fftw_mpi_local_size_3d(n, m, l / 2 + 1, MPI_COMM_WORLD, mine, first)
  memory = fftw_alloc_complex(all)
  call c_f_pointer(memory, field, [2 * (l / 2 + 1), m, mine])
  call c_f_pointer(memory, modes, [l / 2 + 1, m, mine])
  plan_forward = fftw_mpi_plan_dft_r2c_3d(n, m, l, field, modes, MPI_COMM_WORLD, FFTW_MEASURE)
  plan_backward = fftw_mpi_plan_dft_c2r_3d(n, m, l, modes, field, MPI_COMM_WORLD, FFTW_MEASURE)
  do k = 1, mine
    do j = 1, m
      do i = 1, l
        field(i, j, k) = sin(0.1d0 * (i + l * (j + m * (k + first))))
      end do
    end do
  end do
  call fftw_mpi_execute_dft_r2c(plan_forward, field, modes)
  sums(1) = sum(abs(modes)**2)
  call fftw_mpi_execute_dft_c2r(plan_backward, modes, field)
  sums(2) = sum(field(1:l, :, :)**3)
  call MPI_Allreduce(sums, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(2es16.8)', total
  call fftw_destroy_plan(plan_forward)
  call fftw_destroy_plan(plan_backward)
  call fftw_free(memory)
  call MPI_Finalize(code)
end program fortran
