/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW's transpositions: an exchange, in which each rank copies its elements from the others' inputs directly to its
 * output, in the output's order.
 *
 * The others can map an input that is from this library's allocators. Any other, and one that is also the output, is
 * first copied to memory of the plan, by each rank's own decision.
 */
#include "redist_support.h"
#include "request.h"

#include <stdlib.h>
#include <string.h>

/* Axes of the exchange: those of the matrix in the input's order, then the tuples. */
enum { AXES = 3, TUPLES = 2 };

struct transpose {
    struct fftnd_fftw__plan plan;
    redist_plan *exchange;
    int is_mapped;            /* peers map the inputs */
    size_t in_bytes;          /* of the input */
    void *work;               /* a copy of the input, made on demand */
    redist_index n[AXES];     /* of the whole matrix */
    redist_index count[AXES]; /* of the output */
    ptrdiff_t stride[AXES];   /* in it */
};

/* ---------------------------------------------------------------- executing */

static int provide_work(struct transpose *transpose) {
    return transpose->work != NULL ? REDIST_OK
                                   : redist_alloc_local(transpose->in_bytes, &transpose->work);
}

/* Finds the memory of this rank that peers read. */
static int find_source(struct transpose *transpose, void *in, const void *out, void **source) {
    *source = in;
    if (transpose->in_bytes == 0 ||
        (in != out &&
         (!transpose->is_mapped || redist_is_mappable(REDIST_SPACE_HOST, in, transpose->in_bytes))))
        return REDIST_OK;
    int code = provide_work(transpose);
    if (code == REDIST_OK)
        *source = memcpy(transpose->work, in, transpose->in_bytes);
    return code;
}

static int is_empty(const redist_index count[]) {
    return count[0] == 0 || count[1] == 0 || count[2] == 0;
}

static int execute(struct fftnd_fftw__plan *plan, void *in, void *out, int new_arrays) {
    struct transpose *transpose = (struct transpose *)plan;
    static const redist_index start[AXES];
    void *source;
    (void)new_arrays;
    int code = find_source(transpose, in, out, &source);
    if (code == REDIST_OK)
        code = redist_plan_get_begin(transpose->exchange, source);
    if (code != REDIST_OK)
        return code;
    if (!is_empty(transpose->count))
        (void)redist_plan_get(transpose->exchange, start, transpose->count, out,
                              transpose->stride); /* get_end returns failures */
    return redist_plan_get_end(transpose->exchange);
}

static void destroy(struct fftnd_fftw__plan *plan) {
    struct transpose *transpose = (struct transpose *)plan;
    (void)redist_plan_free(&transpose->exchange);
    (void)redist_free(&transpose->work);
    free(transpose);
}

static void describe(const struct fftnd_fftw__plan *plan, size_t bytes, char text[]) {
    const struct transpose *transpose = (const struct transpose *)plan;
    const char *method = "";
    (void)redist_plan_get_method(transpose->exchange, &method);
    snprintf(text, bytes, "(fftnd-transpose %lldx%lldx%lld %s)", (long long)transpose->n[0],
             (long long)transpose->n[1], (long long)transpose->n[TUPLES], method);
}

static const struct fftnd_fftw__kind kind = {"transpose", execute, destroy, describe};

/* ---------------------------------------------------------------- making */

/* Returns the axis of the exchange that is axis 0 of the matrix. */
static int first_axis(const struct fftnd_fftw__request *request) {
    return request->flags.transposed[0];
}

static redist_box part_of(const struct fftnd_fftw__request *request, int split) {
    redist_box box = REDIST_BOX_DEFAULT;
    int size, rank, axis = split ^ first_axis(request);
    MPI_Comm_size(request->comm, &size);
    MPI_Comm_rank(request->comm, &rank);
    box.count[axis] = 0;
    box.count[!axis] = request->n[!split];
    box.count[TUPLES] = request->howmany;
    fftnd_fftw__block(request->n[split], request->blocks[split], size, rank, &box.start[axis],
                      &box.count[axis]);
    return box;
}

