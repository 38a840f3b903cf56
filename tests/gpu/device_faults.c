/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of CUDA's runtime and of cuFFT that can be made to fail. The libraries call these functions through the
 * dynamic linker, which finds the ones here first: the program is linked with its symbols exported. They count,
 * fail, or call the ones behind them. A call that fails does nothing but leave its error to cudaGetLastError.
 */
#include "device_faults.h"

#include <cufftXt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../faults.h"

void device_faults_find(void *function, const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL) {
        fprintf(stderr, "there is no function %s behind the tests' own\n", name);
        abort();
    }
    memcpy(function, &symbol, sizeof(symbol));
}

/* ---------------------------------------------------------------- the last error */

static _Thread_local cudaError_t last_error = cudaSuccess;

static cudaError_t fail(cudaError_t error) {
    last_error = error;
    return error;
}

cudaError_t cudaGetLastError(void) {
    static cudaError_t (*real)(void);
    DEVICE_FAULTS_FIND(real, "cudaGetLastError");
    const cudaError_t injected = last_error, found = real();
    last_error = cudaSuccess;
    return injected != cudaSuccess ? injected : found;
}

/* ---------------------------------------------------------------- calls */

#define WRAP(error, name, parameters, arguments)                                                   \
    cudaError_t name parameters {                                                                  \
        static cudaError_t(*real) parameters;                                                      \
        DEVICE_FAULTS_FIND(real, #name);                                                           \
        return faults_device_fails(#name) ? fail(error) : real arguments;                          \
    }

/* The same for one that takes something of the device if it succeeds. */
#define WRAP_TAKE(error, name, parameters, arguments)                                              \
    cudaError_t name parameters {                                                                  \
        static cudaError_t(*real) parameters;                                                      \
        DEVICE_FAULTS_FIND(real, #name);                                                           \
        const cudaError_t result = faults_device_fails(#name) ? fail(error) : real arguments;      \
        faults_device_take(result == cudaSuccess);                                                 \
        return result;                                                                             \
    }

/* One that gives it back; these do not fail. */
#define WRAP_GIVE(name, type, parameter)                                                           \
    cudaError_t name(type parameter) {                                                             \
        static cudaError_t (*real)(type);                                                          \
        DEVICE_FAULTS_FIND(real, #name);                                                           \
        const cudaError_t result = real(parameter);                                                \
        faults_device_take(-(result == cudaSuccess && parameter != NULL));                         \
        return result;                                                                             \
    }

WRAP_TAKE(cudaErrorMemoryAllocation, cudaMalloc, (void **memory, size_t bytes), (memory, bytes))

WRAP_TAKE(cudaErrorMemoryAllocation, cudaHostAlloc, (void **memory, size_t bytes, unsigned flags),
          (memory, bytes, flags))

WRAP_TAKE(cudaErrorUnknown, cudaIpcOpenMemHandle,
          (void **memory, cudaIpcMemHandle_t handle, unsigned flags), (memory, handle, flags))

WRAP_TAKE(cudaErrorUnknown, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
          (event, flags))

WRAP_TAKE(cudaErrorUnknown, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
          (stream, flags))

WRAP_TAKE(cudaErrorUnknown, cudaStreamCreateWithPriority,
          (cudaStream_t * stream, unsigned flags, int priority), (stream, flags, priority))

WRAP_GIVE(cudaFree, void *, memory)
WRAP_GIVE(cudaFreeHost, void *, memory)
WRAP_GIVE(cudaIpcCloseMemHandle, void *, memory)
WRAP_GIVE(cudaEventDestroy, cudaEvent_t, event)
WRAP_GIVE(cudaStreamDestroy, cudaStream_t, stream)

WRAP(cudaErrorUnknown, cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *memory),
     (handle, memory))

WRAP(cudaErrorUnknown, cudaMemcpyAsync,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, from, bytes, kind, stream))

WRAP(cudaErrorUnknown, cudaMemcpy2DAsync,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream))

WRAP(cudaErrorUnknown, cudaMemcpy3DAsync,
     (const struct cudaMemcpy3DParms *parameters, cudaStream_t stream), (parameters, stream))

WRAP(cudaErrorUnknown, cudaStreamWaitEvent,
     (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))

WRAP(cudaErrorUnknown, cudaStreamSynchronize, (cudaStream_t stream), (stream))
WRAP(cudaErrorUnknown, cudaEventSynchronize, (cudaEvent_t event), (event))

/* Kernels that are launched by <<<>>>: through the one or the other, as the CUDA toolkit is older or newer. */
cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes,
                               cudaStream_t stream);

WRAP(cudaErrorLaunchFailure, cudaLaunchKernel,
     (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes,
      cudaStream_t stream),
     (kernel, grid, block, arguments, bytes, stream))

WRAP(cudaErrorLaunchFailure, __cudaLaunchKernel,
     (void *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes, cudaStream_t stream),
     (kernel, grid, block, arguments, bytes, stream))

/* ---------------------------------------------------------------- questions that are repeated */

enum { MOST_ASKED = 256 };

static const void *asked[MOST_ASKED];

static const void **place_of(const void *handle) {
    return &asked[(size_t)handle / 16 % MOST_ASKED];
}

/* How often a loop asks is up to chance: of each event only the first question after its record is counted. */
static int first_question_fails(const void *handle, const char *name) {
    if (*place_of(handle) == handle)
        return 0;
    *place_of(handle) = handle;
    return faults_device_fails(name);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    static cudaError_t (*real)(cudaEvent_t, cudaStream_t);
    DEVICE_FAULTS_FIND(real, "cudaEventRecord");
    *place_of(event) = NULL;
    return faults_device_fails("cudaEventRecord") ? fail(cudaErrorUnknown) : real(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    static cudaError_t (*real)(cudaEvent_t);
    DEVICE_FAULTS_FIND(real, "cudaEventQuery");
    return first_question_fails(event, "cudaEventQuery") ? fail(cudaErrorUnknown) : real(event);
}

WRAP(cudaErrorUnknown, cudaStreamQuery, (cudaStream_t stream), (stream))

/* ---------------------------------------------------------------- cuFFT */

#define WRAP_CUFFT(name, parameters, arguments, taken)                                             \
    cufftResult name parameters {                                                                  \
        static cufftResult(*real) parameters;                                                      \
        DEVICE_FAULTS_FIND(real, #name);                                                           \
        if (faults_device_fails(#name))                                                            \
            return CUFFT_EXEC_FAILED;                                                              \
        const cufftResult result = real arguments;                                                 \
        faults_device_take(result == CUFFT_SUCCESS ? taken : 0);                                   \
        return result;                                                                             \
    }

WRAP_CUFFT(cufftCreate, (cufftHandle * handle), (handle), 1)

WRAP_CUFFT(cufftSetWorkArea, (cufftHandle handle, void *area), (handle, area), 0)

WRAP_CUFFT(cufftXtExec, (cufftHandle handle, void *input, void *output, int direction),
           (handle, input, output, direction), 0)

cufftResult cufftDestroy(cufftHandle handle) {
    static cufftResult (*real)(cufftHandle);
    DEVICE_FAULTS_FIND(real, "cufftDestroy");
    const cufftResult result = real(handle);
    faults_device_take(-(result == CUFFT_SUCCESS));
    return result;
}
