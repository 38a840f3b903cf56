! SPDX-License-Identifier: BSD-3-Clause
! Module fftnd: ghosts of random widths, added forward and filled backward, against a global array; arrays with them and
! their sections without; operators; errors.
program test_ghosts
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use fftnd
  use checks
  implicit none
  integer :: rank, nranks, i

  type :: ghosts
    integer :: sizes(3), low(3), high(3), first(3), last(3) ! of this rank's part
    logical :: periodic(3), corners, adds, fills
  end type ghosts

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call start_random()
  do i = 1, 16
    call test_random(with_box=mod(i, 2) == 0, takes_section=mod(i, 3) == 0, is_long=random(2) == 1)
  end do
  call test_fields()
  call test_operator()
  call test_errors()
  call finish()

contains

  function random_ghosts() result(g)
    type(ghosts) :: g
    integer :: axis
    g%corners = random(2) == 1
    g%adds = random(2) == 1
    g%fills = random(4) > 1
    do axis = 1, 3
      g%sizes(axis) = random(7)
      g%periodic(axis) = random(2) == 1
      g%low(axis) = min(random(4) - 1, merge(4, g%sizes(axis), g%periodic(axis)))
      g%high(axis) = min(random(4) - 1, merge(4, g%sizes(axis), g%periodic(axis)))
    end do
  end function random_ghosts

  subroutine find_part(plan, g)
    type(fftnd_plan), intent(in) :: plan
    type(ghosts), intent(inout) :: g
    type(fftnd_layout) :: layout
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, layout)
    g%first = int(layout%start(1:3))
    g%last = g%first + int(layout%count(1:3)) - 1
  end subroutine find_part

  ! Bricks or the library's parts; arrays with their ghosts, or sections without.
  subroutine test_random(with_box, takes_section, is_long)
    logical, intent(in) :: with_box, takes_section, is_long
    real(real64), pointer :: u(:, :, :)
    complex(real64), pointer :: modes(:, :, :)
    real(real64), allocatable :: expected(:, :, :)
    type(ghosts) :: g
    type(redist_grid) :: grid
    type(redist_box) :: box
    type(fftnd_plan) :: plan
    g = random_ghosts()
    if (with_box) then
      call redist_grid_create(MPI_COMM_WORLD, [0, 0, 0], grid)
      call redist_grid_box(grid, g%sizes, [1, 2, 3], box)
      box%offset(1:3) = g%low
      box%extent(1:3) = g%low + box%count(1:3) + g%high
      call fftnd_plan_create(MPI_COMM_WORLD, g%sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, &
        physical_box=box, ghosts_low=g%low, ghosts_high=g%high, ghosts_periodic=g%periodic, ghosts_corners=g%corners, &
        fill_ghosts=g%fills, accumulate_ghosts=g%adds)
      call redist_grid_free(grid)
    else if (is_long) then
      call fftnd_plan_create(MPI_COMM_WORLD, int(g%sizes, int64), FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, &
        physical_padding=[1_int64, 0_int64, 2_int64], ghosts_low=int(g%low, int64), ghosts_high=int(g%high, int64), &
        ghosts_periodic=g%periodic, ghosts_corners=g%corners, fill_ghosts=g%fills, accumulate_ghosts=g%adds)
    else
      call fftnd_plan_create(MPI_COMM_WORLD, g%sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, &
        ghosts_low=g%low, ghosts_high=g%high, ghosts_periodic=g%periodic, ghosts_corners=g%corners, &
        fill_ghosts=g%fills, accumulate_ghosts=g%adds)
    end if
    call find_part(plan, g)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, modes)
    if (size(u) > 0) call check(all(lbound(u) == g%first - g%low) .and. all(ubound(u) == g%last + g%high), 'bounds')
    call set_values(g, u, expected)
    associate (part => u(g%first(1):g%last(1), g%first(2):g%last(2), g%first(3):g%last(3)))
      if (takes_section) then
        call fftnd_forward(plan, part, modes)
        u = -5
        call fftnd_backward(plan, modes, part)
      else
        call fftnd_forward(plan, u, modes)
        u = -5
        call fftnd_backward(plan, modes, u)
      end if
    end associate
    call check(holds(g, u, expected, -5d0), 'ghosts')
    call redist_free(modes)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_random

  ! Sets points and ghosts; `expected` is what transforms of them have to give back.
  subroutine set_values(g, u, expected)
    type(ghosts), intent(in) :: g
    real(real64), pointer, intent(in) :: u(:, :, :)
    real(real64), allocatable, intent(out) :: expected(:, :, :)
    integer :: place(3), i, j, k
    allocate (expected(g%sizes(1), g%sizes(2), g%sizes(3)), source=0d0)
    do k = lbound(u, 3), ubound(u, 3)
      do j = lbound(u, 2), ubound(u, 2)
        do i = lbound(u, 1), ubound(u, 1)
          u(i, j, k) = mod(i + 3*j + 5*k + rank + 90, 7)
          if (is_own(g, [i, j, k])) u(i, j, k) = value_at([i, j, k])
          if (.not. shows(g, [i, j, k], place) .or. .not. (is_own(g, [i, j, k]) .or. g%adds)) cycle
          expected(place(1), place(2), place(3)) = expected(place(1), place(2), place(3)) + u(i, j, k)
        end do
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, expected, size(expected), MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end subroutine set_values

  ! Whether points and ghosts are those of a global array, and all others are untouched.
  logical function holds(g, u, expected, untouched)
    type(ghosts), intent(in) :: g
    real(real64), pointer, intent(in) :: u(:, :, :)
    real(real64), intent(in) :: expected(:, :, :), untouched
    integer :: place(3), i, j, k
    holds = .true.
    do k = lbound(u, 3), ubound(u, 3)
      do j = lbound(u, 2), ubound(u, 2)
        do i = lbound(u, 1), ubound(u, 1)
          if (shows(g, [i, j, k], place) .and. (is_own(g, [i, j, k]) .or. g%fills)) then
            holds = holds .and. abs(u(i, j, k) - expected(place(1), place(2), place(3))) < 1d-8
          else
            holds = holds .and. abs(u(i, j, k) - untouched) <= 0
          end if
        end do
      end do
    end do
  end function holds

  logical function is_own(g, at)
    type(ghosts), intent(in) :: g
    integer, intent(in) :: at(3)
    is_own = all(at >= g%first .and. at <= g%last)
  end function is_own

  ! Whether an element is one of the global array or shows one, and its place there.
  logical function shows(g, at, place)
    type(ghosts), intent(in) :: g
    integer, intent(in) :: at(3)
    integer, intent(out) :: place(3)
    shows = all(g%periodic .or. (at >= 1 .and. at <= g%sizes)) .and. &
      (g%corners .or. count(at < g%first .or. at > g%last) < 2)
    place = modulo(at - 1, g%sizes) + 1
  end function shows

  ! Two complex fields, one after the other or side by side, in memory of the program.
  subroutine test_fields()
    integer, parameter :: sizes(2) = [6, 5], positions(2) = [FFTND_BATCH_FIRST, FFTND_BATCH_LAST]
    complex(real64), allocatable, target :: memory(:)
    complex(real64), pointer :: u(:, :, :), modes(:, :, :), field(:, :)
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: layout
    integer :: position, f, i, j, first(2), last(2)
    logical :: right
    do position = 1, 2
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, batch=2, &
        batch_position=positions(position), ghosts_low=[1, 2], ghosts_high=[0, 1], ghosts_periodic=[.true., .true.], &
        ghosts_corners=.true., physical_padding=[1, 1], physical_offset=[1, 0])
      call fftnd_plan_layout(plan, FFTND_PHYSICAL, layout)
      allocate (memory(layout%bytes/16))
      call fftnd_point(plan, FFTND_PHYSICAL, memory, u)
      call fftnd_alloc(plan, FFTND_SPECTRAL, modes)
      first = int(layout%start(1:2))
      last = first + int(layout%count(1:2)) - 1
      u = 0
      right = .true.
      do f = 1, 2
        field => field_of(u, f, position)
        if (size(field) == 0) cycle
        right = right .and. all(lbound(field) == first - [1, 2]) .and. all(ubound(field) == last + [0, 1])
        do j = first(2), last(2)
          do i = first(1), last(1)
            field(i, j) = cmplx(value_at([i, j]), f, real64)
          end do
        end do
      end do
      call fftnd_forward(plan, u, modes)
      call fftnd_backward(plan, modes, u)
      do f = 1, 2
        field => field_of(u, f, position)
        do j = lbound(field, 2), ubound(field, 2)
          do i = lbound(field, 1), ubound(field, 1)
            right = right .and. abs(field(i, j) - &
              cmplx(value_at(modulo([i, j] - 1, sizes) + 1), f, real64)) < 1d-10
          end do
        end do
      end do
      call check(right, 'ghosts of two fields')
      call redist_free(modes)
      call fftnd_plan_free(plan)
      deallocate (memory)
    end do
  end subroutine test_fields

  function field_of(u, f, position) result(field)
    complex(real64), pointer, intent(in) :: u(:, :, :)
    integer, intent(in) :: f, position
    complex(real64), pointer :: field(:, :)
    integer :: at(2)
    if (position == 1) then
      at = [lbound(u, 1), lbound(u, 2)]
      field(at(1):, at(2):) => u(:, :, lbound(u, 3) + f - 1)
    else
      at = [lbound(u, 2), lbound(u, 3)]
      field(at(1):, at(2):) => u(lbound(u, 1) + f - 1, :, :)
    end if
  end function field_of

  ! One that keeps all modes; and arrays of the spectral side, which have no ghosts.
  subroutine test_operator()
    real(real64), pointer :: u(:, :, :), v(:, :, :)
    complex(real64), pointer :: modes(:, :, :)
    real(real64), allocatable :: expected(:, :, :)
    type(ghosts) :: g
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: layout
    type(fftnd_operator) :: op
    g = random_ghosts()
    call fftnd_plan_create(MPI_COMM_WORLD, g%sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, &
      ghosts_low=g%low, ghosts_high=g%high, ghosts_periodic=g%periodic, ghosts_corners=g%corners, fill_ghosts=g%fills, &
      accumulate_ghosts=g%adds)
    call find_part(plan, g)
    call fftnd_operator_create(plan, FFTND_SHELL, op, shell=[0d0, 1d9])
    call fftnd_alloc(op, .false., u)
    call fftnd_alloc(op, .true., v)
    call set_values(g, u, expected)
    v = -5
    call fftnd_apply(plan, op, u, v)
    call check(holds(g, v, expected, -5d0), 'ghosts of an operator')
    call fftnd_operator_free(op)
    call fftnd_operator_create(plan, FFTND_POINTS, op, function=nothing)
    call fftnd_alloc(op, .false., modes)
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, layout)
    call check(all(shape(modes) == layout%count(1:3)), 'an array of modes')
    call fftnd_operator_free(op)
    call redist_free(modes)
    call redist_free(v)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_operator

  function nothing(data, row) bind(c) result(code)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: data
    type(fftnd_row), intent(in) :: row
    integer(c_int) :: code
    code = merge(0, 0, c_associated(data) .or. row%n > 0)
  end function nothing

  subroutine test_errors()
    real(real64), pointer :: u(:, :), v(:, :)
    complex(real64), pointer :: modes(:, :)
    type(fftnd_plan) :: plan
    integer :: code
    call fftnd_plan_create(MPI_COMM_WORLD, [6, 2*nranks], FFTND_R2C, FFTND_DOUBLE, plan, ghosts_low=[1, 1, 1], ierror=code)
    call check(code /= REDIST_OK .and. index(redist_error_message(), 'ghosts_low has 3 values') > 0, 'too many widths')
    call fftnd_plan_create(MPI_COMM_WORLD, [6, 2*nranks], FFTND_R2C, FFTND_DOUBLE, plan, ghosts_high=[1, 1], &
      ghosts_periodic=[.true.], ierror=code)
    call check(code /= REDIST_OK .and. index(redist_error_message(), 'ghosts_periodic has 1 values') > 0, 'periodic')
    call fftnd_plan_create(MPI_COMM_WORLD, [6, 2*nranks], FFTND_R2C, FFTND_DOUBLE, plan, ghosts_low=[0, -1], ierror=code)
    call check(code == REDIST_ERR_SIZE .and. index(redist_error_message(), 'ghosts->low[0] = -1') > 0, 'a negative width')
    call fftnd_plan_create(MPI_COMM_WORLD, [6, 2*nranks], FFTND_R2C, FFTND_DOUBLE, plan, ghosts_high=[7, 0], ierror=code)
    call check(code == REDIST_ERR_SIZE .and. index(redist_error_message(), 'wider than sizes[1] = 6') > 0, 'a wide ghost')

    call fftnd_plan_create(MPI_COMM_WORLD, [6, 2*nranks], FFTND_R2C, FFTND_DOUBLE, plan, grid=[nranks], ghosts_low=[1, 0], &
      effort=FFTND_ESTIMATE)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, modes)
    call redist_alloc(MPI_COMM_WORLD, [8, 2], v)
    call fftnd_forward(plan, v, modes, code)
    call check(code == REDIST_ERR_NULL .and. index(redist_error_message(), 'axis 1 of the array has 8 elements') > 0, &
      'an array of another shape')
    call redist_free(v)
    call redist_free(modes)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_errors

end program test_ghosts
