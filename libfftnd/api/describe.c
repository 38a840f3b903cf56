/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators as the user's options describe them: checks of the options, and what follows from them and the plan. */
#include "../program/names.h"
#include "../program/program.h"
#include "operators.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FAIL(code, ...) redist_fail_in("fftnd_operator_create", code, __VA_ARGS__)

/* ---------------------------------------------------------------- arguments */

int fftnd__read_operator_options(const char *function, const fftnd_operator_options *options,
                                 fftnd_operator_options *own) {
    *own = FFTND_OPERATOR_OPTIONS_DEFAULT;
    if (options != NULL)
        REDIST_TRY(redist_struct_read(function, "options", options, own, sizeof *own));
    REDIST_TRY(redist_check_reserved_in(function, "options", own->reserved));
    return own->reserved2 == 0
               ? REDIST_OK
               : redist_fail_in(function, REDIST_ERR_ARGUMENT,
                                "options->reserved2 = %d is not 0: set the structure up with its "
                                "*_DEFAULT macro or its *_init function",
                                own->reserved2);
}

int fftnd__check_operable(const char *function, const struct fftnd__transform *transform) {
    int transformed = 0;
    for (int axis = 0; axis < transform->chain.ndims; axis++)
        transformed += transform->chain.axes[axis] != FFTND_AXIS_NONE;
    if (transform->chain.twiddles)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "plan transforms one axis over several ranks, which operators do not "
                              "support");
    return transformed > 0
               ? REDIST_OK
               : redist_fail_in(function, REDIST_ERR_ARGUMENT, "plan transforms no axis");
}

/* Returns the name of the list in which a kind has an entry for each axis, and whether it is given; NULL = no list. */
static const char *list_of(enum fftnd_operator_kind kind, const fftnd_operator_options *options,
                           int *is_given) {
    *is_given = kind == FFTND_DERIVATIVE ? options->orders != NULL
                : kind == FFTND_SHIFT    ? options->shift != NULL
                                         : options->symbols != NULL;
    return kind == FFTND_DERIVATIVE ? "orders"
           : kind == FFTND_SHIFT    ? "shift"
           : kind == FFTND_SYMBOLS  ? "symbols"
                                    : NULL;
}

/* Checks the array of factors, which a rank without modes need not have. */
static int check_multiplier(const struct fftnd__engine *plan, enum fftnd_operator_kind kind,
                            const fftnd_operator_options *options) {
    const struct fftnd__transform *transform = &plan->transform;
    if (kind != FFTND_MULTIPLY ||
        fftnd__is_empty(transform, fftnd__engine_input(plan, FFTND_SPECTRAL)))
        return REDIST_OK;
    if (options->multiplier != NULL)
        return transform->space->check_array("fftnd_operator_create", "options->multiplier",
                                             options->multiplier);
    return FAIL(REDIST_ERR_NULL, "options->multiplier = NULL, but this rank has modes");
}

/* Refuses axes that are left out, whose modes have factors, too. */
static int check_whole(const struct fftnd__transform *transform, enum fftnd_operator_kind kind,
                       const fftnd_operator_options *options) {
    for (int i = 0; i < transform->user_ndims && kind == FFTND_MULTIPLY; i++) {
        int user = transform->user_axis[i];
        if (options->axes != NULL && options->axes[user] == 0 &&
            transform->chain.axes[i] != FFTND_AXIS_NONE)
            return FAIL(REDIST_ERR_AXIS,
                        "options->axes[%d] = 0, but FFTND_MULTIPLY has a factor for each mode of "
                        "all axes: pass NULL",
                        user);
    }
    return REDIST_OK;
}

