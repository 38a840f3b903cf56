/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "redist_support.h"
#include "stream_tiles.h"

/* A box of array A, put or stored by this program. */
struct box {
    const struct job *job;
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    char *data;
};

static struct box slab_of(const struct job *job, int axis, int from, int to) {
    const exchange *given = job->given;
    const redist_box *all = &given->boxes[0][given->rank];
    struct box box = {.job = job};
    ptrdiff_t step = (ptrdiff_t)given->element->extent;
    for (int i = given->ndims - 1; i >= 0; i--) {
        box.count[i] = all->count[i];
        box.stride[i] = step;
        step *= box.count[i];
    }
    box.start[axis] = from;
    box.count[axis] = to - from;
    box.data = (char *)address(job, 0) + from * box.stride[axis];
    return box;
}

static int store_box(void *data, int ntargets, const redist_target targets[], void *stream) {
    const struct box *box = data;
    const exchange *given = box->job->given;
    int failed = 0;
    for (int n = 0; n < ntargets; n++) {
        const char *from = box->data;
        for (int i = 0; i < given->ndims; i++)
            from += (targets[n].start[i] - box->start[i]) * box->stride[i];
        failed |= redist_copy_box_in(REDIST_SPACE_CUDA, stream, given->ndims, targets[n].count,
                                     given->element->extent, from, box->stride, targets[n].memory,
                                     targets[n].stride);
    }
    return failed;
}

int put_all(const struct job *job, uint64_t *sequence) {
    int axis = job->options.segments > 1 ? job->options.segment_axis
                                         : random_from(sequence, 0, job->given->ndims - 1);
    int extent = (int)job->given->boxes[0][job->given->rank].count[axis];
    int stores = random_from(sequence, 0, 2), failed = 0, to;
    for (int from = 0; from < extent; from = to) {
        to = random_from(sequence, from + 1, extent);
        struct box box = slab_of(job, axis, from, to);
        int is_stored = stores == 1 || (stores == 2 && random_from(sequence, 0, 1));
        if (is_stored && redist_plan_has_direct_stores(job->plan))
            failed |= redist_plan_store_directly(job->plan, box.start, box.count, store_box, &box);
        else
            failed |= redist_plan_put(job->plan, box.start, box.count, box.data, box.stride);
    }
    return failed;
}

/* Copies partitions away as soon as the stream has them, one or several: what comes later would be missing. */
static int take_partitions(const struct job *job, uint64_t *sequence, char *taken) {
    const redist_box *box = &job->given->boxes[1][job->given->rank];
    int ndims = job->given->ndims, axis = job->options.partition_axis, failed = 0, here = 0;
    ptrdiff_t stride[REDIST_MAX_NDIMS], step = (ptrdiff_t)job->given->element->extent;
    for (int i = ndims - 1; i >= 0; i--) {
        stride[i] = step;
        step *= box->count[i];
    }
    for (int i = 0; i < job->options.partitions; i++) {
        redist_index count[REDIST_MAX_NDIMS], start;
        memcpy(count, box->count, sizeof(count));
        redist_decompose(box->count[axis], job->options.partitions, i, &count[axis], &start);
        if (here <= i) {
            here = random_from(sequence, i + 1, job->options.partitions);
            failed |= redist_plan_put_wait(job->plan, here);
        }
        failed |= redist_copy_box_in(REDIST_SPACE_CUDA, job->stream, ndims, count,
                                     job->given->element->extent,
                                     (char *)address(job, 1) + start * stride[axis], stride,
                                     taken + start * stride[axis], stride);
    }
    return failed;
}

static int enqueue_tiles(const struct job *job, uint64_t *sequence, char *taken) {
    int failed = redist_plan_put_begin(job->plan, address(job, 1));
    if (job->options.partitions > 1 && job->arrays[0].bytes > 0) /* too early, which is no harm */
        failed |= redist_plan_put_wait(job->plan, 1) != REDIST_ERR_STATE;
    if (job->options.partitions > 1) /* none need not be waited for */
        failed |= redist_plan_put_wait(job->plan, 0);
    failed |= put_all(job, sequence);
    if (job->options.partitions > 1)
        failed |= take_partitions(job, sequence, taken);
    return failed | redist_plan_put_end(job->plan);
}

void *capture_tiles(const struct job *job, uint64_t *sequence, char *taken) {
    stream_device_capture(job->stream);
    int failed = enqueue_tiles(job, sequence, taken);
    void *graph = stream_device_captured(job->stream);
    check_all(!failed && graph != NULL, "%s", redist_error_message());
    return graph;
}

void check_tiles(const struct job *job, uint64_t *sequence, void *graph, char *taken) {
    size_t bytes = job->arrays[1].bytes;
    uint64_t salt = random_bits();
    char *found = malloc(bytes + 1), *arrived = malloc(bytes + 1);
    exchange_prepare(job->given, job->arrays, REDIST_FORWARD, salt);
    if (graph != NULL)
        stream_device_replay(graph, job->stream);
    else
        check_ok(enqueue_tiles(job, sequence, taken));
    check_result(job, REDIST_FORWARD, salt);
    arrays_device()->copy(found, taken, bytes);
    arrays_device()->copy(arrived, address(job, 1), bytes);
    check_all(job->options.partitions == 1 || memcmp(found, arrived, bytes) == 0,
              "a partition of %d along axis %d was not complete", job->options.partitions,
              job->options.partition_axis);
    free(found);
    free(arrived);
}
