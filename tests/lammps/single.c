/* SPDX-License-Identifier: BSD-3-Clause */
/* A library in single precision, as LAMMPS's is with FFT_SINGLE: the face knows it by the remap_3d that it defines. */
#include "single.h"

#ifdef LAMMPS_OLD /* or one in double precision that has LAMMPS's names of before its plugins */
REDIST_API void lammps_open(void);
void lammps_open(void) {
}
#else
void remap_3d_of_floats(float *in, float *out, float *buffer,
                        struct remap_plan_3d *plan) __asm__(FFTND_LAMMPS_FLOAT);

REDIST_API void remap_3d_of_floats(float *in, float *out, float *buffer,
                                   struct remap_plan_3d *plan) {
    (void)in, (void)out, (void)buffer, (void)plan;
    MPI_Abort(MPI_COMM_WORLD, 1); /* the face's comes first */
}
#endif

struct fft_plan_3d *single_create_plan(MPI_Comm comm, int nfast, int nmid, int nslow, int in_ilo,
                                       int in_ihi, int in_jlo, int in_jhi, int in_klo, int in_khi,
                                       int out_ilo, int out_ihi, int out_jlo, int out_jhi,
                                       int out_klo, int out_khi, int scaled, int permute, int *nbuf,
                                       int usecollective) {
    struct fft_plan_3d *plan = fft_3d_create_plan(
        comm, nfast, nmid, nslow, in_ilo, in_ihi, in_jlo, in_jhi, in_klo, in_khi, out_ilo, out_ihi,
        out_jlo, out_jhi, out_klo, out_khi, scaled, permute, nbuf, usecollective);
    if (plan == NULL) /* after the call, which is thereby one from this library */
        MPI_Abort(comm, 1);
    return plan;
}
