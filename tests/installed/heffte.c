/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program with heFFTe's interface for C: a real field in slabs there and back. */
#include <heffte.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int code) {
    if (code == Heffte_SUCCESS)
        return;
    fprintf(stderr, "%s\n", redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char **argv) {
    const int n = 12;
    int rank, ranks;
    heffte_plan plan;
    heffte_plan_options options;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int low[3] = {0, 0, n * rank / ranks},
              high[3] = {n - 1, n - 1, n * (rank + 1) / ranks - 1};
    const int high_of_modes[3] = {n / 2, high[1], high[2]};
    must(heffte_set_default_options(Heffte_BACKEND_FFTW, &options));
    must(heffte_plan_create_r2c(Heffte_BACKEND_FFTW, low, high, NULL, low, high_of_modes, NULL, 0,
                                MPI_COMM_WORLD, &options, &plan));
    double *field = calloc((size_t)heffte_size_inbox(plan), sizeof *field), error = 0;
    void *modes = calloc((size_t)heffte_size_outbox(plan), 2 * sizeof *field);
    for (int i = 0; i < heffte_size_inbox(plan); i++)
        field[i] = i % 7;
    must(heffte_forward_d2z(plan, field, modes, Heffte_SCALE_FULL));
    must(heffte_backward_z2d(plan, modes, field, Heffte_SCALE_NONE));
    for (int i = 0; i < heffte_size_inbox(plan); i++)
        error = fmax(error, fabs(field[i] - i % 7));
    must(heffte_plan_destroy(plan));
    free(modes);
    free(field);
    MPI_Finalize();
    return error < 1e-12 ? 0 : 1;
}
