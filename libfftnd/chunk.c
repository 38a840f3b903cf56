/* SPDX-License-Identifier: BSD-3-Clause */
#include "chunk.h"

/* ---------------------------------------------------------------- cutting */

/* Whether all elements of an array stay aligned to complex numbers when a piece is cut off. */
static int keeps_alignment(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           int axis) {
    size_t bytes = fftnd__element_bytes(transform, step->real) * (size_t)step->local.stride[axis];
    return bytes % fftnd__element_bytes(transform, 0) == 0;
}

/* The place in memory of the slowest axis that can be cut in so many, else of the longest one; -1 = none can
 * be cut. */
static int choose_place(const struct fftnd__transform *transform, const struct fftnd__step *before,
                        const struct fftnd__step *step) {
    int best = -1, shift = transform->batch.shift;
    for (int place = 0; place < step->local.ndims; place++) {
        int i = step->local.order[place];
        if ((i != transform->batch.axis && fftnd__is_transformed(step, i - shift)) ||
            !keeps_alignment(transform, before, i) || !keeps_alignment(transform, step, i))
            continue;
        if (step->local.extent[i] >= transform->choice.chunks)
            return place;
        if (best < 0 || step->local.extent[i] > step->local.extent[step->local.order[best]])
            best = place;
    }
    return best;
}

static int plan_chunk(const struct fftnd__transform *transform, const struct fftnd__step *before,
                      const struct fftnd__step *step, int direction, int axis, int count, void *in,
                      void *out, void **serial) {
    struct fftnd__local local = step->local;
    struct fftnd__serial_problem problem;
    if (axis >= 0)
        local.extent[axis] = count;
    fftnd__describe_serial(transform, before, step, direction, &before->local, &local, &problem);
    return transform->library->create(&problem, in, out, serial);
}

int fftnd__chunks_create(struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, void *in, void *out) {
    int place = choose_place(transform, before, step),
        axis = place >= 0 ? step->local.order[place] : -1,
        extent = place >= 0 ? step->local.extent[axis] : 1;
    *chunks = (struct fftnd__chunks){.ndims = step->local.ndims, .axis = place, .n = extent};
    if (chunks->n > transform->choice.chunks)
        chunks->n = transform->choice.chunks;
    chunks->item = fftnd__element_bytes(transform, step->real);
    for (int i = 0; i < chunks->ndims; i++) {
        chunks->extent[i] = step->local.extent[step->local.order[i]];
        chunks->stride[i] = step->local.stride[step->local.order[i]] * (ptrdiff_t)chunks->item;
    }
    if (place >= 0) {
        chunks->in =
            before->local.stride[axis] * (ptrdiff_t)fftnd__element_bytes(transform, before->real);
        chunks->out = chunks->stride[place];
    }
    int few = extent / chunks->n, longer = extent % chunks->n, code = REDIST_OK;
    if (longer > 0)
        code = plan_chunk(transform, before, step, direction, axis, few + 1, in, out,
                          &chunks->serial[0]);
    if (code == REDIST_OK)
        code =
            plan_chunk(transform, before, step, direction, axis, few, in, out, &chunks->serial[1]);
    return code;
}

void fftnd__chunks_free(struct fftnd__chunks *chunks, const struct fftnd__transform *transform) {
    for (int i = 0; i < 2; i++)
        if (chunks->serial[i] != NULL)
            transform->library->destroy(chunks->serial[i]);
    *chunks = (struct fftnd__chunks){0};
}

/* ---------------------------------------------------------------- running */

static void find_chunk(const struct fftnd__chunks *chunks, int chunk, int *start, int *count) {
    int extent = chunks->axis >= 0 ? chunks->extent[chunks->axis] : 1;
    int few = extent / chunks->n, longer = extent % chunks->n;
    *count = few + (chunk < longer);
    *start = chunk * few + (chunk < longer ? chunk : longer);
}

static int begin_chunk(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                       int chunk, char *in, char *out) {
    const struct fftnd__serial *library = transform->library;
    int start, count, few = chunks->axis >= 0 ? chunks->extent[chunks->axis] / chunks->n : 1;
    find_chunk(chunks, chunk, &start, &count);
    int code = library->execute(chunks->serial[count == few], in + start * chunks->in,
                                out + start * chunks->out);
    if (code == REDIST_OK && library->mark_set != NULL)
        code = library->mark_set(transform->marks[chunk % 2], transform->options.stream);
    return code;
}

/* Meanwhile the exchange goes on. */
static int wait_chunk(const struct fftnd__transform *transform, int chunk, redist_plan *exchange) {
    const struct fftnd__serial *library = transform->library;
    int reached = library->mark_reached == NULL, code = REDIST_OK;
    while (!reached && code == REDIST_OK) {
        code = library->mark_reached(transform->marks[chunk % 2], &reached);
        if (code == REDIST_OK)
            code = redist_plan_put_progress(exchange);
    }
    return code;
}

static int put_chunk(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                     int chunk, const char *out, redist_plan *exchange) {
    int start[REDIST_MAX_NDIMS] = {0}, count[REDIST_MAX_NDIMS];
    int code = wait_chunk(transform, chunk, exchange);
    for (int i = 0; i < chunks->ndims; i++)
        count[i] = chunks->extent[i];
    if (chunks->axis >= 0) {
        find_chunk(chunks, chunk, &start[chunks->axis], &count[chunks->axis]);
        out += start[chunks->axis] * chunks->out;
    }
    return code == REDIST_OK ? redist_plan_put(exchange, start, count, out, chunks->stride) : code;
}

/* The next chunk begins before this one is waited for: the device is never idle. */
int fftnd__chunks_run(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                      void *in, void *out, redist_plan *exchange) {
    int code = REDIST_OK;
    for (int chunk = 0; chunk <= chunks->n && code == REDIST_OK; chunk++) {
        if (chunk < chunks->n)
            code = begin_chunk(chunks, transform, chunk, in, out);
        if (chunk > 0 && code == REDIST_OK && exchange != NULL)
            code = put_chunk(chunks, transform, chunk - 1, out, exchange);
    }
    return code;
}

int fftnd__finish(const struct fftnd__transform *transform) {
    const struct fftnd__serial *library = transform->library;
    if (library->mark_set == NULL)
        return REDIST_OK;
    int code = library->mark_set(transform->marks[0], transform->options.stream);
    return code == REDIST_OK ? library->mark_wait(transform->marks[0]) : code;
}
