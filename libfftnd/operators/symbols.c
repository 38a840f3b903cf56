/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of an operator along each axis, which follow the axis's kind. */
#include "../program/names.h"
#include "../program/program.h"
#include "operator.h"

#include <math.h>

static const long double pi = 3.14159265358979323846264338327950288L;

static enum fftnd__family family_of(const struct fftnd__transform *transform, int axis) {
    if (transform->chain.axes[axis] == FFTND_AXIS_NONE)
        return FFTND__POINTS;
    if (!fftnd__is_r2r(transform, axis))
        return FFTND__WAVES;
    return fftnd__r2r_kinds[transform->r2r[REDIST_FORWARD][axis]].family;
}

static int is_half_way(const struct fftnd__transform *transform, int axis, double wavenumber) {
    return 2 * fabs(wavenumber) >= (double)transform->chain.modes[axis];
}

/* ---------------------------------------------------------------- axes without symbols */

#define REFUSE(...) redist_fail_in("fftnd_operator_create", REDIST_ERR_AXIS, __VA_ARGS__)

/* The odd derivatives, or shifts, of modes along an axis that is no Fourier axis. */
static const char *const results[] = {[FFTND__HARTLEY] = "of each mode k a part of the mode -k",
                                      [FFTND__COSINES] = "sines of its cosines",
                                      [FFTND__SINES] = "cosines of its sines"};

static int check(const struct fftnd__operator *op, const struct fftnd__symbols *along,
                 const struct fftnd__transform *transform) {
    enum fftnd__family family = family_of(transform, along->axis);
    enum fftnd_r2r r2r = transform->r2r[REDIST_FORWARD][along->axis];
    const char *name = fftnd__operator_kind_name((int)op->kind);
    int order = op->kind == FFTND_DERIVATIVE ? along->order : op->type->is_odd;
    int shifts = fabs(along->shift) > 0;
    int keeps = op->kind == FFTND_SYMBOLS || op->kind == FFTND_MULTIPLY || op->type->of_user ||
                (op->kind == FFTND_DERIVATIVE && order == 0) ||
                (op->kind == FFTND_SHIFT && !shifts);
    if (family == FFTND__POINTS && !keeps)
        return REFUSE("%s needs wavenumbers along axis %d, which is %s: leave it out of "
                      "options->axes",
                      name, along->user,
                      transform->chain.axes[along->axis] == FFTND_AXIS_NONE ? "not transformed"
                                                                            : "FFTND_HC2R");
    if (family != FFTND__WAVES && (order % 2 != 0 || shifts))
        return REFUSE("%s along axis %d makes %s, which %s cannot represent: leave the axis out "
                      "of options->axes%s",
                      name, along->user, results[family], fftnd__r2r_name((int)r2r),
                      shifts ? "" : ", or take derivatives of even order");
    return REDIST_OK;
}

/* ---------------------------------------------------------------- tables */

