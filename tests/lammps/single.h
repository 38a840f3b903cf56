/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the face from a library in single precision. */
#ifndef TESTS_LAMMPS_SINGLE_H
#define TESTS_LAMMPS_SINGLE_H

#include "../../bindings/lammps/lammps.h"

/* fft_3d_create_plan. */
REDIST_API struct fft_plan_3d *single_create_plan(MPI_Comm comm, int nfast, int nmid, int nslow,
                                                  int in_ilo, int in_ihi, int in_jlo, int in_jhi,
                                                  int in_klo, int in_khi, int out_ilo, int out_ihi,
                                                  int out_jlo, int out_jhi, int out_klo,
                                                  int out_khi, int scaled, int permute, int *nbuf,
                                                  int usecollective);

/* The same from a LAMMPS without plugins, which the face refuses. */
REDIST_API struct fft_plan_3d *old_create_plan(MPI_Comm comm, int nfast, int nmid, int nslow,
                                               int in_ilo, int in_ihi, int in_jlo, int in_jhi,
                                               int in_klo, int in_khi, int out_ilo, int out_ihi,
                                               int out_jlo, int out_jhi, int out_klo, int out_khi,
                                               int scaled, int permute, int *nbuf,
                                               int usecollective);

#endif
