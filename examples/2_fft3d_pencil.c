/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A complex FFT in three dimensions on a two-dimensional process grid ("pencils").
 *
 * The program follows Appendix A of Dalcin, Mortensen, Keyes: "Fast parallel multidimensional FFT
 * using advanced MPI". The array is transformed along the axis in which it is whole; an exchange
 * within a row or column of the process grid then makes the next axis whole.
 */
#include "example.h"
#include "fft_parts.h"

int main(int argc, char *argv[]) {
    MPI_Init(&argc, &argv);
    const redist_index n[3] = {42, 127, 256};
    MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;

    /* Each rank belongs to one group along each dimension of the process grid. */
    MPI_Comm groups[2];
    check(redist_subcomm(MPI_COMM_WORLD, 2, groups));

    /* The three alignments: whole along axis 2 (A), axis 1 (B), axis 0 (C). */
    redist_index sizes_a[3] = {local_size(n[0], groups[0]), local_size(n[1], groups[1]), n[2]};
    redist_index sizes_b[3] = {local_size(n[0], groups[0]), n[1], local_size(n[2], groups[1])};
    redist_index sizes_c[3] = {n[0], local_size(n[1], groups[0]), local_size(n[2], groups[1])};
    double complex *a = allocate_array(3, sizes_a);
    double complex *b = allocate_array(3, sizes_b);
    double complex *c = allocate_array(3, sizes_c);
    fill_array(3, sizes_a, a);

    transform(3, sizes_a, a, 2, FORWARD);
    check(redist_exchange(groups[1], type, 3, sizes_a, a, 2, sizes_b, b, 1));
    transform(3, sizes_b, b, 1, FORWARD);
    check(redist_exchange(groups[0], type, 3, sizes_b, b, 1, sizes_c, c, 0));
    transform(3, sizes_c, c, 0, FORWARD);

    double spectrum_squares = sum_of_squares(3, sizes_c, c);

    transform(3, sizes_c, c, 0, BACKWARD);
    check(redist_exchange(groups[0], type, 3, sizes_c, c, 0, sizes_b, b, 1));
    transform(3, sizes_b, b, 1, BACKWARD);
    check(redist_exchange(groups[1], type, 3, sizes_b, b, 1, sizes_a, a, 2));
    transform(3, sizes_a, a, 2, BACKWARD);

    int status = judge(3, n, sizes_a, a, spectrum_squares);
    release(a);
    release(b);
    release(c);
    MPI_Comm_free(&groups[0]);
    MPI_Comm_free(&groups[1]);
    MPI_Finalize();
    return status;
}