/* (i k)^order */
static void set_power(long double k, int order, long double factor[2]) {
    static const int unit[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    long double power = powl(k, order);
    factor[0] = unit[order % 4][0] * power;
    factor[1] = unit[order % 4][1] * power;
}

/* The tables of an axis, before they are rounded. */
struct exact {
    long double *k, *odd, *factor;
};

static void fill_factor(const struct fftnd__operator *op, const struct fftnd__symbols *along,
                        const struct exact *exact, const double *const given[]) {
    for (redist_index i = 0; i < along->n; i++) {
        long double *factor = exact->factor + 2 * i;
        if (op->kind == FFTND_SYMBOLS) {
            for (int j = 0; j < 2; j++)
                factor[j] = given[along->user][2 * i + j];
        } else if (op->kind == FFTND_SHIFT) {
            factor[0] = cosl(exact->k[i] * along->shift);
            factor[1] = sinl(exact->odd[i] * along->shift);
        } else {
            set_power(along->order % 2 != 0 ? exact->odd[i] : exact->k[i], along->order, factor);
        }
    }
}

static void fill(const struct fftnd__operator *op, const struct fftnd__symbols *along,
                 const struct exact *exact, const struct fftnd__transform *transform,
                 const double *const given[]) {
    enum fftnd__family family = family_of(transform, along->axis);
    long double turn = family == FFTND__COSINES || family == FFTND__SINES ? pi : 2 * pi;
    long double unit = along->length > 0 ? turn / along->length : 1;
    for (redist_index i = 0; i < along->n; i++) {
        double wavenumber = fftnd__wavenumber(transform, along->axis, i);
        int vanishes = family != FFTND__WAVES || is_half_way(transform, along->axis, wavenumber);
        exact->k[i] = unit * wavenumber;
        exact->odd[i] = vanishes ? 0 : exact->k[i];
    }
    if (along->factor != NULL)
        fill_factor(op, along, exact, given);
}

static int has_factor(const struct fftnd__operator *op, const struct fftnd__symbols *along,
                      const double *const given[]) {
    return op->kind == FFTND_SYMBOLS ? given[along->user] != NULL
                                     : along->order > 0 || op->kind == FFTND_SHIFT;
}

/* Fills all tables in long double, then those of rows in double. */
static void fill_all(struct fftnd__operator *op, long double *exact, size_t numbers,
                     const struct fftnd__transform *transform, const double *const given[]) {
    double *next = op->memory;
    for (int a = 0; a < op->naxes; next += 4 * op->symbols[a++].n) {
        struct fftnd__symbols *along = &op->symbols[a];
        long double *at = exact + (next - op->memory);
        const struct exact tables = {at, at + along->n, at + 2 * along->n};
        along->k = next;
        along->odd = next + along->n;
        along->factor = has_factor(op, along, given) ? next + 2 * along->n : NULL;
        fill(op, along, &tables, transform, given);
    }
    for (size_t i = 0; i < numbers; i++)
        op->memory[i] = (double)exact[i];
}

int fftnd__copy_table(const redist__space *space, const void *table, size_t bytes, void **there) {
    const redist_index count = (redist_index)bytes;
    const ptrdiff_t stride = 1;
    REDIST_TRY(space->allocate(bytes + 1, there));
    REDIST_TRY(redist_copy_box_in(space->id, NULL, 1, &count, 1, table, &stride, *there, &stride));
    return space->stream_wait(NULL);
}

/* Counts the numbers of all tables: k, odd, and a complex factor for each mode along each axis. */
static int count_modes(struct fftnd__operator *op, const struct fftnd__transform *transform,
                       size_t *numbers) {
    *numbers = 0;
    for (int a = 0; a < op->naxes; a++) {
        struct fftnd__symbols *along = &op->symbols[a];
        along->n = fftnd__spectral_extent(&transform->chain, along->axis,
                                          transform->chain.modes[along->axis]);
        *numbers += 4 * (size_t)along->n;
        REDIST_TRY(check(op, along, transform));
    }
    return REDIST_OK;
}

int fftnd__symbols_create(struct fftnd__operator *op, const struct fftnd__transform *transform,
                          const double *const given[]) {
    const redist__space *space = transform->worker;
    size_t numbers;
    REDIST_TRY(count_modes(op, transform, &numbers));
    op->memory = redist_calloc(numbers + 1, sizeof *op->memory);
    long double *exact = redist_calloc(numbers + 1, sizeof *exact);
    if (op->memory == NULL || exact == NULL) {
        redist_release(exact);
        return redist_fail_in("fftnd_operator_create", REDIST_ERR_MEMORY,
                              "no memory for the tables of an operator");
    }
    fill_all(op, exact, numbers, transform, given);
    if (transform->precision == FFTND_LONG_DOUBLE) {
        op->tables = exact;
        op->table_bytes = sizeof *exact;
        return REDIST_OK;
    }
    redist_release(exact);
    op->table_bytes = sizeof *op->memory;
    op->space = space->asynchronous ? space : NULL;
    return op->space != NULL
               ? fftnd__copy_table(space, op->memory, numbers * sizeof *op->memory, &op->tables)
               : REDIST_OK;
}

void fftnd__symbols_free(struct fftnd__operator *op) {
    redist_release(op->memory);
    if (op->space != NULL)
        op->space->release(op->tables);
    else
        redist_release(op->tables);
    op->memory = NULL;
    op->tables = NULL;
}
