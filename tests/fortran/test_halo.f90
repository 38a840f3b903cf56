! SPDX-License-Identifier: BSD-3-Clause
! Module redist: ghosts of random widths against a global array, elements of all kinds, elements that several ranks
! read, operations, errors.
program test_halo
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use mpi_f08
  use redist
  use checks
  implicit none
  integer :: rank, nranks, i

  type :: ghosts
    integer :: sizes(2), low(2), high(2)
    logical :: periodic(2), corners
    type(redist_box) :: box
  end type ghosts

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call start_random()
  do i = 1, 12
    call test_random(mod(i, 3) == 0)
  end do
  call test_numbers()
  call test_other_elements()
  call test_overlap()
  call test_operation()
  call test_errors()
  call finish()

contains

  ! Random ghosts of a field in blocks of a grid; `later`: bound at execution.
  subroutine test_random(later)
    logical, intent(in) :: later
    real(real64), pointer :: field(:, :)
    real(real64), allocatable :: full(:, :), sums(:, :)
    integer :: first(2), last(2), place(2), i, j
    logical :: right
    type(ghosts) :: g
    type(redist_grid) :: grid
    type(redist_plan) :: plan
    g%sizes = [random(9), random(9)]
    g%periodic = [random(2) == 1, random(2) == 1]
    g%corners = random(2) == 1
    do i = 1, 2
      g%low(i) = min(random(5) - 1, merge(5, g%sizes(i), g%periodic(i)))
      g%high(i) = min(random(5) - 1, merge(5, g%sizes(i), g%periodic(i)))
    end do
    call redist_grid_create(MPI_COMM_WORLD, [0, 0], grid)
    call redist_grid_box(grid, g%sizes, [1, 2], g%box)
    g%box%offset(1:2) = g%low
    first = 1 - g%low ! the first element of the box is field(1, 1)
    last = int(g%box%count(1:2)) + g%high
    if (any(g%box%count(1:2) == 0)) last = max(last, first) ! some memory
    call redist_alloc(MPI_COMM_WORLD, last - first + 1, field, lower=first)
    if (later) then
      call redist_plan_halo(MPI_COMM_WORLD, g%sizes, g%box, field, g%low, g%high, plan, g%periodic, g%corners, &
        bind_a=REDIST_BIND_AT_EXECUTION, effort=REDIST_ESTIMATE)
    else
      call redist_plan_halo(MPI_COMM_WORLD, int(g%sizes, int64), g%box, field, int(g%low, int64), &
        int(g%high, int64), plan, g%periodic, g%corners, effort=REDIST_ESTIMATE)
    end if
    allocate (full(g%sizes(1), g%sizes(2)), sums(g%sizes(1), g%sizes(2)))
    full = reshape([((value_at([i, j]), i=1, g%sizes(1)), j=1, g%sizes(2))], g%sizes)
    field = -1 - rank
    field(1:g%box%count(1), 1:g%box%count(2)) = full(g%box%start(1):g%box%start(1) + g%box%count(1) - 1, &
      g%box%start(2):g%box%start(2) + g%box%count(2) - 1)

    if (later) then
      call redist_plan_start_arrays(plan, REDIST_FILL, field, field)
    else
      call redist_plan_start(plan, REDIST_FILL)
    end if
    call redist_plan_wait(plan)
    right = .true.
    do j = first(2), last(2)
      do i = first(1), last(1)
        if (shows(g, i, j, place)) then
          right = right .and. abs(field(i, j) - full(place(1), place(2))) <= 0
        else
          right = right .and. abs(field(i, j) + 1 + rank) <= 0
        end if
      end do
    end do
    call check(right, 'ghosts that are filled')

    sums = 0
    do j = first(2), last(2)
      do i = first(1), last(1)
        if (.not. shows(g, i, j, place) .or. is_own(g, i, j)) cycle
        field(i, j) = mod(i + 3*j + rank + 60, 7)
        sums(place(1), place(2)) = sums(place(1), place(2)) + field(i, j)
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, sums, size(sums), MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (later) then
      call redist_plan_execute_arrays(plan, REDIST_ACCUMULATE, field, field)
    else
      call redist_plan_execute(plan, REDIST_ACCUMULATE)
    end if
    right = .true.
    do j = 1, int(g%box%count(2))
      do i = 1, int(g%box%count(1))
        right = right .and. shows(g, i, j, place)
        right = right .and. abs(field(i, j) - full(place(1), place(2)) - sums(place(1), place(2))) <= 0
      end do
    end do
    call check(right, 'ghosts that are added')
    call redist_plan_free(plan)
    call redist_free(field)
    call redist_grid_free(grid)
  end subroutine test_random

  ! Whether an element of the field is one of this rank's box.
  logical function is_own(g, i, j)
    type(ghosts), intent(in) :: g
    integer, intent(in) :: i, j
    is_own = i >= 1 .and. i <= g%box%count(1) .and. j >= 1 .and. j <= g%box%count(2)
  end function is_own

  ! Whether an element of the field is one of the global array or shows one, and its place there.
  logical function shows(g, i, j, place)
    type(ghosts), intent(in) :: g
    integer, intent(in) :: i, j
    integer, intent(out) :: place(2)
    logical :: outside(2)
    outside = [i, j] < 1 .or. [i, j] > g%box%count(1:2)
    place = int(g%box%start(1:2)) + [i, j] - 1
    shows = all(g%box%count(1:2) > 0) .and. all(g%periodic .or. (place >= 1 .and. place <= g%sizes)) .and. &
      (g%corners .or. .not. all(outside))
    place = modulo(place - 1, g%sizes) + 1
  end function shows

  ! Rows of two elements for each rank, with one ghost on each side of a ring: sums of each kind of number.
  subroutine test_numbers()
    type(redist_box) :: box
    call redist_box_init(box)
    box%start(1) = 2*rank + 1
    box%count(1) = 2
    box%offset(1) = 1
    block
      real(real32), target :: a(0:3)
      a = [0.5, 2.0, 4.0, 0.25]
      call ring(a, box)
      call check(all(abs(a(1:2) - [2.25, 4.5]) <= 0), 'sums of real(real32)')
    end block
    block
      complex(real32), target :: a(0:3)
      a = [(0.5, 1), (2, 2), (4, 4), (0.25, 8)]
      call ring(a, box)
      call check(all(abs(a(1:2) - [(2.25, 10), (4.5, 5)]) <= 0), 'sums of complex(real32)')
    end block
    block
      complex(real64), target :: a(0:3)
      a = [(0.5, 1), (2, 2), (4, 4), (0.25, 8)]
      call ring(a, box)
      call check(all(abs(a(1:2) - [(2.25, 10), (4.5, 5)]) <= 0), 'sums of complex(real64)')
    end block
    block
      integer(int8), target :: a(0:3)
      a = [1_int8, 20_int8, 30_int8, -5_int8]
      call ring(a, box)
      call check(all(a(1:2) == [15, 31]), 'sums of integer(int8)')
    end block
    block
      integer(int16), target :: a(0:3)
      a = [1_int16, 2000_int16, 300_int16, -5_int16]
      call ring(a, box)
      call check(all(a(1:2) == [1995, 301]), 'sums of integer(int16)')
    end block
    block
      integer(int32), target :: a(0:3)
      a = [2**24 + 1, 2**24 + 3, 5, -7]
      call ring(a, box)
      call check(all(a(1:2) == [2**24 - 4, 2**24 + 6]), 'sums of integer(int32)')
    end block
    block
      integer(int64), target :: a(0:3)
      a = [2_int64**53 + 1, 3_int64, 5_int64, -7_int64]
      call ring(a, box)
      call check(all(a(1:2) == [-4_int64, 2_int64**53 + 6]), 'sums of integer(int64)')
    end block
  end subroutine test_numbers

  subroutine ring(a, box)
    type(*), intent(inout), target :: a(..)
    type(redist_box), intent(in) :: box
    type(redist_plan) :: plan
    call redist_plan_halo(MPI_COMM_WORLD, [2*nranks], box, a, [1], [1], plan, periodic=[.true.], &
      overlap=REDIST_OVERLAP_ADD, effort=REDIST_ESTIMATE)
    call redist_plan_execute(plan, REDIST_ACCUMULATE)
    call redist_plan_free(plan)
  end subroutine ring

  ! Elements without sums have ghosts that are filled; several fields are an axis without ghosts.
  subroutine test_other_elements()
    logical, target :: a(3, 0:3)
    type(redist_box) :: box
    type(redist_plan) :: plan
    integer :: code
    call redist_box_init(box)
    box%start(2) = 2*rank + 1
    box%count(1:2) = [3, 2]
    box%offset(2) = 1
    call redist_plan_halo(MPI_COMM_WORLD, [3, 2*nranks], box, a, [0, 1], [0, 1], plan, [.false., .true.])
    a = .false.
    a(:, 1) = [.true., .false., .true.]
    call redist_plan_execute(plan, REDIST_FILL)
    call check(all(a(:, 3) .eqv. a(:, 1)) .and. .not. any(a(:, 0)), 'ghosts of logical')
    call redist_plan_execute(plan, REDIST_ACCUMULATE, code)
    call check(code == REDIST_ERR_ARGUMENT, 'sums of logical')
    call redist_plan_free(plan)
    call redist_plan_halo(MPI_COMM_WORLD, [3, 2*nranks], box, a, [0, 1], [0, 1], plan, overlap=REDIST_OVERLAP_ADD, &
      ierror=code)
    call check(code == REDIST_ERR_DATATYPE, 'a plan of sums of logical')
  end subroutine test_other_elements

  ! Rows that all ranks read, and that receive the sum of what these have.
  subroutine test_overlap()
    integer, target :: a(3, 1), b(3, nranks)
    type(redist_box) :: row, whole
    type(redist_plan) :: plan
    integer :: j, code
    call redist_box_init(row)
    call redist_box_init(whole)
    row%start(2) = rank + 1
    row%count(1:2) = [3, 1]
    whole%count(1:2) = [3, nranks]
    a = rank
    b = -1
    call redist_plan_boxes(MPI_COMM_WORLD, [3, nranks], row, a, whole, b, plan, overlap=REDIST_OVERLAP_ADD)
    call redist_plan_execute(plan, REDIST_FORWARD)
    call check(all([(b(:, j) == j - 1, j=1, nranks)]), 'elements that all ranks read')
    b = 2**24 + 1
    call redist_plan_execute(plan, REDIST_BACKWARD)
    call check(all(a == rank + nranks*(2**24 + 1)), 'sums of integers')
    call redist_plan_free(plan)
    call redist_plan_boxes(MPI_COMM_WORLD, [3, nranks], row, a, whole, b, plan, overlap=REDIST_OVERLAP_READ, &
      wire=REDIST_WIRE_FLOAT, wire_scope=REDIST_WIRE_EVERYWHERE, ierror=code)
    call check(code == REDIST_ERR_DATATYPE, 'a format of doubles for integers')
    call redist_plan_boxes(MPI_COMM_WORLD, [3, nranks], row, a, whole, b, plan, ierror=code)
    call check(code == merge(REDIST_OK, REDIST_ERR_OVERLAP, nranks == 1), 'boxes that overlap')
    call redist_plan_free(plan)
  end subroutine test_overlap

  ! Ghosts of which the highest stays.
  subroutine test_operation()
    real(real64), target :: a(4)
    type(redist_box) :: box
    type(redist_plan) :: plan
    integer :: code
    call redist_box_init(box)
    box%start(1) = 2*rank + 1
    box%count(1) = 2
    box%offset(1) = 1
    call redist_plan_halo(MPI_COMM_WORLD, [2*nranks], box, a, [1], [1], plan, periodic=[.true.], operation=MPI_MAX, &
      effort=REDIST_ESTIMATE)
    a = [9, 1, 2, 3] + rank
    call redist_plan_execute(plan, REDIST_ACCUMULATE)
    call check(all(abs(a(2:3) - [max(rank + 1, 3 + mod(rank + nranks - 1, nranks)), 9 + mod(rank + 1, nranks)]) < 0.5), &
      'the highest ghosts')
    call redist_plan_free(plan)
    call redist_plan_halo(MPI_COMM_WORLD, [2*nranks], box, a, [1], [1], plan, periodic=[.true.], &
      overlap=REDIST_OVERLAP_READ, operation=MPI_MAX, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'an operation without sums')
  end subroutine test_operation

  subroutine test_errors()
    real(real64), target :: a(0:5, 0:2*nranks + 1)
    type(redist_box) :: box
    type(redist_plan) :: plan
    integer :: code
    call redist_box_init(box)
    if (rank == 0) box%count(1:2) = [4, 2*nranks]
    box%offset(1:2) = 1
    call redist_plan_halo(MPI_COMM_WORLD, [4, 2*nranks], box, a, [1, -1], [1, 1], plan, ierror=code)
    call check(code == REDIST_ERR_SIZE .and. index(redist_error_message(), 'low[0] = -1 is negative') > 0, 'a width below 0')
    call redist_plan_halo(MPI_COMM_WORLD, [4, 2*nranks], box, a, [2, 1], [1, 1], plan, [.true., .true.], ierror=code)
    call check(code == REDIST_ERR_SIZE .and. index(redist_error_message(), 'room for 1') > 0, 'an array without room')
    call redist_plan_halo(MPI_COMM_WORLD, [4, 2*nranks], box, a, spread(1, 1, merge(1, 2, rank == 0)), [1, 1], plan, &
      ierror=code)
    call check(code /= REDIST_OK, 'too few widths on one rank')
    if (rank == 0) call check(index(redist_error_message(), 'as many values as sizes') > 0, 'message about the widths')
    call redist_plan_halo(MPI_COMM_WORLD, [4, 2*nranks], box, a, [1, 1], [1, 1], plan, [.true.], ierror=code)
    call check(code /= REDIST_OK, 'periodic of one axis of two')
    call redist_plan_halo(MPI_COMM_WORLD, [4, 2*nranks], box, a, [1, 1], [1, 1], plan, tiles=REDIST_PUT, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'tiles')
    call redist_plan_halo(MPI_COMM_WORLD, [5, 2*nranks], box, a, [1, 1], [1, 1], plan, ierror=code)
    call check(code == REDIST_ERR_SIZE .and. index(redist_error_message(), 'hole') > 0, 'a hole')
  end subroutine test_errors

end program test_halo
