/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "harness.h"
#include "stream_job.h"

const enum test_memory both_shared[2] = {MEMORY_SHARED, MEMORY_SHARED};

exchange small_exchange(const test_element *element) {
    const redist_index sizes[] = {9, 10, 11};
    return exchange_between_axes(MPI_COMM_WORLD, element, 3, sizes, 0, 1);
}

struct job begin_job(const exchange *given, const char *method) {
    struct job job = {.given = given, .options = REDIST_OPTIONS_DEFAULT};
    const exchange_way way = {method, {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    exchange_say(given, &way);
    exchange_arrays(given, both_shared, job.arrays);
    job.stream = random_chance(50) ? stream_device_create() : NULL;
    job.options.method = method;
    job.options.space = REDIST_SPACE_CUDA;
    job.options.tune_seconds = 1e-4;
    job.options.asynchronous = 1;
    job.options.stream = job.stream;
    return job;
}

void *address(const struct job *job, int side) {
    return job->arrays[side].data;
}

int plan_job(struct job *job) {
    const exchange *given = job->given;
    const redist_box *a = &given->boxes[0][given->rank], *b = &given->boxes[1][given->rank];
    void *in_a = job->options.bind_a || job->options.tiles ? NULL : address(job, 0);
    if (given->axes[0] < 0)
        return redist_plan_boxes(given->comm, given->element->type, given->ndims, given->sizes, a,
                                 in_a, b, address(job, 1), &job->options, &job->plan);
    return redist_plan_exchange(given->comm, given->element->type, given->ndims, a->count, in_a,
                                given->axes[0], b->count, address(job, 1), given->axes[1],
                                &job->options, &job->plan);
}

void end_job(struct job *job) {
    check_ok(redist_plan_free(&job->plan));
    exchange_free_arrays(job->arrays);
    stream_device_destroy(job->stream);
}

void check_result(const struct job *job, int direction, uint64_t salt) {
    stream_device_wait(job->stream);
    exchange_check(job->given, job->arrays, direction, salt);
    check_ok(redist_plan_query(job->plan));
}

int comms_are_left(void) {
    int left = 0;
    if (stream_device_comms(&left) <= 0 || left <= 0)
        return 0;
    printf("%d communicators of NCCL are left after MPI_Finalize\n", left);
    return 1;
}
