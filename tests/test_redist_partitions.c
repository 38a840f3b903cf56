/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles that wait for their turns, and arrays that are completed partition by partition meanwhile; in host memory, and
 * in that of a device which the program is linked with.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchanges.h"
#include "harness.h"
#include "redist_support.h"
#include "stream_device.h"

enum { MOST_PARTITIONS = 7, MANY_PARTITIONS = 40 };

/* NULL where there is none. */
const test_device *stream_device_memory(void) __attribute__((weak));

static int is_on_device(void) {
    return stream_device_memory != NULL;
}

/* One exchange and what of array B was there when it was said to be */
struct job {
    const exchange *given;
    test_array arrays[2];
    int partitions, axis;
    int segments, segment_axis; /* of messages; tiles are put otherwise */
    redist_plan *plan;
    uint64_t sequence; /* of this rank's own choices */
    enum redist_staging staging;
    int seen;      /* partitions that were said to be complete */
    char *copy;    /* of these, and else of B as it was */
    int backwards; /* how often there were fewer than before */
};

/* ---------------------------------------------------------------- partitions */

static redist_index extent_of(const exchange *given, int side, int axis) {
    const redist_box *box = &given->boxes[side][given->rank];
    return (int)(box->extent[axis] ? box->extent[axis] : box->count[axis]);
}

/* Elements of a local array around those that differ in `axis` only, and within. */
static void count_around(const exchange *given, int side, int axis, size_t *outer, size_t *inner) {
    *outer = *inner = 1;
    for (int i = 0; i < given->ndims; i++)
        *(i < axis ? outer : inner) *= i == axis ? 1 : (size_t)extent_of(given, side, i);
}

static void copy_partition(struct job *job, int partition) {
    const exchange *given = job->given;
    redist_index extent = extent_of(given, 1, job->axis);
    redist_index count, start;
    size_t outer, inner;
    redist_decompose(extent, job->partitions, partition, &count, &start);
    count_around(given, 1, job->axis, &outer, &inner);
    inner *= given->element->extent;
    for (size_t i = 0; i < outer && count > 0; i++) {
        size_t at = (i * (size_t)extent + (size_t)start) * inner;
        memcpy(job->copy + at, job->arrays[1].data + at, (size_t)count * inner);
    }
}

static int look(struct job *job) {
    if (job->partitions == 1)
        return redist_plan_put_progress(job->plan);
    int partitions = -1, code = redist_plan_put_arrived(job->plan, &partitions);
    job->backwards += partitions < job->seen;
    for (; job->seen < partitions; job->seen++)
        copy_partition(job, job->seen);
    return code;
}

/* ---------------------------------------------------------------- executions */

/* What stays on this rank is stored by the program now and then, where the plan lets it do so: all memory is the host's
 * here. */
static int put_box(struct job *job, const redist_index start[], const redist_index count[],
                   const char *box, const ptrdiff_t stride[]) {
    redist_target own;
    int stays = 0;
    if (!redist_plan_has_local_stores(job->plan) || random_from(&job->sequence, 0, 1))
        return redist_plan_put(job->plan, start, count, box, stride);
    int failed = redist_plan_local_target(job->plan, start, count, &own, &stays);
    const char *part = box;
    for (int i = 0; i < job->given->ndims && stays; i++)
        part += (own.start[i] - start[i]) * stride[i];
    if (stays)
        redist_copy_box(job->given->ndims, own.count, job->given->element->extent, part, stride,
                        own.memory, own.stride, REDIST_COPY_STORE);
    return failed | redist_plan_put_rest(job->plan, start, count, box, stride);
}

/* A slab of A along an axis, out of the array itself; ranks have few, many, or none */
static int put_slab(struct job *job, int axis, int from, int to) {
    const exchange *given = job->given;
    redist_index start[REDIST_MAX_NDIMS] = {0}, count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS], step = (ptrdiff_t)given->element->extent;
    for (int i = given->ndims - 1; i >= 0; i--) {
        count[i] = extent_of(given, 0, i);
        stride[i] = step;
        step *= count[i];
    }
    start[axis] = from;
    count[axis] = to - from;
    return put_box(job, start, count, job->arrays[0].data + from * stride[axis], stride);
}

static int put_all(struct job *job) {
    int axis = random_from(&job->sequence, 0, job->given->ndims - 1), failed = 0, to;
    int extent = (int)extent_of(job->given, 0, axis);
    for (int from = 0; from < extent; from = to) {
        to = random_from(&job->sequence, from + 1, extent);
        failed |= put_slab(job, axis, from, to);
        if (random_from(&job->sequence, 0, 1))
            failed |= look(job);
        if (random_from(&job->sequence, 0, 19) == 0)
            usleep(200);
    }
    return failed;
}

