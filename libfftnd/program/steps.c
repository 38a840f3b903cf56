/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of a listed step: the array after it, and its transform. */
#include "steps.h"

#include <string.h>

/* ---------------------------------------------------------------- arrays between steps */

size_t fftnd__element_bytes(const struct fftnd__transform *transform, int real) {
    return lines__item_bytes(transform->precision, real);
}

size_t fftnd__step_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return step->layout->local.elements * fftnd__element_bytes(transform, step->real);
}

int fftnd__is_empty(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    for (int axis = 0; axis < transform->chain.ndims; axis++)
        if (step->layout->alignment.count[axis] == 0)
            return 1;
    return 0;
}

int fftnd__set_room(struct fftnd__transform *transform, const struct fftnd__room *room) {
    static const struct fftnd__room none;
    transform->room = NULL;
    if (room == NULL || memcmp(room, &none, sizeof none) == 0)
        return REDIST_OK;
    transform->room = redist_calloc(1, sizeof *room);
    if (transform->room == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for the padding of a plan");
    *transform->room = *room;
    return REDIST_OK;
}

redist_index fftnd__count_of(const struct fftnd__transform *transform,
                             const struct fftnd__step *step, int axis) {
    return axis == transform->batch.axis
               ? step->fields * transform->batch.count
               : step->layout->alignment.count[axis - transform->batch.shift];
}

char *fftnd__elements_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         void *array) {
    ptrdiff_t item = (ptrdiff_t)fftnd__element_bytes(transform, step->real);
    return array != NULL ? (char *)array + step->layout->local.offset * item : NULL;
}

void fftnd__byte_strides(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         ptrdiff_t stride[]) {
    ptrdiff_t item = (ptrdiff_t)fftnd__element_bytes(transform, step->real);
    for (int i = 0; i < step->layout->local.ndims; i++)
        stride[i] = step->layout->local.stride[i] * item;
}

void fftnd__place_layout(struct fftnd__layout *layout, int ndims, redist_index numbers[],
                         ptrdiff_t strides[]) {
    fftnd__place_alignment(&layout->alignment, ndims, numbers);
    layout->local.extent = numbers + 3 * ndims;
    layout->local.stride = strides;
}

void fftnd__copy_layout(struct fftnd__layout *to, const struct fftnd__layout *from, int ndims) {
    const struct fftnd__layout own = *to;
    size_t all = (size_t)ndims + 1; /* the batch, too */
    *to = *from;
    to->alignment = own.alignment;
    to->local.extent = own.local.extent;
    to->local.stride = own.local.stride;
    fftnd__copy_alignment(&to->alignment, &from->alignment, ndims);
    memcpy(to->local.extent, from->local.extent, all * sizeof *to->local.extent);
    memcpy(to->local.stride, from->local.stride, all * sizeof *to->local.stride);
}

struct fftnd__step *fftnd__accumulated(const struct fftnd__program *program) {
    return &program->steps[program->nsteps > 0 && program->steps[1].type == FFTND__COPIES_INPUT];
}

/* ---------------------------------------------------------------- serial transforms */

int fftnd__last_serial(const struct fftnd__program *program) {
    int i = program->nsteps;
    while (i > 0 && program->steps[i].type == FFTND__EXCHANGE)
        i--;
    return i;
}

int fftnd__is_r2r(const struct fftnd__transform *transform, int axis) {
    return transform->chain.axes[axis] == FFTND_AXIS_R2R;
}

void fftnd__remove_axis(struct fftnd__step *step, int axis) {
    int n = 0;
    for (int i = 0; i < step->naxes; i++)
        if (step->axes[i] != axis)
            step->axes[n++] = step->axes[i];
    step->naxes = n;
}

void fftnd__take_axis(struct fftnd__step *step, int axis) {
    step->naxes = 1;
    step->axes[0] = (unsigned char)axis;
}

int fftnd__is_transformed(const struct fftnd__step *step, int axis) {
    for (int i = 0; i < step->naxes; i++)
        if (step->axes[i] == axis)
            return 1;
    return 0;
}

int fftnd__truncates_on(const struct fftnd__transform *transform, const struct fftnd__step *step,
                        enum fftnd_side side) {
    for (int i = 0; i < step->naxes; i++)
        if (fftnd__is_truncated(&transform->chain, step->axes[i], side))
            return 1;
    return 0;
}

static int are_all_r2r(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    for (int i = 0; i < step->naxes; i++)
        if (!fftnd__is_r2r(transform, step->axes[i]))
            return 0;
    return 1;
}

