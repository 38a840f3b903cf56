/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of fftnd_operators.h. */
#include "../kernels/runs.h"
#include "../operators/operator.h"
#include "../program/names.h"
#include "../program/subset.h"
#include "../workers/offload.h"
#include "plan.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FAIL(code, ...) redist_fail_in("fftnd_operator_create", code, __VA_ARGS__)

/* An engine that applies all of an operator, or the derivative along one axis, which alone is transformed. */
struct applier {
    struct fftnd__operator derivative;
    struct fftnd__engine engine;
};

/* An applier's work on one field: its result is a field of the output, or is added to one. */
struct term {
    int applier, input, output;
    int sign; /* with which it is added; 0 = it replaces the field */
};

enum { MOST_TERMS = REDIST_MAX_NDIMS + 6 };

struct fftnd_operator {
    redist_closer closer;
    int closed; /* in MPI_Finalize: the appliers are gone */
    fftnd_plan *plan;
    long long number; /* counts the operators made for the plan, from 1 */
    struct fftnd__operator own;
    int nappliers;
    struct applier *appliers;
    void *addend; /* a result that is added to a field; NULL = none */
};

int fftnd_operator_options_init(fftnd_operator_options *options, size_t size) {
    const fftnd_operator_options defaults = FFTND_OPERATOR_OPTIONS_DEFAULT;
    return redist_struct_init(__func__, options, size, &defaults, sizeof defaults);
}

/* ---------------------------------------------------------------- arguments */

static int check_plan(const struct fftnd__transform *transform) {
    int transformed = 0;
    for (int axis = 0; axis < transform->chain.ndims; axis++)
        transformed += transform->chain.axes[axis] != FFTND_AXIS_NONE;
    if (transform->chain.twiddles)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "plan transforms one axis over several ranks, which operators do not support");
    return transformed > 0 ? REDIST_OK : FAIL(REDIST_ERR_ARGUMENT, "plan transforms no axis");
}

/* Checks the lists that a kind needs. */
static int check_lists(enum fftnd_operator_kind kind, const fftnd_operator_options *options) {
    const struct {
        int is_missing;
        const char *name;
    } lists[] = {{kind == FFTND_DERIVATIVE && options->orders == NULL, "orders"},
                 {kind == FFTND_SHIFT && options->shift == NULL, "shift"},
                 {kind == FFTND_SYMBOLS && options->symbols == NULL, "symbols"},
                 {fftnd__operator_type_of(kind)->of_user && options->function == NULL &&
                      options->box_function == NULL,
                  "function"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].is_missing)
            return FAIL(REDIST_ERR_NULL, "options->%s = NULL", lists[i].name);
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
    const char *list = kind == FFTND_DERIVATIVE ? "orders"
                       : kind == FFTND_SHIFT    ? "shift"
                                                : "symbols";
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
    return check_fields(kind, options);
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

/* Compares the arguments of all ranks. Lists count as absent if a check failed. Collective. */
static int agree(const struct fftnd__engine *plan, const struct fftnd__operator *op,
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
    };
    enum { NUMBERS = 4, LISTS = sizeof lists / sizeof *lists };
    redist_shared_value values[NUMBERS + LISTS + REDIST_MAX_NDIMS] = {
        redist_share_enum("kind", (int)op->kind, fftnd__operator_kind_name),
        redist_share_number("inputs", op->inputs), redist_share_number("outputs", op->outputs),
        redist_share_number("options->last_axis_first", options->last_axis_first != 0)};
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
    return redist_agree_values_in("fftnd_operator_create", plan->transform.comm, code,
                                  sizeof values / sizeof *values, values);
}

/* ---------------------------------------------------------------- making an operator */

