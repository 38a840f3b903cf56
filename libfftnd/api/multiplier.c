/* SPDX-License-Identifier: BSD-3-Clause */
/* The factors of FFTND_MULTIPLY. */
#include "../program/program.h"
#include "operators.h"

#include <string.h>

#define FAIL(code, ...) redist_fail_in("fftnd_operator_create", code, __VA_ARGS__)

int fftnd__redistribute(MPI_Comm comm, MPI_Datatype type, int ndims, const redist_index sizes[],
                        const redist_box *box_a, void *a, const redist_box *box_b, void *b) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    options.effort = REDIST_ESTIMATE;
    options.overlap = REDIST_OVERLAP_READ;
    options.space = REDIST_SPACE_HOST;
    REDIST_TRY(redist_plan_boxes(comm, type, ndims, sizes, box_a, a, box_b, b, &options, &plan));
    int code = redist_agree(comm, redist_plan_execute(plan, REDIST_FORWARD));
    int freed = redist_plan_free(&plan);
    return code != REDIST_OK ? code : freed;
}

/* ---------------------------------------------------------------- the user's array */

/* An array of factors on its way from the spectral side to the modes of an operator. */
struct passage {
    MPI_Datatype type;
    size_t item; /* bytes of an element */
    redist_index sizes[REDIST_MAX_NDIMS];
    redist_box from, to;        /* by the library's axes */
    const redist__space *space; /* of the user's array */
    void
        *arrays[2]; /* dense, in host memory; number 0 page-locked: kernels of a device may write */
};

/* Copies this rank's factors, of an array of `of`, to host memory, without padding, in the order of the axes of the
 * operator's plan. */
static int fetch(const struct passage *passage, const struct fftnd__transform *transform,
                 const struct fftnd__transform *of, const fftnd_layout *layout,
                 const void *multiplier) {
    const int ndims = layout->ndims;
    ptrdiff_t from[REDIST_MAX_NDIMS], to[REDIST_MAX_NDIMS], next = (ptrdiff_t)passage->item;
    if (fftnd__volume(ndims, passage->from.count) == 0)
        return REDIST_OK;
    for (int axis = ndims - 1; axis >= 0; axis--) {
        from[axis] = layout->stride[transform->user_axis[axis]] * (ptrdiff_t)passage->item;
        to[axis] = next;
        next *= (ptrdiff_t)passage->from.count[axis];
    }
    const char *first = (const char *)multiplier + layout->offset * (ptrdiff_t)passage->item;
    REDIST_TRY(redist_copy_box_in(of->space->id, of->settings.stream, ndims, passage->from.count,
                                  passage->item, first, from, passage->arrays[0], to));
    return of->space->asynchronous ? of->space->stream_wait(of->settings.stream) : REDIST_OK;
}

static void find_boxes(struct passage *passage, const struct fftnd__operator *op,
                       const struct fftnd__transform *transform, const fftnd_layout *layout) {
    const struct fftnd__multiplier *multiplier = &op->multiplier;
    passage->from = passage->to = REDIST_BOX_DEFAULT;
    for (int axis = 0; axis < layout->ndims; axis++) {
        int user = transform->user_axis[axis];
        passage->sizes[axis] = layout->sizes[user];
        passage->from.start[axis] = layout->start[user];
        passage->from.count[axis] = layout->count[user];
        passage->to.start[axis] = multiplier->start[axis];
        passage->to.count[axis] = multiplier->count[axis];
    }
}

static int allocate(struct passage *passage, int ndims) {
    const size_t bytes = (fftnd__volume(ndims, passage->from.count) + 1) * passage->item;
    passage->arrays[1] = redist_calloc(fftnd__volume(ndims, passage->to.count) + 1, passage->item);
    int code = passage->space->allocate_pinned(bytes, &passage->arrays[0]);
    return code == REDIST_ERR_MEMORY || passage->arrays[1] == NULL
               ? FAIL(REDIST_ERR_MEMORY, "no memory for options->multiplier")
               : code;
}

static void release(struct passage *passage) {
    if (passage->arrays[0] != NULL)
        passage->space->release_pinned(passage->arrays[0]);
    redist_release(passage->arrays[1]);
}

int fftnd__multiply_by_array(struct fftnd__operator *op, const fftnd_plan *plan,
                             const struct fftnd__engine *engine,
                             const fftnd_operator_options *options,
                             const struct fftnd__factors *factors) {
    const fftnd_plan *of = factors->kernel_plan != NULL ? factors->kernel_plan : plan;
    const struct fftnd__transform *transform = &plan->engine.transform;
    const int real_side = transform->chain.real[FFTND_SPECTRAL];
    const int is_real = real_side || options->real_multiplier;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    struct passage passage = {.space = transform->space,
                              .type = fftnd__element_type(transform, is_real),
                              .item = fftnd__element_bytes(transform, is_real)};
    int code = fftnd_plan_layout(of, FFTND_SPECTRAL, &layout);
    if (code == REDIST_OK)
        code = fftnd__multiplier_create(op, &engine->transform, &engine->programs[REDIST_FORWARD],
                                        is_real ? 1 : 2);
    find_boxes(&passage, op, transform, &layout);
    if (code == REDIST_OK)
        code = allocate(&passage, layout.ndims);
    if (code == REDIST_OK)
        code = fetch(&passage, transform, &of->engine.transform, &layout, options->multiplier);
    code = redist_agree(transform->comm, code);
    if (code == REDIST_OK)
        code =
            fftnd__redistribute(transform->comm, passage.type, layout.ndims, passage.sizes,
                                &passage.from, passage.arrays[0], &passage.to, passage.arrays[1]);
    if (code == REDIST_OK)
        fftnd__multiplier_fill(op, transform->precision, passage.arrays[1], factors->scale,
                               options->conjugated);
    if (code == REDIST_OK && factors->kernel_plan != NULL)
        fftnd__multiplier_halve(op, &engine->transform);
    release(&passage);
    return code;
}