/* Checks one axis in free space. */
static int check_free_axis(const struct fftnd__transform *transform, int axis) {
    const struct fftnd__chain *chain = &transform->chain;
    int user = transform->user_axis[axis];
    enum fftnd_axis kind = chain->axes[axis];
    if (kind != FFTND_AXIS_COMPLEX && kind != FFTND_AXIS_HALVED)
        return FAIL(REDIST_ERR_AXIS,
                    "options->free_axes (NULL: all that take part) has axis %d, which is of %s, no "
                    "Fourier axis: leave it out",
                    user, fftnd__axis_name((int)kind));
    if (chain->points[axis] % 2 != 0)
        return FAIL(
            REDIST_ERR_AXIS,
            "axis %d is in free space, but its %lld points are no domain and as many zeros: "
            "plan an even number",
            user, (long long)chain->points[axis]);
    if (chain->modes[axis] < chain->points[axis])
        return FAIL(REDIST_ERR_AXIS,
                    "axis %d is in free space, but plan retains %lld modes of its %lld points: "
                    "retain all",
                    user, (long long)chain->modes[axis], (long long)chain->points[axis]);
    if (chain->filled[axis] > chain->points[axis] / 2 && chain->filled[axis] < chain->points[axis])
        return FAIL(REDIST_ERR_AXIS,
                    "axis %d is in free space, and its domain is the first half of its %lld "
                    "points, but plan has %lld filled: fill the half, or all",
                    user, (long long)chain->points[axis], (long long)chain->filled[axis]);
    return REDIST_OK;
}

static int check_open_poisson(const struct fftnd__transform *transform,
                              enum fftnd_operator_kind kind,
                              const fftnd_operator_options *options) {
    int n = 0;
    if (kind != FFTND_OPEN_POISSON)
        return REDIST_OK;
    REDIST_TRY(redist_check_enum_in("fftnd_operator_create", "options->green", fftnd__green_name,
                                    (int)options->green));
    for (int i = 0; i < transform->user_ndims; i++) {
        int user = transform->user_axis[i];
        int takes_part = options->axes != NULL ? options->axes[user] != 0
                                               : transform->chain.axes[i] != FFTND_AXIS_NONE;
        int is_free = options->free_axes != NULL ? options->free_axes[user] != 0 : takes_part;
        if (is_free && options->axes != NULL && !takes_part)
            return FAIL(REDIST_ERR_AXIS,
                        "options->free_axes[%d] is set, but options->axes[%d] = 0 leaves the axis "
                        "out",
                        user, user);
        if (is_free)
            REDIST_TRY(check_free_axis(transform, i));
        n += is_free;
    }
    return n >= 1 && n <= 3 ? REDIST_OK
                            : FAIL(REDIST_ERR_AXIS,
                                   "options->free_axes names %d axes (NULL: all that take part), "
                                   "but FFTND_OPEN_POISSON needs 1 to 3: use "
                                   "FFTND_INVERSE_LAPLACIAN without free ones",
                                   n);
}

/* Checks the list or function that a kind needs. */
static int check_lists(enum fftnd_operator_kind kind, const fftnd_operator_options *options) {
    int is_given;
    const char *list = list_of(kind, options, &is_given);
    if (list != NULL && !is_given)
        return FAIL(REDIST_ERR_NULL, "options->%s = NULL", list);
    if (fftnd__operator_type_of(kind)->of_user && options->function == NULL &&
        options->box_function == NULL)
        return FAIL(REDIST_ERR_NULL, "options->function = NULL");
    return REDIST_OK;
}

static int check_axis(enum fftnd_operator_kind kind, const fftnd_operator_options *options,
                      int axis) {
    if (options->lengths != NULL &&
        !(options->lengths[axis] > 0 && isfinite(options->lengths[axis])))
        return FAIL(REDIST_ERR_ARGUMENT, "options->lengths[%d] = %g is not positive", axis,
                    options->lengths[axis]);
    if (kind == FFTND_DERIVATIVE && options->orders[axis] < 0)
        return FAIL(REDIST_ERR_ARGUMENT, "options->orders[%d] = %d is negative", axis,
                    options->orders[axis]);
    if (kind == FFTND_SHIFT && !isfinite(options->shift[axis]))
        return FAIL(REDIST_ERR_ARGUMENT, "options->shift[%d] = %g is not finite", axis,
                    options->shift[axis]);
    return REDIST_OK;
}

