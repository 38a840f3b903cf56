/* SPDX-License-Identifier: BSD-3-Clause */
#include "chunk.h"

#include <limits.h>

/* ---------------------------------------------------------------- cutting */

/* Whether all elements of an array stay aligned to complex numbers when a piece is cut off. */
static int keeps_alignment(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           int axis) {
    size_t bytes = fftnd__element_bytes(transform, step->real) * (size_t)step->local.stride[axis];
    return bytes % fftnd__element_bytes(transform, 0) == 0;
}

static int may_cut(const struct fftnd__transform *transform, const struct fftnd__step *before,
                   const struct fftnd__step *step, int axis) {
    return (axis == transform->batch.axis ||
            !fftnd__is_transformed(step, axis - transform->batch.shift)) &&
           keeps_alignment(transform, before, axis) && keeps_alignment(transform, step, axis);
}

/* How far each axis can be cut, 0 = not at all. */
static void list_extents(const struct fftnd__transform *transform, const struct fftnd__step *before,
                         const struct fftnd__step *step, int extents[]) {
    for (int axis = 0; axis < step->local.ndims; axis++)
        extents[axis] = may_cut(transform, before, step, axis) ? step->local.extent[axis] : 0;
}

/* The slowest axis in memory that can be cut in so many, else the longest one; -1 = none can be cut. */
static int choose_axis(const struct fftnd__local *local, const int extents[], int n) {
    int best = -1;
    for (int place = 0; place < local->ndims; place++) {
        int axis = local->order[place];
        if (extents[axis] >= n)
            return axis;
        if (extents[axis] > (best >= 0 ? extents[best] : 0))
            best = axis;
    }
    return best;
}

int fftnd__choose_cut(const struct fftnd__transform *transform, const struct fftnd__step *before,
                      const struct fftnd__step *step, int *axis) {
    int extents[REDIST_MAX_NDIMS];
    list_extents(transform, before, step, extents);
    for (int i = 0; i < step->local.ndims && step->local.elements == 0; i++)
        extents[i] = INT_MAX; /* who has nothing can cut it anyhow */
    int code = redist_check_mpi(redist_insist(MPI_Allreduce(
        MPI_IN_PLACE, extents, step->local.ndims, MPI_INT, MPI_MIN, transform->comm)));
    *axis = choose_axis(&step->local, extents, transform->configuration.partitions);
    return code;
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

static int create_marks(struct fftnd__chunks *chunks, const struct fftnd__serial *library) {
    int code = REDIST_OK;
    if (library->mark_create == NULL)
        return REDIST_OK;
    chunks->marks = redist_calloc((size_t)chunks->n, sizeof *chunks->marks);
    if (chunks->marks == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for chunks");
    for (int i = 0; i < chunks->n && code == REDIST_OK; i++)
        code = library->mark_create(&chunks->marks[i]);
    return code;
}

/* Which axis, and into how many: what arrives in pieces is cut as these are. */
static int choose_chunks(const struct fftnd__transform *transform, const struct fftnd__step *before,
                         const struct fftnd__step *step, int *n) {
    int extents[REDIST_MAX_NDIMS];
    list_extents(transform, before, step, extents);
    *n = before->pieced ? transform->configuration.partitions : transform->configuration.segments;
    int axis = before->pieced ? step->cut : choose_axis(&step->local, extents, *n);
    int extent = axis >= 0 ? step->local.extent[axis] : 1;
    *n = extent < *n ? extent : *n;
    return axis;
}

/* How the array after the transform lies in memory, and how far the chunks are apart. */
static void describe(struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                     const struct fftnd__step *before, const struct fftnd__step *step, int axis) {
    chunks->item = fftnd__element_bytes(transform, step->real);
    chunks->axis = -1;
    for (int i = 0; i < chunks->ndims; i++) {
        chunks->extent[i] = step->local.extent[step->local.order[i]];
        chunks->stride[i] = step->local.stride[step->local.order[i]] * (ptrdiff_t)chunks->item;
        if (step->local.order[i] == axis)
            chunks->axis = i;
    }
    if (axis < 0)
        return;
    chunks->in =
        before->local.stride[axis] * (ptrdiff_t)fftnd__element_bytes(transform, before->real);
    chunks->out = chunks->stride[chunks->axis];
}

int fftnd__chunks_create(struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, void *in, void *out) {
    *chunks = (struct fftnd__chunks){.ndims = step->local.ndims};
    int axis = choose_chunks(transform, before, step, &chunks->n);
    describe(chunks, transform, before, step, axis);
    int extent = axis >= 0 ? step->local.extent[axis] : 1;
    int few = extent / chunks->n, longer = extent % chunks->n;
    int code = create_marks(chunks, transform->library);
    if (longer > 0 && code == REDIST_OK)
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
    for (int i = 0; i < chunks->n && chunks->marks != NULL; i++)
        if (chunks->marks[i] != NULL)
            transform->library->mark_destroy(chunks->marks[i]);
    redist_release(chunks->marks);
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
    if (code == REDIST_OK && chunks->marks != NULL)
        code = library->mark_set(chunks->marks[chunk], transform->options.stream);
    return code;
}

/* Meanwhile the exchange goes on. */
static int wait_chunk(const struct fftnd__chunks *chunks, const struct fftnd__serial *library,
                      int chunk, redist_plan *exchange) {
    int reached = chunks->marks == NULL, code = REDIST_OK;
    while (!reached && code == REDIST_OK) {
        code = library->mark_reached(chunks->marks[chunk], &reached);
        if (code == REDIST_OK && !reached)
            code = redist_plan_put_progress(exchange);
    }
    return code;
}

static int put_chunk(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                     int chunk, const char *out, redist_plan *exchange) {
    int start[REDIST_MAX_NDIMS] = {0}, count[REDIST_MAX_NDIMS];
    int code = wait_chunk(chunks, transform->library, chunk, exchange);
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

int fftnd__chunks_receive(const struct fftnd__chunks *chunks,
                          const struct fftnd__transform *transform, void *in, void *out,
                          redist_plan *exchange) {
    int code = REDIST_OK, arrived = 0;
    for (int chunk = 0; chunk < chunks->n && code == REDIST_OK; chunk++) {
        while (arrived <= chunk && code == REDIST_OK)
            code = redist_plan_put_arrived(exchange, &arrived);
        if (code == REDIST_OK)
            code = begin_chunk(chunks, transform, chunk, in, out);
    }
    return code;
}

int fftnd__chunks_put(const struct fftnd__chunks *chunks, const struct fftnd__transform *transform,
                      const void *out, redist_plan *exchange) {
    int code = REDIST_OK;
    for (int chunk = 0; chunk < chunks->n && code == REDIST_OK; chunk++)
        code = put_chunk(chunks, transform, chunk, out, exchange);
    return code;
}

int fftnd__finish(const struct fftnd__transform *transform) {
    const struct fftnd__serial *library = transform->library;
    if (library->mark_set == NULL)
        return REDIST_OK;
    int code = library->mark_set(transform->marks[0], transform->options.stream);
    return code == REDIST_OK ? library->mark_wait(transform->marks[0]) : code;
}