/* All partitions arrive before the execution is closed, and what has arrived is final. */
static void execute(struct job *job, uint64_t salt, char text[512], size_t *wrong, int *failed) {
    exchange_prepare(job->given, job->arrays, REDIST_FORWARD, salt);
    memcpy(job->copy, job->arrays[1].data, job->arrays[1].bytes);
    job->seen = 0;
    *failed |= redist_plan_put_begin(job->plan, job->arrays[1].data);
    *failed |= put_all(job);
    while (job->partitions > 1 && job->seen < job->partitions && !*failed)
        *failed |= look(job);
    *failed |= redist_plan_put_end(job->plan);
    if (job->partitions == 1)
        copy_partition(job, 0);
    *wrong += exchange_wrong(job->given, job->arrays, REDIST_FORWARD, salt, text);
    for (size_t i = 0; i < job->arrays[1].bytes; i++)
        *wrong += job->copy[i] != job->arrays[1].data[i];
}

static int plan_partitions(struct job *job, const char *method, enum redist_tiles tiles) {
    const exchange *given = job->given;
    const redist_box *a = &given->boxes[0][given->rank], *b = &given->boxes[1][given->rank];
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.tiles = tiles;
    options.partitions = job->partitions;
    options.partition_axis = job->axis;
    options.segments = job->segments;
    options.segment_axis = job->segment_axis;
    options.tune_seconds = 1e-4;
    options.staging = job->staging;
    if (given->axes[0] < 0)
        return redist_plan_boxes(given->comm, given->element->type, given->ndims, given->sizes, a,
                                 NULL, b, job->arrays[1].data, &options, &job->plan);
    return redist_plan_exchange(given->comm, given->element->type, given->ndims, a->count, NULL,
                                given->axes[0], b->count, job->arrays[1].data, given->axes[1],
                                &options, &job->plan);
}

static struct job begin_job(const exchange *given) {
    static const enum test_memory memory[2] = {MEMORY_PLAIN, MEMORY_SHARED};
    int most = random_chance(10) ? MANY_PARTITIONS : MOST_PARTITIONS;
    struct job job = {.given = given, .partitions = random_between(1, most)};
    job.staging = random_chance(50) ? REDIST_STAGING_NEVER : REDIST_STAGING_AUTO;
    job.axis = random_between(0, given->ndims - 1);
    job.segments = random_between(0, MOST_PARTITIONS);
    job.segment_axis = random_between(0, given->ndims - 1);
    job.sequence = random_bits() ^ random_hash((uint64_t)given->rank);
    exchange_arrays(given, memory, job.arrays);
    job.copy = malloc(job.arrays[1].bytes + 1);
    return job;
}

static void end_job(struct job *job) {
    check_ok(redist_plan_free(&job->plan));
    exchange_free_arrays(job->arrays);
    free(job->copy);
}

static void try_partitions(const exchange *given, const char *method, int rounds) {
    struct job job = begin_job(given);
    const exchange_way way = {method, {MEMORY_PLAIN, MEMORY_SHARED}, USE_EXECUTE};
    char text[512] = "a partition changed after it had arrived";
    size_t wrong = 0;
    int failed = 0;
    exchange_say(given, &way);
    check_ok(plan_partitions(&job, method, REDIST_PUT));
    for (int round = 0; round < rounds; round++)
        execute(&job, random_bits(), text, &wrong, &failed);
    check_all(!failed, "%d partitions along axis %d: %s", job.partitions, job.axis,
              redist_error_message());
    check_all(wrong == 0, "%d partitions along axis %d: %s", job.partitions, job.axis, text);
    check_all(job.backwards == 0, "%d times there were fewer partitions than before",
              job.backwards);
    end_job(&job);
}

enum { NMETHODS = 5 };

static const char *method_name(int i) {
    static const char *const names[2][NMETHODS] = {
        {"direct:paced", "direct:lockstep", "direct:nontemporal", "direct", "p2p"},
        {"direct:paced", "direct:lockstep", "p2p", "direct", "p2p"}};
    return names[is_on_device()][i % NMETHODS];
}

START_TEST(between_axes) {
    for (int i = 0; harness_another(i, NMETHODS); i++) {
        int ndims = random_between(2, 4), axis = random_between(0, ndims - 1);
        redist_index sizes[4];
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        random_sizes(ndims, 1, 12, 1500, sizes);
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, ndims, sizes, axis,
                                               (axis + random_between(1, ndims - 1)) % ndims);
        try_partitions(&given, method_name(i), 3);
        element_free(&element);
    }
}
END_TEST

