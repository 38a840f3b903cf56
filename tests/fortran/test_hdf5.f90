! SPDX-License-Identifier: BSD-3-Clause
! Module redist_hdf5: fields in datasets, with steps and without, on other parts again; attributes, contents, errors.
program test_hdf5
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use fftnd
  use redist_hdf5
  use checks
  implicit none
  character(len=300) :: path
  integer :: rank, nranks, clock
  integer, parameter :: sizes(3) = [6, 4, 5]

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call get_environment_variable('TMPDIR', path)
  if (path == '') path = '/tmp'
  call system_clock(clock)
  write (path(len_trim(path) + 1:), '(a, i0)') '/redist-fortran-hdf5-', clock
  call MPI_Bcast(path, len(path), MPI_CHARACTER, 0, MPI_COMM_WORLD)
  call test_fields(REDIST_HDF5_AUTO)
  call test_fields(REDIST_HDF5_ROOT)
  call test_contents()
  call test_attributes()
  call test_errors()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call execute_command_line('rm '//trim(path)//'*')
  call finish()

contains

  ! An array split along one axis, of a grid of all ranks.
  subroutine make_field(name, axis, u, field, first)
    character(len=*), intent(in) :: name
    integer, intent(in) :: axis
    real(real64), pointer, intent(out) :: u(:, :, :)
    type(redist_field), intent(out) :: field
    integer, intent(out) :: first(3)
    type(redist_grid) :: grid
    type(redist_box) :: box
    call redist_grid_create(MPI_COMM_WORLD, [0], grid)
    call redist_grid_box(grid, sizes, [axis], box)
    call redist_grid_free(grid)
    call redist_alloc(MPI_COMM_WORLD, int(box%count(1:3)), u)
    call redist_field_set_box(field, sizes, box, u, name)
    first = int(box%start(1:3))
  end subroutine make_field

  subroutine fill(u, first, step)
    real(real64), intent(out) :: u(:, :, :)
    integer, intent(in) :: first(3), step
    integer :: i, j, k
    do k = 1, size(u, 3)
      do j = 1, size(u, 2)
        do i = 1, size(u, 1)
          u(i, j, k) = value_at(first - 1 + [i, j, k]) + step
        end do
      end do
    end do
  end subroutine fill

  subroutine test_fields(access)
    integer, intent(in) :: access
    type(redist_hdf5_file) :: file
    type(redist_field) :: field, other, plane
    real(real64), pointer :: u(:, :, :), v(:, :, :)
    real(real64), allocatable :: expected(:, :, :)
    integer :: first(3), first_of_other(3), step
    call make_field('flow/u', random_axis(1), u, field, first)
    call make_field('flow/u', random_axis(2), v, other, first_of_other)
    call redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_CREATE, file, access, buffer_bytes=200_c_size_t)
    do step = 0, 2
      call fill(u, first, step)
      call redist_hdf5_write(file, [field], REDIST_HDF5_NEXT_STEP, 0.5d0*step, compression=1, &
        axes=['x', ' ', 'z'], spacing=[0.5d0, 1d0, 2d0], origin=[1d0, 2d0, 3d0], chunk=[3, 2, 1])
    end do
    plane = field
    plane%name(1:6) = [character(kind=c_char) :: 'p', 'l', 'a', 'n', 'e', c_null_char]
    plane%selected_start(3) = 2
    plane%selected_count(3) = 1
    call redist_hdf5_write(file, [plane])
    call redist_hdf5_xdmf(file, trim(path)//'.xdmf')
    call redist_hdf5_close(file)
    allocate (expected, mold=v)
    call redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_READ_ONLY, file)
    do step = 0, 2
      call fill(expected, first_of_other, step)
      v = -1
      call redist_hdf5_read(file, [other], merge(step, int(REDIST_HDF5_LAST_STEP), step < 2))
      call check(all(abs(v - expected) <= 0), 'a step of a dataset, in other parts')
    end do
    call redist_hdf5_close(file)
    call redist_free(u)
    call redist_free(v)
  end subroutine test_fields

  integer function random_axis(salt)
    integer, intent(in) :: salt
    random_axis = 1 + mod(clock + salt, 3)
    call MPI_Bcast(random_axis, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  end function random_axis

  ! Of the file of test_fields.
  subroutine test_contents()
    type(redist_hdf5_file) :: file
    type(redist_hdf5_dataset) :: dataset
    real(real64) :: spacing(3)
    integer :: count
    call redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_READ_ONLY, file)
    call redist_hdf5_count(file, count)
    call check(count == 2, 'the number of datasets')
    call redist_hdf5_info(file, 1, dataset)
    call check(dataset%name == 'flow/u' .and. dataset%steps == 3 .and. all(dataset%sizes == sizes), 'a dataset with steps')
    call check(dataset%items == 1 .and. dataset%number == MPI_DOUBLE, 'its numbers')
    call redist_hdf5_info(file, 2, dataset)
    call check(dataset%name == 'plane' .and. dataset%steps == -1 .and. all(dataset%sizes == [6, 4, 1]), 'a plane')
    call redist_hdf5_get_numbers(file, 'spacing', spacing, object='flow/u')
    call check(all(abs(spacing - [2d0, 1d0, 0.5d0]) <= 0), 'the spacing, in the order of the file')
    call redist_hdf5_close(file)
  end subroutine test_contents

  subroutine test_attributes()
    type(redist_hdf5_file) :: file
    character(len=8) :: text
    character(len=4) :: short
    real(real64) :: numbers(3)
    integer(int64) :: integers(1)
    integer :: n
    call redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_APPEND, file)
    call redist_hdf5_set_text(file, 'title', 'a flow')
    call redist_hdf5_set_numbers(file, 'lengths', [1d0, 2d0], object='flow')
    call redist_hdf5_set_integers(file, 'seed', [2_int64**40], object='plane')
    call redist_hdf5_get_text(file, 'title', text)
    call redist_hdf5_get_text(file, 'title', short)
    call check(text == 'a flow' .and. short == 'a fl', 'a text')
    numbers = -1
    call redist_hdf5_get_numbers(file, 'lengths', numbers, n, 'flow')
    call check(n == 2 .and. all(abs(numbers - [1d0, 2d0, -1d0]) <= 0), 'numbers')
    call redist_hdf5_get_integers(file, 'seed', integers, object='plane')
    call check(integers(1) == 2_int64**40, 'integers')
    call redist_hdf5_close(file)
  end subroutine test_attributes

  subroutine test_errors()
    type(redist_hdf5_file) :: file
    type(redist_field) :: field
    type(redist_hdf5_dataset) :: dataset
    real(real64), pointer :: u(:, :, :)
    real(real64) :: number(1)
    integer :: first(3), code
    call make_field('none', 1, u, field, first)
    call redist_hdf5_open(MPI_COMM_WORLD, trim(path)//'/none', REDIST_HDF5_READ_ONLY, file, ierror=code)
    call check(code == REDIST_ERR_FILE .and. .not. c_associated(file%handle), 'no file')
    call redist_hdf5_open(MPI_COMM_WORLD, path, merge(17, int(REDIST_HDF5_READ_ONLY), rank == nranks - 1), file, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'a mode that does not exist, on one rank')
    call redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_READ_ONLY, file)
    call redist_hdf5_read(file, [field], ierror=code)
    call check(code == REDIST_ERR_FILE, 'no such dataset')
    call redist_hdf5_write(file, [field], ierror=code)
    call check(code == REDIST_ERR_STATE, 'a file that is open for reading')
    call redist_hdf5_write(file, [field], compression=17, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'compression')
    call redist_hdf5_get_numbers(file, 'none', number, ierror=code)
    call check(code == REDIST_ERR_FILE, 'no such attribute')
    call redist_hdf5_info(file, 3, dataset, code)
    call check(code == REDIST_ERR_ARGUMENT, 'no such number of a dataset')
    call redist_hdf5_close(file)
    call redist_hdf5_close(file, code)
    call check(code /= REDIST_OK, 'closes twice')
    call redist_free(u)
  end subroutine test_errors

end program test_hdf5
