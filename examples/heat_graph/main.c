/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Example 7: the heat equation. On GPUs, one for each rank, a step is a CUDA graph (graph_cuda.c). Without them it is
 * an operator in host memory, which multiplies each mode by its decay between a forward and a backward transform.
 *
 *     mpirun -n 2 7_heat_graph
 */
#include "graph.h"

#include <fftnd_operators.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void must(int code) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, "7_heat_graph: %s\n", redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* An exact solution: two waves, each of which decays at its own rate. */
static double temperature(long long x, long long y, long long z, double time) {
    const double h = 2 * acos(-1) / N;
    return sin(h * (double)x) * cos(2 * h * (double)y) * exp(-5 * time) +
           cos(h * (double)(3 * z)) * exp(-9 * time);
}

/* Where a point of this rank is, counted in C order, and the exact temperature there. */
static ptrdiff_t find_point(const fftnd_layout *layout, long long i, double time, double *exact) {
    const long long at[3] = {i / layout->count[2] / layout->count[1],
                             i / layout->count[2] % layout->count[1], i % layout->count[2]};
    *exact = temperature(layout->start[0] + at[0], layout->start[1] + at[1],
                         layout->start[2] + at[2], time);
    return at[0] * layout->stride[0] + at[1] * layout->stride[1] + at[2] * layout->stride[2];
}

static long long count_points(const fftnd_layout *layout) {
    return layout->count[0] * layout->count[1] * layout->count[2];
}

static void fill(const fftnd_layout *layout, double *u) {
    double exact;
    for (long long i = 0; i < count_points(layout); i++) {
        ptrdiff_t at = find_point(layout, i, 0, &exact);
        u[at] = exact;
    }
}

static double largest_error(const fftnd_layout *layout, const double *u, double time) {
    double worst = 0, exact;
    for (long long i = 0; i < count_points(layout); i++) {
        ptrdiff_t at = find_point(layout, i, time, &exact);
        worst = fmax(worst, fabs(u[at] - exact));
    }
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* exp(-|k|^2 dt) is the product of a table for each axis; the halved axis has the first modes of the same table. */
static void run_operator(fftnd_plan *plan, double *u) {
    double decay[N][2] = {{0}};
    for (int i = 0; i < N; i++) {
        double k = i <= N / 2 ? i : i - N;
        decay[i][0] = exp(-k * k * time_step);
    }
    const double *symbols[3] = {decay[0], decay[0], decay[0]};
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_operator *step;
    options.symbols = symbols;
    must(fftnd_operator_create(plan, FFTND_SYMBOLS, &options, &step));
    for (int i = 0; i < STEPS; i++)
        must(fftnd_apply(plan, step, u, u));
    must(fftnd_operator_free(&step));
}

static double solve(int as_graph) {
    const redist_index sizes[3] = {N, N, N};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    fftnd_layout physical = FFTND_LAYOUT_DEFAULT;
    options.in_place = !as_graph;
    if (as_graph)
        graph_set_options(&options);
    must(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &plan));
    must(fftnd_plan_layout(plan, FFTND_PHYSICAL, &physical));
    double *u = calloc(physical.bytes + 1, 1);
    fill(&physical, u);
    if (as_graph)
        graph_run(plan, &options, u);
    else
        run_operator(plan, u);
    double error = largest_error(&physical, u, STEPS * time_step);
    free(u);
    must(fftnd_plan_free(&plan));
    if (as_graph)
        graph_end(&options);
    return error;
}

int main(int argc, char **argv) {
    int rank;
    graph_choose_device();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int as_graph = graph_is_possible();
    double error = solve(as_graph);
    int failed = !(error < 1e-12);
    if (rank == 0)
        printf("%d steps, %s: the temperature is off by %.1e at most: %s\n", STEPS,
               as_graph ? "replayed as a CUDA graph" : "an operator in host memory", error,
               failed ? "WRONG" : "right");
    MPI_Finalize();
    return failed;
}
