! SPDX-License-Identifier: BSD-3-Clause
! Operators between transforms on fields whose derivatives are known: the order of axes and components, options, functions
! of the program, errors.
program test_operators
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use fftnd
  use checks
  implicit none
  real(real64), parameter :: two_pi = 2*acos(-1.0_real64)
  real(real64), parameter :: length(3) = [1.5_real64, 3.0_real64, two_pi]
  integer :: rank, nranks, sizes(3)
  type(fftnd_plan) :: plan

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call start_random()
  sizes = [6 + random(4), 6 + random(4), 6 + random(4)]
  call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE)
  call test_vectors()
  call test_options()
  call test_symbols()
  call test_functions()
  call test_errors()
  call test_factors()
  call fftnd_plan_free(plan)
  call test_open_poisson()
  call test_in_place()
  call finish()

contains

  ! Where a point is, as angles along each axis.
  pure function angle(i, j, k)
    integer, intent(in) :: i, j, k
    real(real64) :: angle(3)
    angle = two_pi*([i, j, k] - 1)/sizes
  end function angle

  ! A vector field with these amplitudes of sin(a_m + b_m) in component m, where a is the angle along the next axis and b
  ! that along the one after it.
  subroutine fill(u)
    real(real64), pointer, intent(in) :: u(:, :, :, :)
    real(real64) :: a(3)
    integer :: i, j, k
    do k = lbound(u, 3), ubound(u, 3)
      do j = lbound(u, 2), ubound(u, 2)
        do i = lbound(u, 1), ubound(u, 1)
          a = angle(i, j, k)
          u(i, j, k, :) = [sin(a(2) + 2*a(3)), 3*sin(a(3) + 2*a(1)), 5*sin(a(1) + 2*a(2))]
        end do
      end do
    end do
  end subroutine fill

  subroutine test_vectors()
    type(fftnd_operator) :: curl, gradient
    real(real64), pointer :: u(:, :, :, :), w(:, :, :, :), f(:, :, :)
    real(real64) :: a(3), s(3), expected(3), g(3)
    integer :: i, j, k
    logical :: right
    call fftnd_operator_create(plan, FFTND_CURL, curl, lengths=length)
    call fftnd_alloc(curl, .false., u)
    call fftnd_alloc(curl, .true., w)
    call check(size(u, 4) == 3, 'components')
    call fill(u)
    call fftnd_apply(plan, curl, u, w)
    s = two_pi/length
    right = .true.
    do k = lbound(w, 3), ubound(w, 3)
      do j = lbound(w, 2), ubound(w, 2)
        do i = lbound(w, 1), ubound(w, 1)
          a = angle(i, j, k)
          g = [cos(a(2) + 2*a(3)), 3*cos(a(3) + 2*a(1)), 5*cos(a(1) + 2*a(2))]
          expected = [s(2)*2*g(3) - s(3)*g(2), s(3)*2*g(1) - s(1)*g(3), s(1)*2*g(2) - s(2)*g(1)]
          right = right .and. maxval(abs(w(i, j, k, :) - expected)) < 1e-10_real64
        end do
      end do
    end do
    call check(right, 'curl')
    call fftnd_operator_create(plan, FFTND_GRADIENT, gradient, axes=[1, 3])
    call fftnd_alloc(gradient, .false., f)
    call redist_free(w)
    call fftnd_alloc(gradient, .true., w)
    call check(size(w, 4) == 2, 'components of two axes')
    f = u(:, :, :, 2) ! 3 sin(a3 + 2 a1)
    call fftnd_apply(plan, gradient, f, w)
    right = .true.
    do k = lbound(w, 3), ubound(w, 3)
      do i = lbound(w, 1), ubound(w, 1)
        a = angle(i, 1, k)
        right = right .and. all(abs(w(i, :, k, 1) - 6*cos(a(3) + 2*a(1))) < 1e-10_real64) &
          .and. all(abs(w(i, :, k, 2) - 3*cos(a(3) + 2*a(1))) < 1e-10_real64)
      end do
    end do
    call check(right, 'gradient along the first and the last axis')
    call redist_free(u)
    call redist_free(w)
    call redist_free(f)
    call fftnd_operator_free(gradient)
    call fftnd_operator_free(curl)
  end subroutine test_vectors

  ! Checks an operator that makes sin of the field 3 sin(a3 + 2 a1) shifted by `phase`, times `factor`.
  subroutine check_wave(op, factor, phase, what)
    type(fftnd_operator), intent(inout) :: op
    real(real64), intent(in) :: factor, phase
    character(len=*), intent(in) :: what
    real(real64), pointer :: u(:, :, :), v(:, :, :)
    real(real64) :: a(3)
    integer :: i, k
    logical :: right
    call fftnd_alloc(op, .false., u)
    call fftnd_alloc(op, .true., v)
    do k = lbound(u, 3), ubound(u, 3)
      do i = lbound(u, 1), ubound(u, 1)
        a = angle(i, 1, k)
        u(i, :, k) = sin(a(3) + 2*a(1))
      end do
    end do
    call fftnd_apply(plan, op, u, v)
    right = .true.
    do k = lbound(u, 3), ubound(u, 3)
      do i = lbound(u, 1), ubound(u, 1)
        a = angle(i, 1, k)
        right = right .and. all(abs(v(i, :, k) - factor*sin(a(3) + 2*a(1) + phase)) < 1e-10_real64)
      end do
    end do
    call check(right, what)
    call redist_free(u)
    call redist_free(v)
    call fftnd_operator_free(op)
  end subroutine check_wave

  subroutine test_options()
    type(fftnd_operator) :: op
    type(fftnd_layout) :: layout
    call fftnd_operator_create(plan, FFTND_DERIVATIVE, op, orders=[2, 0, 1])
    call fftnd_operator_layout(op, .true., layout)
    call check(all(layout%sizes(1:3) == sizes) .and. layout%batch == 1, 'layout of an operator')
    call check_wave(op, -4.0_real64, two_pi/4, 'derivative')
    call fftnd_operator_create(plan, FFTND_SHIFT, op, shift=[0.3_real64, 7.0_real64, 0.2_real64])
    call check_wave(op, 1.0_real64, 0.8_real64, 'shift')
    call fftnd_operator_create(plan, FFTND_INVERSE_HELMHOLTZ, op, coefficient=3.0_real64)
    call check_wave(op, -0.5_real64, 0.0_real64, 'inverse of Helmholtz''s operator')
    call fftnd_operator_create(plan, FFTND_SHELL, op, shell=[2.5_real64, 9.0_real64], zero_mode=1.0_real64)
    call check_wave(op, 0.0_real64, 0.0_real64, 'shell')
  end subroutine test_options

  subroutine test_symbols()
    type(fftnd_operator) :: op
    type(fftnd_symbol) :: symbols(3)
    allocate (symbols(1)%values(sizes(1)/2 + 1), symbols(3)%values(sizes(3)), source=(0.0_c_double, 0.0_c_double))
    symbols(1)%values(3) = 2 ! the mode 2 of axis 1
    symbols(3)%values([2, sizes(3)]) = 5 ! 1 and -1
    call fftnd_operator_create(plan, FFTND_SYMBOLS, op, symbols=symbols)
    call check_wave(op, 10.0_real64, 0.0_real64, 'tables of symbols')
  end subroutine test_symbols

  ! Multiplies by 2 k1 + odd k3 + data.
  function weigh(data, row) bind(c) result(code)
    type(c_ptr), value :: data
    type(fftnd_row), intent(in) :: row
    integer(c_int) :: code
    complex(c_double_complex), pointer :: u(:), v(:)
    real(c_double), pointer :: k1(:), k3(:), more, wrong(:)
    integer(int64) :: start(3)
    call fftnd_row_input(row, 1, u)
    call fftnd_row_output(row, 1, v)
    call fftnd_row_input(row, 1, wrong)
    call fftnd_row_wavenumbers(row, 1, k1)
    call fftnd_row_wavenumbers(row, 3, k3, odd=.true.)
    call c_f_pointer(data, more)
    v = u*(2*k1 + abs(k3) + more)
    start = fftnd_row_start(row)
    code = merge(0, 1, .not. associated(wrong) .and. fftnd_row_axis(row) >= 1 .and. fftnd_row_axis(row) <= 3 &
      .and. all(start >= 1))
  end function weigh

  function square(data, row) bind(c) result(code)
    type(c_ptr), value :: data
    type(fftnd_row), intent(in) :: row
    integer(c_int) :: code
    real(c_double), pointer :: u(:), v(:), k(:)
    call fftnd_row_input(row, 1, u)
    call fftnd_row_output(row, 1, v)
    call fftnd_row_wavenumbers(row, 1, k)
    v = u**2
    code = merge(1, 0, c_associated(data) .or. associated(k))
  end function square

  subroutine test_functions()
    type(fftnd_operator) :: op
    real(c_double), target :: more
    complex(real64), pointer :: a(:, :, :), b(:, :, :)
    more = 0.5_c_double
    call fftnd_operator_create(plan, FFTND_MODES, op, function=weigh, data=c_loc(more))
    call check_wave(op, 5.5_real64, 0.0_real64, 'function of modes')
    call fftnd_operator_create(plan, FFTND_POINTS, op, function=square)
    call fftnd_alloc(op, .false., a)
    call fftnd_alloc(op, .true., b)
    a = 0
    if (all(lbound(a) == 1) .and. size(a) > 0) a(1, 1, 1) = 3*product(sizes) ! the field 3
    call fftnd_apply_physical(plan, op, a, b)
    if (all(lbound(b) == 1) .and. size(b) > 0) b(1, 1, 1) = b(1, 1, 1) - 9*product(sizes)
    call check(all(abs(b) < 1e-9_real64*product(sizes)), 'function of points')
    call redist_free(a)
    call redist_free(b)
    call fftnd_operator_free(op)
  end subroutine test_functions

  subroutine test_in_place()
    type(fftnd_operator) :: op
    real(real64), pointer :: u(:, :, :)
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, in_place=.true.)
    call fftnd_operator_create(plan, FFTND_HELMHOLTZ, op, coefficient=2.0_real64)
    call fftnd_alloc(op, .false., u)
    u = 1
    call fftnd_apply(plan, op, u, u)
    call check(all(abs(u - 2) < 1e-12_real64), 'in place')
    call redist_free(u)
    call fftnd_operator_free(op)
    call fftnd_plan_free(plan)
  end subroutine test_in_place

  subroutine test_errors()
    type(fftnd_operator) :: op
    type(fftnd_symbol) :: symbols(3)
    real(real64), pointer :: u(:, :, :), v(:, :, :), w(:, :, :, :)
    real(real64), target :: short(1, 1, 1)
    integer :: code, m
    m = merge(2, 3, rank == nranks - 1) ! on this rank alone
    call fftnd_operator_create(plan, FFTND_DERIVATIVE, op, orders=spread(1, 1, m), ierror=code)
    call check_wrong('orders', code)
    call fftnd_operator_create(plan, FFTND_LAPLACIAN, op, lengths=length(:m), ierror=code)
    call check_wrong('lengths', code)
    call fftnd_operator_create(plan, FFTND_SHIFT, op, shift=length(:m), ierror=code)
    call check_wrong('shift', code)
    call fftnd_operator_create(plan, FFTND_LAPLACIAN, op, axes=[1, merge(4, 2, m == 2)], ierror=code)
    call check_wrong('axes', code)
    call fftnd_operator_create(plan, FFTND_SYMBOLS, op, symbols=symbols(:m), ierror=code)
    call check_wrong('symbols', code)
    call fftnd_operator_create(plan, FFTND_DERIVATIVE, op, ierror=code)
    call check(code == REDIST_ERR_NULL, 'no orders')
    call fftnd_operator_create(plan, FFTND_LAPLACIAN, op)
    call fftnd_alloc(op, .false., w, ierror=code) ! an axis for one field
    call check(code == REDIST_OK, 'one field as an axis')
    call redist_free(w)
    call fftnd_alloc(op, .false., u)
    call fftnd_alloc(op, .true., v)
    u = 1
    short = 0
    if (rank == nranks - 1) then
      call fftnd_apply(plan, op, u, short, ierror=code)
    else
      call fftnd_apply(plan, op, u, v, ierror=code)
    end if
    call check(code /= REDIST_OK .or. size(u) == 0 .or. maxval(shape(u)) == 1, 'an array that does not fit')
    call fftnd_apply(plan, op, u, v)
    call check(all(abs(v) < 1e-12_real64), 'the Laplacian of a constant')
    call redist_free(u)
    call redist_free(v)
    call fftnd_operator_free(op)
  end subroutine test_errors

  ! A kernel that moves a field by one point along the first axis, and factors of 2, complex and real.
  subroutine test_factors()
    type(fftnd_operator) :: op
    real(real64), pointer :: u(:, :, :), v(:, :, :)
    complex(real64), pointer :: factors(:, :, :)
    real(real64), allocatable :: real_factors(:, :, :)
    integer :: i, j, k, turn, code
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_PHYSICAL, v)
    call fftnd_alloc(plan, FFTND_SPECTRAL, factors)
    allocate(real_factors(size(factors, 1), size(factors, 2), size(factors, 3)), source=2.0_real64)
    do turn = -1, 2
      u = 0
      if (size(u) > 0 .and. lbound(u, 1) <= 2 .and. ubound(u, 1) >= 2 .and. lbound(u, 2) == 1 .and. lbound(u, 3) == 1) &
        u(2, 1, 1) = 1
      factors = (2, 0)
      if (turn == 0) then
        call fftnd_operator_create(plan, FFTND_MULTIPLY, op, multiplier=factors)
      else if (turn == 2) then
        call fftnd_operator_create(plan, FFTND_MULTIPLY, op, multiplier=real_factors)
      else
        call fftnd_operator_from_kernel(plan, u, op, conjugated=turn < 0)
      end if
      do k = lbound(u, 3), ubound(u, 3)
        do j = lbound(u, 2), ubound(u, 2)
          do i = lbound(u, 1), ubound(u, 1)
            u(i, j, k) = value(i, j, k)
          end do
        end do
      end do
      call fftnd_apply(plan, op, u, v)
      do k = lbound(u, 3), ubound(u, 3)
        do j = lbound(u, 2), ubound(u, 2)
          do i = lbound(u, 1), ubound(u, 1)
            v(i, j, k) = v(i, j, k) - merge(value(i - turn, j, k), 2*value(i, j, k), abs(turn) == 1)
          end do
        end do
      end do
      call check(all(abs(v) < 1e-12_real64), 'a convolution')
      call fftnd_operator_free(op)
    end do
    call test_kernel_plan()
    call fftnd_operator_create(plan, FFTND_MULTIPLY, op, multiplier=u(:, 1, 1), ierror=code)
    call check(code /= REDIST_OK, 'factors of another rank')
    call fftnd_operator_from_kernel(plan, u(:, 1, 1), op, ierror=code)
    call check(code /= REDIST_OK, 'a kernel of another rank')
    call fftnd_operator_create(plan, FFTND_OPEN_POISSON, op, free_axes=[4], ierror=code)
    call check_wrong('free_axes', code)
    call redist_free(u)
    call redist_free(v)
    call redist_free(factors)
  end subroutine test_factors

  ! A kernel at offset -1 moves a field whose axis is filled in part, and its end is lost.
  subroutine test_kernel_plan()
    type(fftnd_plan) :: half, whole
    type(fftnd_operator) :: op
    real(real64), pointer :: u(:, :), v(:, :), kernel(:, :)
    integer :: i, j
    call fftnd_plan_create(MPI_COMM_WORLD, [8, 6], FFTND_R2C, FFTND_DOUBLE, half, filled=[4, 3], &
      scaling=FFTND_SCALE_BACKWARD)
    call fftnd_plan_create(MPI_COMM_WORLD, [8, 6], FFTND_R2C, FFTND_DOUBLE, whole)
    call fftnd_alloc(half, FFTND_PHYSICAL, u)
    call fftnd_alloc(half, FFTND_PHYSICAL, v)
    call fftnd_alloc(whole, FFTND_PHYSICAL, kernel)
    do j = lbound(kernel, 2), ubound(kernel, 2)
      do i = lbound(kernel, 1), ubound(kernel, 1)
        kernel(i, j) = merge(1, 0, i == 8 .and. j == 1)
      end do
    end do
    call fftnd_operator_from_kernel(half, kernel, op, kernel_plan=whole)
    do j = lbound(u, 2), ubound(u, 2)
      do i = lbound(u, 1), ubound(u, 1)
        u(i, j) = i + 10*j
      end do
    end do
    call fftnd_apply(half, op, u, v)
    do j = lbound(v, 2), ubound(v, 2)
      do i = lbound(v, 1), ubound(v, 1)
        v(i, j) = v(i, j) - merge(i + 1 + 10*j, 0, i < 4)
      end do
    end do
    call check(all(abs(v) < 1e-12_real64), 'a kernel of another plan')
    call fftnd_operator_free(op)
    call redist_free(u)
    call redist_free(v)
    call redist_free(kernel)
    call fftnd_plan_free(half)
    call fftnd_plan_free(whole)
  end subroutine test_kernel_plan

  pure real(real64) function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = 1.0_real64/(modulo(i - 1, sizes(1)) + 2*j + 3*k)
  end function value

  ! Constant along two axes, and 1 in the domain of 4 points along the free one.
  subroutine test_open_poisson()
    type(fftnd_operator) :: op
    real(real64), pointer :: u(:, :, :), v(:, :, :)
    real(real64) :: expected
    integer :: i, j
    call fftnd_plan_create(MPI_COMM_WORLD, [8, 5, 6], FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE)
    call fftnd_operator_create(plan, FFTND_OPEN_POISSON, op, lengths=[4.0_real64, 1.0_real64, 1.0_real64], free_axes=[1], &
      green=FFTND_GREEN_INTEGRATED)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_PHYSICAL, v)
    u = 0
    do i = lbound(u, 1), min(4, ubound(u, 1))
      u(i, :, :) = 1
    end do
    call fftnd_apply(plan, op, u, v)
    do i = lbound(u, 1), min(4, ubound(u, 1))
      expected = 0.125_real64/4 ! points are 1/2 apart
      do j = 1, 4
        expected = expected + 0.125_real64*abs(i - j)
      end do
      call check(all(abs(v(i, :, :) - expected) < 1e-12_real64), 'a potential')
    end do
    call redist_free(u)
    call redist_free(v)
    call fftnd_operator_free(op)
    call fftnd_plan_free(plan)
  end subroutine test_open_poisson

  subroutine check_wrong(name, code)
    character(len=*), intent(in) :: name
    integer, intent(in) :: code
    call check(code /= REDIST_OK, name)
    if (rank == nranks - 1) call check(index(redist_error_message(), name//' has') > 0, 'message about '//name)
  end subroutine check_wrong

end program test_operators
