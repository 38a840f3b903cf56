/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for FFTW-MPI alone, of the kinds that FFTW's manual describes: a complex transform in two dimensions, a
 * real one in three with its transposed order, real-to-real ones, blocks of the user's, and a transposition. It prints
 * sums of what it computes, which do not depend on the library that does it.
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

static int rank, nranks;

/* Of a local array, weighted so that a wrong order shows. */
static void print_sum(const char *what, const double *values, ptrdiff_t n, ptrdiff_t first) {
    double sums[2] = {0, 0};
    for (ptrdiff_t i = 0; i < n; i++) {
        sums[0] += values[i] * values[i];
        sums[1] += values[i] * cos(0.1 * (double)(first + i));
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%-28s %.8e %.8e\n", what, sums[0], sums[1]);
}

static double value(ptrdiff_t i) {
    return sin(0.7 * (double)i) + 0.3 * cos(1.3 * (double)(i % 97));
}

static void complex_2d(void) {
    const ptrdiff_t n0 = 40, n1 = 36;
    ptrdiff_t mine, start;
    ptrdiff_t all = fftw_mpi_local_size_2d(n0, n1, MPI_COMM_WORLD, &mine, &start);
    fftw_complex *data = fftw_alloc_complex((size_t)all);
    fftw_plan forward =
        fftw_mpi_plan_dft_2d(n0, n1, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE);
    fftw_plan backward =
        fftw_mpi_plan_dft_2d(n0, n1, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (ptrdiff_t i = 0; i < mine * n1; i++) {
        data[i][0] = value(start * n1 + i);
        data[i][1] = value(7 * (start * n1 + i));
    }
    fftw_execute(forward);
    print_sum("c2c, 2 axes", &data[0][0], 2 * mine * n1, 2 * start * n1);
    fftw_execute(backward);
    print_sum("c2c, 2 axes, and back", &data[0][0], 2 * mine * n1, 2 * start * n1);
    fftw_destroy_plan(forward);
    fftw_destroy_plan(backward);
    fftw_free(data);
}

/* The real array has rows of 2 (n2 / 2 + 1). */
static void real_3d(void) {
    const ptrdiff_t n0 = 12, n1 = 15, n2 = 10, half = n2 / 2 + 1;
    ptrdiff_t mine0, start0, mine1, start1;
    ptrdiff_t all = fftw_mpi_local_size_3d_transposed(n0, n1, half, MPI_COMM_WORLD, &mine0, &start0,
                                                      &mine1, &start1);
    double *real = fftw_alloc_real(2 * (size_t)all);
    fftw_complex *modes = fftw_alloc_complex((size_t)all);
    fftw_plan forward = fftw_mpi_plan_dft_r2c_3d(n0, n1, n2, real, modes, MPI_COMM_WORLD,
                                                 FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
    fftw_plan backward = fftw_mpi_plan_dft_c2r_3d(n0, n1, n2, modes, real, MPI_COMM_WORLD,
                                                  FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN);
    for (ptrdiff_t row = 0; row < mine0 * n1; row++)
        for (ptrdiff_t k = 0; k < n2; k++)
            real[row * 2 * half + k] = value((start0 * n1 + row) * n2 + k);
    fftw_execute(forward);
    print_sum("r2c, 3 axes, transposed", &modes[0][0], 2 * mine1 * n0 * half,
              2 * start1 * n0 * half);
    for (ptrdiff_t i = 0; i < mine1 * n0 * half; i++)
        modes[i][0] *= 0.5;
    fftw_mpi_execute_dft_c2r(backward, modes, real);
    for (ptrdiff_t row = 0; row < mine0 * n1; row++) /* the padding has no meaning */
        for (ptrdiff_t k = n2; k < 2 * half; k++)
            real[row * 2 * half + k] = 0;
    print_sum("c2r, 3 axes, transposed", real, mine0 * n1 * 2 * half, start0 * n1 * 2 * half);
    fftw_destroy_plan(forward);
    fftw_destroy_plan(backward);
    fftw_free(real);
    fftw_free(modes);
}

static void cosines(void) {
    const ptrdiff_t n[] = {20, 18};
    const fftw_r2r_kind kinds[] = {FFTW_REDFT10, FFTW_RODFT00};
    ptrdiff_t mine, start, block = (n[0] + nranks - 1) / nranks + 1;
    ptrdiff_t all = fftw_mpi_local_size_many(2, n, 3, block, MPI_COMM_WORLD, &mine, &start);
    double *in = fftw_alloc_real((size_t)all), *out = fftw_alloc_real((size_t)all);
    fftw_plan plan = fftw_mpi_plan_many_r2r(2, n, 3, block, block, in, out, MPI_COMM_WORLD, kinds,
                                            FFTW_ESTIMATE);
    for (ptrdiff_t i = 0; i < mine * n[1] * 3; i++)
        in[i] = value(start * n[1] * 3 + i);
    fftw_execute(plan);
    print_sum("r2r of tuples, own blocks", out, mine * n[1] * 3, start * n[1] * 3);
    fftw_destroy_plan(plan);
    fftw_free(in);
    fftw_free(out);
}

static void transposition(void) {
    const ptrdiff_t n0 = 30, n1 = 50, n[] = {n0, n1};
    ptrdiff_t mine0, start0, mine1, start1;
    ptrdiff_t all =
        fftw_mpi_local_size_transposed(2, n, MPI_COMM_WORLD, &mine0, &start0, &mine1, &start1);
    double *data = fftw_alloc_real((size_t)all);
    fftw_plan plan = fftw_mpi_plan_transpose(n0, n1, data, data, MPI_COMM_WORLD, FFTW_MEASURE);
    for (ptrdiff_t i = 0; i < mine0 * n1; i++)
        data[i] = value(start0 * n1 + i);
    fftw_execute(plan);
    print_sum("transposition", data, mine1 * n0, start1 * n0);
    fftw_destroy_plan(plan);
    fftw_free(data);
}

/* One plan of FFTW's own among the others. */
static void serial(void) {
    fftw_complex data[64];
    fftw_plan plan = fftw_plan_dft_1d(64, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
    for (int i = 0; i < 64; i++) {
        data[i][0] = value(i + rank);
        data[i][1] = 0;
    }
    fftw_execute(plan);
    print_sum("serial", &data[0][0], 128, 128 * rank);
    fftw_destroy_plan(plan);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    complex_2d();
    real_3d();
    cosines();
    transposition();
    serial();
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