/* Returns nonzero if the list of this kind has an entry for an axis. */
static int is_named(enum fftnd_operator_kind kind, const fftnd_operator_options *options,
                    int axis) {
    return (kind == FFTND_DERIVATIVE && options->orders[axis] > 0) ||
           (kind == FFTND_SHIFT && fabs(options->shift[axis]) > 0) ||
           (kind == FFTND_SYMBOLS && options->symbols[axis] != NULL);
}

/* Refuses entries for an axis that is left out: they would have no effect. */
static int check_left_out(enum fftnd_operator_kind kind, const fftnd_operator_options *options,
                          int axis) {
    int is_given;
    const char *list = list_of(kind, options, &is_given);
    if (options->axes == NULL || options->axes[axis] != 0 || !is_named(kind, options, axis))
        return REDIST_OK;
    return FAIL(REDIST_ERR_AXIS,
                "options->%s[%d] is set, but options->axes[%d] = 0 leaves the axis out", list, axis,
                axis);
}

static int check_fields(enum fftnd_operator_kind kind, const fftnd_operator_options *options) {
    const int fields[2] = {options->inputs, options->outputs};
    static const char *const names[2] = {"inputs", "outputs"};
    for (int i = 0; i < 2 && fftnd__operator_type_of(kind)->of_user; i++)
        if (fields[i] < 1 || fields[i] > FFTND__MOST_FIELDS)
            return FAIL(REDIST_ERR_ARGUMENT, "options->%s = %d is not in 1..%d", names[i],
                        fields[i], (int)FFTND__MOST_FIELDS);
    return REDIST_OK;
}

/* Refuses functions for rows on a device. */
static int check_function(const struct fftnd__transform *transform, enum fftnd_operator_kind kind,
                          const fftnd_operator_options *options) {
    if (!fftnd__operator_type_of(kind)->of_user || options->box_function != NULL ||
        !transform->worker->asynchronous)
        return REDIST_OK;
    return FAIL(REDIST_ERR_ARGUMENT,
                "options->function works on rows in host memory, but plan transforms on a device: "
                "pass options->box_function%s",
                kind == FFTND_MODES ? ", or a table for each axis to FFTND_SYMBOLS" : "");
}

static int check_options(const struct fftnd__transform *transform, enum fftnd_operator_kind kind,
                         const fftnd_operator_options *options) {
    REDIST_TRY(redist_check_enum_in("fftnd_operator_create", "kind", fftnd__operator_kind_name,
                                    (int)kind));
    REDIST_TRY(check_lists(kind, options));
    for (int axis = 0; axis < transform->user_ndims; axis++) {
        REDIST_TRY(check_axis(kind, options, axis));
        REDIST_TRY(check_left_out(kind, options, axis));
    }
    REDIST_TRY(check_function(transform, kind, options));
    REDIST_TRY(check_whole(transform, kind, options));
    REDIST_TRY(check_open_poisson(transform, kind, options));
    return check_fields(kind, options);
}

/* ---------------------------------------------------------------- the description */

/* Lists the operator's axes by the library's numbers, in the order of a vector's components. */
static void list_axes(struct fftnd__operator *op, const struct fftnd__transform *transform,
                      const fftnd_operator_options *options) {
    op->user_ndims = transform->user_ndims;
    memcpy(op->user_axis, transform->user_axis, sizeof op->user_axis);
    for (int i = 0; i < op->user_ndims; i++) {
        int user = options->last_axis_first ? op->user_ndims - 1 - i : i;
        int axis = fftnd__place_of(transform->user_axis, user);
        int is_listed = options->axes != NULL ? options->axes[user] != 0
                                              : transform->chain.axes[axis] != FFTND_AXIS_NONE ||
                                                    is_named(op->kind, options, user);
        if (is_listed)
            op->symbols[op->naxes++] = (struct fftnd__symbols){
                .axis = axis,
                .user = user,
                .length = options->lengths != NULL ? options->lengths[user] : 0,
                .order = op->kind == FFTND_DERIVATIVE ? options->orders[user] : 0,
                .shift = op->kind == FFTND_SHIFT ? options->shift[user] : 0};
    }
}

