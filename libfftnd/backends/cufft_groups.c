/* SPDX-License-Identifier: BSD-3-Clause */
#include "cufft_groups.h"
#include "vkfft.h"

#include <cufftXt.h>
#include <pthread.h>
#include <stddef.h>

/* The sample is larger than the caches of a device. */
enum { SAMPLE_BYTES = 1 << 26, ROUNDS = 3, MOST_KNOWN = 256, LINES = 32 };

struct sample {
    char *array, *area; /* SAMPLE_BYTES each */
    cudaStream_t stream;
    cudaEvent_t begun, ended;
    cufftHandle handle;
    size_t bytes; /* that the lines fill */
};

static int copy(const struct sample *sample) {
    return cudaMemcpyAsync(sample->area, sample->array, sample->bytes, cudaMemcpyDeviceToDevice,
                           sample->stream) == cudaSuccess;
}

static int transform(const struct sample *sample) {
    return cufftXtExec(sample->handle, sample->array, sample->array, CUFFT_FORWARD) ==
           CUFFT_SUCCESS;
}

/* Milliseconds of the fastest run after the first; 0 if it fails. */
static double time_of(int (*run)(const struct sample *), const struct sample *sample) {
    float best = 0.0F, now = 0.0F;
    for (int i = 0; i <= ROUNDS; i++) {
        if (cudaEventRecord(sample->begun, sample->stream) != cudaSuccess || !run(sample) ||
            cudaEventRecord(sample->ended, sample->stream) != cudaSuccess ||
            cudaEventSynchronize(sample->ended) != cudaSuccess ||
            cudaEventElapsedTime(&now, sample->begun, sample->ended) != cudaSuccess)
            return 0.0;
        if (i == 1 || now < best)
            best = now;
    }
    return (double)best;
}

/* Whole arrays of lines side by side, which fill the sample nearly. */
static int make_handle(struct sample *sample, long long n, int is_double) {
    cudaDataType type = is_double ? CUDA_C_64F : CUDA_C_32F;
    long long element = is_double ? 16 : 8, width = SAMPLE_BYTES / (n * element) / LINES * LINES;
    size_t area = 0;
    sample->bytes = (size_t)(n * width * element);
    return width > 0 && cufftSetAutoAllocation(sample->handle, 0) == CUFFT_SUCCESS &&
           cufftXtMakePlanMany(sample->handle, 1, &n, &n, width, 1, type, &n, width, 1, type, width,
                               &area, type) == CUFFT_SUCCESS &&
           area <= SAMPLE_BYTES &&
           cufftSetWorkArea(sample->handle, sample->area) == CUFFT_SUCCESS &&
           cufftSetStream(sample->handle, sample->stream) == CUFFT_SUCCESS;
}

/* Zeros take as long as other numbers. */
static double measure(long long n, int is_double, cudaStream_t stream) {
    struct sample sample = {.stream = stream};
    double copied = 0.0, transformed = 0.0;
    if (cudaMalloc((void **)&sample.array, 2 * (size_t)SAMPLE_BYTES) == cudaSuccess &&
        cudaMemsetAsync(sample.array, 0, SAMPLE_BYTES, stream) == cudaSuccess &&
        cudaEventCreate(&sample.begun) == cudaSuccess &&
        cudaEventCreate(&sample.ended) == cudaSuccess &&
        cufftCreate(&sample.handle) == CUFFT_SUCCESS) {
        sample.area = sample.array + SAMPLE_BYTES;
        if (make_handle(&sample, n, is_double)) {
            copied = time_of(copy, &sample);
            transformed = time_of(transform, &sample);
        }
        (void)cufftDestroy(sample.handle);
    }
    if (sample.begun != NULL)
        (void)cudaEventDestroy(sample.begun);
    if (sample.ended != NULL)
        (void)cudaEventDestroy(sample.ended);
    (void)cudaFree(sample.array);
    (void)cudaGetLastError(); /* the user's own checks are not to find it */
    return copied > 0.0 && transformed > 0.0 ? transformed / copied : 1.0;
}

/* cuFFT takes a fifth longer than a copy where it has a kernel for strided lines, and up to ten times as long where
 * it has none. */
static double find_ratio(long long n, int is_double, cudaStream_t stream) {
    static struct known {
        int device, is_double;
        long long n;
        double ratio;
    } known[MOST_KNOWN];
    static int nknown;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct known found = {0, is_double, n, 1.0};
    if (cudaGetDevice(&found.device) != cudaSuccess)
        return 1.0;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < nknown &&
           (known[i].n != n || known[i].device != found.device || known[i].is_double != is_double))
        i++;
    if (i == nknown)
        found.ratio = measure(n, is_double, stream);
    else
        found = known[i];
    if (i == nknown && nknown < MOST_KNOWN)
        known[nknown++] = found;
    pthread_mutex_unlock(&lock);
    return found.ratio;
}

int fftnd__cufft_is_slow(long long n, int is_double, cudaStream_t stream) {
    return fftnd__vkfft_takes(n) && find_ratio(n, is_double, stream) > FFTND__VKFFT_RATIO;
}

/* ---------------------------------------------------------------- groups of axes */

static int nests(ptrdiff_t outer, ptrdiff_t inner, redist_index n) {
    return inner > 0 && outer % inner == 0 && outer / inner >= n;
}

/* Whether cuFFT can transform along `outer` together with axes that begin with `inner`; halved[] says on
 * which side that one is. */
static int may_join(const struct fftnd__loop *outer, const struct fftnd__loop *inner,
                    const int halved[2]) {
    redist_index n = inner->n, half = n / 2 + 1;
    return nests(outer->in, inner->in, halved[0] ? half : n) &&
           nests(outer->out, inner->out, halved[1] ? half : n);
}

/* How many of the last of `n` axes one plan can transform; halved[] says whether the last one is halved in the
 * input, and in the output. */
static int count_nested(int n, const struct fftnd__loop axes[], const int halved[2]) {
    static const int whole[2] = {0, 0};
    int size = 1;
    while (size < n && size < FFTND__CUFFT_AXES &&
           may_join(&axes[n - size - 1], &axes[n - size], size == 1 ? halved : whole))
        size++;
    return size;
}

int fftnd__cufft_group_size(int n, const struct fftnd__loop axes[], const int halved[2],
                            int is_double, cudaStream_t stream) {
    int most = count_nested(n, axes, halved), size = 1;
    int last_is_strided = axes[n - 1].in != 1 || axes[n - 1].out != 1;
    if (most > 1 && last_is_strided && fftnd__cufft_is_slow(axes[n - 1].n, is_double, stream))
        return 1;
    while (size < most && !fftnd__cufft_is_slow(axes[n - size - 1].n, is_double, stream))
        size++;
    return size;
}
