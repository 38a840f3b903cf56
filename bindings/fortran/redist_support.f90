! SPDX-License-Identifier: BSD-3-Clause
! Common part of the modules redist and fftnd: ierror, text, and order.
module redist_support
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08, only: MPI_Abort, MPI_COMM_WORLD, MPI_Finalized, MPI_Initialized
  use redist_c, only: c_error_message, redist_box
  implicit none
  private
  public :: redist__finish, redist__explain, redist__text, redist__c_text, redist__flag, redist__reversed

  interface
    function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: c_strlen
    end function c_strlen
    subroutine c_set_message(text) bind(c, name='redist_set_message')
      import
      character(kind=c_char), intent(in) :: text(*)
    end subroutine c_set_message
  end interface

contains

  ! Returns the code; without ierror an error ends the program on all ranks.
  subroutine redist__finish(code, ierror)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierror
    logical :: begun, ended
    if (present(ierror)) then
      ierror = code
    else if (code /= 0) then
      write (error_unit, '(a)') redist__text(c_error_message())
      call MPI_Initialized(begun)
      call MPI_Finalized(ended)
      if (begun .and. .not. ended) call MPI_Abort(MPI_COMM_WORLD, int(code))
      error stop
    end if
  end subroutine redist__finish

  ! Replaces the message of the last failed call by a sentence, if any.
  subroutine redist__explain(sentence)
    character(len=:), allocatable, intent(in) :: sentence
    if (allocated(sentence)) call c_set_message(sentence//c_null_char)
  end subroutine redist__explain

  ! A copy of a text of C; empty for a null pointer.
  function redist__text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    text = ''
    if (.not. c_associated(pointer)) return
    call c_f_pointer(pointer, characters, [c_strlen(pointer)])
    text = repeat(' ', size(characters))
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function redist__text

  ! The address of a text for C, in memory of `keep`; null without one.
  function redist__c_text(text, keep) result(pointer)
    character(len=*), intent(in), optional :: text
    character(len=:), allocatable, target, intent(inout) :: keep
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (.not. present(text)) return
    keep = trim(text)//c_null_char
    pointer = c_loc(keep)
  end function redist__c_text

  ! Sets a number of C by an optional condition.
  subroutine redist__flag(condition, number)
    logical, intent(in), optional :: condition
    integer(c_int), intent(inout) :: number
    if (present(condition)) number = merge(1, 0, condition)
  end subroutine redist__flag

  ! A box with its d axes in the other order, and the first element counted from `first` more.
  pure function redist__reversed(box, d, first) result(reversed)
    type(redist_box), intent(in) :: box
    integer, intent(in) :: d, first
    type(redist_box) :: reversed
    reversed = box
    reversed%start(1:d) = box%start(d:1:-1) + first
    reversed%count(1:d) = box%count(d:1:-1)
    reversed%extent(1:d) = box%extent(d:1:-1)
    reversed%offset(1:d) = box%offset(d:1:-1)
  end function redist__reversed

end module redist_support
