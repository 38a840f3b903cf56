! SPDX-License-Identifier: BSD-3-Clause
! What the Fortran tests share: conditions that are counted, values of global arrays, random numbers that all ranks have.
module checks
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  use mpi_f08
  implicit none
  private
  public :: check, finish, value_at, start_random, random

  integer :: failures = 0, conditions = 0

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    integer :: rank
    conditions = conditions + 1
    if (condition) return
    failures = failures + 1
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': wrong: ', what
  end subroutine check

  ! Ends MPI; the program fails if a condition did on any rank, or if there were none.
  subroutine finish()
    integer :: rank
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) write (*, '(i0, a, i0, a)') conditions, ' conditions on rank 0, ', failures, ' failed on all ranks'
    call MPI_Finalize()
    if (failures > 0 .or. conditions == 0) stop 1
  end subroutine finish

  ! A value that tells the place in the global array that it belongs to.
  pure real(real64) function value_at(place)
    integer, intent(in) :: place(:)
    integer :: i
    value_at = 0
    do i = 1, size(place)
      value_at = 31*value_at + place(i)
    end do
  end function value_at

  ! The seed is printed; REDIST_TEST_SEED repeats it.
  subroutine start_random()
    integer :: rank, n, status, clock
    character(len=20) :: text
    call get_environment_variable('REDIST_TEST_SEED', text, status=status)
    call system_clock(clock)
    if (status == 0) read (text, *) clock
    call MPI_Bcast(clock, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) write (*, '(a, i0)') 'REDIST_TEST_SEED=', clock
    call random_seed(size=n)
    call random_seed(put=spread(clock, 1, n))
  end subroutine start_random

  ! From 1 to most, the same on all ranks.
  integer function random(most)
    integer, intent(in) :: most
    real :: number
    call random_number(number)
    random = 1 + int(number*real(most))
    random = min(random, most)
  end function random

end module checks
