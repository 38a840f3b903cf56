/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft_parts.h"
#include "example.h"
#include <fftw3.h>
#include <math.h>

redist_index local_size(redist_index n, MPI_Comm group) {
    int nranks, rank;
    redist_index count, start;
    MPI_Comm_size(group, &nranks);
    MPI_Comm_rank(group, &rank);
    check(redist_decompose(n, nranks, rank, &count, &start));
    return count;
}

static ptrdiff_t product(int n, const redist_index sizes[]) {
    ptrdiff_t result = 1;
    for (int i = 0; i < n; i++)
        result *= sizes[i];
    return result;
}

double complex *allocate_array(int ndims, const redist_index sizes[]) {
    return allocate((size_t)product(ndims, sizes) * sizeof(double complex));
}

static double complex original(ptrdiff_t place) {
    return (double)place + (double)place * I;
}

void fill_array(int ndims, const redist_index sizes[], double complex *array) {
    ptrdiff_t n = product(ndims, sizes);
    for (ptrdiff_t place = 0; place < n; place++)
        array[place] = original(place);
}

void transform(int ndims, const redist_index sizes[], double complex *array, int axis, int sign) {
    ptrdiff_t total = product(ndims, sizes);
    if (total == 0)
        return; /* more ranks than rows: this rank has nothing to do */

    /* Seen from `axis` the array has three axes: all before it, itself, and all behind it. */
    ptrdiff_t n = sizes[axis];
    ptrdiff_t before = product(axis, sizes);
    ptrdiff_t behind = product(ndims - axis - 1, sizes + axis + 1);
    fftw_iodim64 along = {n, behind, behind};
    fftw_iodim64 others[2] = {{before, n * behind, n * behind}, {behind, 1, 1}};
    fftw_plan plan = fftw_plan_guru64_dft(1, &along, 2, others, array, array, sign, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);

    if (sign == BACKWARD)
        for (ptrdiff_t place = 0; place < total; place++)
            array[place] /= (double)n;
}

double sum_of_squares(int ndims, const redist_index sizes[], const double complex *array) {
    ptrdiff_t n = product(ndims, sizes);
    long double sum = 0; /* long, for a million terms lose three digits of a double */
    for (ptrdiff_t place = 0; place < n; place++)
        sum += creal(array[place] * conj(array[place]));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (double)sum;
}

/* The largest difference from the original values, relative to the largest of them. */
static double round_trip_error(int ndims, const redist_index sizes[], const double complex *array) {
    ptrdiff_t n = product(ndims, sizes);
    double error = 0;
    for (ptrdiff_t place = 0; place < n; place++)
        error = larger(error, cabs(array[place] - original(place)));
    double largest = n > 0 ? cabs(original(n - 1)) : 0;
    return largest_of_all(error) / largest_of_all(largest);
}

int judge(int ndims, const redist_index global_sizes[], const redist_index sizes[],
          const double complex *array, double spectrum_squares) {
    double total = (double)product(ndims, global_sizes);
    double expected = total * sum_of_squares(ndims, sizes, array);
    double parseval_error = fabs(spectrum_squares / expected - 1);
    double error = round_trip_error(ndims, sizes, array);
    if (my_rank() == 0)
        printf("relative error of the round trip %.1e, of Parseval's sum %.1e\n", error,
               parseval_error);
    double bound = 1e-14 * log2(total);
    return error <= bound && parseval_error <= bound ? 0 : 1;
}
