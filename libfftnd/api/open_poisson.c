/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The factors of FFTND_OPEN_POISSON. A free axis of N points is a domain of N/2 and as many zeros, so that a periodic
 * convolution is one in free space (Hockney and Eastwood, "Computer Simulation Using Particles", 1988, chapter 6).
 * Green's functions are even: N/2 + 1 of their values along a free axis are all, and a DCT-I is their transform. Along
 * other axes all arrays here have modes.
 *
 * The truncated function is known by its transform, on an axis so long that no image of the ball reaches the domain.
 * Its transform back, cut to the offsets within the domain, is transformed once more to the modes of the plan.
 */
#include "../operators/green.h"
#include "../program/program.h"
#include "operators.h"

#include <math.h>
#include <string.h>

#define FAIL(code, ...) redist_fail_in("fftnd_operator_create", code, __VA_ARGS__)

/* An axis of the library. */
struct axis {
    int is_free, user;  /* and the user's number */
    redist_index half;  /* free: points of the domain, */
    redist_index reach; /* and of half the longer axis, where there is one */
    double distance;    /* of points */
    redist_index modes; /* else: in the arrays here; 1 if it takes no part */
    const double *k;    /* their wavenumbers; NULL = it takes no part */
};

struct solver {
    MPI_Comm comm;
    const struct fftnd__transform *transform;
    enum fftnd_green green;
    int ndims, nfree, nothers; /* axes; free ones; others that take part */
    struct axis axes[REDIST_MAX_NDIMS];
    double diameter; /* of the domain */
};

/* An array of even functions on their nonnegative offsets, or of their modes, which a plan transforms in place. */
struct cosines {
    fftnd_plan *plan;
    fftnd_layout layouts[2];
    double *array;
};

/* ---------------------------------------------------------------- the domain */

/* Returns the least number from n on without prime factors above 5. */
static redist_index next_smooth(redist_index n) {
    for (redist_index rest = n;; rest = ++n) {
        for (int p = 2; p <= 5; p++)
            while (rest % p == 0)
                rest /= p;
        if (rest == 1)
            return n;
    }
}

static void set_axis(struct solver *solver, const struct fftnd__symbols *along,
                     const fftnd_operator_options *options) {
    const struct fftnd__chain *chain = &solver->transform->chain;
    struct axis *axis = &solver->axes[along->axis];
    axis->user = along->user;
    axis->k = along->k;
    axis->modes = fftnd__spectral_extent(chain, along->axis, chain->modes[along->axis]);
    axis->is_free = options->free_axes == NULL || options->free_axes[along->user] != 0;
    solver->nfree += axis->is_free;
    solver->nothers += !axis->is_free;
    if (!axis->is_free)
        return;
    double length = along->length > 0 ? along->length : 2 * acos(-1);
    axis->half = chain->points[along->axis] / 2;
    axis->distance = length / (double)chain->points[along->axis];
    solver->diameter = fftnd__length(solver->diameter, (double)axis->half * axis->distance);
}

static void describe(struct solver *solver, const struct fftnd__operator *op,
                     const fftnd_operator_options *options) {
    solver->ndims = solver->transform->chain.ndims;
    for (int axis = 0; axis < solver->ndims; axis++)
        solver->axes[axis].modes = 1;
    for (int a = 0; a < op->naxes; a++)
        set_axis(solver, &op->symbols[a], options);
}

/* Returns nonzero if some modes take the truncated function. */
static int needs_truncated(const struct solver *solver) {
    return solver->green == FFTND_GREEN_TRUNCATED || solver->nothers > 0;
}

/* Finds the longer axes. */
static int find_reach(struct solver *solver) {
    enum { MOST = 1 << 29 }; /* twice as many fit the int of serial libraries */
    for (int i = 0; i < solver->ndims && needs_truncated(solver); i++) {
        struct axis *axis = &solver->axes[i];
        if (!axis->is_free)
            continue;
        double reach = ceil(((double)axis->half + solver->diameter / axis->distance) / 2 - 1e-9);
        if (!(reach <= MOST))
            return FAIL(REDIST_ERR_LIMIT,
                        "axis %d has points at a distance of %g, of which the truncated Green's "
                        "function needs %g to reach across the domain's diameter %g, more than %d: "
                        "options->lengths of free axes differ too much",
                        axis->user, axis->distance, reach, solver->diameter, (int)MOST);
        axis->reach = next_smooth((redist_index)reach);
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- arrays of even functions */

/* Collective. */
static int plan_cosines(const struct solver *solver, int is_longer, struct cosines *cosines) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    redist_index sizes[REDIST_MAX_NDIMS];
    enum fftnd_axis kinds[REDIST_MAX_NDIMS];
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS];
    for (int i = 0; i < solver->ndims; i++) {
        const struct axis *axis = &solver->axes[i];
        sizes[i] = axis->is_free ? (is_longer ? axis->reach : axis->half) + 1 : axis->modes;
        kinds[i] = axis->is_free ? FFTND_AXIS_R2R : FFTND_AXIS_NONE;
        r2r[i] = FFTND_DCT1;
    }
    options.axes = kinds;
    options.r2r = r2r;
    options.scaling = FFTND_SCALE_NONE;
    options.in_place = 1;
    options.effort = FFTND_ESTIMATE;
    options.space = REDIST_SPACE_HOST;
    struct fftnd__arguments arguments = {.is_inner = 1,
                                         .user_comm = solver->comm,
                                         .ndims = solver->ndims,
                                         .sizes = sizes,
                                         .kind = FFTND_MIXED,
                                         .precision = FFTND_DOUBLE};
    return fftnd__plan_create(&arguments, &options, &cosines->plan);
}

