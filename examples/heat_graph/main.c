/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Example 6: the heat equation on GPUs as a CUDA graph. A step transforms the temperature, lets each mode decay in a
 * kernel of this program, and transforms it back; all of it is captured once and replayed, without the host and without
 * MPI in between, on any number of GPUs of a node.
 *
 *     mpirun -n 2 7_heat_graph
 */
#include "../choose_device.h"
#include "decay.h"

#include <fftnd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 48, STEPS = 50 };

static const double dt = 1e-3;

static void must(int code) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, "7_heat_graph: %s\n", redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "7_heat_graph: %s: %s\n", what, cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* An exact solution: two waves, each of which decays by itself. */
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
    return worst;
}

static struct modes describe_modes(const fftnd_plan *plan, double *u_hat) {
    struct modes modes = {.u_hat = u_hat};
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    must(fftnd_plan_layout(plan, FFTND_SPECTRAL, &layout));
    for (int axis = 0; axis < 3; axis++) {
        double k[N];
        void *on_device;
        modes.count[axis] = layout.count[axis];
        modes.stride[axis] = layout.stride[axis];
        must(fftnd_plan_wavenumbers(plan, axis, k));
        check(cudaMalloc(&on_device, sizeof k), "cudaMalloc");
        check(cudaMemcpy(on_device, k, sizeof k, cudaMemcpyHostToDevice), "cudaMemcpy");
        modes.k[axis] = on_device;
    }
    return modes;
}

/* One step, enqueued. */
static void step(fftnd_plan *plan, double *u, const struct modes *modes, cudaStream_t stream) {
    must(fftnd_forward(plan, u, modes->u_hat));
    check(decay(modes, dt, stream), "a kernel");
    must(fftnd_backward(plan, modes->u_hat, u));
}

static cudaGraphExec_t capture_step(fftnd_plan *plan, double *u, const struct modes *modes,
                                    cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    step(plan, u, modes, stream);
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagUseNodePriority),
          "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
}

static double solve(void) {
    const redist_index sizes[3] = {N, N, N};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    fftnd_layout physical = FFTND_LAYOUT_DEFAULT, spectral = FFTND_LAYOUT_DEFAULT;
    cudaStream_t stream;
    void *u, *u_hat;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    options.space = REDIST_SPACE_CUDA;
    options.stream = stream;
    options.asynchronous = 1;
    must(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &plan));
    must(fftnd_plan_layout(plan, FFTND_PHYSICAL, &physical));
    must(fftnd_plan_layout(plan, FFTND_SPECTRAL, &spectral));
    check(cudaMalloc(&u, physical.bytes + 1), "cudaMalloc");
    check(cudaMalloc(&u_hat, spectral.bytes + 1), "cudaMalloc");
    double *host = calloc(physical.bytes + 1, 1);
    fill(&physical, host);
    check(cudaMemcpy(u, host, physical.bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    const struct modes modes = describe_modes(plan, u_hat);

    cudaGraphExec_t graph = capture_step(plan, u, &modes, stream);
    for (int i = 0; i < STEPS; i++)
        check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    must(fftnd_plan_query(plan)); /* all steps are complete */

    check(cudaMemcpy(host, u, physical.bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    double error = largest_error(&physical, host, STEPS * dt);
    check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
    must(fftnd_plan_free(&plan));
    for (int axis = 0; axis < 3; axis++)
        check(cudaFree((void *)(size_t)modes.k[axis]), "cudaFree");
    check(cudaFree(u), "cudaFree");
    check(cudaFree(u_hat), "cudaFree");
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    free(host);
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return error;
}

/* Each rank needs a GPU of its own. */
static int has_devices(void) {
    int devices = 0, ranks;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    int good =
        choose_device() == NULL && cudaGetDeviceCount(&devices) == cudaSuccess && devices >= ranks;
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return good;
}

int main(int argc, char **argv) {
    int rank, failed = 0;
    (void)choose_device();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (has_devices()) {
        double error = solve();
        failed = !(error < 1e-12);
        if (rank == 0)
            printf("%d steps replayed, the temperature is off by %.1e at most: %s\n", STEPS, error,
                   failed ? "WRONG" : "right");
    } else if (rank == 0) {
        printf("there is no CUDA device for each rank: nothing to show\n");
    }
    MPI_Finalize();
    return failed;
}
