/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step transforms the temperature, lets each mode decay in a kernel of this program, and transforms it back; all of
 * it is captured once and replayed, without the host and without MPI in between.
 */
#include "../choose_device.h"
#include "decay.h"
#include "graph.h"

#include <stdio.h>

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "7_heat_graph: %s: %s\n", what, cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

void graph_choose_device(void) {
    (void)choose_device();
}

int graph_is_possible(void) {
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

void graph_set_options(fftnd_options *options) {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    options->space = REDIST_SPACE_CUDA;
    options->stream = stream;
    options->asynchronous = 1;
}

void graph_end(const fftnd_options *options) {
    check(cudaStreamDestroy(options->stream), "cudaStreamDestroy");
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
    check(decay(modes, time_step, stream), "a kernel");
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

static void replay(fftnd_plan *plan, double *u, const struct modes *modes, cudaStream_t stream) {
    cudaGraphExec_t graph = capture_step(plan, u, modes, stream);
    for (int i = 0; i < STEPS; i++)
        check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    must(fftnd_plan_query(plan)); /* all steps are complete */
    check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
}

void graph_run(fftnd_plan *plan, const fftnd_options *options, double *u) {
    fftnd_layout physical = FFTND_LAYOUT_DEFAULT, spectral = FFTND_LAYOUT_DEFAULT;
    void *on_device, *u_hat;
    must(fftnd_plan_layout(plan, FFTND_PHYSICAL, &physical));
    must(fftnd_plan_layout(plan, FFTND_SPECTRAL, &spectral));
    check(cudaMalloc(&on_device, physical.bytes + 1), "cudaMalloc");
    check(cudaMalloc(&u_hat, spectral.bytes + 1), "cudaMalloc");
    check(cudaMemcpy(on_device, u, physical.bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    const struct modes modes = describe_modes(plan, u_hat);
    replay(plan, on_device, &modes, options->stream);
    check(cudaMemcpy(u, on_device, physical.bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (int axis = 0; axis < 3; axis++)
        check(cudaFree((void *)(size_t)modes.k[axis]), "cudaFree");
    check(cudaFree(on_device), "cudaFree");
    check(cudaFree(u_hat), "cudaFree");
}
