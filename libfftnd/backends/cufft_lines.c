/* SPDX-License-Identifier: BSD-3-Clause */
#include "cufft_lines.h"
#include "rates.h"
#include "redist_support.h"

#include <cufftXt.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- plans */

struct fftnd__line_plan {
    struct fftnd__panels panels;
    void *roots; /* on the device */
};

/* The user's own checks are not to find an error. */
static int check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return REDIST_OK;
    (void)cudaGetLastError();
    return redist_fail_in(
        "libfftnd", error == cudaErrorMemoryAllocation ? REDIST_ERR_MEMORY : REDIST_ERR_DEVICE,
        "%s: %s", what, cudaGetErrorString(error));
}

static size_t most_shared_bytes(void) {
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess)
        (void)cudaGetLastError();
    return (size_t)bytes;
}

static int narrow(const struct fftnd__loop *loop, struct fftnd__panel_loop *result) {
    *result = (struct fftnd__panel_loop){(unsigned)loop->n, loop->in, loop->out};
    return loop->n <= INT_MAX;
}

/* Nonzero if panels can do it. */
static int shape(const struct fftnd__lines *lines, struct fftnd__panels *panels) {
    struct fftnd__panel_loop axis, side, outer[FFTND__PANEL_LOOPS];
    int along = lines->axis.in == 1 && lines->axis.out == 1;
    int fits = narrow(&lines->axis, &axis) && narrow(&lines->side, &side);
    for (int i = 0; i < lines->nouter && fits; i++)
        fits = narrow(&lines->outer[i], &outer[i]);
    fits =
        fits &&
        fftnd__panels_shape(panels, lines->axis.n, lines->is_double, along, most_shared_bytes()) &&
        fftnd__panels_repeat(panels, &axis, &side, lines->nouter, outer);
    panels->backward = lines->direction == REDIST_BACKWARD;
    return fits;
}