/* Lists the operator's axes by the library's numbers, in the order of a vector's components. */
static void list_axes(struct fftnd__operator *op, const struct fftnd__transform *transform,
                      const fftnd_operator_options *options) {
    op->user_ndims = transform->user_ndims;
    memcpy(op->user_axis, transform->user_axis, sizeof op->user_axis);
    for (int i = 0; i < op->user_ndims; i++) {
        int user = options->last_axis_first ? op->user_ndims - 1 - i : i, axis = 0;
        while (transform->user_axis[axis] != user)
            axis++;
        int is_listed = options->axes != NULL ? options->axes[user] != 0
                                              : transform->chain.axes[axis] != FFTND_AXIS_NONE ||
                                                    is_named(op->kind, options, user);
        if (is_listed)
            op->symbols[op->naxes++] = (struct fftnd__symbols){.axis = axis, .user = user};
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
    int in_list =
        op->kind == FFTND_DERIVATIVE || op->kind == FFTND_SHIFT || op->kind == FFTND_SYMBOLS;
    int halved = transform->chain.halved;
    for (int a = 0; a < op->naxes; a++)
        op->depends[op->symbols[a].axis] =
            !in_list || is_named(op->kind, options, op->symbols[a].user);
    op->takes_subset = !op->type->of_user && !transform->options.in_place &&
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

/* Checks the arguments and describes an operator. Not collective. */
static int describe(struct fftnd__operator *op, const struct fftnd__engine *plan,
                    enum fftnd_operator_kind kind, const fftnd_operator_options *options) {
    op->kind = kind;
    REDIST_TRY(check_plan(&plan->transform));
    REDIST_TRY(check_options(&plan->transform, kind, options));
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
    return fftnd__symbols_create(op, &plan->transform, options);
}

/* ---------------------------------------------------------------- the appliers */

/* Returns nonzero if gradient, divergence or curl are applied as derivatives along one axis each: their fields have to
 * be arrays of the plan, and a device adds no results. */
static int is_by_axis(const struct fftnd__operator *op, const struct fftnd__transform *transform) {
    int depends[REDIST_MAX_NDIMS] = {0};
    for (int a = 0; a < op->naxes; a++)
        depends[op->symbols[a].axis] = 1;
    depends[op->symbols[0].axis] = op->naxes == 1;
    int adds = op->kind == FFTND_DIVERGENCE || op->kind == FFTND_CURL;
    int has_derivatives = op->kind == FFTND_GRADIENT || (adds && !transform->space->asynchronous);
    return has_derivatives && op->naxes > 1 && !transform->options.in_place &&
           transform->options.batch_position == FFTND_BATCH_FIRST &&
           fftnd__subset_suits(transform, depends);
}

static int describe_derivative(fftnd_operator *op, int i, const fftnd_operator_options *options) {
    int orders[REDIST_MAX_NDIMS] = {0};
    fftnd_operator_options own = *options;
    struct fftnd__operator *derivative = &op->appliers[i].derivative;
    orders[op->own.symbols[i].user] = 1;
    own.orders = orders;
    REDIST_TRY(describe(derivative, &op->plan->engine, FFTND_DERIVATIVE, &own));
    derivative->keeps_input = 1;
    return REDIST_OK;
}

/* Lists the terms of an operator. Returns their number. */
static int list_terms(const fftnd_operator *op, struct term terms[MOST_TERMS]) {
    int n = op->nappliers, flat = op->own.outputs == 1;
    for (int i = 0; i < n; i++)
        terms[i] = op->own.kind == FFTND_DIVERGENCE ? (struct term){i, n > 1 ? i : 0, 0, i > 0}
                                                    : (struct term){i, 0, i, 0};
    if (op->own.kind != FFTND_CURL || n == 1)
        return n;
    for (int i = 0; i < (flat ? 1 : n); i++) {
        int a = flat ? 0 : (i + 1) % n, b = flat ? 1 : (i + 2) % n;
        terms[2 * i] = (struct term){a, b, i, 0};
        terms[2 * i + 1] = (struct term){b, a, i, -1};
    }
    return flat ? 2 : 2 * n;
}

static const struct fftnd__operator *operator_of(const fftnd_operator *op, int i) {
    return op->nappliers > 1 ? &op->appliers[i].derivative : &op->own;
}

static int describe_appliers(fftnd_operator *op, const fftnd_operator_options *options) {
    int n = is_by_axis(&op->own, &op->plan->engine.transform) ? op->own.naxes : 1;
    op->appliers = redist_calloc((size_t)n, sizeof *op->appliers);
    if (op->appliers == NULL)
        return FAIL(REDIST_ERR_MEMORY, "no memory for an operator");
    op->nappliers = n;
    for (int i = 0; i < n && n > 1; i++)
        REDIST_TRY(describe_derivative(op, i, options));
    return REDIST_OK;
}

static const struct fftnd__step *array_of(const struct fftnd__engine *engine, int is_output) {
    return is_output ? fftnd__engine_output(engine, engine->first)
                     : fftnd__engine_input(engine, engine->first);
}

/* Bytes of an applier's array, and how many of these an array of the user's has, one after the other. */
static size_t applier_bytes(const fftnd_operator *op, int is_output) {
    const struct fftnd__engine *engine = &op->appliers[0].engine;
    return fftnd__engine_array_bytes(engine, array_of(engine, is_output));
}

static int count_arrays(const fftnd_operator *op, int is_output) {
    return op->nappliers == 1 ? 1 : is_output ? op->own.outputs : op->own.inputs;
}

/* Collective. */
static int allocate_addend(fftnd_operator *op) {
    struct term terms[MOST_TERMS];
    int n = list_terms(op, terms), adds = 0;
    for (int i = 0; i < n; i++)
        adds |= terms[i].sign != 0;
    return adds ? redist_alloc(op->plan->engine.transform.comm, applier_bytes(op, 1), &op->addend)
                : REDIST_OK;
}

/* Collective. */
static int create_engines(fftnd_operator *op) {
    int direction = op->own.kind == FFTND_POINTS ? REDIST_BACKWARD : REDIST_FORWARD;
    for (int i = 0; i < op->nappliers; i++)
        REDIST_TRY(fftnd__engine_apply(&op->appliers[i].engine, &op->plan->engine,
                                       operator_of(op, i), direction));
    return allocate_addend(op);
}

static void add_to_plan(fftnd_operator *op) {
    for (int i = 0; i < op->nappliers; i++) {
        op->appliers[i].engine.next = op->plan->applying;
        op->plan->applying = &op->appliers[i].engine;
    }
    op->plan->operators++;
    op->number = ++op->plan->operators_made;
}

static void remove_from_plan(fftnd_operator *op) {
    for (int i = 0; i < op->nappliers; i++) {
        struct fftnd__engine **link = &op->plan->applying;
        while (*link != &op->appliers[i].engine)
            link = &(*link)->next;
        *link = op->appliers[i].engine.next;
    }
    op->plan->operators--;
    int failed = op->appliers[0].engine.failure.code;
    if (op->plan->operators_failed == REDIST_OK)
        op->plan->operators_failed = failed;
    if (failed != REDIST_OK && op->plan->engine.life != NULL)
        redist_life_end_member(op->plan->engine.life, op->number);
}

/* ---------------------------------------------------------------- making and freeing it */

static void empty_operator(fftnd_operator *op) {
    for (int i = 0; i < op->nappliers; i++) {
        if (op->appliers[i].engine.transform.applied != NULL)
            fftnd__engine_destroy(&op->appliers[i].engine);
        fftnd__symbols_free(&op->appliers[i].derivative);
    }
    fftnd__symbols_free(&op->own);
    redist_free(&op->addend);
    redist_release(op->appliers);
}

static void destroy(fftnd_operator *op) {
    if (op == NULL)
        return;
    redist_closer_remove(&op->closer);
    if (!op->closed)
        empty_operator(op);
    redist_handle_remove(op);
    redist_release(op);
}

/* Closes an operator in MPI_Finalize, as a plan. */
static void close_operator(redist_closer *closer) {
    fftnd_operator *op =
        (fftnd_operator *)(void *)((char *)closer - offsetof(fftnd_operator, closer));
    if (op->plan->started.is_started)
        return;
    const redist_place place = fftnd__place_of_rest(op->plan);
    redist_visit visit;
    (void)redist_enter(&place, &visit);
    remove_from_plan(op);
    empty_operator(op);
    redist_leave(&visit);
    op->closed = 1;
}

/* Allocates a described operator and its appliers; NULL after a failure, with its code. */
static int allocate(const struct fftnd__operator *own, const fftnd_operator_options *options,
                    fftnd_plan *plan, fftnd_operator **op) {
    *op = redist_calloc(1, sizeof **op);
    if (*op == NULL || !redist_handle_add(*op, REDIST_HANDLE_OPERATOR))
        return FAIL(REDIST_ERR_MEMORY, "no memory for an operator");
    (*op)->plan = plan;
    (*op)->own = *own;
    return describe_appliers(*op, options);
}

static int create(fftnd_plan *plan, enum fftnd_operator_kind kind,
                  const fftnd_operator_options *options, fftnd_operator **result) {
    fftnd_operator_options own = FFTND_OPERATOR_OPTIONS_DEFAULT;
    struct fftnd__operator described = {0};
    fftnd_operator *op = NULL;
    int code = result == NULL ? FAIL(REDIST_ERR_NULL, "op = NULL") : REDIST_OK;
    if (code == REDIST_OK && redist_place_is_gone())
        code = fftnd__failure_report(&plan->engine.failure);
    if (code == REDIST_OK)
        code = redist_check_default_stream("fftnd_operator_create", plan->place.space);
    if (code == REDIST_OK && options != NULL)
        code = redist_struct_read("fftnd_operator_create", "options", options, &own, sizeof own);
    if (code == REDIST_OK)
        code = describe(&described, &plan->engine, kind, &own);
    code = agree(&plan->engine, &described, &own, code);
    if (code == REDIST_OK)
        code = redist_agree(plan->engine.transform.comm, allocate(&described, &own, plan, &op));
    if (code == REDIST_OK)
        code = create_engines(op);
    if (code != REDIST_OK) {
        if (op == NULL || op->own.memory == NULL)
            fftnd__symbols_free(&described);
        destroy(op);
        return code;
    }
    add_to_plan(op);
    redist_closer_add(plan->engine.transform.comm, &op->closer, close_operator);
    *result = op;
    return REDIST_OK;
}

int fftnd_operator_create(fftnd_plan *plan, enum fftnd_operator_kind kind,
                          const fftnd_operator_options *options, fftnd_operator **op) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    (void)fftnd__enter(plan, &visit);
    int code = create(plan, kind, options, op);
    redist_leave(&visit);
    return code;
}

/* ---------------------------------------------------------------- use */

static int check_operator(const char *function, const fftnd_operator *op) {
    if (redist_handle_is(op, REDIST_HANDLE_OPERATOR))
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_STATE, "op is %s",
                          op == NULL ? "NULL" : "not an operator, or already freed");
}

