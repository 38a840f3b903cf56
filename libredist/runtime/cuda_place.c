/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of CUDA; the contexts of devices: the current one, destroyed ones; captures of streams. This file calls the
 * driver, since the runtime library makes a context on the previous device when that device is restored.
 */
#include "../comm/comm.h"
#include "cuda_device.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

int redist__cuda_check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return REDIST_OK;
    (void)cudaGetLastError(); /* cleared for the user's own checks */
    int code = error == cudaErrorMemoryAllocation ? REDIST_ERR_MEMORY : REDIST_ERR_DEVICE;
    return redist__fail(code, "%s: %s", what, cudaGetErrorString(error));
}

int redist__cuda_refuse(const char *what) {
    return redist__fail(REDIST_ERR_DEVICE,
                        "%s: the context of the device is gone (cudaDeviceReset)", what);
}

/* ---------------------------------------------------------------- the driver */

/* Finds a function; POSIX allows the conversion of dlsym's result only by its bytes. */
int redist__cuda_function(const char *name, void *function) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL)
        *(void **)function = dlsym(library, name);
    return library != NULL && *(void **)function != NULL;
}

static struct {
    CUresult (*get_current)(CUcontext *context);
    CUresult (*set_current)(CUcontext context);
    CUresult (*get_device)(CUdevice *device);
    CUresult (*get_number)(CUcontext context, unsigned long long *number); /* NULL before CUDA 12 */
    CUresult (*get_state)(CUdevice device, unsigned *flags, int *active);
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*release)(CUdevice device);
    CUresult (*exchange_mode)(CUstreamCaptureMode *mode);
    CUresult (*get_context)(CUstream stream, CUcontext *context);
} driver;

static atomic_int has_driver;

/* Finds the functions; the runtime library loads the driver in the first call that needs it. */
static int find_driver(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load(&has_driver))
        return 1;
    pthread_mutex_lock(&lock);
    (void)redist__cuda_function("cuCtxGetId", &driver.get_number);
    int found = redist__cuda_function("cuCtxGetCurrent", &driver.get_current) &&
                redist__cuda_function("cuCtxSetCurrent", &driver.set_current) &&
                redist__cuda_function("cuCtxGetDevice", &driver.get_device) &&
                redist__cuda_function("cuDevicePrimaryCtxGetState", &driver.get_state) &&
                redist__cuda_function("cuDevicePrimaryCtxRetain", &driver.retain) &&
                redist__cuda_function("cuDevicePrimaryCtxRelease_v2", &driver.release) &&
                redist__cuda_function("cuThreadExchangeStreamCaptureMode", &driver.exchange_mode) &&
                redist__cuda_function("cuStreamGetCtx", &driver.get_context);
    atomic_store(&has_driver, found);
    pthread_mutex_unlock(&lock);
    return found;
}

/* Returns the number of the current context; 0 = none, or destroyed. */
static unsigned long long find_number(void) {
    unsigned long long number = 0;
    CUdevice device;
    if (driver.get_number == NULL)
        return driver.get_device(&device) == CUDA_SUCCESS ? (unsigned long long)device + 1 : 0;
    return driver.get_number(NULL, &number) == CUDA_SUCCESS ? number + 1 : 0;
}

