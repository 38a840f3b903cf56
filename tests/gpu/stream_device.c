/* SPDX-License-Identifier: BSD-3-Clause */
#include "../stream_device.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../examples/choose_device.h"
#include "device.h"
#include "scale.h"

/* choose_device gives the devices of a node in turn. */
int stream_device_begin(void) {
    int count = 0, good, all;
    MPI_Comm node;
    int ranks;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    good = choose_device() == NULL && cudaGetDeviceCount(&count) == cudaSuccess && count >= ranks;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

int stream_device_is_for_mpi(void) {
    return device_mpi_is_aware();
}

const test_device *stream_device_memory(void) {
    return &device_memory;
}

/* Each kind of stream that there is. */
void *stream_device_create(void) {
    static int made;
    cudaStream_t stream = cudaStreamPerThread;
    if (++made % 3 == 1)
        device_check(cudaStreamCreate(&stream), "cudaStreamCreate");
    if (made % 3 == 2)
        device_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                     "cudaStreamCreateWithFlags");
    return stream;
}

void *stream_device_create_own(int waits) {
    cudaStream_t stream;
    device_check(
        cudaStreamCreateWithFlags(&stream, waits ? cudaStreamDefault : cudaStreamNonBlocking),
        "cudaStreamCreateWithFlags");
    return stream;
}

void stream_device_destroy(void *stream) {
    if (stream != NULL && stream != cudaStreamPerThread)
        device_check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

void stream_device_wait(void *stream) {
    device_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void stream_device_scale(double *array, size_t count, double factor, void *stream) {
    device_check(scale_doubles(array, count, factor, stream), "a kernel");
}

void stream_device_fault(void *stream) {
    device_check(scale_nothing(stream), "a kernel");
}

void stream_device_capture(void *stream) {
    device_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
                 "cudaStreamBeginCapture");
}

void *stream_device_captured(void *stream) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    device_check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    device_check(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagUseNodePriority),
                 "cudaGraphInstantiate");
    device_check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
}

void stream_device_replay(void *graph, void *stream) {
    device_check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
}

void stream_device_free(void *graph) {
    device_check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
}

void stream_device_watch(void *stream, enum stream_capture mode) {
    static const enum cudaStreamCaptureMode modes[] = {
        [CAPTURE_GLOBAL] = cudaStreamCaptureModeGlobal,
        [CAPTURE_THREAD_LOCAL] = cudaStreamCaptureModeThreadLocal,
        [CAPTURE_RELAXED] = cudaStreamCaptureModeRelaxed};
    device_check(cudaStreamBeginCapture(stream, modes[mode]), "cudaStreamBeginCapture");
}

int stream_device_watched(void *stream) {
    cudaGraph_t graph = NULL;
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (graph != NULL)
        device_check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    (void)cudaGetLastError();
    return error == cudaSuccess;
}

int stream_device_count(void) {
    int count = 0;
    device_check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return count;
}

void stream_device_use(int device) {
    device_check(cudaSetDevice(device), "cudaSetDevice");
}

int stream_device_current(void) {
    int device = -1;
    device_check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

void stream_device_reset(void) {
    device_check(cudaDeviceReset(), "cudaDeviceReset");
}

int stream_device_replays(void) {
    return -1;
}

int stream_device_comms(int *left) {
    return *left = -1;
}

long stream_device_copied(void) {
    return -1;
}

long stream_device_scalings(void) {
    return -1;
}

int stream_device_refuse(void) {
    return 0;
}

int stream_device_hide_aborts(int hides) {
    (void)hides;
    return 0;
}

int stream_device_fail_transform(int transforms) {
    (void)transforms;
    return 0;
}

int stream_device_spoil(int calls) {
    (void)calls;
    return 0;
}

int stream_device_share(int shares) {
    (void)shares;
    return 0;
}

int stream_device_hang(int hangs) {
    (void)hangs;
    return 0;
}