/* Describes the output, with axis 1 of the matrix first unless it is transposed. */
static void describe_output(const struct fftnd_fftw__request *request, size_t item,
                            struct transpose *transpose) {
    int slow = !request->flags.transposed[1] ^ first_axis(request);
    transpose->stride[TUPLES] = (ptrdiff_t)item;
    transpose->stride[!slow] = (ptrdiff_t)item * request->howmany;
    transpose->stride[slow] = transpose->stride[!slow] * transpose->count[!slow];
}

/* Returns whether peers map memory that a rank allocates alone. */
static int is_reached(MPI_Comm comm, const void *probe) {
    int mapped = redist_is_mappable(REDIST_SPACE_HOST, probe, 1);
    return redist_all_lowest(comm, mapped, &mapped) == REDIST_OK && mapped;
}

static int plan_exchange(const struct fftnd_fftw__request *request, const redist_box boxes[2],
                         struct transpose *transpose) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.tiles = REDIST_GET;
    options.bind_b = REDIST_BIND_AT_EXECUTION;
    options.bind_a =
        transpose->is_mapped ? REDIST_BIND_AT_EXECUTION_MAPPED : REDIST_BIND_AT_EXECUTION;
    options.effort = request->flags.effort == FFTND_ESTIMATE ? REDIST_ESTIMATE : REDIST_MEASURE;
    return redist_plan_boxes(request->comm, request->datatype, AXES, transpose->n, &boxes[0], NULL,
                             &boxes[1], NULL, &options, &transpose->exchange);
}

/* Plans the exchange, by which the ranks learn whether they can map each other's memory. */
static int plan_reachable(const struct fftnd_fftw__request *request, const redist_box boxes[2],
                          struct transpose *transpose) {
    void *probe = NULL;
    (void)redist_alloc_local(1, &probe);
    transpose->is_mapped = is_reached(request->comm, probe);
    int code = plan_exchange(request, boxes, transpose);
    if (code == REDIST_OK && transpose->is_mapped && !is_reached(request->comm, probe)) {
        transpose->is_mapped = 0;
        code = redist_plan_free(&transpose->exchange);
        if (code == REDIST_OK)
            code = plan_exchange(request, boxes, transpose);
    }
    (void)redist_free(&probe);
    return code;
}

static int check(const struct fftnd_fftw__request *request) {
    int size;
    MPI_Comm_size(request->comm, &size);
    for (int axis = 0; axis < 2; axis++)
        if (request->n[axis] < 1 ||
            !fftnd_fftw__blocks_fit(request->n[axis], request->blocks[axis], size))
            return redist_fail(REDIST_ERR_SIZE, "n%d = %td in blocks of %td on %d ranks", axis,
                               request->n[axis], request->blocks[axis], size);
    if (request->howmany < 1)
        return redist_fail(REDIST_ERR_SIZE, "howmany = %td", request->howmany);
    return REDIST_OK;
}

int fftnd_fftw__transpose_create(const struct fftnd_fftw__request *request,
                                 struct fftnd_fftw__plan **plan) {
    size_t item = request->number_bytes;
    int code = check(request);
    struct transpose *transpose = code == REDIST_OK ? calloc(1, sizeof *transpose) : NULL;
    if (code == REDIST_OK && transpose == NULL)
        code = redist_fail(REDIST_ERR_MEMORY, "no memory for a plan");
    code = redist_agree(request->comm, code);
    if (code == REDIST_OK) {
        const redist_box boxes[2] = {part_of(request, 0), part_of(request, 1)};
        fftnd_fftw__plan_init(&transpose->plan, &kind, request->in, request->out);
        transpose->n[first_axis(request)] = request->n[0];
        transpose->n[!first_axis(request)] = request->n[1];
        transpose->n[TUPLES] = request->howmany;
        memcpy(transpose->count, boxes[1].count, sizeof transpose->count);
        transpose->in_bytes =
            item * (size_t)(boxes[0].count[0] * boxes[0].count[1]) * (size_t)boxes[0].count[TUPLES];
        describe_output(request, item, transpose);
        code = plan_reachable(request, boxes, transpose);
    }
    if (code != REDIST_OK)
        free(transpose);
    else
        *plan = &transpose->plan;
    return code;
}