int fftnd_operator_free(fftnd_operator **op) {
    if (op == NULL)
        return redist_fail(REDIST_ERR_NULL, "op = NULL");
    if (*op == NULL)
        return REDIST_OK;
    REDIST_TRY(check_operator(__func__, *op));
    redist_visit visit;
    int closed = (*op)->closed;
    if (!closed) {
        REDIST_TRY(fftnd__check_idle(__func__, (*op)->plan));
        const redist_place place = fftnd__place_of_rest((*op)->plan);
        (void)redist_enter(&place, &visit);
        remove_from_plan(*op);
    }
    destroy(*op);
    if (!closed)
        redist_leave(&visit);
    *op = NULL;
    return REDIST_OK;
}

static size_t array_bytes(const fftnd_operator *op, int is_output) {
    return (size_t)count_arrays(op, is_output) * applier_bytes(op, is_output);
}

int fftnd_operator_layout(const fftnd_operator *op, int is_output, fftnd_layout *layout) {
    REDIST_TRY(check_operator(__func__, op));
    const struct fftnd__engine *engine = &op->appliers[0].engine;
    const struct fftnd__step *array = array_of(engine, is_output);
    redist_index fields = (redist_index)array->fields * count_arrays(op, is_output);
    const struct fftnd__engine *plan = &op->plan->engine;
    if (engine->transform.chain.real[engine->first] !=
        plan->transform.chain.real[engine->first]) { /* its elements are pairs of real ones */
        engine = plan;
        array = fftnd__engine_input(engine, REDIST_FORWARD);
    }
    fftnd_layout own =
        fftnd__layout_of(&engine->transform, array, (enum fftnd_side)op->appliers[0].engine.first,
                         array_bytes(op, is_output));
    own.batch = fields * engine->transform.batch.count;
    return redist_struct_write(__func__, "layout", &own, sizeof own, layout);
}

