/* SPDX-License-Identifier: BSD-3-Clause */
/* Several devices in one process: a thread for each, with a communicator and a current device of its own. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "device.h"
#include "fftnd.h"
#include "harness.h"

enum { MOST_THREADS = 8, N = 20, NUMBERS = 2 * N * N * N, PAIRS = 8 };

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int device, asynchronous, code;
    double error;
};

static int run_pairs(fftnd_plan *plan, double *arrays[2], cudaStream_t stream) {
    int code = REDIST_OK;
    for (int i = 0; i < PAIRS && code == REDIST_OK; i++) {
        code = fftnd_forward(plan, arrays[0], arrays[1]);
        if (code == REDIST_OK)
            code = fftnd_backward(plan, arrays[1], arrays[0]);
    }
    int waited = cudaStreamSynchronize(stream) == cudaSuccess;
    return code == REDIST_OK && waited ? fftnd_plan_query(plan) : REDIST_ERR_DEVICE;
}

static double compare(const double *values, const double *on_device) {
    static const size_t bytes = NUMBERS * sizeof(double);
    double *found = malloc(bytes), worst = 0;
    int copied = cudaMemcpy(found, on_device, bytes, cudaMemcpyDefault) == cudaSuccess;
    for (int i = 0; i < NUMBERS; i++)
        worst = fmax(worst, fabs(found[i] - values[i]));
    free(found);
    return copied && !isnan(worst) ? worst : INFINITY;
}

static void *work(void *data) {
    struct worker *worker = data;
    const redist_index sizes[3] = {N, N, N};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    double *arrays[2] = {NULL, NULL}, *values = malloc(NUMBERS * sizeof(double));
    cudaStream_t stream = NULL;
    int good = cudaSetDevice(worker->device) == cudaSuccess &&
               cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
    for (int i = 0; i < 2; i++)
        good &= cudaMalloc((void **)&arrays[i], NUMBERS * sizeof(double)) == cudaSuccess;
    for (int i = 0; i < NUMBERS; i++)
        values[i] = sin(i + worker->device);
    good &=
        cudaMemcpy(arrays[0], values, NUMBERS * sizeof(double), cudaMemcpyDefault) == cudaSuccess;
    options.space = REDIST_SPACE_CUDA;
    options.stream = stream;
    options.asynchronous = worker->asynchronous;
    options.effort = FFTND_ESTIMATE;
    worker->code =
        good ? fftnd_plan_create(worker->comm, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan)
             : REDIST_ERR_DEVICE;
    if (worker->code == REDIST_OK)
        worker->code = run_pairs(plan, arrays, stream);
    worker->error = compare(values, arrays[0]);
    (void)fftnd_plan_free(&plan);
    for (int i = 0; i < 2; i++)
        (void)cudaFree(arrays[i]);
    (void)cudaStreamDestroy(stream);
    free(values);
    return NULL;
}

START_TEST(a_thread_for_each_device) {
    NEEDS_DEVICE();
    int level, count = 0;
    MPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE || harness_nranks > 1)
        skip_test("needs one rank, and MPI_THREAD_MULTIPLE");
    check_all(cudaGetDeviceCount(&count) == cudaSuccess, "no count of devices");
    int nthreads = count > 1 && count < MOST_THREADS ? count : 2;
    for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
        struct worker workers[MOST_THREADS];
        for (int i = 0; i < nthreads; i++) {
            workers[i] = (struct worker){.device = i % count, .asynchronous = asynchronous};
            MPI_Comm_dup(MPI_COMM_SELF, &workers[i].comm);
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        }
        for (int i = 0; i < nthreads; i++)
            pthread_join(workers[i].thread, NULL);
        for (int i = 0; i < nthreads; i++) {
            check_all(workers[i].code == REDIST_OK && workers[i].error < 1e-12,
                      "thread %d: code %d, off by %g", i, workers[i].code, workers[i].error);
            MPI_Comm_free(&workers[i].comm);
        }
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {a_thread_for_each_device, NULL};
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    return device_run(argc, argv, "test_gpu_threads", tests);
}