static int count_fields(struct fftnd__operator *op, const fftnd_operator_options *options) {
    const struct fftnd__operator_type *type = op->type;
    if (op->naxes < type->least_axes || op->naxes > type->most_axes ||
        (op->naxes == 0 && (type->inputs == 0 || type->outputs == 0)))
        return FAIL(REDIST_ERR_AXIS,
                    "kind = %s needs %d to %d axes, got %d in options->axes (NULL: all that plan "
                    "transforms)",
                    fftnd__operator_kind_name((int)op->kind),
                    type->least_axes > 0 ? type->least_axes : 1, type->most_axes, op->naxes);
    op->inputs = type->of_user ? options->inputs : type->inputs == 0 ? op->naxes : type->inputs;
    op->outputs = type->of_user ? options->outputs : type->outputs == 0 ? op->naxes : type->outputs;
    if (op->kind == FFTND_CURL && op->naxes == 2)
        op->outputs = 1;
    return REDIST_OK;
}

/* Checks that fields and batch, one axis of the array, fit an int. */
static int check_batch(const struct fftnd__operator *op, const struct fftnd__batch *batch) {
    int most = op->inputs > op->outputs ? op->inputs : op->outputs;
    return most <= INT_MAX / batch->count
               ? REDIST_OK
               : FAIL(REDIST_ERR_LIMIT, "%d fields times options->batch = %d are more than %d",
                      most, batch->count, INT_MAX);
}

/* Finds the axes on whose wavenumbers the operator depends, and sets takes_subset if only these are transformed. A
 * function of the user sees all axes. Symbols of a real field need the halved axis: without it they may be of no real
 * operator. */
static void find_subset(struct fftnd__operator *op, const struct fftnd__transform *transform,
                        const fftnd_operator_options *options) {
    int halved = transform->chain.halved, is_given;
    int in_list = list_of(op->kind, options, &is_given) != NULL;
    for (int a = 0; a < op->naxes; a++)
        op->depends[op->symbols[a].axis] =
            !in_list || is_named(op->kind, options, op->symbols[a].user);
    op->takes_subset = !op->type->of_user && op->kind != FFTND_MULTIPLY &&
                       !transform->settings.in_place &&
                       fftnd__subset_suits(transform, op->depends) &&
                       (op->kind != FFTND_SYMBOLS || halved < 0 || op->depends[halved]);
    int n = 0;
    for (int a = 0; a < op->naxes && op->takes_subset; a++)
        if (op->depends[op->symbols[a].axis])
            op->symbols[n++] = op->symbols[a];
    op->naxes = op->takes_subset ? n : op->naxes;
}

/* Sets the factors: a linear operator scales once for both transforms, a function of the user sees scaled values. */
static void set_factors(struct fftnd__operator *op, const struct fftnd__engine *plan) {
    long double forward = plan->scales[REDIST_FORWARD], backward = plan->scales[REDIST_BACKWARD];
    if (op->takes_subset)
        forward *= fftnd__subset_factor(&plan->transform, op->depends);
    int points = op->kind == FFTND_POINTS;
    op->numbers = points && plan->transform.chain.real[FFTND_PHYSICAL] ? 1 : 2;
    op->factors[0] = !op->type->of_user ? 1 : points ? backward : forward;
    op->factors[1] = !op->type->of_user ? forward * backward : points ? forward : backward;
    op->before = (double)op->factors[0];
    op->after = (double)op->factors[1];
}

