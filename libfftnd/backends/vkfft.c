/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VkFFT generates a kernel for the lines of each plan, which NVRTC compiles. It is one header, all of whose
 * functions are compiled with this file. Its calls of the driver and of NVRTC go through tables, so that the
 * library neither needs them to be loaded nor loads them before a transform takes this way.
 */
#include "vkfft.h"
#include "redist_support.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <locale.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- what VkFFT calls */

#define DRIVER_FUNCTIONS(X)                                                                        \
    X(cuDeviceGet, "cuDeviceGet")                                                                  \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute")                                                \
    X(cuFuncSetAttribute, "cuFuncSetAttribute")                                                    \
    X(cuLaunchKernel, "cuLaunchKernel")                                                            \
    X(cuMemcpyHtoD_v2, "cuMemcpyHtoD_v2")                                                          \
    X(cuModuleGetFunction, "cuModuleGetFunction")                                                  \
    X(cuModuleGetGlobal_v2, "cuModuleGetGlobal_v2")                                                \
    X(cuModuleLoadDataEx, "cuModuleLoadDataEx")                                                    \
    X(cuModuleUnload, "cuModuleUnload")
#define COMPILER_FUNCTIONS(X)                                                                      \
    X(nvrtcAddNameExpression, "nvrtcAddNameExpression")                                            \
    X(nvrtcCompileProgram, "nvrtcCompileProgram")                                                  \
    X(nvrtcCreateProgram, "nvrtcCreateProgram")                                                    \
    X(nvrtcDestroyProgram, "nvrtcDestroyProgram")                                                  \
    X(nvrtcGetErrorString, "nvrtcGetErrorString")                                                  \
    X(nvrtcGetPTX, "nvrtcGetPTX")                                                                  \
    X(nvrtcGetPTXSize, "nvrtcGetPTXSize")                                                          \
    X(nvrtcGetProgramLog, "nvrtcGetProgramLog")                                                    \
    X(nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize")

static struct {
    int looked_for, found;
#define DECLARE(name, text) __typeof__(&name) name##_;
    DRIVER_FUNCTIONS(DECLARE)
    COMPILER_FUNCTIONS(DECLARE)
#undef DECLARE
} called;

/* POSIX lets the result of dlsym become a function by way of its bytes only. */
static int find_function(void *library, const char *name, void *function) {
    *(void **)function = library == NULL ? NULL : dlsym(library, name);
    return *(void **)function != NULL;
}

static void *load_compiler(void) {
    char name[32];
    (void)snprintf(name, sizeof name, "libnvrtc.so.%d", CUDART_VERSION / 1000);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return library != NULL ? library : dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
}

static int find_functions(void) {
    if (called.looked_for)
        return called.found;
    called.looked_for = called.found = 1;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *compiler = load_compiler();
#define FIND(name, text) called.found &= find_function(driver, text, &called.name##_);
    DRIVER_FUNCTIONS(FIND)
#undef FIND
#define FIND(name, text) called.found &= find_function(compiler, text, &called.name##_);
    COMPILER_FUNCTIONS(FIND)
#undef FIND
    return called.found;
}

#undef cuMemcpyHtoD
#undef cuModuleGetGlobal
#define cuDeviceGet            called.cuDeviceGet_
#define cuDeviceGetAttribute   called.cuDeviceGetAttribute_
#define cuFuncSetAttribute     called.cuFuncSetAttribute_
#define cuLaunchKernel         called.cuLaunchKernel_
#define cuMemcpyHtoD           called.cuMemcpyHtoD_v2_
#define cuModuleGetFunction    called.cuModuleGetFunction_
#define cuModuleGetGlobal      called.cuModuleGetGlobal_v2_
#define cuModuleLoadDataEx     called.cuModuleLoadDataEx_
#define cuModuleUnload         called.cuModuleUnload_
#define nvrtcAddNameExpression called.nvrtcAddNameExpression_
#define nvrtcCompileProgram    called.nvrtcCompileProgram_
#define nvrtcCreateProgram     called.nvrtcCreateProgram_
#define nvrtcDestroyProgram    called.nvrtcDestroyProgram_
#define nvrtcGetErrorString    called.nvrtcGetErrorString_
#define nvrtcGetPTX            called.nvrtcGetPTX_
#define nvrtcGetPTXSize        called.nvrtcGetPTXSize_
#define nvrtcGetProgramLog     called.nvrtcGetProgramLog_
#define nvrtcGetProgramLogSize called.nvrtcGetProgramLogSize_

/* It reports errors on the user's standard output, and sets the locale of the whole process: the first is
 * dropped, since its functions return codes too, the second is done for this thread by with_c_locale. */
#define printf(...)                 ((void)0)
#define setlocale(category, locale) ((char *)NULL)
#define VKFFT_BACKEND               1
#include <vkFFT.h>
#undef printf
#undef setlocale

/* ---------------------------------------------------------------- compiled kernels */

enum { MOST_KEPT = 64 };

/* The planner makes plans for the same lines again and again: what was compiled is kept, the oldest first to
 * go. The lock is also that of all calls of VkFFT that compile. */
static struct kept {
    int device;
    struct fftnd__strided_lines lines;
    void *code;
    size_t bytes;
} kept[MOST_KEPT];
static int nkept, next_kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int same_lines(const struct fftnd__strided_lines *a, const struct fftnd__strided_lines *b) {
    return a->axis.n == b->axis.n && a->axis.in == b->axis.in && a->axis.out == b->axis.out &&
           a->side.n == b->side.n && a->groups.n == b->groups.n && a->groups.in == b->groups.in &&
           a->groups.out == b->groups.out && a->is_double == b->is_double &&
           a->direction == b->direction && a->in_place == b->in_place;
}

static struct kept *find_kept(int device, const struct fftnd__strided_lines *lines) {
    for (int i = 0; i < nkept; i++)
        if (kept[i].device == device && same_lines(&kept[i].lines, lines))
            return &kept[i];
    return NULL;
}

static void keep(int device, const struct fftnd__strided_lines *lines, const void *code,
                 size_t bytes) {
    void *copy = redist_calloc(1, bytes);
    if (copy == NULL)
        return; /* it is compiled again */
    struct kept *entry = &kept[next_kept];
    next_kept = (next_kept + 1) % MOST_KEPT;
    nkept = nkept < MOST_KEPT ? nkept + 1 : MOST_KEPT;
    redist_release(entry->code);
    memcpy(copy, code, bytes);
    *entry = (struct kept){device, *lines, copy, bytes};
}

/* ---------------------------------------------------------------- plans */

struct fftnd__vkfft {
    VkFFTApplication application;
    CUdevice device;
    cudaStream_t stream;
    void *in, *out;
    uint64_t in_bytes, out_bytes;
    int inverse;
};

/* The primes of which VkFFT's kernels are made; others take a convolution and more memory. */
static int has_small_factors(long long n) {
    static const int primes[] = {2, 3, 5, 7, 11, 13};
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
        while (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

/* Two or three axes in the order of VkFFT, the fastest first, of which the second is transformed. It does not
 * take axes of one element that are not transformed. */
static VkFFTConfiguration configure(struct fftnd__vkfft *plan,
                                    const struct fftnd__strided_lines *lines) {
    uint64_t bytes = lines->is_double ? 16 : 8, count = (uint64_t)lines->groups.n;
    uint64_t in = (uint64_t)lines->axis.in, out = (uint64_t)lines->axis.out,
             n = (uint64_t)lines->axis.n;
    uint64_t in_distance = count > 1 ? (uint64_t)lines->groups.in : in * n;
    uint64_t out_distance = count > 1 ? (uint64_t)lines->groups.out : out * n;
    plan->in_bytes = in_distance * count * bytes;
    plan->out_bytes = out_distance * count * bytes;
    VkFFTConfiguration configuration = {0};
    configuration.FFTdim = count > 1 ? 3 : 2;
    configuration.size[0] = (uint64_t)lines->side.n;
    configuration.size[1] = n;
    configuration.size[2] = count;
    configuration.omitDimension[0] = 1;
    configuration.omitDimension[2] = count > 1;
    configuration.doublePrecision = lines->is_double != 0;
    configuration.device = &plan->device;
    configuration.stream = &plan->stream;
    configuration.num_streams = 1;
    configuration.useUint64 = 1;
    configuration.makeInversePlanOnly = (uint64_t)plan->inverse;
    configuration.makeForwardPlanOnly = !configuration.makeInversePlanOnly;
    configuration.bufferSize = &plan->out_bytes;
    configuration.bufferStride[0] = out;
    configuration.bufferStride[1] = out_distance;
    configuration.bufferStride[2] = out_distance * count;
    if (!lines->in_place) {
        configuration.isInputFormatted = 1;
        configuration.inputBufferSize = &plan->in_bytes;
        configuration.inputBufferStride[0] = in;
        configuration.inputBufferStride[1] = in_distance;
        configuration.inputBufferStride[2] = in_distance * count;
    }
    return configuration;
}

/* Numbers in the kernels' source have points, whatever the user's locale has. */
static VkFFTResult initialize_in_c_locale(VkFFTApplication *application,
                                          VkFFTConfiguration configuration) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return VKFFT_ERROR_MALLOC_FAILED;
    locale_t before = uselocale(c_locale);
    VkFFTResult result = initializeVkFFT(application, configuration);
    (void)uselocale(before);
    freelocale(c_locale);
    return result;
}

static int make(struct fftnd__vkfft *plan, const struct fftnd__strided_lines *lines, int device) {
    VkFFTConfiguration configuration = configure(plan, lines);
    struct kept *code = find_kept(device, lines);
    configuration.loadApplicationFromString = code != NULL;
    configuration.loadApplicationString = code != NULL ? code->code : NULL;
    configuration.saveApplicationToString = code == NULL;
    if (initialize_in_c_locale(&plan->application, configuration) != VKFFT_SUCCESS)
        return 0;
    const VkFFTPlan *made =
        plan->inverse ? plan->application.localFFTPlan_inverse : plan->application.localFFTPlan;
    int is_one_pass = made->numAxisUploads[1] == 1;
    if (code == NULL && is_one_pass)
        keep(device, lines, plan->application.saveApplicationString,
             plan->application.applicationStringSize);
    return is_one_pass;
}

int fftnd__vkfft_takes(long long n) {
    pthread_mutex_lock(&lock);
    int takes = n > 1 && has_small_factors(n) && find_functions();
    pthread_mutex_unlock(&lock);
    return takes;
}

int fftnd__vkfft_create(const struct fftnd__strided_lines *lines, struct fftnd__vkfft **result) {
    int device = 0, made = 0;
    *result = NULL;
    if (lines->side.n < 2 || !fftnd__vkfft_takes(lines->axis.n) ||
        cudaGetDevice(&device) != cudaSuccess)
        return REDIST_OK;
    struct fftnd__vkfft *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY,
                              "no memory for a transform of strided lines");
    plan->inverse = lines->direction == REDIST_BACKWARD;
    pthread_mutex_lock(&lock);
    if (cuDeviceGet(&plan->device, device) == CUDA_SUCCESS)
        made = make(plan, lines, device);
    pthread_mutex_unlock(&lock);
    (void)cudaGetLastError(); /* the user's own checks are not to find it */
    if (made)
        *result = plan;
    else
        fftnd__vkfft_destroy(plan);
    return REDIST_OK;
}

int fftnd__vkfft_execute(struct fftnd__vkfft *plan, void *in, void *out, void *stream) {
    VkFFTLaunchParams parameters = {0};
    plan->in = in;
    plan->out = out;
    plan->stream = stream;
    parameters.buffer = &plan->out;
    parameters.inputBuffer = plan->application.configuration.isInputFormatted ? &plan->in : NULL;
    VkFFTResult result = VkFFTAppend(&plan->application, plan->inverse ? 1 : -1, &parameters);
    if (result == VKFFT_SUCCESS)
        return REDIST_OK;
    return redist_fail_in("libfftnd", REDIST_ERR_SERIAL,
                          "VkFFT could not launch a kernel: error %d", (int)result);
}

void fftnd__vkfft_destroy(struct fftnd__vkfft *plan) {
    if (plan == NULL)
        return;
    if (plan->application.localFFTPlan != NULL || plan->application.localFFTPlan_inverse != NULL)
        deleteVkFFT(&plan->application);
    redist_release(plan);
}
