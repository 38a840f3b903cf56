! SPDX-License-Identifier: BSD-3-Clause
! Version of the MPI library of Fortran; version.c has that of C.
program version
  use mpi_f08
  implicit none
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
  integer :: length
  call MPI_Get_library_version(text, length)
  print '(a)', text(1:length)
end program version
