! SPDX-License-Identifier: BSD-3-Clause
module redist_hdf5_procedures
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm, MPI_Datatype
  use redist_support
  use redist_hdf5_c, REDIST_HDF5_READ_ONLY => REDIST_HDF5_READ ! which is the name of a procedure, too
  implicit none
  private
  integer, parameter :: name_bytes = 256 ! REDIST_HDF5_NAME_BYTES
  integer, parameter :: axis_bytes = 64 ! more than the library takes

  !> An open file.
  type, public :: redist_hdf5_file
    type(c_ptr) :: handle = c_null_ptr
  end type redist_hdf5_file

  !> A dataset; number is MPI_DATATYPE_NULL if MPI has no such number.
  type, public :: redist_hdf5_dataset
    character(len=:), allocatable :: name
    integer(c_int64_t), allocatable :: sizes(:) !< without steps
    integer(c_int64_t) :: steps = -1 !< -1: it has no axis of steps
    integer :: items = 0 !< numbers in an element
    type(MPI_Datatype) :: number
  end type redist_hdf5_dataset

  public :: redist_hdf5_open, redist_hdf5_close, redist_hdf5_write, redist_hdf5_read, redist_hdf5_xdmf
  public :: redist_hdf5_set_numbers, redist_hdf5_set_integers, redist_hdf5_set_text
  public :: redist_hdf5_get_numbers, redist_hdf5_get_integers, redist_hdf5_get_text
  public :: redist_hdf5_count, redist_hdf5_info