/* Slabs before and after, in padded local arrays; some elements go nowhere, or come from nowhere. */
START_TEST(between_boxes) {
    for (int i = 0; harness_another(i, NMETHODS); i++) {
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = exchange_between_slabs(MPI_COMM_WORLD, &element, i % 3, (i + 1) % 3);
        for (int side = 0; side < 2; side++)
            for (int rank = 0; rank < given.nranks; rank++) {
                redist_box *box = &given.boxes[side][rank];
                exchange_pad(box);
                for (int axis = 0; axis < 3; axis++)
                    if (box->count[axis] > 1 && random_chance(20)) {
                        box->count[axis]--;
                        given.is_complete = 0;
                    }
            }
        try_partitions(&given, method_name(i), 2);
        element_free(&element);
    }
}
END_TEST

/* Nodes of one or two ranks, imitated by REDIST_NODE_SIZE: what has arrived from both. */
START_TEST(between_nodes) {
    static const char *const names[] = {"hier", "p2p", "hier:nccl"};
    const int nnames = is_on_device() ? 3 : 2;
    for (int i = 0; harness_another(i, 3); i++) {
        MPI_Comm comm;
        redist_index sizes[3];
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        const int axis = random_between(0, 2);
        setenv("REDIST_NODE_SIZE", random_chance(70) ? "2" : "1", 1);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        random_sizes(3, 1, 12, 1500, sizes);
        exchange given = exchange_between_axes(comm, &element, 3, sizes, axis,
                                               (axis + random_between(1, 2)) % 3);
        try_partitions(&given, names[i % nnames], 3);
        unsetenv("REDIST_NODE_SIZE");
        MPI_Comm_free(&comm);
        element_free(&element);
    }
}
END_TEST

START_TEST(wrong_use) {
    const redist_index sizes[] = {9, 10, 4}, nothing[3] = {0};
    const ptrdiff_t nowhere[3] = {0};
    int partitions;
    test_element element = element_create(2);
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    struct job job = begin_job(&given);
    job.partitions = 3;
    check_code(plan_partitions(&job, "direct", REDIST_WHOLE), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "partitions = 3") != NULL, "%s",
              redist_error_message());
    job.axis = 3;
    check_code(plan_partitions(&job, "direct", REDIST_PUT), REDIST_ERR_AXIS);
    check_all(strstr(redist_error_message(), "partition_axis = 3") != NULL, "%s",
              redist_error_message());
    job.axis = 0;
    check_code(plan_partitions(&job, "alltoallv", REDIST_PUT), REDIST_ERR_METHOD);
    if (harness_nranks > 1) {
        job.partitions = 3 + (harness_rank == 0);
        check_code(plan_partitions(&job, "direct", REDIST_PUT), REDIST_ERR_DISAGREE);
    }
    job.partitions = 1;
    check_ok(plan_partitions(&job, "direct", REDIST_PUT));
    check_code(redist_plan_put_arrived(job.plan, &partitions), REDIST_ERR_STATE);
    check_ok(redist_plan_put_begin(job.plan, job.arrays[1].data));
    check_code(redist_plan_put_arrived(job.plan, &partitions), REDIST_ERR_STATE);
    check_code(redist_plan_put_release(job.plan, job.arrays[0].data), REDIST_ERR_STATE);
    const int reuses = redist_plan_reuse_tiles(job.plan);
    check_all(reuses == (is_on_device() && job.segments > 1 ? REDIST_OK : REDIST_ERR_METHOD),
              "memory of tiles is used again: %d", reuses);
    check_code(redist_plan_put_release(job.plan, job.arrays[0].data),
               reuses == REDIST_OK ? REDIST_OK : REDIST_ERR_STATE);
    check_code(redist_plan_put_rest(job.plan, nothing, nothing, job.arrays[0].data, nowhere),
               is_on_device() ? REDIST_OK : REDIST_ERR_STATE);
    check_ok(redist_plan_free(&job.plan));
    job.partitions = 3;
    check_ok(plan_partitions(&job, "direct", REDIST_PUT));
    check_ok(redist_plan_put_begin(job.plan, job.arrays[1].data));
    check_code(redist_plan_put_arrived(job.plan, NULL), REDIST_ERR_NULL);
    check_ok(redist_plan_put_end(job.plan));
    end_job(&job);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {between_axes, between_boxes, between_nodes, wrong_use, NULL};
    if (is_on_device())
        arrays_use(stream_device_memory());
    return harness_run(argc, argv, "test_redist_partitions", tests);
}
