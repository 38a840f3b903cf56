! SPDX-License-Identifier: BSD-3-Clause
! The Taylor-Green vortex at Reynolds number 1600 by a pseudo-spectral method: what the C example 5_taylor_green computes,
! without its pictures. The velocity is kept as modes; products are formed at grid points; modes beyond two thirds of the
! highest wavenumber are dropped by the transforms (retained_modes).
!
!     taylor_green [SIZE [TIME]]
program taylor_green
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use mpi_f08
  use fftnd
  implicit none
  real(dp), parameter :: pi = acos(-1.0_dp), viscosity = 1/1600.0_dp
  complex(dp), parameter :: i_unit = (0.0_dp, 1.0_dp)
  type(fftnd_plan) :: plan ! of a field of three components, which are the last axis
  real(dp), pointer :: velocity(:, :, :, :), vorticity(:, :, :, :)
  complex(dp), pointer :: modes(:, :, :, :), rate(:, :, :, :)
  complex(dp), allocatable :: begin(:, :, :, :), total(:, :, :, :)
  real(dp), allocatable :: k1(:), k2(:), k3(:)
  integer :: n = 32, step, nsteps, rank, stage
  real(dp) :: end_time = 1, dt, energy, earlier, dissipation
  real(dp), parameter :: at(4) = [0.5_dp, 0.5_dp, 1.0_dp, 0.0_dp], weight(4) = [1, 2, 2, 1]/6.0_dp

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call read_arguments()
  call fftnd_plan_create(MPI_COMM_WORLD, [n, n, n], FFTND_R2C, FFTND_DOUBLE, plan, batch=3, &
    retained_modes=spread(2*(n/3) + 1, 1, 3), scaling=FFTND_SCALE_FORWARD)
  call fftnd_alloc(plan, FFTND_PHYSICAL, velocity)
  call fftnd_alloc(plan, FFTND_PHYSICAL, vorticity)
  call fftnd_alloc(plan, FFTND_SPECTRAL, modes)
  call fftnd_alloc(plan, FFTND_SPECTRAL, rate)
  call fftnd_plan_wavenumbers(plan, 1, k1)
  call fftnd_plan_wavenumbers(plan, 2, k2)
  call fftnd_plan_wavenumbers(plan, 3, k3)
  allocate (begin, total, mold=modes)

  call set_vortex()
  energy = kinetic_energy()
  nsteps = max(1, nint(end_time*n/2))
  dt = end_time/nsteps
  do step = 1, nsteps ! Runge-Kutta of fourth order
    earlier = energy
    begin = modes
    total = modes
    do stage = 1, 4
      call find_rate()
      total = total + weight(stage)*dt*rate
      modes = begin + at(stage)*dt*rate
    end do
    modes = total
    energy = kinetic_energy()
    dissipation = (earlier - energy)/dt
    if (rank == 0) write (*, '(a, f7.3, 2(a, es12.5))') 't', step*dt, '  energy', energy, '  dissipation', dissipation
  end do
  ! At first the flow dissipates 3/4 of its viscosity: energy 1/8, enstrophy 3/8
  if (end_time <= 1 .and. .not. abs(dissipation/(0.75_dp*viscosity) - 1) < 0.25_dp) error stop 'wrong dissipation'

  call redist_free(rate)
  call redist_free(modes)
  call redist_free(vorticity)
  call redist_free(velocity)
  call fftnd_plan_free(plan)
  call MPI_Finalize()

contains

  subroutine read_arguments()
    character(len=20) :: text
    if (command_argument_count() >= 1) then
      call get_command_argument(1, text)
      read (text, *) n
    end if
    if (command_argument_count() >= 2) then
      call get_command_argument(2, text)
      read (text, *) end_time
    end if
  end subroutine read_arguments

  ! The flow at time 0; the bounds of the arrays are global indices.
  subroutine set_vortex()
    integer :: i, j, k
    real(dp) :: x, y, z
    do k = lbound(velocity, 3), ubound(velocity, 3)
      do j = lbound(velocity, 2), ubound(velocity, 2)
        do i = lbound(velocity, 1), ubound(velocity, 1)
          x = 2*pi*(i - 1)/n
          y = 2*pi*(j - 1)/n
          z = 2*pi*(k - 1)/n
          velocity(i, j, k, :) = [sin(x)*cos(y)*cos(z), -cos(x)*sin(y)*cos(z), 0.0_dp]
        end do
      end do
    end do
    call fftnd_forward(plan, velocity, modes)
  end subroutine set_vortex

  ! The rate of change of `modes`: velocity x vorticity without its gradient part, and viscosity.
  subroutine find_rate()
    integer :: i, j, k
    real(dp) :: wave(3), square
    do k = lbound(modes, 3), ubound(modes, 3)
      do j = lbound(modes, 2), ubound(modes, 2)
        do i = lbound(modes, 1), ubound(modes, 1)
          rate(i, j, k, :) = i_unit*cross_complex(cmplx([k1(i), k2(j), k3(k)], kind=dp), modes(i, j, k, :))
        end do
      end do
    end do
    call fftnd_backward(plan, rate, vorticity)
    call fftnd_backward(plan, modes, velocity)
    do k = lbound(velocity, 3), ubound(velocity, 3)
      do j = lbound(velocity, 2), ubound(velocity, 2)
        do i = lbound(velocity, 1), ubound(velocity, 1)
          vorticity(i, j, k, :) = cross(velocity(i, j, k, :), vorticity(i, j, k, :))
        end do
      end do
    end do
    call fftnd_forward(plan, vorticity, rate)
    do k = lbound(modes, 3), ubound(modes, 3)
      do j = lbound(modes, 2), ubound(modes, 2)
        do i = lbound(modes, 1), ubound(modes, 1)
          wave = [k1(i), k2(j), k3(k)]
          square = max(sum(wave**2), 1.0_dp)
          rate(i, j, k, :) = rate(i, j, k, :) - wave*sum(wave*rate(i, j, k, :))/square &
            - viscosity*sum(wave**2)*modes(i, j, k, :)
        end do
      end do
    end do
  end subroutine find_rate

  pure function cross(a, b)
    real(dp), intent(in) :: a(3), b(3)
    real(dp) :: cross(3)
    cross = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross

  pure function cross_complex(a, b)
    complex(dp), intent(in) :: a(3), b(3)
    complex(dp) :: cross_complex(3)
    cross_complex = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
  end function cross_complex

  ! Half the square of the velocity, mean of all points. The first axis is halved: other modes than 0 stand for two.
  real(dp) function kinetic_energy()
    integer :: i
    kinetic_energy = 0
    do i = lbound(modes, 1), ubound(modes, 1)
      kinetic_energy = kinetic_energy + merge(0.5_dp, 1.0_dp, i == 1)*sum(abs(modes(i, :, :, :))**2)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, kinetic_energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function kinetic_energy

end program taylor_green
