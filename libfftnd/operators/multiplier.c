/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplier.h"
#include "redist_support.h"

/* ---------------------------------------------------------------- the modes of this rank */

/* Sets the modes between both transforms of a step: those of the array before it, with its axes transformed. */
static void find_modes(struct fftnd__multiplier *multiplier,
                       const struct fftnd__transform *transform, const struct fftnd__step *step) {
    const struct fftnd__chain *chain = &transform->chain;
    const struct fftnd__alignment *before = &fftnd__previous(step)->layout->alignment;
    multiplier->ndims = chain->ndims;
    for (int axis = 0; axis < chain->ndims; axis++) {
        int is_whole = fftnd__is_transformed(step, axis);
        redist_index modes = fftnd__spectral_extent(chain, axis, chain->modes[axis]);
        multiplier->start[axis] = is_whole ? 0 : before->start[axis];
        multiplier->count[axis] = chain->is_outside ? 0 : is_whole ? modes : before->count[axis];
    }
}

static void set_strides(struct fftnd__multiplier *multiplier) {
    ptrdiff_t stride = (ptrdiff_t)multiplier->number_bytes * multiplier->numbers;
    for (int axis = multiplier->ndims - 1; axis >= 0; axis--) {
        multiplier->stride[axis] = stride;
        stride *= (ptrdiff_t)multiplier->count[axis];
    }
}

size_t fftnd__multiplier_elements(const struct fftnd__multiplier *multiplier) {
    return fftnd__volume(multiplier->ndims, multiplier->count);
}

static size_t bytes_of(const struct fftnd__multiplier *multiplier) {
    return fftnd__multiplier_elements(multiplier) * (size_t)multiplier->numbers *
           multiplier->number_bytes;
}

/* Rows read factors of the precision of the modes, boxes those of the other tables. */
static size_t bytes_of_number(const struct fftnd__operator *op,
                              const struct fftnd__transform *transform) {
    if (op->tables != NULL)
        return op->table_bytes;
    return transform->precision == FFTND_FLOAT ? sizeof(float) : sizeof(double);
}

int fftnd__multiplier_create(struct fftnd__operator *op, const struct fftnd__transform *transform,
                             const struct fftnd__program *program, int numbers) {
    struct fftnd__multiplier *multiplier = &op->multiplier;
    multiplier->numbers = numbers;
    multiplier->number_bytes = bytes_of_number(op, transform);
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].applies)
            find_modes(multiplier, transform, &program->steps[i]);
    set_strides(multiplier);
    multiplier->factors = redist_calloc(bytes_of(multiplier) + 1, 1);
    return multiplier->factors != NULL ? REDIST_OK
                                       : redist_fail_in("fftnd_operator_create", REDIST_ERR_MEMORY,
                                                        "no memory for the factors of %zu modes",
                                                        fftnd__multiplier_elements(multiplier));
}

void fftnd__multiplier_free(struct fftnd__operator *op) {
    struct fftnd__multiplier *multiplier = &op->multiplier;
    if (multiplier->space != NULL)
        multiplier->space->release(multiplier->factors);
    else
        redist_release(multiplier->factors);
    multiplier->factors = NULL;
    multiplier->space = NULL;
}

/* ---------------------------------------------------------------- the factors */

static long double get_number(size_t bytes, const void *values, size_t i) {
    return bytes == sizeof(float)    ? (long double)((const float *)values)[i]
           : bytes == sizeof(double) ? (long double)((const double *)values)[i]
                                     : ((const long double *)values)[i];
}

static void set_number(const struct fftnd__multiplier *multiplier, size_t i, long double value) {
    void *factors = multiplier->factors;
    if (multiplier->number_bytes == sizeof(float))
        ((float *)factors)[i] = (float)value;
    else if (multiplier->number_bytes == sizeof(double))
        ((double *)factors)[i] = (double)value;
    else
        ((long double *)factors)[i] = value;
}

void fftnd__multiplier_fill(struct fftnd__operator *op, enum fftnd_precision precision,
                            const void *values, long double scale, int conjugated) {
    const struct fftnd__multiplier *multiplier = &op->multiplier;
    const int has_scale = op->tables == NULL && multiplier->number_bytes == sizeof(double);
    const long double all = has_scale ? scale * op->factors[1] : scale;
    const long double scales[2] = {all, conjugated ? -all : all};
    const size_t numbers = (size_t)multiplier->numbers, bytes = lines__item_bytes(precision, 1);
    for (size_t i = 0; i < numbers * fftnd__multiplier_elements(multiplier); i++)
        set_number(multiplier, i, scales[i % numbers] * get_number(bytes, values, i));
}

/* Halves the factors with an index along an axis. */
static void halve_at(const struct fftnd__multiplier *multiplier, int axis, redist_index index) {
    const size_t n = (size_t)multiplier->numbers * fftnd__multiplier_elements(multiplier);
    for (size_t i = 0; i < n; i++) {
        redist_index at = (redist_index)(i * multiplier->number_bytes) / multiplier->stride[axis];
        if (multiplier->start[axis] + at % multiplier->count[axis] == index)
            set_number(multiplier, i,
                       get_number(multiplier->number_bytes, multiplier->factors, i) / 2);
    }
}

void fftnd__multiplier_halve(struct fftnd__operator *op, const struct fftnd__transform *transform) {
    const struct fftnd__chain *chain = &transform->chain;
    for (int axis = 0; axis < op->multiplier.ndims; axis++)
        if (fftnd__is_truncated(chain, axis, FFTND_SPECTRAL) && chain->modes[axis] % 2 == 0)
            halve_at(&op->multiplier, axis, chain->modes[axis] / 2);
}

int fftnd__multiplier_place(struct fftnd__operator *op) {
    struct fftnd__multiplier *multiplier = &op->multiplier;
    char *host = multiplier->factors;
    void *there = NULL;
    if (op->space == NULL)
        return REDIST_OK;
    int code = fftnd__copy_table(op->space, host, bytes_of(multiplier), &there);
    multiplier->space = op->space;
    multiplier->factors = there;
    redist_release(host);
    return code;
}
