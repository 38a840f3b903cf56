! SPDX-License-Identifier: BSD-3-Clause
! A program of a user of HDF5 files: built against the installed module.
program main
  use mpi_f08
  use redist
  use redist_hdf5
  implicit none
  type(redist_hdf5_file) :: file
  integer :: code
  call MPI_Init()
  call redist_hdf5_open(MPI_COMM_WORLD, '/none/such.h5', REDIST_HDF5_READ_ONLY, file, ierror=code)
  if (code /= REDIST_ERR_FILE) error stop 'a file that is missing was opened'
  call MPI_Finalize()
end program main