/* Checks that the operator is one of the plan, and so has its communicator. */
static int check_owner(const char *function, const fftnd_plan *plan, const fftnd_operator *op) {
    REDIST_TRY(check_operator(function, op));
    return op->plan == plan
               ? REDIST_OK
               : redist_fail_in(function, REDIST_ERR_ARGUMENT, "op was made for another plan");
}

/* Checks the arguments of an application. Not collective. */
static int check_arguments(const char *function, const fftnd_operator *op, int direction,
                           const void *input, const void *output) {
    const struct fftnd__engine *engine = &op->appliers[0].engine;
    if (engine->first != direction)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "op is of kind %s: call %s",
                              fftnd__operator_kind_name((int)op->own.kind),
                              direction == REDIST_FORWARD ? "fftnd_apply_physical" : "fftnd_apply");
    const struct fftnd__array arrays[2] = {{"input", input, array_bytes(op, 0)},
                                           {"output", output, array_bytes(op, 1)}};
    REDIST_TRY(fftnd__check_execution(function, engine, arrays));
    const struct fftnd__array addend = {"the array of the operator", op->addend,
                                        op->addend != NULL ? applier_bytes(op, 1) : 0};
    return fftnd__check_mapped(function, engine, &addend);
}

/* Agrees that all ranks pass the same operator. Collective, except with skip_agreement. */
static int agree_on_operator(const char *function, const fftnd_plan *plan, const fftnd_operator *op,
                             int code) {
    if (plan->engine.life == NULL)
        return code;
    const long long number = code == REDIST_OK ? op->number : 0;
    const redist_shared_value value =
        redist_share_number("op's number among the operators made for plan", number);
    return redist_life_agree(plan->engine.life, number, function, code, 1, &value);
}