/* Collective. */
static int create_cosines(const struct solver *solver, int is_longer, struct cosines *cosines) {
    REDIST_TRY(plan_cosines(solver, is_longer, cosines));
    int code = REDIST_OK;
    for (int side = 0; side < 2; side++) {
        cosines->layouts[side] = FFTND_LAYOUT_DEFAULT;
        if (code == REDIST_OK)
            code = fftnd_plan_layout(cosines->plan, (enum fftnd_side)side, &cosines->layouts[side]);
    }
    cosines->array = redist_calloc(cosines->layouts[0].bytes + 1, 1);
    if (code == REDIST_OK && cosines->array == NULL)
        code = FAIL(REDIST_ERR_MEMORY, "no memory for a Green's function");
    return redist_agree(solver->comm, code);
}

/* Collective. */
static int free_cosines(struct cosines *cosines, int code) {
    redist_release(cosines->array);
    int freed = cosines->plan != NULL ? fftnd_plan_free(&cosines->plan) : REDIST_OK;
    return code != REDIST_OK ? code : freed;
}

/* Collective. */
static int transform_cosines(const struct solver *solver, struct cosines *cosines) {
    return redist_agree(solver->comm, fftnd_forward(cosines->plan, cosines->array, cosines->array));
}

/* Sets the element with these global indices, or leaves it. */
typedef void value_at(const struct solver *solver, const redist_index at[], double *value);

static void fill(const struct solver *solver, struct cosines *cosines, value_at *find) {
    const fftnd_layout *layout = &cosines->layouts[FFTND_PHYSICAL];
    redist_index at[REDIST_MAX_NDIMS];
    const redist_index n = (redist_index)fftnd__volume(layout->ndims, layout->count);
    for (redist_index i = 0; i < n; i++) {
        redist_index rest = i;
        for (int axis = layout->ndims - 1; axis >= 0; rest /= layout->count[axis--])
            at[axis] = layout->start[axis] + rest % layout->count[axis];
        find(solver, at, &cosines->array[i]);
    }
}

/* ---------------------------------------------------------------- values */

/* Returns |k| of the axes that are not free. */
static double find_kappa(const struct solver *solver, const redist_index at[]) {
    double square = 0;
    for (int i = 0; i < solver->ndims; i++) {
        const struct axis *axis = &solver->axes[i];
        if (!axis->is_free && axis->k != NULL)
            square += axis->k[at[i]] * axis->k[at[i]];
    }
    return sqrt(square);
}

/* The truncated function's transform, of the longer axes. */
static void truncated(const struct solver *solver, const redist_index at[], double *value) {
    double square = 0, points = 1;
    for (int i = 0; i < solver->ndims; i++) {
        const struct axis *axis = &solver->axes[i];
        if (!axis->is_free)
            continue;
        double s = acos(-1) * (double)at[i] / ((double)axis->reach * axis->distance);
        square += s * s;
        points *= 2 * (double)axis->reach;
    }
    *value = fftnd__green_transform(solver->nfree, find_kappa(solver, at), sqrt(square),
                                    solver->diameter) /
             points;
}

/* The other functions, of offsets, for the mode 0 of the axes that are not free. */
static void at_offset(const struct solver *solver, const redist_index at[], double *value) {
    double x[3] = {0}, h[3] = {0};
    int n = 0;
    if (find_kappa(solver, at) > 0)
        return;
    for (int i = 0; i < solver->ndims; i++)
        if (solver->axes[i].is_free) {
            x[n] = (double)at[i] * solver->axes[i].distance;
            h[n++] = solver->axes[i].distance;
        }
    *value = solver->green == FFTND_GREEN_POINT ? fftnd__green_point(n, x, h)
                                                : fftnd__green_cell(n, x, h);
}

/* ---------------------------------------------------------------- moves */

/* Returns this rank's box of a side, as far as it is within `half` along the free axes. */
static redist_box box_of(const struct solver *solver, const fftnd_layout *layout) {
    redist_box box = REDIST_BOX_DEFAULT;
    for (int i = 0; i < solver->ndims; i++) {
        redist_index end = layout->start[i] + layout->count[i];
        if (solver->axes[i].is_free && end > solver->axes[i].half + 1)
            end = solver->axes[i].half + 1;
        box.start[i] = layout->start[i];
        box.count[i] = end > layout->start[i] ? end - layout->start[i] : 0;
        box.extent[i] = layout->count[i];
        box.start[i] = box.count[i] > 0 ? box.start[i] : 0;
    }
    return box;
}

