/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of a user: built against the installed libraries with pkg-config alone. */
#include <fftnd.h>
#include <math.h>
#include <redist.h>
#include <stdio.h>
#include <stdlib.h>

static int exchange_rows_for_columns(void) {
    int size, rank, wrong = 0;
    redist_index sizes_a[2] = {6, 5}, sizes_b[2] = {6, 5}, start_a, start_b;
    double a[30], b[30];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    redist_decompose(5, size, rank, &sizes_a[1], &start_a);
    redist_decompose(6, size, rank, &sizes_b[0], &start_b);
    for (redist_index i = 0; i < sizes_a[0]; i++)
        for (redist_index j = 0; j < sizes_a[1]; j++)
            a[i * sizes_a[1] + j] = (double)(i * 5 + j + start_a);
    if (redist_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes_a, a, 0, sizes_b, b, 1) != REDIST_OK)
        return 1;
    for (redist_index n = 0; n < sizes_b[0] * sizes_b[1]; n++)
        wrong += fabs(b[n] - (double)(start_b * 5 + n)) > 0;
    return wrong;
}

static int transform_there_and_back(void) {
    const redist_index sizes[3] = {4, 5, 6};
    fftnd_plan *plan;
    fftnd_layout physical = FFTND_LAYOUT_DEFAULT, spectral = FFTND_LAYOUT_DEFAULT;
    int wrong = 0;
    if (fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, NULL, &plan) ||
        fftnd_plan_layout(plan, FFTND_PHYSICAL, &physical) ||
        fftnd_plan_layout(plan, FFTND_SPECTRAL, &spectral))
        return 1;
    double *field = malloc(physical.bytes);
    void *modes = malloc(spectral.bytes);
    int count = (int)(physical.bytes / sizeof(double));
    for (int n = 0; n < count; n++)
        field[n] = sin(n);
    wrong += fftnd_forward(plan, field, modes) + fftnd_backward(plan, modes, field);
    for (int n = 0; n < count; n++)
        wrong += fabs(field[n] - sin(n)) > 1e-14;
    free(field);
    free(modes);
    return wrong + fftnd_plan_free(&plan);
}

int main(int argc, char **argv) {
    int rank, wrong, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wrong = exchange_rows_for_columns() + transform_there_and_back();
    MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("installed libraries: %d errors\n", sum);
    MPI_Finalize();
    return sum ? EXIT_FAILURE : EXIT_SUCCESS;
}
