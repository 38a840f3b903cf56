/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for FFTW-MPI in one, two or three precisions (PRECISIONS): a field of complex numbers goes forward and
 * backward in each, with a serial plan beside it. It prints what it computes, and fails if that is wrong.
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

static int wrong;

#define ROUND_TRIP(prefix)                                                                         \
    static void round_trip_##prefix(void) {                                                        \
        enum { ROWS = 12, COLUMNS = 10, POINTS = ROWS * COLUMNS };                                 \
        ptrdiff_t mine, start;                                                                     \
        prefix##_mpi_init();                                                                       \
        ptrdiff_t all = prefix##_mpi_local_size_2d(ROWS, COLUMNS, MPI_COMM_WORLD, &mine, &start);  \
        prefix##_complex *data = prefix##_alloc_complex((size_t)all), serial[8] = {{1, 0}};        \
        prefix##_plan there = prefix##_mpi_plan_dft_2d(ROWS, COLUMNS, data, data, MPI_COMM_WORLD,  \
                                                       FFTW_FORWARD, FFTW_ESTIMATE);               \
        prefix##_plan back = prefix##_mpi_plan_dft_2d(ROWS, COLUMNS, data, data, MPI_COMM_WORLD,   \
                                                      FFTW_BACKWARD, FFTW_ESTIMATE);               \
        prefix##_plan line = prefix##_plan_dft_1d(8, serial, serial, FFTW_FORWARD, FFTW_ESTIMATE); \
        for (ptrdiff_t i = 0; i < mine * COLUMNS; i++) {                                           \
            data[i][0] = (start * COLUMNS + i) % 7;                                                \
            data[i][1] = (start * COLUMNS + i) % 5;                                                \
        }                                                                                          \
        prefix##_execute(there);                                                                   \
        prefix##_execute(back);                                                                    \
        prefix##_execute(line);                                                                    \
        double most = fabs((double)serial[3][0] - 1);                                              \
        for (ptrdiff_t i = 0; i < mine * COLUMNS; i++) {                                           \
            most = fmax(most, fabs((double)data[i][0] / POINTS - (start * COLUMNS + i) % 7));      \
            most = fmax(most, fabs((double)data[i][1] / POINTS - (start * COLUMNS + i) % 5));      \
        }                                                                                          \
        printf(#prefix ": wrong by %g\n", most);                                                   \
        wrong = wrong || !(most < 1e-5);                                                           \
        prefix##_destroy_plan(there);                                                              \
        prefix##_destroy_plan(back);                                                               \
        prefix##_destroy_plan(line);                                                               \
        prefix##_free(data);                                                                       \
        prefix##_mpi_cleanup();                                                                    \
    }
ROUND_TRIP(fftw)
#if PRECISIONS > 1
ROUND_TRIP(fftwf)
#endif
#if PRECISIONS > 2
ROUND_TRIP(fftwl)
#endif

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    round_trip_fftw();
#if PRECISIONS > 1
    round_trip_fftwf();
#endif
#if PRECISIONS > 2
    round_trip_fftwl();
#endif
    MPI_Finalize();
    return wrong;
}