/* Addition of a field, times the sign, to another one. */
struct addition {
    char *to;
    const char *from;
    int sign;
};

#define ADD(T)                                                                                     \
    static int add_##T(void *data, ptrdiff_t offset, size_t bytes) {                               \
        const struct addition *addition = data;                                                    \
        T *restrict sum = (T *)(void *)(addition->to + offset);                                    \
        const T *restrict addend = (const T *)(const void *)(addition->from + offset);             \
        for (size_t i = 0; i < bytes / sizeof(T); i++)                                             \
            sum[i] += (T)addition->sign * addend[i];                                               \
        return REDIST_OK;                                                                          \
    }
typedef long double long_double;
ADD(double)
ADD(float)
ADD(long_double)

static void add_field(const struct fftnd__engine *engine, struct addition addition) {
    static fftnd__visit_run *const add[] = {[FFTND_DOUBLE] = add_double,
                                            [FFTND_FLOAT] = add_float,
                                            [FFTND_LONG_DOUBLE] = add_long_double};
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    const struct fftnd__block field =
        fftnd__block_of_array(&engine->transform, array_of(engine, 1), addition.to, stride);
    const struct fftnd__runs runs = fftnd__find_runs(&field);
    (void)fftnd__visit_runs(&runs, add[engine->transform.precision], &addition);
}

/* Returns field `i`, or NULL: ranks without elements may have no array. */
static char *field_of(char *fields, int i, size_t bytes) {
    return fields != NULL ? fields + (size_t)i * bytes : NULL;
}

static int run_term(fftnd_operator *op, const struct term *term, char *input, char *output) {
    struct fftnd__engine *engine = &op->appliers[term->applier].engine;
    char *field = field_of(output, term->output, applier_bytes(op, 1));
    REDIST_TRY(fftnd__engine_run(engine, engine->first,
                                 field_of(input, term->input, applier_bytes(op, 0)),
                                 term->sign != 0 ? op->addend : field));
    if (term->sign != 0)
        add_field(engine, (struct addition){field, op->addend, term->sign});
    return REDIST_OK;
}

/* Runs all appliers. After a failure the others communicate without transforming, and all are broken. */
static int run_appliers(fftnd_operator *op, char *input, char *output) {
    struct term terms[MOST_TERMS];
    int n = list_terms(op, terms), code = REDIST_OK;
    for (int i = 0; i < n; i++) {
        fftnd__failure_note(&op->appliers[terms[i].applier].engine.failure, code);
        code = run_term(op, &terms[i], input, output);
    }
    for (int i = 0; i < op->nappliers; i++)
        fftnd__failure_note(&op->appliers[i].engine.failure, code);
    return code;
}

/* Agrees that all ranks may run all appliers, as for a plan. Collective. */
static int prepare(const char *function, fftnd_operator *op, int direction, const void *input,
                   const void *output) {
    struct fftnd__engine *first = &op->appliers[0].engine;
    int code = fftnd__agree_to_run(function, first,
                                   check_arguments(function, op, direction, input, output));
    if (code != REDIST_TAKES_PLAIN)
        return code;
    for (int i = 0; i < op->nappliers; i++)
        REDIST_TRY(fftnd__engine_take_plain(&op->appliers[i].engine));
    return fftnd__agree_to_run(function, first,
                               check_arguments(function, op, direction, input, output));
}

static int apply(const char *function, fftnd_plan *plan, fftnd_operator *op, int direction,
                 void *input, void *output) {
    REDIST_TRY(fftnd__check_idle(function, plan));
    REDIST_TRY(agree_on_operator(function, plan, op, check_owner(function, plan, op)));
    redist_visit visit;
    (void)fftnd__enter(plan, &visit);
    int code = prepare(function, op, direction, input, output);
    if (code == REDIST_OK)
        code = run_appliers(op, input, output);
    redist_leave(&visit);
    return code;
}

int fftnd_apply(fftnd_plan *plan, fftnd_operator *op, void *input, void *output) {
    return apply(__func__, plan, op, REDIST_FORWARD, input, output);
}

int fftnd_apply_physical(fftnd_plan *plan, fftnd_operator *op, void *input, void *output) {
    return apply(__func__, plan, op, REDIST_BACKWARD, input, output);
}
