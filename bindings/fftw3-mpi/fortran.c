/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions for fftw3-mpi.f03: the same with a communicator of Fortran. No header declares them.
 */
#include "names.h"

#define COMM MPI_Comm_f2c(comm)

/* The parameters, and the same as arguments. */
#define FORTRAN(type, name, parameters, arguments)                                                 \
    type XM(name##_f03) parameters;                                                                \
    EXPORT type XM(name##_f03) parameters {                                                        \
        return XM(name) arguments;                                                                 \
    }
FORTRAN(ptrdiff_t, local_size_many_transposed,
        (int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t block0, ptrdiff_t block1,
         MPI_Fint comm, ptrdiff_t *local_n0, ptrdiff_t *local_0_start, ptrdiff_t *local_n1,
         ptrdiff_t *local_1_start),
        (rank, n, howmany, block0, block1, COMM, local_n0, local_0_start, local_n1, local_1_start))
FORTRAN(ptrdiff_t, local_size_many,
        (int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t block0, MPI_Fint comm,
         ptrdiff_t *local_n0, ptrdiff_t *local_0_start),
        (rank, n, howmany, block0, COMM, local_n0, local_0_start))
FORTRAN(ptrdiff_t, local_size_transposed,
        (int rank, const ptrdiff_t *n, MPI_Fint comm, ptrdiff_t *local_n0, ptrdiff_t *local_0_start,
         ptrdiff_t *local_n1, ptrdiff_t *local_1_start),
        (rank, n, COMM, local_n0, local_0_start, local_n1, local_1_start))
FORTRAN(ptrdiff_t, local_size,
        (int rank, const ptrdiff_t *n, MPI_Fint comm, ptrdiff_t *local_n0,
         ptrdiff_t *local_0_start),
        (rank, n, COMM, local_n0, local_0_start))
FORTRAN(ptrdiff_t, local_size_many_1d,
        (ptrdiff_t n0, ptrdiff_t howmany, MPI_Fint comm, int sign, unsigned flags,
         ptrdiff_t *local_ni, ptrdiff_t *local_i_start, ptrdiff_t *local_no,
         ptrdiff_t *local_o_start),
        (n0, howmany, COMM, sign, flags, local_ni, local_i_start, local_no, local_o_start))
FORTRAN(ptrdiff_t, local_size_1d,
        (ptrdiff_t n0, MPI_Fint comm, int sign, unsigned flags, ptrdiff_t *local_ni,
         ptrdiff_t *local_i_start, ptrdiff_t *local_no, ptrdiff_t *local_o_start),
        (n0, COMM, sign, flags, local_ni, local_i_start, local_no, local_o_start))
FORTRAN(ptrdiff_t, local_size_2d,
        (ptrdiff_t n0, ptrdiff_t n1, MPI_Fint comm, ptrdiff_t *local_n0, ptrdiff_t *local_0_start),
        (n0, n1, COMM, local_n0, local_0_start))
FORTRAN(ptrdiff_t, local_size_2d_transposed,
        (ptrdiff_t n0, ptrdiff_t n1, MPI_Fint comm, ptrdiff_t *local_n0, ptrdiff_t *local_0_start,
         ptrdiff_t *local_n1, ptrdiff_t *local_1_start),
        (n0, n1, COMM, local_n0, local_0_start, local_n1, local_1_start))
FORTRAN(ptrdiff_t, local_size_3d,
        (ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, MPI_Fint comm, ptrdiff_t *local_n0,
         ptrdiff_t *local_0_start),
        (n0, n1, n2, COMM, local_n0, local_0_start))
FORTRAN(ptrdiff_t, local_size_3d_transposed,
        (ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, MPI_Fint comm, ptrdiff_t *local_n0,
         ptrdiff_t *local_0_start, ptrdiff_t *local_n1, ptrdiff_t *local_1_start),
        (n0, n1, n2, COMM, local_n0, local_0_start, local_n1, local_1_start))
FORTRAN(X(plan), plan_many_transpose,
        (ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t howmany, ptrdiff_t block0, ptrdiff_t block1,
         real *in, real *out, MPI_Fint comm, unsigned flags),
        (n0, n1, howmany, block0, block1, in, out, COMM, flags))
FORTRAN(X(plan), plan_transpose,
        (ptrdiff_t n0, ptrdiff_t n1, real *in, real *out, MPI_Fint comm, unsigned flags),
        (n0, n1, in, out, COMM, flags))
FORTRAN(X(plan), plan_many_dft,
        (int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t block, ptrdiff_t tblock,
         complex_number *in, complex_number *out, MPI_Fint comm, int sign, unsigned flags),
        (rank, n, howmany, block, tblock, in, out, COMM, sign, flags))
FORTRAN(X(plan), plan_dft,
        (int rank, const ptrdiff_t *n, complex_number *in, complex_number *out, MPI_Fint comm,
         int sign, unsigned flags),
        (rank, n, in, out, COMM, sign, flags))
FORTRAN(X(plan), plan_dft_1d,
        (ptrdiff_t n0, complex_number *in, complex_number *out, MPI_Fint comm, int sign,
         unsigned flags),
        (n0, in, out, COMM, sign, flags))
FORTRAN(X(plan), plan_dft_2d,
        (ptrdiff_t n0, ptrdiff_t n1, complex_number *in, complex_number *out, MPI_Fint comm,
         int sign, unsigned flags),
        (n0, n1, in, out, COMM, sign, flags))
FORTRAN(X(plan), plan_dft_3d,
        (ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, complex_number *in, complex_number *out,
         MPI_Fint comm, int sign, unsigned flags),
        (n0, n1, n2, in, out, COMM, sign, flags))
FORTRAN(X(plan), plan_many_r2r,
        (int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t iblock, ptrdiff_t oblock,
         real *in, real *out, MPI_Fint comm, const X(r2r_kind) * kind, unsigned flags),
        (rank, n, howmany, iblock, oblock, in, out, COMM, kind, flags))
FORTRAN(X(plan), plan_r2r,
        (int rank, const ptrdiff_t *n, real *in, real *out, MPI_Fint comm, const X(r2r_kind) * kind,
         unsigned flags),
        (rank, n, in, out, COMM, kind, flags))
FORTRAN(X(plan), plan_r2r_2d,
        (ptrdiff_t n0, ptrdiff_t n1, real *in, real *out, MPI_Fint comm, X(r2r_kind) kind0,
         X(r2r_kind) kind1, unsigned flags),
        (n0, n1, in, out, COMM, kind0, kind1, flags))
FORTRAN(X(plan), plan_r2r_3d,
        (ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, real *in, real *out, MPI_Fint comm,
         X(r2r_kind) kind0, X(r2r_kind) kind1, X(r2r_kind) kind2, unsigned flags),
        (n0, n1, n2, in, out, COMM, kind0, kind1, kind2, flags))
FORTRAN(X(plan), plan_many_dft_r2c,
        (int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t iblock, ptrdiff_t oblock,
         real *in, complex_number *out, MPI_Fint comm, unsigned flags),
        (rank, n, howmany, iblock, oblock, in, out, COMM, flags))
FORTRAN(X(plan), plan_dft_r2c,
        (int rank, const ptrdiff_t *n, real *in, complex_number *out, MPI_Fint comm,
         unsigned flags),
        (rank, n, in, out, COMM, flags))
FORTRAN(X(plan), plan_dft_r2c_2d,
        (ptrdiff_t n0, ptrdiff_t n1, real *in, complex_number *out, MPI_Fint comm, unsigned flags),
        (n0, n1, in, out, COMM, flags))
FORTRAN(X(plan), plan_dft_r2c_3d,
        (ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, real *in, complex_number *out, MPI_Fint comm,
         unsigned flags),
        (n0, n1, n2, in, out, COMM, flags))
FORTRAN(X(plan), plan_many_dft_c2r,
        (int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t iblock, ptrdiff_t oblock,
         complex_number *in, real *out, MPI_Fint comm, unsigned flags),
        (rank, n, howmany, iblock, oblock, in, out, COMM, flags))
FORTRAN(X(plan), plan_dft_c2r,
        (int rank, const ptrdiff_t *n, complex_number *in, real *out, MPI_Fint comm,
         unsigned flags),
        (rank, n, in, out, COMM, flags))
FORTRAN(X(plan), plan_dft_c2r_2d,
        (ptrdiff_t n0, ptrdiff_t n1, complex_number *in, real *out, MPI_Fint comm, unsigned flags),
        (n0, n1, in, out, COMM, flags))
FORTRAN(X(plan), plan_dft_c2r_3d,
        (ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, complex_number *in, real *out, MPI_Fint comm,
         unsigned flags),
        (n0, n1, n2, in, out, COMM, flags))

void XM(gather_wisdom_f03)(MPI_Fint comm);
void XM(broadcast_wisdom_f03)(MPI_Fint comm);

EXPORT void XM(gather_wisdom_f03)(MPI_Fint comm) {
    XM(gather_wisdom)(COMM);
}

EXPORT void XM(broadcast_wisdom_f03)(MPI_Fint comm) {
    XM(broadcast_wisdom)(COMM);
}
