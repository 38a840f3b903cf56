/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of an operator along each axis, which follow the axis's kind. */
#include "../wavenumbers.h"
#include "operator.h"
#include "redist_support.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* What a mode is along an axis. */
enum family { WAVES, HARTLEY, COSINES, POINTS };

static enum family family_of(const struct fftnd__transform *transform, int axis) {
    if (transform->chain.axes[axis] == FFTND_AXIS_NONE)
        return POINTS;
    if (!fftnd__is_r2r(transform, axis))
        return WAVES;
    switch (transform->r2r[REDIST_FORWARD][axis]) {
    case FFTND_HC2R:
        return POINTS;
    case FFTND_R2HC:
    case FFTND_DHT:
        return HARTLEY;
    default:
        return COSINES;
    }
}

static int is_half_way(const struct fftnd__transform *transform, int axis, double wavenumber) {
    return 2 * fabs(wavenumber) >= (double)transform->chain.modes[axis];
}

/* ---------------------------------------------------------------- what there is no symbol for */

static int refuse(int user, const char *what) {
    return redist_fail_in("fftnd_operator_create", REDIST_ERR_AXIS, "axis %d has no %s", user,
                          what);
}

static int check(const struct fftnd__operator *op, const struct fftnd__symbols *along,
                 enum family family, const fftnd_operator_options *options) {
    int order = op->kind == FFTND_DERIVATIVE ? options->orders[along->user] : op->type->is_odd;
    int shifts = op->kind == FFTND_SHIFT && fabs(options->shift[along->user]) > 0;
    int keeps = op->kind == FFTND_SYMBOLS || op->type->of_user ||
                (op->kind == FFTND_DERIVATIVE && order == 0) ||
                (op->kind == FFTND_SHIFT && !shifts);
    if (family == POINTS && !keeps)
        return refuse(along->user, "wavenumbers: it is not transformed, or FFTND_HC2R; leave it "
                                   "out of options->axes");
    if (family != WAVES && order % 2 != 0)
        return refuse(along->user, "derivative of odd order: its real-to-real transform has not "
                                   "the modes that this makes of its own");
    if (family != WAVES && shifts)
        return refuse(along->user, "shift: its transform is real-to-real");
    return REDIST_OK;
}

/* ---------------------------------------------------------------- tables */

/* (i k)^order */
static void set_power(double k, int order, double factor[2]) {
    static const int unit[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    double power = pow(k, order);
    factor[0] = unit[order % 4][0] * power;
    factor[1] = unit[order % 4][1] * power;
}

static void fill_factor(const struct fftnd__operator *op, const struct fftnd__symbols *along,
                        const fftnd_operator_options *options) {
    for (redist_index i = 0; i < along->n; i++) {
        double *factor = along->factor + 2 * i;
        double k = along->k[i];
        if (op->kind == FFTND_SYMBOLS) {
            memcpy(factor, options->symbols[along->user] + 2 * i, 2 * sizeof *factor);
        } else if (op->kind == FFTND_SHIFT) {
            double angle = k * options->shift[along->user];
            factor[0] = cos(angle);
            factor[1] = sin(along->odd[i] * options->shift[along->user]);
        } else {
            int order = options->orders[along->user];
            set_power(order % 2 != 0 ? along->odd[i] : k, order, factor);
        }
    }
}

static void fill(const struct fftnd__operator *op, const struct fftnd__symbols *along,
                 const struct fftnd__transform *transform, enum family family,
                 const fftnd_operator_options *options) {
    double turn = family == COSINES ? pi : 2 * pi;
    double unit = options->lengths != NULL ? turn / options->lengths[along->user] : 1;
    for (redist_index i = 0; i < along->n; i++) {
        double wavenumber = fftnd__wavenumber(transform, along->axis, i);
        int vanishes = family != WAVES || is_half_way(transform, along->axis, wavenumber);
        along->k[i] = unit * wavenumber;
        along->odd[i] = vanishes ? 0 : along->k[i];
    }
    if (along->factor != NULL)
        fill_factor(op, along, options);
}

static int has_factor(const struct fftnd__operator *op, int user,
                      const fftnd_operator_options *options) {
    return op->kind == FFTND_DERIVATIVE ? options->orders[user] > 0
           : op->kind == FFTND_SYMBOLS  ? options->symbols[user] != NULL
                                        : op->kind == FFTND_SHIFT;
}

int fftnd__symbols_create(struct fftnd__operator *op, const struct fftnd__transform *transform,
                          const fftnd_operator_options *options) {
    size_t numbers = 0;
    for (int a = 0; a < op->naxes; a++) {
        struct fftnd__symbols *along = &op->symbols[a];
        along->n = fftnd__spectral_extent(&transform->chain, along->axis,
                                          transform->chain.modes[along->axis]);
        numbers += 4 * (size_t)along->n;
        REDIST_TRY(check(op, along, family_of(transform, along->axis), options));
    }
    double *next = op->memory = redist_calloc(numbers + 1, sizeof *next);
    if (next == NULL)
        return redist_fail_in("fftnd_operator_create", REDIST_ERR_MEMORY,
                              "no memory for the tables of an operator");
    for (int a = 0; a < op->naxes; a++) {
        struct fftnd__symbols *along = &op->symbols[a];
        along->k = next;
        along->odd = next + along->n;
        along->factor = has_factor(op, along->user, options) ? next + 2 * along->n : NULL;
        next += 4 * along->n;
        fill(op, along, transform, family_of(transform, along->axis), options);
    }
    return REDIST_OK;
}
