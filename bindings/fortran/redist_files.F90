! SPDX-License-Identifier: BSD-3-Clause
! The procedures of module redist for files and checkpoints.
module redist_files
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm
  use redist_c, c_info => redist_checkpoint_info, c_info_field => redist_checkpoint_field
  use redist_grids, only: redist_index
  use redist_support
  implicit none
  private

  !> A write that has started.
  type, public :: redist_file_request
    type(c_ptr) :: handle = c_null_ptr
  end type redist_file_request

  !> A checkpoint whose writing has started.
  type, public :: redist_checkpoint_request
    type(c_ptr) :: handle = c_null_ptr
  end type redist_checkpoint_request

  !> A field of a checkpoint; the names of types are those of redist_checkpoint.h.
  type, public :: redist_checkpoint_field
    character(len=:), allocatable :: name, type
    integer(c_size_t) :: element_bytes = 0
    integer(redist_index), allocatable :: sizes(:)
  end type redist_checkpoint_field

  !> Contents of a checkpoint: transfer(info%parameters, state) are its parameters.
  type, public :: redist_checkpoint_info
    type(redist_checkpoint_field), allocatable :: fields(:)
    integer(c_int8_t), allocatable :: parameters(:)
    integer(c_int64_t) :: seconds = 0
    integer :: version(3) = 0
  end type redist_checkpoint_info

  public :: redist_field_set_box, redist_write, redist_read, redist_write_start, redist_file_wait
  public :: redist_checkpoint_write, redist_checkpoint_write_start, redist_checkpoint_wait, redist_checkpoint_read
  public :: redist_checkpoint_get_info

  !> Describes what a file has of a distributed array: all of it, unless the selection of the field is changed.
  !>   sizes  global extents
  !>   box    this rank's part, such as that of redist_grid_box; its offset is the room before it, such as ghosts
  !>   array  elements of any type, kept by address: TARGET or POINTER. With as many axes as sizes has values it is the
  !>          local array, which may be a section; other arrays are contiguous and have the extents box%extent
  !>   name   of the field in a checkpoint
  !> Not collective.
  interface redist_field_set_box
    module procedure field_set_box_short, field_set_box_long
  end interface redist_field_set_box