/* Transforms the truncated function from the longer axes to the offsets in the domain. Collective. */
static int cut_truncated(const struct solver *solver, struct cosines *to) {
    struct cosines from = {.plan = NULL};
    int code = create_cosines(solver, 1, &from);
    if (code == REDIST_OK) {
        fill(solver, &from, truncated);
        code = transform_cosines(solver, &from);
    }
    if (code == REDIST_OK) {
        const redist_box box_a = box_of(solver, &from.layouts[FFTND_SPECTRAL]);
        const redist_box box_b = box_of(solver, &to->layouts[FFTND_PHYSICAL]);
        code = fftnd__redistribute(solver->comm, MPI_DOUBLE, solver->ndims,
                                   to->layouts[FFTND_PHYSICAL].sizes, &box_a, from.array, &box_b,
                                   to->array);
    }
    return free_cosines(&from, code);
}

/* Returns the index in the arrays here of a mode of the plan. */
static redist_index find_mode(const struct solver *solver, int axis, redist_index i) {
    if (solver->axes[axis].is_free)
        return (redist_index)fabs(fftnd__wavenumber(solver->transform, axis, i));
    return solver->axes[axis].k != NULL ? i : 0;
}

/* Returns the box of the modes that this rank multiplies by. */
static redist_box box_of_modes(const struct solver *solver,
                               const struct fftnd__multiplier *multiplier) {
    redist_box box = REDIST_BOX_DEFAULT;
    for (int axis = 0; axis < solver->ndims; axis++) {
        redist_index least = INT64_MAX, most = -1;
        for (redist_index i = 0; i < multiplier->count[axis]; i++) {
            redist_index mode = find_mode(solver, axis, multiplier->start[axis] + i);
            least = mode < least ? mode : least;
            most = mode > most ? mode : most;
        }
        box.start[axis] = most >= 0 ? least : 0;
        box.count[axis] = most >= 0 ? most - least + 1 : 0;
    }
    return box;
}

/* Copies the factors from the modes that are alike. */
static void spread(const struct solver *solver, const struct fftnd__multiplier *multiplier,
                   const redist_box *box, const double from[], double to[]) {
    redist_index n = (redist_index)fftnd__multiplier_elements(multiplier);
    for (redist_index i = 0; i < n; i++) {
        redist_index rest = i, place = 0, stride = 1;
        for (int axis = solver->ndims - 1; axis >= 0; axis--) {
            redist_index at = multiplier->start[axis] + rest % multiplier->count[axis];
            place += stride * (find_mode(solver, axis, at) - box->start[axis]);
            stride *= box->count[axis];
            rest /= multiplier->count[axis];
        }
        to[i] = from[place];
    }
}

/* Sets the factors from the modes of the Green's function. Collective. */
static int take_modes(const struct solver *solver, struct fftnd__operator *op,
                      const struct cosines *modes) {
    const fftnd_layout *layout = &modes->layouts[FFTND_SPECTRAL];
    const redist_box from = box_of(solver, layout), to = box_of_modes(solver, &op->multiplier);
    double *part = redist_calloc(fftnd__volume(solver->ndims, to.count) + 1, sizeof *part);
    double *values = redist_calloc(fftnd__multiplier_elements(&op->multiplier) + 1, sizeof *values);
    int code = part != NULL && values != NULL
                   ? REDIST_OK
                   : FAIL(REDIST_ERR_MEMORY, "no memory for the modes of a Green's function");
    code = redist_agree(solver->comm, code);
    if (code == REDIST_OK)
        code = fftnd__redistribute(solver->comm, MPI_DOUBLE, solver->ndims, layout->sizes, &from,
                                   modes->array, &to, part);
    if (code == REDIST_OK) {
        spread(solver, &op->multiplier, &to, part, values);
        fftnd__multiplier_fill(op, FFTND_DOUBLE, values, -1, 0);
    }
    redist_release(part);
    redist_release(values);
    return code;
}

/* Collective. */
static int find_factors(const struct solver *solver, struct fftnd__operator *op,
                        struct cosines *cosines) {
    int is_truncated = solver->green == FFTND_GREEN_TRUNCATED;
    REDIST_TRY(create_cosines(solver, 0, cosines));
    if (needs_truncated(solver))
        REDIST_TRY(cut_truncated(solver, cosines));
    if (!is_truncated)
        fill(solver, cosines, at_offset);
    REDIST_TRY(transform_cosines(solver, cosines));
    return take_modes(solver, op, cosines);
}

int fftnd__multiply_by_green(struct fftnd__operator *op, const struct fftnd__engine *engine,
                             const fftnd_operator_options *options) {
    struct solver solver = {
        .comm = engine->transform.comm, .transform = &engine->transform, .green = options->green};
    struct cosines cosines = {.plan = NULL};
    describe(&solver, op, options);
    int code = find_reach(&solver);
    if (code == REDIST_OK)
        code =
            fftnd__multiplier_create(op, &engine->transform, &engine->programs[REDIST_FORWARD], 1);
    REDIST_TRY(redist_agree(solver.comm, code));
    return free_cosines(&cosines, find_factors(&solver, op, &cosines));
}
