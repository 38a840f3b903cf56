/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA device of this rank, for transforms of arrays in host memory. */
#include "device.h"
#include "redist_support.h"

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <string.h>

static int check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return REDIST_OK;
    (void)cudaGetLastError(); /* the user's own checks are not to find it */
    int code = error == cudaErrorMemoryAllocation ? REDIST_ERR_MEMORY : REDIST_ERR_DEVICE;
    return redist_fail_in("libfftnd", code, "%s: %s", what, cudaGetErrorString(error));
}

#define CHECK(call) check(call, #call)

/* Waits for all that the device has to do: CUDA does not document that giving memory back does. */
static void finish(void) {
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
}

/* ---------------------------------------------------------------- memory */

static int find_free(size_t *bytes, unsigned long long *identity) {
    struct cudaDeviceProp properties;
    size_t all;
    int device = 0;
    int code = CHECK(cudaGetDevice(&device));
    if (code == REDIST_OK)
        code = CHECK(cudaGetDeviceProperties(&properties, device));
    if (code == REDIST_OK)
        code = CHECK(cudaMemGetInfo(bytes, &all));
    if (code == REDIST_OK)
        memcpy(identity, properties.uuid.bytes, sizeof *identity);
    return code;
}

static int allocate(size_t bytes, void **memory) {
    int code = CHECK(cudaMalloc(memory, bytes));
    if (code == REDIST_ERR_MEMORY)
        return redist_fail_in("libfftnd", code, "the device has no %zu bytes for tiles", bytes);
    return code;
}

static void release(void *memory) {
    if (memory == NULL)
        return;
    finish();
    (void)CHECK(cudaFree(memory));
}

static int allocate_pinned(size_t bytes, void **memory) {
    return CHECK(cudaHostAlloc(memory, bytes, cudaHostAllocPortable));
}

static void release_pinned(void *memory) {
    if (memory == NULL)
        return;
    finish();
    (void)CHECK(cudaFreeHost(memory));
}

static int pin(void *array, size_t bytes) {
    if (cudaHostRegister(array, bytes, cudaHostRegisterPortable) == cudaSuccess)
        return 1;
    (void)cudaGetLastError();
    return 0;
}

static void unpin(void *array) {
    finish();
    (void)CHECK(cudaHostUnregister(array));
}

static int is_pinned_at(const void *address) {
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeManaged;
}

static int is_pinned(const void *array, size_t bytes) {
    return is_pinned_at(array) && is_pinned_at((const char *)array + bytes - 1);
}

/* ---------------------------------------------------------------- streams */

static int stream_create(void **stream) {
    return check(cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags");
}

static void stream_destroy(void *stream) {
    if (stream != NULL)
        (void)CHECK(cudaStreamDestroy(stream));
}

/* Idle it is also after a failure, as far as the device can be waited for. */
static int stream_wait(void *stream) {
    int code = CHECK(cudaStreamSynchronize(stream));
    if (code != REDIST_OK)
        finish();
    return code;
}

/* If the stream cannot wait, the host does: its later work would run beside what it depends on. */
static int stream_follow(void *stream, void *mark) {
    int code = CHECK(cudaStreamWaitEvent(stream, mark, 0));
    if (code != REDIST_OK) {
        (void)cudaEventSynchronize(mark);
        (void)cudaGetLastError();
    }
    return code;
}

const struct fftnd__device fftnd__device_cuda = {
    .space = REDIST_SPACE_CUDA,
    .find_free = find_free,
    .allocate = allocate,
    .release = release,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .pin = pin,
    .unpin = unpin,
    .is_pinned = is_pinned,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .stream_follow = stream_follow,
};
