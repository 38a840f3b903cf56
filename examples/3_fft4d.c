/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A complex FFT in four dimensions on a three-dimensional process grid.
 *
 * The program follows Appendix B of Dalcin, Mortensen, Keyes: "Fast parallel multidimensional FFT
 * using advanced MPI". It differs from the one in three dimensions by one more alignment and one
 * more exchange in each direction; any number of dimensions works alike.
 */
#include "example.h"
#include "fft_parts.h"

int main(int argc, char *argv[]) {
    MPI_Init(&argc, &argv);
    const redist_index n[4] = {16, 17, 18, 19};
    MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;
    MPI_Comm groups[3];
    check(redist_subcomm(MPI_COMM_WORLD, 3, groups));

    /* Grid dimension i splits axis i, until axis i becomes whole; from then on it splits i + 1. */
    redist_index early[3], late[4];
    for (int i = 0; i < 3; i++) {
        early[i] = local_size(n[i], groups[i]);
        late[i + 1] = local_size(n[i + 1], groups[i]);
    }
    redist_index sizes_a[4] = {early[0], early[1], early[2], n[3]};
    redist_index sizes_b[4] = {early[0], early[1], n[2], late[3]};
    redist_index sizes_c[4] = {early[0], n[1], late[2], late[3]};
    redist_index sizes_d[4] = {n[0], late[1], late[2], late[3]};
    double complex *a = allocate_array(4, sizes_a);
    double complex *b = allocate_array(4, sizes_b);
    double complex *c = allocate_array(4, sizes_c);
    double complex *d = allocate_array(4, sizes_d);
    fill_array(4, sizes_a, a);

    transform(4, sizes_a, a, 3, FORWARD);
    check(redist_exchange(groups[2], type, 4, sizes_a, a, 3, sizes_b, b, 2));
    transform(4, sizes_b, b, 2, FORWARD);
    check(redist_exchange(groups[1], type, 4, sizes_b, b, 2, sizes_c, c, 1));
    transform(4, sizes_c, c, 1, FORWARD);
    check(redist_exchange(groups[0], type, 4, sizes_c, c, 1, sizes_d, d, 0));
    transform(4, sizes_d, d, 0, FORWARD);

    double spectrum_squares = sum_of_squares(4, sizes_d, d);

    transform(4, sizes_d, d, 0, BACKWARD);
    check(redist_exchange(groups[0], type, 4, sizes_d, d, 0, sizes_c, c, 1));
    transform(4, sizes_c, c, 1, BACKWARD);
    check(redist_exchange(groups[1], type, 4, sizes_c, c, 1, sizes_b, b, 2));
    transform(4, sizes_b, b, 2, BACKWARD);
    check(redist_exchange(groups[2], type, 4, sizes_b, b, 2, sizes_a, a, 3));
    transform(4, sizes_a, a, 3, BACKWARD);

    int status = judge(4, n, sizes_a, a, spectrum_squares);
    double complex *arrays[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        release(arrays[i]);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&groups[i]);
    MPI_Finalize();
    return status;
}