void fftnd__describe_serial(const struct fftnd__transform *transform,
                            const struct fftnd__step *before, const struct fftnd__step *step,
                            int direction, const ptrdiff_t in[], const ptrdiff_t out[],
                            const redist_index extent[], struct lines__problem *problem) {
    int changes = before->real != step->real, shift = transform->batch.shift;
    *problem = (struct lines__problem){.precision = transform->precision,
                                       .direction = direction,
                                       .effort = transform->settings.effort,
                                       .stream = transform->settings.stream};
    double seconds = transform->settings.plan_seconds / 4;
    problem->seconds = seconds > 1 ? seconds : 1;
    int is_r2r = step->naxes > 0 ? are_all_r2r(transform, step) : step->real;
    int numbers = is_r2r && !step->real ? 2 : 1; /* real and imaginary parts are real lines */
    problem->kind = changes ? FFTND_R2C : is_r2r ? FFTND_R2R : FFTND_C2C;
    problem->is_odd = changes && (step->real ? step : before)->layout->local.offset % 2 != 0;
    for (int i = 0; i < step->naxes; i++) {
        int axis = step->axes[i], at = axis + shift;
        problem->mixed |= (unsigned)(!is_r2r && fftnd__is_r2r(transform, axis)) << i;
        problem->r2r[problem->naxes] = transform->r2r[direction][axis];
        problem->axes[problem->naxes++] = (struct lines__loop){transform->chain.points[axis],
                                                               numbers * in[at], numbers * out[at]};
    }
    for (int at = 0; at < step->layout->local.ndims; at++)
        if (at == transform->batch.axis || !fftnd__is_transformed(step, at - shift))
            problem->loops[problem->nloops++] =
                (struct lines__loop){extent[at], numbers * in[at], numbers * out[at]};
    if (numbers == 2)
        problem->loops[problem->nloops++] = (struct lines__loop){2, 1, 1};
}

/* ---------------------------------------------------------------- truncation in the serial library */

/* Returns nonzero if an array's lines along the halved axis are contiguous and aligned to complex elements. */
static int has_aligned_lines(const struct fftnd__transform *transform,
                             const struct fftnd__step *step) {
    int ndims = transform->chain.ndims, halved = transform->chain.halved;
    const struct fftnd__batch *batch = &transform->batch;
    return step->layout->memory[ndims - 1] == halved && batch->axis != ndims &&
           !(step->real && (step->layout->local.extent[halved + batch->shift] % 2 != 0 ||
                            step->layout->local.offset % 2 != 0));
}

/* Returns nonzero if the library truncates the halved axis of these arrays. Where modes are dropped, real lines have an
 * even number of points. Modes in the middle of an operator's step have the axes in their order. */
static int lies_well(const struct fftnd__transform *transform, const struct fftnd__step *step,
                     int drops_modes) {
    const struct fftnd__chain *chain = &transform->chain;
    return (!drops_modes ||
            (has_aligned_lines(transform, fftnd__previous(step)) &&
             has_aligned_lines(transform, step) && chain->filled[chain->halved] % 2 == 0)) &&
           (!step->applies || chain->halved == chain->ndims - 1);
}

/* Returns nonzero if an axis that is truncated on one of these sides is so by the library. */
static int may_truncate(const struct fftnd__transform *transform, const struct fftnd__step *step,
                        int axis, int sides) {
    const struct fftnd__chain *chain = &transform->chain;
    int is_halved = axis == chain->halved, truncated = 0;
    for (int side = 0; side < 2; side++)
        truncated |= fftnd__is_truncated(chain, axis, (enum fftnd_side)side) << side;
    if (!(truncated & sides))
        return 1;
    if (fftnd__is_r2r(transform, axis))
        return transform->library->r2r != NULL && !(truncated & 1 << FFTND_SPECTRAL);
    return (!is_halved || lies_well(transform, step, truncated & 1 << FFTND_SPECTRAL)) &&
           transform->library->truncates(chain->points[axis], is_halved, transform->precision);
}

int fftnd__may_truncate_inside(const struct fftnd__transform *transform,
                               const struct fftnd__step *step) {
    int sides = 0, may = !step->twiddles && !(step->applies && step->direction != REDIST_FORWARD);
    for (int side = 0; side < 2; side++)
        sides |= fftnd__truncates_on(transform, step, (enum fftnd_side)side) << side;
    may = may && !(step->applies && sides & 1 << FFTND_SPECTRAL); /* a block has all modes */
    for (int i = 0; i < step->naxes; i++)
        may = may && may_truncate(transform, step, step->axes[i], sides);
    return may ? sides : 0;
}