/* Returns when the device has them. */
static int upload_roots(struct fftnd__line_plan *plan) {
    size_t bytes = fftnd__panels_roots_bytes(&plan->panels);
    void *roots = redist_calloc(1, bytes);
    if (roots == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for roots of one");
    fftnd__panels_roots(&plan->panels, roots);
    int code = check(cudaMalloc(&plan->roots, bytes), "cudaMalloc");
    if (code == REDIST_OK)
        code = check(cudaMemcpy(plan->roots, roots, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    redist_release(roots);
    return code;
}

int fftnd__lines_create(const struct fftnd__lines *lines, struct fftnd__line_plan **result) {
    struct fftnd__panels panels = {0};
    *result = NULL;
    if (!shape(lines, &panels))
        return REDIST_OK;
    struct fftnd__line_plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a transform of lines");
    plan->panels = panels;
    int code = upload_roots(plan);
    if (code == REDIST_OK)
        *result = plan;
    else
        fftnd__lines_destroy(plan);
    return code;
}

int fftnd__lines_execute(const struct fftnd__line_plan *plan, const void *in, void *out,
                         void *stream) {
    int error = fftnd__panels_launch(&plan->panels, in, out, plan->roots, stream);
    return check((cudaError_t)error, "a kernel that transforms lines");
}

void fftnd__lines_destroy(struct fftnd__line_plan *plan) {
    if (plan == NULL)
        return;
    (void)cudaFree(plan->roots);
    redist_release(plan);
}

/* ---------------------------------------------------------------- measuring */

/* The sample is larger than the caches of a device. */
enum { SAMPLE_BYTES = 1 << 27, ROUNDS = 3, LINES = 32, LEAST_SIDE = 16 };

struct sample {
    char *array, *area; /* SAMPLE_BYTES each */
    cudaStream_t stream;
    cudaEvent_t begun, ended;
    cufftHandle handle;
    struct fftnd__line_plan *lines;
};

static int run_cufft(const struct sample *sample) {
    return cufftXtExec(sample->handle, sample->array, sample->array, CUFFT_FORWARD) ==
           CUFFT_SUCCESS;
}

static int run_panels(const struct sample *sample) {
    return fftnd__lines_execute(sample->lines, sample->array, sample->array, sample->stream) ==
           REDIST_OK;
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

/* Loops of a whole array of lines, which fill the sample nearly. */
static struct fftnd__lines sample_lines(const struct fftnd__rates *rates, int layout) {
    ptrdiff_t n = (ptrdiff_t)rates->n,
              count = SAMPLE_BYTES / (n * (rates->is_double ? 16 : 8)) / LINES * LINES;
    int along = layout == FFTND__CONTIGUOUS;
    ptrdiff_t stride = along ? 1 : count, distance = along ? n : 1;
    return (struct fftnd__lines){.is_double = rates->is_double,
                                 .direction = REDIST_FORWARD,
                                 .axis = {n, stride, stride},
                                 .side = {count, distance, distance}};
}

static double time_cufft(struct sample *sample, const struct fftnd__lines *lines) {
    cudaDataType type = lines->is_double ? CUDA_C_64F : CUDA_C_32F;
    long long n = lines->axis.n, stride = lines->axis.in, distance = lines->side.in;
    size_t area = 0;
    double milliseconds = 0.0;
    if (cufftCreate(&sample->handle) != CUFFT_SUCCESS)
        return 0.0;
    if (cufftSetAutoAllocation(sample->handle, 0) == CUFFT_SUCCESS &&
        cufftXtMakePlanMany(sample->handle, 1, &n, &n, stride, distance, type, &n, stride, distance,
                            type, lines->side.n, &area, type) == CUFFT_SUCCESS &&
        area <= SAMPLE_BYTES && cufftSetWorkArea(sample->handle, sample->area) == CUFFT_SUCCESS &&
        cufftSetStream(sample->handle, sample->stream) == CUFFT_SUCCESS)
        milliseconds = time_of(run_cufft, sample);
    (void)cufftDestroy(sample->handle);
    return milliseconds;
}

static double time_panels(struct sample *sample, const struct fftnd__lines *lines) {
    double milliseconds = 0.0;
    if (fftnd__lines_create(lines, &sample->lines) == REDIST_OK && sample->lines != NULL)
        milliseconds = time_of(run_panels, sample);
    fftnd__lines_destroy(sample->lines);
    return milliseconds;
}

/* Zeros take as long as other numbers. Returns 0 if there is no memory for the sample. */
static int measure(struct fftnd__rates *rates, cudaStream_t stream) {
    struct sample sample = {.stream = stream};
    int is_made = 0;
    if (rates->n * 16 * LINES <= SAMPLE_BYTES &&
        cudaMalloc((void **)&sample.array, 2 * (size_t)SAMPLE_BYTES) == cudaSuccess &&
        cudaMemsetAsync(sample.array, 0, SAMPLE_BYTES, stream) == cudaSuccess &&
        cudaEventCreate(&sample.begun) == cudaSuccess &&
        cudaEventCreate(&sample.ended) == cudaSuccess) {
        sample.area = sample.array + SAMPLE_BYTES;
        is_made = 1;
        for (int layout = 0; layout < FFTND__LAYOUTS; layout++) {
            struct fftnd__lines lines = sample_lines(rates, layout);
            rates->panels[layout] = time_panels(&sample, &lines);
            if (rates->panels[layout] > 0.0)
                rates->cufft[layout] = time_cufft(&sample, &lines);
        }
    }
    if (sample.begun != NULL)
        (void)cudaEventDestroy(sample.begun);
    if (sample.ended != NULL)
        (void)cudaEventDestroy(sample.ended);
    (void)cudaFree(sample.array);
    (void)cudaGetLastError(); /* the user's own checks are not to find it */
    return is_made;
}

/* Nonzero if they are known now; else the choice is left to cuFFT. */
static int find_rates(struct fftnd__rates *rates, cudaStream_t stream) {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess)
        return 0;
    if (fftnd__rates_find(device, rates))
        return 1;
    int is_measured = measure(rates, stream);
    if (is_measured)
        fftnd__rates_keep(device, rates);
    return is_measured;
}

/* ---------------------------------------------------------------- choosing */

static int may_have_panels(long long n, int is_double, int is_contiguous, size_t shared_bytes) {
    struct fftnd__panels panels;
    return fftnd__panels_shape(&panels, n, is_double, is_contiguous, shared_bytes);
}

int fftnd__lines_prefer_panels(long long n, long long side, int is_double, int is_contiguous,
                               void *stream) {
    const char *dictated = getenv("FFTND_LINES");
    struct fftnd__rates rates = {.n = n, .is_double = is_double};
    if (!may_have_panels(n, is_double, is_contiguous, most_shared_bytes()) ||
        (dictated != NULL && strcmp(dictated, "cufft") == 0))
        return 0;
    if (dictated != NULL && strcmp(dictated, "panels") == 0)
        return 1;
    return (is_contiguous || side >= LEAST_SIDE) && find_rates(&rates, stream) &&
           fftnd__rates_prefer_panels(&rates, is_contiguous ? FFTND__CONTIGUOUS : FFTND__STRIDED);
}

/* ---------------------------------------------------------------- the wisdom file */

/* A word, or "" without a device. */
static void name_device(size_t bytes, char name[]) {
    struct cudaDeviceProp properties;
    int device = 0;
    name[0] = '\0';
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaGetDeviceProperties(&properties, device) == cudaSuccess)
        (void)snprintf(name, bytes, "%.*s", (int)bytes - 1, properties.name);
    (void)cudaGetLastError();
    for (char *at = name; *at != '\0'; at++)
        *at = *at == ' ' ? '_' : *at;
}

/* A rank whose device is not rank 0's measures its own. */
static int learn_length(MPI_Comm comm, const char *file, const char *name,
                        struct fftnd__rates *rates) {
    char key[REDIST_WISDOM_BYTES], text[REDIST_WISDOM_BYTES] = "";
    int device = 0;
    (void)snprintf(key, sizeof key, "lines/device=%s/n=%lld/precision=%d", name, rates->n,
                   rates->is_double ? FFTND_DOUBLE : FFTND_FLOAT);
    int code = redist_wisdom_find(comm, file, key, sizeof text, text);
    if (code != REDIST_OK || cudaGetDevice(&device) != cudaSuccess)
        return code;
    struct fftnd__rates known = *rates;
    if (fftnd__rates_scan(text, name, rates)) {
        if (!fftnd__rates_find(device, &known))
            fftnd__rates_keep(device, rates);
        return REDIST_OK;
    }
    if (!find_rates(rates, NULL))
        return REDIST_OK;
    fftnd__rates_print(rates, name, sizeof text, text);
    return redist_wisdom_store(comm, file, key, text);
}

int fftnd__lines_learn(MPI_Comm comm, const char *file, int nlengths, const redist_index lengths[],
                       enum fftnd_precision precision) {
    char name[REDIST_WISDOM_BYTES / 4];
    int code = REDIST_OK;
    name_device(sizeof name, name);
    for (int i = 0; i < nlengths && code == REDIST_OK; i++) {
        struct fftnd__rates rates = {.n = lengths[i], .is_double = precision == FFTND_DOUBLE};
        /* all ranks look up the same lengths, whatever their devices have */
        if (may_have_panels(rates.n, rates.is_double, 0, SIZE_MAX) ||
            may_have_panels(rates.n, rates.is_double, 1, SIZE_MAX))
            code = learn_length(comm, file, name, &rates);
    }
    return code;
}