contains

  ! ---------------------------------------------------------------- files

  !> Opens an HDF5 file. Collective on comm, as all procedures of the file are.
  subroutine redist_hdf5_open(comm, path, mode, file, access, buffer_bytes, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: mode
    type(redist_hdf5_file), intent(out) :: file
    integer, intent(in), optional :: access
    integer(c_size_t), intent(in), optional :: buffer_bytes
    integer, intent(out), optional :: ierror
    type(redist_hdf5_file_options) :: options
    integer(c_int) :: code
    code = c_hdf5_file_options_init(options, c_sizeof(options))
    if (present(access)) options%access = access
    if (present(buffer_bytes)) options%buffer_bytes = buffer_bytes
    call redist__finish(c_hdf5_open(comm%MPI_VAL, trim(path)//c_null_char, mode, options, file%handle), ierror)
  end subroutine redist_hdf5_open

  !> Closes a file.
  subroutine redist_hdf5_close(file, ierror)
    type(redist_hdf5_file), intent(inout) :: file
    integer, intent(out), optional :: ierror
    call redist__finish(c_hdf5_close(file%handle), ierror)
  end subroutine redist_hdf5_close

  !> Writes a description of the file for ParaView.
  subroutine redist_hdf5_xdmf(file, path, ierror)
    type(redist_hdf5_file), intent(in) :: file
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: ierror
    call redist__finish(c_hdf5_xdmf(file%handle, trim(path)//c_null_char), ierror)
  end subroutine redist_hdf5_xdmf

  ! ---------------------------------------------------------------- datasets

  !> Writes fields to the datasets of their names.
  !>   step                    from 0, REDIST_HDF5_NEXT_STEP, or absent: no steps
  !>   chunk, spacing, origin  a value for each axis
  !>   axes                    their names; a blank one is chosen
  subroutine redist_hdf5_write(file, fields, step, time, chunk, compression, axes, spacing, origin, ierror)
    type(redist_hdf5_file), intent(in) :: file
    type(redist_field), intent(in) :: fields(:)
    integer, intent(in), optional :: step, chunk(:), compression
    real(c_double), intent(in), optional :: time, spacing(:), origin(:)
    character(len=*), intent(in), optional :: axes(:)
    integer, intent(out), optional :: ierror
    type(redist_hdf5_options) :: options
    character(len=axis_bytes), target :: names(REDIST_MAX_NDIMS)
    integer(c_int) :: code
    integer :: i, d
    code = c_hdf5_options_init(options, c_sizeof(options))
    if (present(step)) options%step = step
    if (present(time)) options%time = time
    if (present(compression)) options%compression = compression
    if (present(chunk)) options%chunk(1:count_of(size(chunk))) = chunk(count_of(size(chunk)):1:-1)
    if (present(spacing)) options%spacing(1:count_of(size(spacing))) = spacing(count_of(size(spacing)):1:-1)
    if (present(origin)) options%origin(1:count_of(size(origin))) = origin(count_of(size(origin)):1:-1)
    if (present(axes)) then
      d = count_of(size(axes))
      do i = 1, d
        names(i) = axes(i)(1:min(len_trim(axes(i)), axis_bytes - 1))//c_null_char
        if (axes(i) /= '') options%axes(d + 1 - i) = c_loc(names(i))
      end do
    end if
    call redist__finish(c_hdf5_write(file%handle, size(fields), fields, options), ierror)
  end subroutine redist_hdf5_write

  ! As many values as there are axes at most.
  pure integer function count_of(values)
    integer, intent(in) :: values
    count_of = min(values, REDIST_MAX_NDIMS)
  end function count_of

  !> Reads fields from the datasets of their names, on any number of ranks.
  subroutine redist_hdf5_read(file, fields, step, ierror)
    type(redist_hdf5_file), intent(in) :: file
    type(redist_field), intent(in) :: fields(:)
    integer, intent(in), optional :: step
    integer, intent(out), optional :: ierror
    type(redist_hdf5_options) :: options
    integer(c_int) :: code
    code = c_hdf5_options_init(options, c_sizeof(options))
    if (present(step)) options%step = step
    call redist__finish(c_hdf5_read(file%handle, size(fields), fields, options), ierror)
  end subroutine redist_hdf5_read

  !> Returns the number of datasets, without dimension scales.
  subroutine redist_hdf5_count(file, count, ierror)
    type(redist_hdf5_file), intent(in) :: file
    integer, intent(out) :: count
    integer, intent(out), optional :: ierror
    count = 0
    call redist__finish(c_hdf5_count(file%handle, count), ierror)
  end subroutine redist_hdf5_count

  !> Describes a dataset; index counts from 1.
  subroutine redist_hdf5_info(file, index, dataset, ierror)
    type(redist_hdf5_file), intent(in) :: file
    integer, intent(in) :: index
    type(redist_hdf5_dataset), intent(out) :: dataset
    integer, intent(out), optional :: ierror
    character(kind=c_char), target :: name(name_bytes)
    integer(c_int64_t) :: sizes(REDIST_MAX_NDIMS)
    integer(c_int) :: code, ndims
    ndims = 0
    name = c_null_char
    code = c_hdf5_info(file%handle, index - 1, name, ndims, dataset%items, sizes, dataset%steps, dataset%number%MPI_VAL)
    dataset%name = redist__text(c_loc(name))
    dataset%sizes = sizes(ndims:1:-1)
    call redist__finish(code, ierror)
  end subroutine redist_hdf5_info

  ! ---------------------------------------------------------------- attributes

  ! The path of an object for C; absent = the file.
  function path_of(object) result(path)
    character(len=*), intent(in), optional :: object
    character(len=:), allocatable :: path
    path = '/'//c_null_char
    if (present(object)) path = trim(object)//c_null_char
  end function path_of

  !> Set an attribute of a dataset or group, or of the file.
  subroutine redist_hdf5_set_numbers(file, key, values, object, ierror)
    type(redist_hdf5_file), intent(in) :: file
    character(len=*), intent(in) :: key
    real(c_double), intent(in) :: values(:)
    character(len=*), intent(in), optional :: object
    integer, intent(out), optional :: ierror
    call redist__finish(c_hdf5_set_numbers(file%handle, path_of(object), trim(key)//c_null_char, size(values), values), &
      ierror)
  end subroutine redist_hdf5_set_numbers

  !> Sets an attribute of integers, as redist_hdf5_set_numbers.
  subroutine redist_hdf5_set_integers(file, key, values, object, ierror)
    type(redist_hdf5_file), intent(in) :: file
    character(len=*), intent(in) :: key
    integer(c_int64_t), intent(in) :: values(:)
    character(len=*), intent(in), optional :: object
    integer, intent(out), optional :: ierror
    call redist__finish(c_hdf5_set_integers(file%handle, path_of(object), trim(key)//c_null_char, size(values), values), &
      ierror)
  end subroutine redist_hdf5_set_integers

  !> Sets an attribute that is a text.
  subroutine redist_hdf5_set_text(file, key, text, object, ierror)
    type(redist_hdf5_file), intent(in) :: file
    character(len=*), intent(in) :: key, text
    character(len=*), intent(in), optional :: object
    integer, intent(out), optional :: ierror
    call redist__finish(c_hdf5_set_text(file%handle, path_of(object), trim(key)//c_null_char, trim(text)//c_null_char), &
      ierror)
  end subroutine redist_hdf5_set_text

  !> Get an attribute: as many values as there is room for, and n, how many it has; a text that is cut or blank-padded.
  subroutine redist_hdf5_get_numbers(file, key, values, n, object, ierror)
    type(redist_hdf5_file), intent(in) :: file
    character(len=*), intent(in) :: key
    real(c_double), intent(inout) :: values(:)
    integer, intent(out), optional :: n
    character(len=*), intent(in), optional :: object
    integer, intent(out), optional :: ierror
    integer(c_int) :: code, found
    found = 0
    code = c_hdf5_get_numbers(file%handle, path_of(object), trim(key)//c_null_char, size(values), values, found)
    if (present(n)) n = found
    call redist__finish(code, ierror)
  end subroutine redist_hdf5_get_numbers

  !> Returns an attribute of integers, as redist_hdf5_get_numbers.
  subroutine redist_hdf5_get_integers(file, key, values, n, object, ierror)
    type(redist_hdf5_file), intent(in) :: file
    character(len=*), intent(in) :: key
    integer(c_int64_t), intent(inout) :: values(:)
    integer, intent(out), optional :: n
    character(len=*), intent(in), optional :: object
    integer, intent(out), optional :: ierror
    integer(c_int) :: code, found
    found = 0
    code = c_hdf5_get_integers(file%handle, path_of(object), trim(key)//c_null_char, size(values), values, found)
    if (present(n)) n = found
    call redist__finish(code, ierror)
  end subroutine redist_hdf5_get_integers

  !> Returns an attribute that is a text; a longer one is cut.
  subroutine redist_hdf5_get_text(file, key, text, object, ierror)
    type(redist_hdf5_file), intent(in) :: file
    character(len=*), intent(in) :: key
    character(len=*), intent(out) :: text
    character(len=*), intent(in), optional :: object
    integer, intent(out), optional :: ierror
    character(kind=c_char), target :: found(len(text) + 1)
    integer(c_int) :: code
    found = c_null_char
    code = c_hdf5_get_text(file%handle, path_of(object), trim(key)//c_null_char, size(found), found)
    text = redist__text(c_loc(found))
    call redist__finish(code, ierror)
  end subroutine redist_hdf5_get_text

end module redist_hdf5_procedures

!> The functions of redist_hdf5.h, which explains them, for Fortran, with the conventions of module redist. Differences:
!>
!>  - Datasets have the axes in C's order: the first one of Fortran is the last one there. Steps count from 0, datasets
!>    from 1.
!>  - The mode REDIST_HDF5_READ is REDIST_HDF5_READ_ONLY, as redist_hdf5_read is a procedure.
!>  - The structures of options are lists of optional arguments, and so is the object of an attribute, by default the file.
module redist_hdf5
  use redist_hdf5_types, REDIST_HDF5_READ_ONLY => REDIST_HDF5_READ
  use redist_hdf5_procedures
  implicit none
  private :: redist_hdf5_options, redist_hdf5_file_options
end module redist_hdf5