int fftnd__describe_operator(struct fftnd__operator *op, const struct fftnd__engine *plan,
                             enum fftnd_operator_kind kind, const fftnd_operator_options *options) {
    op->kind = kind;
    REDIST_TRY(check_options(&plan->transform, kind, options));
    REDIST_TRY(check_multiplier(plan, kind, options));
    op->type = fftnd__operator_type_of(kind);
    op->run = fftnd__operator_run_of(kind);
    op->constants = (struct lines__constants){
        options->zero_mode, options->coefficient, {options->shell[0], options->shell[1]}};
    op->function = options->function;
    op->box_function = options->box_function;
    op->data = options->data;
    list_axes(op, &plan->transform, options);
    REDIST_TRY(count_fields(op, options));
    REDIST_TRY(check_batch(op, &plan->transform.batch));
    find_subset(op, &plan->transform, options);
    set_factors(op, plan);
    return fftnd__symbols_create(op, &plan->transform, options->symbols);
}

/* ---------------------------------------------------------------- agreement */

/* Table of symbols along a user's axis, or none. */
static redist_shared_value agreed_symbols(const char *name, const struct fftnd__operator *op,
                                          const fftnd_operator_options *options, int user) {
    for (int a = 0; a < op->naxes && op->kind == FFTND_SYMBOLS; a++)
        if (op->symbols[a].user == user)
            return redist_share(name, REDIST_SHARED_REALS, options->symbols[user],
                                2 * (size_t)op->symbols[a].n);
    return redist_share(name, REDIST_SHARED_REALS, NULL, 0);
}

/* Lists count as absent if a check failed. */
int fftnd__agree_on_operator(const char *function, const struct fftnd__engine *plan,
                             const struct fftnd__operator *op,
                             const fftnd_operator_options *options, int code) {
    const int is_checked = code == REDIST_OK;
    const size_t ndims = (size_t)plan->transform.user_ndims;
    const struct {
        const char *name;
        enum redist_shared type;
        size_t count;
        const void *list;
    } lists[] = {
        {"options->lengths", REDIST_SHARED_REALS, ndims, options->lengths},
        {"options->axes", REDIST_SHARED_INTS, ndims, options->axes},
        {"options->orders", REDIST_SHARED_INTS, ndims,
         op->kind == FFTND_DERIVATIVE ? options->orders : NULL},
        {"options->shift", REDIST_SHARED_REALS, ndims,
         op->kind == FFTND_SHIFT ? options->shift : NULL},
        {"options->zero_mode", REDIST_SHARED_REALS, 1, &options->zero_mode},
        {"options->coefficient", REDIST_SHARED_REALS, 1, &options->coefficient},
        {"options->shell", REDIST_SHARED_REALS, 2, options->shell},
        {"options->free_axes", REDIST_SHARED_INTS, ndims,
         op->kind == FFTND_OPEN_POISSON ? options->free_axes : NULL},
    };
    enum { NUMBERS = 7, LISTS = sizeof lists / sizeof *lists };
    redist_shared_value values[NUMBERS + LISTS + REDIST_MAX_NDIMS] = {
        redist_share_enum("kind", (int)op->kind, fftnd__operator_kind_name),
        redist_share_number("inputs", op->inputs),
        redist_share_number("outputs", op->outputs),
        redist_share_number("options->last_axis_first", options->last_axis_first != 0),
        redist_share_number("options->real_multiplier", options->real_multiplier != 0),
        redist_share_number("options->conjugated", options->conjugated != 0),
        redist_share_enum("options->green", (int)options->green, fftnd__green_name)};
    char names[REDIST_MAX_NDIMS][32];
    for (int i = 0; i < LISTS; i++)
        values[NUMBERS + i] = redist_share(lists[i].name, lists[i].type,
                                           is_checked ? lists[i].list : NULL, lists[i].count);
    for (int i = 0; i < REDIST_MAX_NDIMS; i++) {
        snprintf(names[i], sizeof names[i], "options->symbols[%d]", i);
        values[NUMBERS + LISTS + i] = is_checked
                                          ? agreed_symbols(names[i], op, options, i)
                                          : redist_share(names[i], REDIST_SHARED_REALS, NULL, 0);
    }
    return redist_agree_values_in(function, plan->transform.comm, code,
                                  sizeof values / sizeof *values, values);
}
