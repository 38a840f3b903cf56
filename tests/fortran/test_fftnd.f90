! SPDX-License-Identifier: BSD-3-Clause
! Module fftnd against the definition of the transforms: kinds, precisions, orders, batches, retained modes, arrays in
! place and others, errors.
program test_fftnd
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use fftnd
  use checks
  implicit none
  real(real64), parameter :: pi = acos(-1.0_real64)
  integer :: rank, nranks, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call start_random()
  do i = 1, 3
    call test_real([random(7), random(7), random(7)])
    call test_complex([random(7), random(7), random(7)])
  end do
  call test_orders()
  call test_single()
  call test_batches()
  call test_in_place()
  call test_cosines()
  call test_retained()
  call test_wire()
  call test_mixed()
  call test_sides()
  call test_own_arrays()
  call test_interior()
  call test_workspace()
  call test_questions()
  call test_errors()
  call finish()

contains

  ! A field without symmetries.
  pure real(real64) function field(place)
    integer, intent(in) :: place(3)
    field = sin(1.7_real64*place(1) + 2.9_real64*place(2)**2 + 0.3_real64*place(3)**3)
  end function field

  ! The mode with indices `mode` (from 1) by the definition.
  pure complex(real64) function transformed(sizes, mode)
    integer, intent(in) :: sizes(3), mode(3)
    integer :: i, j, k
    real(real64) :: phase
    transformed = 0
    do k = 1, sizes(3)
      do j = 1, sizes(2)
        do i = 1, sizes(1)
          phase = -2*pi*sum(real(([i, j, k] - 1)*(mode - 1), real64)/sizes)
          transformed = transformed + field([i, j, k])*cmplx(cos(phase), sin(phase), real64)
        end do
      end do
    end do
  end function transformed

  subroutine fill(array)
    real(real64), pointer, intent(in) :: array(:, :, :)
    integer :: i, j, k
    do k = lbound(array, 3), ubound(array, 3)
      do j = lbound(array, 2), ubound(array, 2)
        do i = lbound(array, 1), ubound(array, 1)
          array(i, j, k) = field([i, j, k])
        end do
      end do
    end do
  end subroutine fill

  logical function holds_field(array)
    real(real64), pointer, intent(in) :: array(:, :, :)
    integer :: i, j, k
    holds_field = .true.
    do k = lbound(array, 3), ubound(array, 3)
      do j = lbound(array, 2), ubound(array, 2)
        do i = lbound(array, 1), ubound(array, 1)
          holds_field = holds_field .and. abs(array(i, j, k) - field([i, j, k])) < 1e-12_real64
        end do
      end do
    end do
  end function holds_field

  logical function holds_modes(array, sizes)
    complex(real64), pointer, intent(in) :: array(:, :, :)
    integer, intent(in) :: sizes(3)
    integer :: i, j, k
    holds_modes = .true.
    do k = lbound(array, 3), ubound(array, 3)
      do j = lbound(array, 2), ubound(array, 2)
        do i = lbound(array, 1), ubound(array, 1)
          holds_modes = holds_modes .and. abs(array(i, j, k) - transformed(sizes, [i, j, k])) < 1e-10_real64
        end do
      end do
    end do
  end function holds_modes

  ! All elements of all ranks.
  integer function elements_of_all(n)
    integer, intent(in) :: n
    call MPI_Allreduce(n, elements_of_all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  end function elements_of_all

  subroutine transform_real(plan, sizes, what)
    type(fftnd_plan), intent(in) :: plan
    integer, intent(in) :: sizes(3)
    character(len=*), intent(in) :: what
    real(real64), pointer :: u(:, :, :)
    complex(real64), pointer :: v(:, :, :)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    call check(elements_of_all(size(u)) == product(sizes), what//': points of all ranks')
    call fill(u)
    call fftnd_forward(plan, u, v)
    call check(holds_modes(v, sizes), what//': modes')
    u = 0
    call fftnd_start(plan, REDIST_BACKWARD, v, u)
    call fftnd_wait(plan)
    call check(holds_field(u), what//': there and back')
    call redist_free(v)
    call redist_free(u)
  end subroutine transform_real

  subroutine test_real(sizes)
    integer, intent(in) :: sizes(3)
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: layout
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE)
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, layout)
    call check(all(layout%sizes(1:3) == [sizes(1)/2 + 1, sizes(2), sizes(3)]), 'the first axis is halved')
    call transform_real(plan, sizes, 'r2c')
    call fftnd_plan_free(plan)
  end subroutine test_real

  subroutine test_complex(sizes)
    integer, intent(in) :: sizes(3)
    type(fftnd_plan) :: plan
    complex(real64), pointer :: u(:, :, :), v(:, :, :)
    real(real64), pointer :: part(:, :, :)
    call fftnd_plan_create(MPI_COMM_WORLD, int(sizes, int64), FFTND_C2C, FFTND_DOUBLE, plan, grid=[0], &
      scaling=FFTND_SCALE_NONE)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    call check(size(u, 1) == sizes(1) .and. size(u, 2) == sizes(2), 'a slab is whole along the first two axes')
    call check(size(v, 3) == sizes(3), 'its spectral side along the last')
    allocate (part(lbound(u, 1):ubound(u, 1), lbound(u, 2):ubound(u, 2), lbound(u, 3):ubound(u, 3)))
    call fill(part)
    u = part
    call fftnd_forward(plan, u, v)
    call check(holds_modes(v, sizes), 'c2c: modes')
    call fftnd_backward(plan, v, u)
    part = real(u, real64)/product(sizes)
    call check(holds_field(part), 'c2c without scaling')
    deallocate (part)
    call redist_free(v)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_complex

  ! Dimension j of g splits axis order(d - g + j) of the physical side, and order(d - g + j - 1) of the spectral side.
  subroutine test_orders()
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: physical, spectral
    type(fftnd_plan_info) :: info
    integer :: sizes(3) = [6, 5, 8]
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, grid=[nranks], order=[1, 3, 2], &
        effort=FFTND_ESTIMATE)
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, physical)
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, spectral)
    call check(physical%count(1) == 6 .and. physical%count(3) == 8, 'the last axis of an order is split')
    call check(spectral%count(1) == 4 .and. spectral%count(2) == 5, 'and the one before it on the other side')
    call transform_real(plan, sizes, 'another order')
    call fftnd_plan_get_info(plan, info)
    call check(all(info%order(1:3) == [1, 3, 2]) .and. info%halved_axis == 1 .and. info%grid(1) == nranks, 'order')
    call fftnd_plan_free(plan)

    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, halved_axis=2, &
        effort=FFTND_ESTIMATE)
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, spectral)
    call check(all(spectral%sizes(1:3) == [6, 3, 8]), 'another halved axis')
    call transform_real(plan, sizes, 'another halved axis')
    call fftnd_plan_free(plan)

    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, grid=[0, 1], &
      alignment=FFTND_ALIGN_INPUT, &
        effort=FFTND_ESTIMATE)
    call fftnd_plan_get_info(plan, info)
    call check(all(info%grid(1:2) == [nranks, 1]), 'grids begin with the dimension that varies fastest')
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, physical)
    call check(physical%count(1) == 6 .and. physical%count(3) == 8, 'which splits the second axis')
    call transform_real(plan, sizes, 'aligned as the input')
    call fftnd_plan_free(plan)
  end subroutine test_orders

  subroutine test_single()
    type(fftnd_plan) :: plan
    real(real32), pointer :: u(:, :)
    complex(real32), pointer :: v(:, :)
    call fftnd_plan_create(MPI_COMM_WORLD, [8, 6], FFTND_R2C, FFTND_FLOAT, plan, scaling=FFTND_SCALE_FORWARD, &
        effort=FFTND_ESTIMATE)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    u = 2
    call fftnd_forward(plan, u, v)
    if (size(v) > 0 .and. all(lbound(v) == 1)) then
      call check(abs(v(1, 1) - 2) < 1e-6, 'the mean is the first mode')
      v(1, 1) = 0
    end if
    call check(all(abs(v) < 1e-6), 'single precision: no other mode')
    call redist_free(v)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_single

  ! The batch is the last axis, or the first one.
  subroutine test_batches()
    integer :: sizes(3) = [4, 5, 3], position, component
    type(fftnd_plan) :: plan
    real(real64), pointer :: u(:, :, :, :), one(:, :, :)
    complex(real64), pointer :: v(:, :, :, :), first(:, :, :)
    do position = FFTND_BATCH_FIRST, FFTND_BATCH_LAST
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, batch=2, batch_position=position, &
        effort=FFTND_ESTIMATE)
      call fftnd_alloc(plan, FFTND_PHYSICAL, u)
      call fftnd_alloc(plan, FFTND_SPECTRAL, v)
      do component = 1, 2
        call select_real(u, component, position, one)
        call fill(one)
        one = component*one
      end do
      call fftnd_forward(plan, u, v)
      do component = 1, 2
        call select_complex(v, component, position, first)
        first = first/component
        call check(holds_modes(first, sizes), 'modes of a batch')
      end do
      call redist_free(v)
      call redist_free(u)
      call fftnd_plan_free(plan)
    end do
  end subroutine test_batches

  ! One component, with the bounds of the axes.
  subroutine select_real(u, component, position, one)
    real(real64), pointer, intent(in) :: u(:, :, :, :)
    integer, intent(in) :: component, position
    real(real64), pointer, intent(out) :: one(:, :, :)
    if (position == FFTND_BATCH_FIRST) then
      one(lbound(u, 1):, lbound(u, 2):, lbound(u, 3):) => u(:, :, :, component)
    else
      one(lbound(u, 2):, lbound(u, 3):, lbound(u, 4):) => u(component, :, :, :)
    end if
  end subroutine select_real

  subroutine select_complex(u, component, position, one)
    complex(real64), pointer, intent(in) :: u(:, :, :, :)
    integer, intent(in) :: component, position
    complex(real64), pointer, intent(out) :: one(:, :, :)
    if (position == FFTND_BATCH_FIRST) then
      one(lbound(u, 1):, lbound(u, 2):, lbound(u, 3):) => u(:, :, :, component)
    else
      one(lbound(u, 2):, lbound(u, 3):, lbound(u, 4):) => u(component, :, :, :)
    end if
  end subroutine select_complex

  ! Both sides in the same memory; the real one is padded.
  subroutine test_in_place()
    integer :: sizes(3) = [6, 4, 5]
    type(fftnd_plan) :: plan
    real(real64), pointer :: u(:, :, :)
    complex(real64), pointer :: v(:, :, :)
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, in_place=.true., &
        effort=FFTND_ESTIMATE)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    call fftnd_point(plan, FFTND_PHYSICAL, v, u)
    call check(size(u, 1) == 6, 'extents of a padded array')
    call fill(u)
    call fftnd_forward(plan, u, v)
    call check(holds_modes(v, sizes), 'modes in place')
    call fftnd_backward(plan, v, u)
    call check(holds_field(u), 'there and back in place')
    call redist_free(v)
    call fftnd_plan_free(plan)
  end subroutine test_in_place

  ! A cosine of type 2 along the first axis and a sine of type 1 along the second.
  subroutine test_cosines()
    integer, parameter :: n1 = 6, n2 = 7
    type(fftnd_plan) :: plan
    real(real64), pointer :: u(:, :), v(:, :)
    real(real64), allocatable :: k(:)
    integer :: i, j, i2, j2
    logical :: right
    real(real64) :: expected
    call fftnd_plan_create(MPI_COMM_WORLD, [n1, n2], FFTND_R2R, FFTND_DOUBLE, plan, r2r=[FFTND_DCT2, FFTND_DST1], &
        effort=FFTND_ESTIMATE)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    do j = lbound(u, 2), ubound(u, 2)
      do i = lbound(u, 1), ubound(u, 1)
        u(i, j) = field([i, j, 1])
      end do
    end do
    call fftnd_forward(plan, u, v)
    right = .true.
    do j = lbound(v, 2), ubound(v, 2)
      do i = lbound(v, 1), ubound(v, 1)
        expected = 0
        do j2 = 1, n2
          do i2 = 1, n1
            expected = expected + 4*field([i2, j2, 1])*cos(pi*(i - 1)*(i2 - 0.5_real64)/n1)*sin(pi*j*j2/(n2 + 1))
          end do
        end do
        right = right .and. abs(v(i, j) - expected) < 1e-10_real64
      end do
    end do
    call check(right, 'cosines and sines')
    call fftnd_plan_wavenumbers(plan, 2, k)
    call check(size(k) == size(v, 2), 'number of wavenumbers')
    if (size(k) > 0) call check(nint(k(ubound(k, 1))) == ubound(k, 1), 'wavenumbers of sines')
    call redist_free(v)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_cosines

  ! Modes by their wavenumbers.
  subroutine test_retained()
    integer :: sizes(3) = [8, 6, 7], i, j, k, axis
    integer, parameter :: retained(3) = [5, 3, 5]
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: layout
    real(real64), pointer :: u(:, :, :)
    complex(real64), pointer :: v(:, :, :)
    real(real64), allocatable :: k1(:), k2(:), k3(:)
    logical :: right
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, retained_modes=retained, &
        effort=FFTND_ESTIMATE)
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, layout)
    call check(all(layout%sizes(1:3) == [3, 3, 5]), 'extents of retained modes')
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    call fftnd_plan_wavenumbers(plan, 1, k1)
    call fftnd_plan_wavenumbers(plan, 2, k2)
    call fftnd_plan_wavenumbers(plan, 3, k3)
    call fill(u)
    call fftnd_forward(plan, u, v)
    right = all([(lbound(v, axis) == layout%start(axis) .or. layout%count(axis) == 0, axis=1, 3)])
    if (size(v) > 0) right = right .and. lbound(k1, 1) == lbound(v, 1) .and. lbound(k3, 1) == lbound(v, 3)
    do k = lbound(v, 3), ubound(v, 3)
      do j = lbound(v, 2), ubound(v, 2)
        do i = lbound(v, 1), ubound(v, 1)
          right = right .and. abs(v(i, j, k) - &
            transformed(sizes, nint([k1(i), k2(j), k3(k)]) + 1)) < 1e-10_real64
        end do
      end do
    end do
    call check(right, 'retained modes')
    call redist_free(v)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_retained

  ! A halved axis beside two that are not transformed, and one with a cosine beside a complex one.
  subroutine test_mixed()
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: layout
    real(real64), pointer :: u(:, :, :)
    complex(real64), pointer :: v(:, :, :)
    integer :: j, k
    logical :: right
    call fftnd_plan_create(MPI_COMM_WORLD, [6, 4, 5], FFTND_MIXED, FFTND_DOUBLE, plan, &
      axes=[FFTND_AXIS_HALVED, FFTND_AXIS_NONE, FFTND_AXIS_COMPLEX], effort=FFTND_ESTIMATE)
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, layout)
    call check(all(layout%sizes(1:3) == [4, 4, 5]), 'kinds by axis')
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    do j = lbound(u, 2), ubound(u, 2)
      u(:, j, :) = j
    end do
    call fftnd_forward(plan, u, v)
    right = .true.
    do k = lbound(v, 3), ubound(v, 3)
      do j = lbound(v, 2), ubound(v, 2)
        if (size(v, 1) == 0) cycle
        right = right .and. abs(v(lbound(v, 1), j, k) - merge(30*j, 0, k == 1 .and. lbound(v, 1) == 1)) < 1e-12
      end do
    end do
    call check(right, 'an axis that is not transformed')
    call redist_free(v)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_mixed

  ! Memory orders, padding, blocks and boxes of the sides.
  subroutine test_sides()
    integer :: sizes(3) = [6, 5, 8]
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: layout
    type(redist_grid) :: rows
    type(redist_box) :: box
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, &
      spectral_order=[3, 1, 2], physical_padding=[2, 0, 0])
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, layout)
    call check(layout%stride(3) == 1 .and. layout%stride(1) == layout%count(3), 'the third axis is contiguous')
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, layout)
    call check(layout%stride(2) == layout%count(1) + 2, 'the first axis is padded')
    call transform_real(plan, sizes, 'another memory order')
    call fftnd_plan_free(plan)

    call redist_grid_create(MPI_COMM_WORLD, [0], rows)
    call redist_grid_box(rows, sizes, [2], box)
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, &
      physical_box=box, spectral_blocks=FFTND_BLOCKS_CEILING)
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, layout)
    call check(all(layout%count(1:3) == box%count(1:3)) .and. all(layout%start(1:3) == box%start(1:3)), 'a box')
    call transform_real(plan, sizes, 'a box')
    call fftnd_plan_free(plan)
    call redist_grid_free(rows)
  end subroutine test_sides

  ! Arrays that the library did not allocate.
  subroutine test_own_arrays()
    integer :: sizes(3) = [5, 4, 6]
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: physical, spectral
    real(real64), allocatable, target :: a(:, :, :)
    complex(real64), allocatable, target :: b(:)
    real(real64), pointer :: u(:, :, :)
    complex(real64), pointer :: v(:, :, :)
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, method='p2p', &
        effort=FFTND_ESTIMATE)
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, physical)
    call fftnd_plan_layout(plan, FFTND_SPECTRAL, spectral)
    allocate (a(physical%count(1), physical%count(2), physical%count(3)), b(max(1_int64, spectral%bytes/16)))
    call fftnd_point(plan, FFTND_PHYSICAL, a, u)
    call fftnd_point(plan, FFTND_SPECTRAL, b, v)
    call fill(u)
    call fftnd_forward(plan, a, v)
    call check(holds_modes(v, sizes), 'arrays of the program')
    call fftnd_plan_free(plan)
  end subroutine test_own_arrays

  ! The interior of an array with ghosts around it.
  subroutine test_interior()
    integer :: sizes(3) = [5, 4, 6], code
    type(fftnd_plan) :: plan
    type(fftnd_layout) :: layout
    real(real64), allocatable, target :: a(:, :, :)
    real(real64), pointer :: u(:, :, :), none(:, :, :)
    complex(real64), pointer :: v(:, :, :)
    integer(int64) :: n(3)
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, physical_padding=[3, 2, 2], &
        physical_offset=[2, 1, 0], effort=FFTND_ESTIMATE)
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, layout)
    n = layout%count(1:3)
    allocate (a(-1:n(1) + 1, 0:n(2) + 1, 1:n(3) + 2), source=7d0)
    call fftnd_alloc(plan, FFTND_PHYSICAL, none, code)
    call check(code == REDIST_ERR_ARGUMENT .and. (index(redist_error_message(), 'fftnd_point') > 0 .or. any(n == 0)), &
        'an array with room before the part')
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    call fftnd_point(plan, FFTND_PHYSICAL, a, u)
    call check(all(lbound(u) == layout%start(1:3)) .and. all(shape(u) == n), 'the interior')
    call fill(u)
    call fftnd_forward(plan, a(1:n(1), 1:n(2), 1:n(3)), v)
    call check(holds_modes(v, sizes), 'the interior of an array')
    a = 7
    call fftnd_backward(plan, v, a(1:n(1), 1:n(2), 1:n(3)))
    a(1:n(1), 1:n(2), 1:n(3)) = 7
    call check(all(abs(a - 7) < epsilon(a)), 'ghosts')
    call redist_free(v)
    call fftnd_plan_free(plan)
  end subroutine test_interior

  subroutine test_workspace()
    integer :: sizes(3) = [4, 6, 5]
    type(fftnd_plan) :: plan
    type(fftnd_plan_info) :: info
    real(real64), pointer :: workspace(:)
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2C, FFTND_DOUBLE, plan, user_workspace=.true., &
        effort=FFTND_ESTIMATE)
    call fftnd_plan_get_info(plan, info)
    call redist_alloc(MPI_COMM_WORLD, [info%workspace_bytes/8 + 1], workspace)
    call fftnd_plan_set_workspace(plan, workspace)
    call transform_real(plan, sizes, 'own work space')
    call fftnd_plan_free(plan)
    call redist_free(workspace)
  end subroutine test_workspace

  subroutine test_questions()
    type(fftnd_plan) :: plan
    type(fftnd_phases) :: phases
    type(redist_grid) :: grid
    type(redist_model) :: model
    type(MPI_Comm) :: comm
    character(len=:), allocatable :: method
    integer, allocatable :: dims(:)
    integer :: n
    real(real64) :: seconds
    call fftnd_plan_create(MPI_COMM_WORLD, [4, 4, 4], FFTND_C2C, FFTND_DOUBLE, plan, phases=.true., method='alltoallw', &
        effort=FFTND_ESTIMATE)
    call fftnd_plan_get_phases(plan, phases)
    call check(phases%executions == 0, 'phases')
    call fftnd_plan_get_method(plan, method)
    call check(method == 'alltoallw' .or. method == 'none', 'method')
    call fftnd_plan_get_grid(plan, grid)
    call redist_grid_get(grid, dims)
    call check(product(dims) == nranks, 'grid')
    call fftnd_plan_get_comm(plan, comm)
    call MPI_Comm_size(comm, n)
    call check(n == nranks, 'communicator')
    call redist_model_fit(MPI_COMM_WORLD, model)
    call fftnd_predict(model, 4, [64, 64, 64], FFTND_R2C, FFTND_DOUBLE, [2, 2], seconds, batch=3)
    call check(seconds >= 0, 'prediction')
    call fftnd_plan_free(plan)
    call fftnd_version(minor=n)
    call check(n == FFTND_VERSION_MINOR, 'version')
  end subroutine test_questions

  subroutine test_errors()
    type(fftnd_plan) :: plan, none
    real(real64), pointer :: u(:, :, :)
    complex(real64), pointer :: v(:, :, :)
    real(real32), pointer :: short(:, :, :)
    real(real64), allocatable :: wrong(:, :, :)
    integer :: code
    call fftnd_plan_create(MPI_COMM_WORLD, [4, 0, 4], FFTND_R2C, FFTND_DOUBLE, plan, ierror=code)
    call check(code == REDIST_ERR_SIZE, 'an extent of 0')
    call test_lengths()
    call fftnd_plan_create(MPI_COMM_WORLD, [8, 8, 8], FFTND_R2C, FFTND_DOUBLE, plan, &
        effort=FFTND_ESTIMATE)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_alloc(plan, FFTND_SPECTRAL, v)
    call fftnd_alloc(plan, FFTND_PHYSICAL, short, code)
    call check(code == REDIST_ERR_ARGUMENT, 'a pointer to elements of another size')
    u = 1
    v = 7
    allocate (wrong(size(u, 1), size(u, 2), size(u, 3) + 1))
    ! on one rank, which all learn of
    if (rank == nranks - 1) then
      call fftnd_forward(plan, wrong, v, code)
      call check(index(redist_error_message(), 'axis 3') > 0, 'which axis is wrong')
    else
      call fftnd_forward(plan, u, v, code)
    end if
    call check(code == REDIST_ERR_NULL, 'an array that does not fit')
    call check(all(nint(real(v)) == 7), 'an array that was not touched')
    call fftnd_forward(plan, u, v, code)
    call check(code == REDIST_OK, 'the plan works on')
    call fftnd_forward(none, u, v, code)
    call check(code == REDIST_ERR_STATE .or. code == REDIST_ERR_NULL, 'no plan')
    call redist_free(v)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_errors

  ! Numbers that are narrower between ranks
  subroutine test_wire()
    type(fftnd_plan) :: plan
    type(fftnd_plan_info) :: info
    integer, parameter :: sizes(3) = 8
    integer :: code
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, tolerance=1d-6, &
      wire_scope=REDIST_WIRE_EVERYWHERE, effort=FFTND_ESTIMATE)
    call fftnd_plan_get_info(plan, info)
    call check(info%wire == merge(REDIST_WIRE_SAME, REDIST_WIRE_FLOAT, nranks == 1), 'format of a tolerance')
    call check((info%wire_error(1) > 0) .eqv. nranks > 1, 'error of a format')
    call fftnd_plan_free(plan)
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, wire=3, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'a format that does not exist')
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, tolerance=1d-9, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'a tolerance that no format reaches')
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_FLOAT, plan, wire=REDIST_WIRE_FLOAT, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'a format of doubles for floats')
    call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, &
      wire=merge(REDIST_WIRE_FLOAT, REDIST_WIRE_16_BITS, rank == 0), ierror=code)
    call check(code == merge(REDIST_OK, REDIST_ERR_DISAGREE, nranks == 1), 'formats that differ')
    call fftnd_plan_free(plan)
  end subroutine test_wire

  ! Options with more or fewer values than the plan takes, on one rank, which all learn of
  subroutine test_lengths()
    type(fftnd_plan) :: plan
    type(redist_model) :: model
    integer, parameter :: sizes(3) = 8, axes(4) = [1, 2, 3, 3], none(4) = 0
    integer :: code, n, m
    real(real64) :: seconds
    do n = 2, 4, 2
      m = merge(n, 3, rank == nranks - 1)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, order=axes(:m), ierror=code)
      call check_wrong('order', code)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, spectral_order=axes(:m), ierror=code)
      call check_wrong('spectral_order', code)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_R2R, FFTND_DOUBLE, plan, r2r=FFTND_DCT2 + none(:m), ierror=code)
      call check_wrong('r2r', code)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_MIXED, FFTND_DOUBLE, plan, axes=FFTND_AXIS_COMPLEX + none(:m), &
          ierror=code)
      call check_wrong('axes', code)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, retained_modes=8 + none(:m), &
          ierror=code)
      call check_wrong('retained_modes', code)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, physical_padding=none(:m), ierror=code)
      call check_wrong('physical_padding', code)
      m = merge(n, 1, rank == nranks - 1)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, grid=[nranks], &
          physical_split=axes(:m), ierror=code)
      call check_wrong('physical_split', code)
      call fftnd_plan_create(MPI_COMM_WORLD, sizes, FFTND_C2C, FFTND_DOUBLE, plan, grid_ndims=1, &
          grid=nranks + none(:m), ierror=code)
      call check_wrong('grid', code)
    end do
    call fftnd_predict(model, 2, sizes, FFTND_C2C, FFTND_DOUBLE, [2], seconds, order=axes, ierror=code)
    call check(index(redist_error_message(), 'option order has 4 values') > 0, 'length in a prediction')
  end subroutine test_lengths

  subroutine check_wrong(name, code)
    character(len=*), intent(in) :: name
    integer, intent(in) :: code
    call check(code /= REDIST_OK, 'length of '//name)
    if (rank == nranks - 1) call check(index(redist_error_message(), 'option '//name//' has') > 0, 'message about '//name)
  end subroutine check_wrong

end program test_fftnd
