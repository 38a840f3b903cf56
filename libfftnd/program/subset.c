/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of some axes only: those of axes on which an operator does not depend cancel. */
#include "program.h"

#include <string.h>

static int is_left_out(const struct fftnd__transform *transform, const int axes[], int axis) {
    return transform->chain.axes[axis] != FFTND_AXIS_NONE && !axes[axis];
}

int fftnd__subset_suits(const struct fftnd__transform *transform, const int axes[]) {
    const struct fftnd__chain *chain = &transform->chain;
    int taken = 0, left_out = 0;
    for (int axis = 0; axis < chain->ndims; axis++) {
        taken += axes[axis] && chain->axes[axis] != FFTND_AXIS_NONE;
        left_out += is_left_out(transform, axes, axis);
    }
    return taken > 0 && left_out > 0 && chain->balanced && !chain->moves[FFTND_PHYSICAL] &&
           memcmp(chain->modes, chain->points, sizeof chain->modes) == 0 &&
           memcmp(chain->filled, chain->points, sizeof chain->filled) == 0;
}

long double fftnd__subset_factor(const struct fftnd__transform *transform, const int axes[]) {
    const struct fftnd__chain *chain = &transform->chain;
    long double factor = 1;
    for (int axis = 0; axis < chain->ndims; axis++)
        if (is_left_out(transform, axes, axis))
            factor *= fftnd__logical_extent(chain->axes[axis], transform->r2r[REDIST_FORWARD][axis],
                                            chain->points[axis]);
    return factor;
}

/* Halves the first axis that is transformed, if the halved axis of real data is left out. */
static void halve(const struct fftnd__transform *transform, struct fftnd__shape *shape) {
    const struct fftnd__chain *chain = &transform->chain;
    for (int i = 0; i < shape->ndims; i++) {
        int axis = transform->configuration.order[i];
        if (shape->axes[axis] == FFTND_AXIS_COMPLEX)
            shape->halved = axis;
    }
    if (shape->axes[chain->halved] != FFTND_AXIS_NONE)
        shape->halved = chain->halved;
    if (shape->halved >= 0)
        shape->axes[shape->halved] = FFTND_AXIS_HALVED;
}

/* Returns nonzero if the padding around the physical side consists of pairs along an axis, without ghosts. */
static int pads_pairs(const struct fftnd__transform *transform, int axis) {
    const struct fftnd__room *room = transform->room;
    return room == NULL || (room->padding[FFTND_PHYSICAL].added[axis] % 2 == 0 &&
                            room->padding[FFTND_PHYSICAL].offset[axis] % 2 == 0 && !room->fills &&
                            !room->accumulates);
}

/* Returns nonzero if pairs of real neighbours along the fastest axis may be complex elements: a real operator does the
 * same to both, and transforms of complex lines side by side are faster than those of real ones. */
static int may_pair(const struct fftnd__transform *transform, const struct fftnd__shape *shape) {
    const struct fftnd__chain *chain = &transform->chain;
    int last = chain->ndims - 1, has_complex = 0;
    for (int axis = 0; axis < chain->ndims; axis++)
        has_complex |= shape->axes[axis] == FFTND_AXIS_COMPLEX;
    return has_complex && shape->axes[chain->halved] == FFTND_AXIS_NONE &&
           shape->axes[last] == FFTND_AXIS_NONE && transform->batch.axis <= 0 &&
           chain->links[0].physical.count[last] == chain->points[last] &&
           chain->points[last] % 2 == 0 && pads_pairs(transform, last);
}

static void pair(struct fftnd__transform *transform, struct fftnd__shape *shape) {
    int last = shape->ndims - 1;
    shape->points[last] /= 2;
    shape->filled[last] /= 2;
    shape->modes[last] /= 2;
    if (transform->room != NULL) {
        transform->room->padding[FFTND_PHYSICAL].added[last] /= 2;
        transform->room->padding[FFTND_PHYSICAL].offset[last] /= 2;
    }
}

int fftnd__subset_take(struct fftnd__transform *transform, const int axes[]) {
    struct fftnd__chain *chain = &transform->chain;
    struct fftnd__shape shape = {.ndims = chain->ndims, .halved = -1};
    int is_real = chain->real[FFTND_PHYSICAL];
    memcpy(shape.points, chain->points, sizeof shape.points);
    memcpy(shape.filled, chain->filled, sizeof shape.filled);
    memcpy(shape.modes, chain->modes, sizeof shape.modes);
    for (int axis = 0; axis < shape.ndims; axis++)
        shape.axes[axis] = axes[axis] ? chain->axes[axis] : FFTND_AXIS_NONE;
    if (chain->halved >= 0 && may_pair(transform, &shape)) {
        pair(transform, &shape);
        is_real = 0;
    } else if (chain->halved >= 0)
        halve(transform, &shape);
    int code = fftnd__chain_build(chain, &shape, transform->configuration.order, transform->grid);
    chain->real[FFTND_PHYSICAL] = is_real;
    chain->real[FFTND_SPECTRAL] = is_real && shape.halved < 0;
    return code;
}