contains

  ! ---------------------------------------------------------------- fields

  subroutine field_set_box_long(field, sizes, box, array, name, space, ierror)
    type(redist_field), intent(out) :: field
    integer(int64), intent(in) :: sizes(:)
    type(redist_box), intent(in) :: box
    type(*), intent(in), target :: array(..)
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: space
    integer, intent(out), optional :: ierror
    integer(c_int) :: code, place
    integer :: d
    d = size(sizes)
    place = REDIST_SPACE_AUTO
    if (present(space)) place = space
    code = REDIST_OK
    if (present(name)) code = c_field_set_name(field, trim(name)//c_null_char)
    if (code == REDIST_OK) code = c_field_set_box(field, d, sizes(d:1:-1), redist__reversed(box, d, -1), place, array)
    call redist__finish(code, ierror)
  end subroutine field_set_box_long

  subroutine field_set_box_short(field, sizes, box, array, name, space, ierror)
    type(redist_field), intent(out) :: field
    integer(int32), intent(in) :: sizes(:)
    type(redist_box), intent(in) :: box
    type(*), intent(in), target :: array(..)
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: space
    integer, intent(out), optional :: ierror
    call field_set_box_long(field, int(sizes, int64), box, array, name, space, ierror)
  end subroutine field_set_box_short

  ! ---------------------------------------------------------------- raw files

  ! Options for C; the text lives in `held`.
  subroutine fill(options, &
#include "redist_file_arguments.inc"
      held)
    type(redist_file_options), intent(out) :: options
    character(len=:), allocatable, target, intent(inout) :: held
#include "redist_file_options.inc"
    integer(c_int) :: code
    code = c_file_options_init(options, c_sizeof(options))
    options%method = redist__c_text(method, held)
    if (present(offset)) options%offset = offset
    if (present(writers_per_node)) options%writers_per_node = writers_per_node
    if (present(buffer_bytes)) options%buffer_bytes = buffer_bytes
    call redist__flag(truncate, options%truncate)
    call redist__flag(flush, options%flush)
  end subroutine fill

  !> Writes distributed arrays to a raw file, one behind the other. The first axis varies fastest.
  subroutine redist_write(comm, path, fields, &
#include "redist_file_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(redist_field), intent(in) :: fields(:)
#include "redist_file_options.inc"
    integer, intent(out), optional :: ierror
    type(redist_file_options) :: options
    character(len=:), allocatable, target :: held
    call fill(options, &
#include "redist_file_arguments.inc"
      held)
    call redist__finish(c_write(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, options), ierror)
  end subroutine redist_write

  !> Reads distributed arrays from a raw file, on any number of ranks.
  subroutine redist_read(comm, path, fields, &
#include "redist_file_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(redist_field), intent(in) :: fields(:)
#include "redist_file_options.inc"
    integer, intent(out), optional :: ierror
    type(redist_file_options) :: options
    character(len=:), allocatable, target :: held
    call fill(options, &
#include "redist_file_arguments.inc"
      held)
    call redist__finish(c_read(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, options), ierror)
  end subroutine redist_read

  !> Starts a write that redist_file_wait completes; the arrays may be changed on return.
  subroutine redist_write_start(comm, path, fields, request, &
#include "redist_file_arguments.inc"
      ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(redist_field), intent(in) :: fields(:)
    type(redist_file_request), intent(out) :: request
#include "redist_file_options.inc"
    integer, intent(out), optional :: ierror
    type(redist_file_options) :: options
    character(len=:), allocatable, target :: held
    call fill(options, &
#include "redist_file_arguments.inc"
      held)
    call redist__finish(c_write_start(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, options, &
      request%handle), ierror)
  end subroutine redist_write_start

  !> Completes a write of redist_write_start. Collective on its communicator.
  subroutine redist_file_wait(request, ierror)
    type(redist_file_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call redist__finish(c_file_wait(request%handle), ierror)
  end subroutine redist_file_wait

  ! ---------------------------------------------------------------- checkpoints

  function checkpoint_options(keep, convert, writers_per_node, piece_bytes) result(options)
    integer, intent(in), optional :: keep, writers_per_node
    logical, intent(in), optional :: convert
    integer(c_size_t), intent(in), optional :: piece_bytes
    type(redist_checkpoint_options) :: options
    integer(c_int) :: code
    code = c_checkpoint_options_init(options, c_sizeof(options))
    if (present(keep)) options%keep = keep
    if (present(writers_per_node)) options%writers_per_node = writers_per_node
    if (present(piece_bytes)) options%piece_bytes = piece_bytes
    call redist__flag(convert, options%convert)
  end function checkpoint_options

  !> Writes a checkpoint: fields, each with a name of its own, and the program's own parameters.
  !>   parameters  a number, an array or a structure; the same bytes on all ranks
  subroutine redist_checkpoint_write(comm, path, fields, parameters, keep, writers_per_node, piece_bytes, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(redist_field), intent(in) :: fields(:)
    type(*), intent(in), optional :: parameters(..)
    integer, intent(in), optional :: keep, writers_per_node
    integer(c_size_t), intent(in), optional :: piece_bytes
    integer, intent(out), optional :: ierror
    type(redist_checkpoint_options) :: options
    integer(c_int) :: code
    integer :: none(0)
    options = checkpoint_options(keep, writers_per_node=writers_per_node, piece_bytes=piece_bytes)
    if (present(parameters)) then
      code = c_checkpoint_write(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, parameters, options)
    else
      code = c_checkpoint_write(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, none, options)
    end if
    call redist__finish(code, ierror)
  end subroutine redist_checkpoint_write

  !> Starts to write a checkpoint, which has its name after redist_checkpoint_wait; the arrays may be changed on return.
  subroutine redist_checkpoint_write_start(comm, path, fields, request, parameters, keep, writers_per_node, piece_bytes, &
      ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(redist_field), intent(in) :: fields(:)
    type(redist_checkpoint_request), intent(out) :: request
    type(*), intent(in), optional :: parameters(..)
    integer, intent(in), optional :: keep, writers_per_node
    integer(c_size_t), intent(in), optional :: piece_bytes
    integer, intent(out), optional :: ierror
    type(redist_checkpoint_options) :: options
    integer(c_int) :: code
    integer :: none(0)
    options = checkpoint_options(keep, writers_per_node=writers_per_node, piece_bytes=piece_bytes)
    if (present(parameters)) then
      code = c_checkpoint_write_start(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, parameters, options, &
        request%handle)
    else
      code = c_checkpoint_write_start(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, none, options, &
        request%handle)
    end if
    call redist__finish(code, ierror)
  end subroutine redist_checkpoint_write_start

  !> Completes a checkpoint of redist_checkpoint_write_start. Collective on its communicator.
  subroutine redist_checkpoint_wait(request, ierror)
    type(redist_checkpoint_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call redist__finish(c_checkpoint_wait(request%handle), ierror)
  end subroutine redist_checkpoint_wait

  !> Reads fields of a checkpoint by their names, on any number of ranks, and its parameters where they are given.
  !>   convert  .true.: single precision is read into arrays in double precision, and the other way round
  subroutine redist_checkpoint_read(comm, path, fields, parameters, convert, writers_per_node, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(redist_field), intent(in) :: fields(:)
    type(*), intent(inout), optional :: parameters(..)
    logical, intent(in), optional :: convert
    integer, intent(in), optional :: writers_per_node
    integer, intent(out), optional :: ierror
    type(redist_checkpoint_options) :: options
    integer(c_int) :: code
    integer :: none(0)
    options = checkpoint_options(convert=convert, writers_per_node=writers_per_node)
    if (present(parameters)) then
      code = c_checkpoint_read(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, parameters, options)
    else
      code = c_checkpoint_read(comm%MPI_VAL, trim(path)//c_null_char, size(fields), fields, none, options)
    end if
    call redist__finish(code, ierror)
  end subroutine redist_checkpoint_read

  !> Reads what a checkpoint has, except for the data of its fields, on all ranks.
  subroutine redist_checkpoint_get_info(comm, path, info, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(redist_checkpoint_info), intent(out) :: info
    integer, intent(out), optional :: ierror
    type(c_info), pointer :: found
    type(c_ptr) :: handle
    integer(c_int) :: code
    handle = c_null_ptr
    code = c_checkpoint_get_info(comm%MPI_VAL, trim(path)//c_null_char, handle)
    if (code == REDIST_OK) then
      call c_f_pointer(handle, found)
      call copy_info(found, info)
      code = c_checkpoint_info_free(handle)
    end if
    call redist__finish(code, ierror)
  end subroutine redist_checkpoint_get_info

  subroutine copy_info(found, info)
    type(c_info), intent(in) :: found
    type(redist_checkpoint_info), intent(out) :: info
    type(c_ptr), pointer :: fields(:)
    integer(c_int8_t), pointer :: bytes(:)
    integer :: i
    info%seconds = found%seconds
    info%version = found%version
    allocate (info%fields(found%nfields), info%parameters(found%parameter_bytes))
    if (found%nfields > 0) call c_f_pointer(found%fields, fields, [found%nfields])
    do i = 1, found%nfields
      call copy_field(fields(i), info%fields(i))
    end do
    if (found%parameter_bytes == 0) return
    call c_f_pointer(found%parameters, bytes, [found%parameter_bytes])
    info%parameters = bytes
  end subroutine copy_info

  subroutine copy_field(address, field)
    type(c_ptr), intent(in) :: address
    type(redist_checkpoint_field), intent(inout) :: field
    type(c_info_field), pointer :: found
    call c_f_pointer(address, found)
    field%name = redist__text(found%name)
    field%type = redist__text(found%type)
    field%element_bytes = found%element_bytes
    field%sizes = found%sizes(found%ndims:1:-1)
  end subroutine copy_field

end module redist_files
