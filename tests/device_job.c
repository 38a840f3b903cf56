/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_job.h"

enum { WAIT_SECONDS = 2 };

static const redist_index sizes[3] = {SIZE_0, SIZE_1, SIZE_2};

const char *const work_names[WORKS] = {"exchange", "transform", "operator",
                                       "transform in tiles of a device"};

static double original[NUMBERS], found[NUMBERS];

double *allocate_array(const struct job *job) {
    return job->work == TILES ? calloc(NUMBERS, sizeof(double))
                              : stream_device_memory()->allocate(MPI_COMM_WORLD, BYTES, 1);
}

void release_array(const struct job *job, double *array) {
    if (job->work == TILES)
        free(array);
    else
        stream_device_memory()->release(array, 1);
}

static void copy_array(const struct job *job, void *to, const void *from) {
    if (job->work == TILES)
        memcpy(to, from, BYTES);
    else
        stream_device_memory()->copy(to, from, BYTES);
}

struct job begin_job(enum work work, int asynchronous) {
    struct job job = {
        .work = work, .asynchronous = asynchronous, .device = stream_device_current()};
    harness_case("%s%s, device %d", work_names[work], asynchronous ? ", asynchronous" : "",
                 job.device);
    job.stream = stream_device_create();
    for (int i = 0; i < 2; i++)
        job.arrays[i] = allocate_array(&job);
    for (int i = 0; i < NUMBERS; i++)
        original[i] = sin(i + 17.0 * harness_rank);
    copy_array(&job, job.arrays[0], original);
    return job;
}

void set_shapes(redist_index a[3], redist_index b[3]) {
    redist_index start;
    memcpy(a, sizes, sizeof sizes);
    memcpy(b, sizes, sizeof sizes);
    redist_decompose(SIZE_1, harness_nranks, harness_rank, &a[1], &start);
    redist_decompose(SIZE_0, harness_nranks, harness_rank, &b[0], &start);
}

static int plan_exchange(struct job *job) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_index a[3], b[3];
    options.space = REDIST_SPACE_CUDA;
    options.method = job->method;
    options.stream = job->stream;
    options.asynchronous = job->asynchronous;
    options.wait_seconds = WAIT_SECONDS;
    options.effort = REDIST_ESTIMATE;
    set_shapes(a, b);
    job->bytes[0] = (size_t)(a[0] * a[1] * a[2]) * sizeof(double);
    job->bytes[1] = (size_t)(b[0] * b[1] * b[2]) * sizeof(double);
    return redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, a, job->arrays[0], 0, b,
                                job->arrays[1], 1, &options, &job->exchange);
}

/* Twice half a period is none. */
static int create_operator(struct job *job) {
    static const double half[3] = {3.14159265358979323846, 3.14159265358979323846,
                                   3.14159265358979323846};
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.shift = half;
    return fftnd_operator_create(job->plan, FFTND_SHIFT, &options, &job->op);
}

static int plan_transform(struct job *job) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    options.space = job->work == TILES ? REDIST_SPACE_HOST : REDIST_SPACE_CUDA;
    options.device = job->work == TILES ? REDIST_SPACE_CUDA : REDIST_SPACE_AUTO;
    options.method = job->method;
    options.stream = job->stream;
    options.asynchronous = job->asynchronous;
    options.wait_seconds = WAIT_SECONDS;
    options.user_workspace = job->user_workspace;
    options.scaling = FFTND_SCALE_BACKWARD;
    options.effort = FFTND_ESTIMATE;
    int code =
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &job->plan);
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        code = fftnd_plan_layout(job->plan, (enum fftnd_side)side, &layout);
        job->bytes[side] = layout.bytes;
    }
    if (code == REDIST_OK && job->work == OPERATOR)
        code = create_operator(job);
    return code;
}

int make_plan(struct job *job) {
    return job->work == EXCHANGE ? plan_exchange(job) : plan_transform(job);
}

struct job begin_planned(enum work work, int asynchronous) {
    struct job job = begin_job(work, asynchronous);
    check_ok(make_plan(&job));
    return job;
}

int run_job_on(const struct job *job, int back, double *from, double *to) {
    if (job->work == EXCHANGE)
        return redist_plan_execute_arrays(job->exchange, back, back ? to : from, back ? from : to);
    if (job->work == OPERATOR)
        return fftnd_apply(job->plan, job->op, from, to);
    return back ? fftnd_backward(job->plan, from, to) : fftnd_forward(job->plan, from, to);
}

int run_job(const struct job *job, int back) {
    return run_job_on(job, back, job->arrays[back], job->arrays[!back]);
}

int query_job(const struct job *job) {
    return job->work == EXCHANGE ? redist_plan_query(job->exchange) : fftnd_plan_query(job->plan);
}

int free_plan(struct job *job) {
    const int code = fftnd_operator_free(&job->op);
    const int other =
        job->work == EXCHANGE ? redist_plan_free(&job->exchange) : fftnd_plan_free(&job->plan);
    return code == REDIST_OK ? other : code;
}

void end_gone(struct job *job) {
    for (int i = 0; i < 2; i++)
        release_array(job, job->arrays[i]);
}

void end_job(struct job *job) {
    end_gone(job);
    stream_device_destroy(job->stream);
}

/* Waits for the work of a job, with its device as the current one. */
static void wait_for(const struct job *job) {
    stream_device_use(job->device);
    stream_device_wait(job->stream);
}

void check_result(const struct job *job) {
    double worst = 0;
    wait_for(job);
    copy_array(job, found, job->arrays[0]);
    for (size_t i = 0; i < job->bytes[0] / sizeof(double); i++)
        worst = fmax(worst, fabs(found[i] - original[i]));
    check_all(worst < 1e-12, "the largest error is %g", worst);
}

void poison(const struct job *job) {
    wait_for(job);
    for (int i = 0; i < NUMBERS; i++)
        found[i] = 1e9;
    copy_array(job, job->arrays[0], found);
}

void check_pair(const struct job *job, int current) {
    for (int back = 0; back < 2; back++) {
        stream_device_use(current);
        check_ok(run_job(job, back));
        check_all(stream_device_current() == current, "device %d is current, not %d",
                  stream_device_current(), current);
        if (!back)
            poison(job);
    }
    check_result(job);
    stream_device_use(current);
    check_ok(query_job(job));
}

void try_all(void (*try)(enum work work, int asynchronous)) {
    const int home = stream_device_current();
    for (int work = 0; work < WORKS; work++)
        for (int asynchronous = 0; asynchronous < (work == TILES ? 1 : 2); asynchronous++) {
            try((enum work)work, asynchronous);
            stream_device_use(home);
        }
}
