/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in as tests use it: see stream_device.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libredist/runtime/space.h"
#include "stand_in_places.h"
#include "stand_in_streams.h"
#include "stream_device.h"

int stream_device_begin(void) {
    return 1;
}

static void *allocate_array(MPI_Comm comm, size_t bytes, int shared) {
    void *memory = NULL;
    if (!shared)
        (void)redist__space_cuda.allocate(bytes, &memory);
    else if (redist_alloc_in(comm, REDIST_SPACE_CUDA, bytes, &memory) != REDIST_OK) {
        fprintf(stderr, "%s\n", redist_error_message());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return memory;
}

static void release_array(void *memory, int shared) {
    if (shared)
        redist_free(&memory);
    else
        redist__space_cuda.release(memory);
}

static void copy_array(void *to, const void *from, size_t bytes) {
    (void)redist__space_cuda.stream_wait(NULL);
    memcpy(to, from, bytes);
}

int stream_device_is_for_mpi(void) {
    return 1;
}

const test_device *stream_device_memory(void) {
    static const test_device memory = {REDIST_SPACE_CUDA, allocate_array, release_array,
                                       copy_array};
    return &memory;
}

void *stream_device_create(void) {
    void *stream;
    (void)redist__space_cuda.stream_create(&stream);
    return stream;
}

void *stream_device_create_own(int waits) {
    void *stream = stream_device_create();
    stand_in_awaits(waits ? stream : NULL);
    return stream;
}

void stream_device_destroy(void *stream) {
    redist__space_cuda.stream_destroy(stream);
}

void stream_device_wait(void *stream) {
    (void)redist__space_cuda.stream_wait(stream);
}

struct scaling {
    double *array;
    size_t count;
    double factor;
};

static void run_scale(void *data) {
    const struct scaling *scaling = data;
    for (size_t i = 0; i < scaling->count; i++)
        scaling->array[i] *= scaling->factor;
}

void stream_device_scale(double *array, size_t count, double factor, void *stream) {
    const struct scaling scaling = {array, count, factor};
    (void)stand_in_give(stream, run_scale, &scaling, sizeof(scaling));
}

void stream_device_capture(void *stream) {
    (void)redist__space_cuda.graph_begin(stream);
}

void *stream_device_captured(void *stream) {
    void *graph;
    (void)redist__space_cuda.graph_end(stream, &graph);
    return graph;
}

void stream_device_replay(void *graph, void *stream) {
    (void)redist__space_cuda.graph_replay(graph, stream);
}