static int is_active(CUdevice device) {
    unsigned flags = 0;
    int active = 0;
    return driver.get_state(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* Returns the existing context of the runtime library on a device; NULL after a failure. */
static CUcontext find_primary(CUdevice device) {
    CUcontext context = NULL;
    if (driver.retain(&context, device) != CUDA_SUCCESS)
        return NULL;
    (void)driver.release(device);
    return context;
}

/* Makes a context; a thread that has not used CUDA has a device but no context. */
static int make_context(int *device) {
    REDIST_TRY(redist__cuda_check(cudaGetDevice(device), "cudaGetDevice"));
    if (find_driver() && find_number() != 0)
        return REDIST_OK;
    REDIST_TRY(redist__cuda_check(cudaSetDevice(*device), "cudaSetDevice"));
    REDIST_TRY(redist__cuda_check(cudaFree(NULL), "cudaFree"));
    return find_driver()
               ? REDIST_OK
               : redist__fail(REDIST_ERR_DEVICE, "the driver of CUDA is older than version 11");
}

int redist__cuda_find_place(redist_place *place) {
    const redist_place *entered = redist_place_entered();
    CUcontext current = NULL;
    if (redist_place_is_gone())
        return redist__cuda_refuse("finding the device");
    if (entered != NULL && find_number() == entered->context) {
        *place = *entered;
        place->has_stream = 0;
        place->stream = NULL;
        return REDIST_OK;
    }
    REDIST_TRY(make_context(&place->device));
    place->context = find_number();
    if (place->context == 0 || driver.get_current(&current) != CUDA_SUCCESS)
        return redist__fail(REDIST_ERR_DEVICE, "device %d has no context", place->device);
    place->is_primary = is_active(place->device) && find_primary(place->device) == current;
    return REDIST_OK;
}

static int is_current(const redist_place *place) {
    return find_number() == place->context && (!place->is_primary || is_active(place->device));
}

static int make_current(const redist_place *place) {
    if (!place->is_primary || !is_active(place->device))
        return 0;
    CUcontext context = find_primary(place->device);
    return context != NULL && driver.set_current(context) == CUDA_SUCCESS &&
           find_number() == place->context;
}

/* Queries the number of the current context, or its state if contexts have no numbers. */
static CUresult ask_current(void) {
    unsigned long long number;
    CUdevice device;
    return driver.get_number != NULL ? driver.get_number(NULL, &number)
                                     : driver.get_device(&device);
}

/* Queries the same of a device's context, which becomes the current one; of none without one. */
static CUresult ask_primary(CUdevice of_device) {
    CUcontext context;
    unsigned flags = 0;
    int active = 0;
    CUresult result = driver.get_state(of_device, &flags, &active);
    if (result != CUDA_SUCCESS || !active)
        return result;
    result = driver.retain(&context, of_device);
    if (result != CUDA_SUCCESS)
        return result;
    (void)driver.release(of_device);
    result = driver.set_current(context);
    return result == CUDA_SUCCESS ? ask_current() : result;
}

/* Returns a kernel's error in the context of a place that cannot be entered, which each call there returns;
 * CUDA_SUCCESS = no error: the context is destroyed. */
static CUresult find_failure(const redist_place *place) {
    CUresult result = place->is_primary ? ask_primary(place->device) : ask_current();
    int is_gone = result == CUDA_ERROR_NOT_INITIALIZED || result == CUDA_ERROR_DEINITIALIZED ||
                  (!place->is_primary && (result == CUDA_ERROR_INVALID_CONTEXT ||
                                          result == CUDA_ERROR_CONTEXT_IS_DESTROYED));
    return is_gone ? CUDA_SUCCESS : result;
}

int redist__cuda_enter(const redist_place *place, redist_visit *visit) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUcontext before = NULL;
    (void)driver.get_current(&before);
    (void)driver.exchange_mode(&mode);
    visit->context = before;
    visit->mode = (int)mode;
    if (is_current(place) || make_current(place))
        return REDIST_OK;
    CUresult failure = find_failure(place);
    if (failure != CUDA_SUCCESS) {
        visit->loss = REDIST_LOST_BY_FAILURE;
        return redist__fail(
            REDIST_ERR_DEVICE,
            "work on device %d, of the program or of this library, has failed with "
            "CUDA's error %d, after which CUDA refuses all work of the process there",
            place->device, (int)failure);
    }
    return redist__fail(
        REDIST_ERR_DEVICE,
        place->is_primary
            ? "the context of device %d, in which the plan was made, is gone (cudaDeviceReset): "
              "free "
              "the plan and make a new one"
            : "the context of device %d in which the plan was made is not the current one, or gone",
        place->device);
}

/* Restores the previous context, unless it was destroyed meanwhile. */
void redist__cuda_leave(const redist_visit *visit) {
    CUstreamCaptureMode mode = (CUstreamCaptureMode)visit->mode;
    CUcontext now = NULL;
    if (driver.get_current(&now) != CUDA_SUCCESS || now != visit->context)
        if (driver.set_current(visit->context) != CUDA_SUCCESS)
            (void)driver.set_current(NULL);
    (void)driver.exchange_mode(&mode);
}

/* ---------------------------------------------------------------- streams */

static int is_default(const void *stream) {
    return stream == NULL || stream == (const void *)cudaStreamLegacy ||
           stream == (const void *)cudaStreamPerThread;
}

/* Finds the device of a stream's context; 0 = none. */
static int find_device(void *stream, CUdevice *device) {
    CUcontext own = NULL, current = NULL;
    if (driver.get_context(stream, &own) != CUDA_SUCCESS ||
        driver.get_current(&current) != CUDA_SUCCESS ||
        (own != current && driver.set_current(own) != CUDA_SUCCESS))
        return 0;
    CUresult result = driver.get_device(device);
    if (own != current)
        (void)driver.set_current(current);
    return result == CUDA_SUCCESS;
}

int redist__cuda_check_stream(const char *function, const char *name, void *stream) {
    CUdevice device = 0, current = 0;
    if (is_default(stream))
        return REDIST_OK;
    if (!find_device(stream, &device) || driver.get_device(&current) != CUDA_SUCCESS)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "%s = %p is not a CUDA stream", name,
                              stream);
    if (device == current)
        return REDIST_OK;
    return redist_fail_in(
        function, REDIST_ERR_ARGUMENT,
        "%s = %p is a stream of device %d, but the plan is made on device %d, the current one",
        name, stream, (int)device, (int)current);
}

/* Finds the capture state of a stream; later calls report failures of the query. */
enum redist_capture redist__cuda_find_capture(void *stream) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (redist_place_is_gone())
        return REDIST_NOT_CAPTURED;
    cudaError_t error = cudaStreamIsCapturing(stream, &status);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return error == cudaErrorStreamCaptureImplicit ? REDIST_CAPTURE_BESIDE
                                                       : REDIST_NOT_CAPTURED;
    }
    return status == cudaStreamCaptureStatusNone ? REDIST_NOT_CAPTURED : REDIST_CAPTURED;
}
