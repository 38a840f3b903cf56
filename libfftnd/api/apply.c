/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of fftnd_operators.h. */
#include "../kernels/runs.h"
#include "../program/names.h"
#include "../program/program.h"
#include "operators.h"

#include <stddef.h>

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

REDIST_INITIALISER(fftnd_operator_options, FFTND_OPERATOR_OPTIONS_DEFAULT)

/* ---------------------------------------------------------------- the appliers */

/* Returns nonzero if each field of the physical side begins with a complex element, where devices take real lines. */
static int are_fields_aligned(const struct fftnd__transform *transform) {
    const struct fftnd__chain *chain = &transform->chain;
    int are_even = chain->halved < 0 || transform->library->space == REDIST_SPACE_HOST;
    for (int axis = 0; axis < chain->ndims; axis++)
        are_even |= chain->points[axis] % 2 == 0 &&
                    chain->links[0].physical.count[axis] == chain->points[axis] &&
                    (transform->room == NULL ||
                     transform->room->padding[FFTND_PHYSICAL].added[axis] % 2 == 0);
    return are_even;
}

/* Returns nonzero if gradient, divergence or curl are applied as derivatives along one axis each: their fields have to
 * be arrays of the plan, a device adds no results, and each derivative would add the ghosts of its input again. */
static int is_by_axis(const struct fftnd__operator *op, const struct fftnd__transform *transform) {
    int depends[REDIST_MAX_NDIMS] = {0};
    for (int a = 0; a < op->naxes; a++)
        depends[op->symbols[a].axis] = 1;
    depends[op->symbols[0].axis] = op->naxes == 1;
    int adds = op->kind == FFTND_DIVERGENCE || op->kind == FFTND_CURL;
    int has_derivatives = op->kind == FFTND_GRADIENT || (adds && !transform->space->asynchronous);
    int adds_ghosts = transform->room != NULL && transform->room->accumulates;
    return has_derivatives && op->naxes > 1 && !transform->settings.in_place && !adds_ghosts &&
           transform->settings.batch_position == FFTND_BATCH_FIRST &&
           are_fields_aligned(transform) && fftnd__subset_suits(transform, depends);
}

static int describe_derivative(fftnd_operator *op, int i, const fftnd_operator_options *options) {
    int orders[REDIST_MAX_NDIMS] = {0};
    fftnd_operator_options own = *options;
    struct fftnd__operator *derivative = &op->appliers[i].derivative;
    orders[op->own.symbols[i].user] = 1;
    own.orders = orders;
    REDIST_TRY(fftnd__describe_operator(derivative, &op->plan->engine, FFTND_DERIVATIVE, &own));
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
static int set_multiplier(fftnd_operator *op, const fftnd_operator_options *options,
                          const struct fftnd__factors *factors) {
    const struct fftnd__engine *engine = &op->appliers[0].engine;
    MPI_Comm comm = op->plan->engine.transform.comm;
    if (!op->own.type->has_multiplier)
        return REDIST_OK;
    REDIST_TRY(op->own.kind == FFTND_MULTIPLY
                   ? fftnd__multiply_by_array(&op->own, op->plan, engine, options, factors)
                   : fftnd__multiply_by_green(&op->own, engine, options));
    return redist_agree(comm, fftnd__multiplier_place(&op->own));
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
    fftnd__multiplier_free(&op->own);
    redist_free(&op->addend);
    redist_release(op->appliers);
}

/* Ends this rank's part in what is enqueued, and notes whether that has failed. */
static void settle(fftnd_operator *op) {
    for (int i = 0; i < op->nappliers && !redist_place_is_gone(); i++)
        fftnd__engine_leave(&op->appliers[i].engine);
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
static int allocate(const char *function, const struct fftnd__operator *own,
                    const fftnd_operator_options *options, fftnd_plan *plan, fftnd_operator **op) {
    *op = redist_calloc(1, sizeof **op);
    if (*op == NULL || !redist_handle_add(*op, REDIST_HANDLE_OPERATOR))
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for an operator");
    (*op)->plan = plan;
    (*op)->own = *own;
    return describe_appliers(*op, options);
}

int fftnd__operator_check(const char *function, const fftnd_plan *plan,
                          const fftnd_operator_options *options, fftnd_operator *const *op,
                          fftnd_operator_options *own) {
    if (op == NULL)
        return redist_fail_in(function, REDIST_ERR_NULL, "op = NULL");
    if (redist_place_is_gone())
        return fftnd__failure_report(&plan->engine.failure);
    REDIST_TRY(redist_check_default_stream(function, plan->place.space));
    REDIST_TRY(fftnd__read_operator_options(function, options, own));
    return fftnd__check_operable(function, &plan->engine.transform);
}

int fftnd__operator_make(const char *function, fftnd_plan *plan, enum fftnd_operator_kind kind,
                         const fftnd_operator_options *options,
                         const struct fftnd__factors *factors, fftnd_operator **result) {
    fftnd_operator_options own = FFTND_OPERATOR_OPTIONS_DEFAULT;
    struct fftnd__operator described = {.kind = kind};
    fftnd_operator *op = NULL;
    int code = fftnd__operator_check(function, plan, options, result, &own);
    if (code == REDIST_OK)
        code = fftnd__describe_operator(&described, &plan->engine, kind, &own);
    code = fftnd__agree_on_operator(function, &plan->engine, &described, &own, code);
    if (code == REDIST_OK)
        code = redist_agree(plan->engine.transform.comm,
                            allocate(function, &described, &own, plan, &op));
    if (code == REDIST_OK)
        code = create_engines(op);
    if (code == REDIST_OK)
        code = set_multiplier(op, &own, factors);
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
    const struct fftnd__factors factors = {.scale = 1};
    (void)fftnd__enter(plan, &visit);
    int code = fftnd__operator_make(__func__, plan, kind, options, &factors, op);
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
    redist_place place; /* of which calls of this thread know until it is left */
    redist_visit visit;
    int closed = (*op)->closed;
    if (!closed) {
        REDIST_TRY(fftnd__check_idle(__func__, (*op)->plan));
        place = fftnd__place_of_rest((*op)->plan);
        (void)redist_enter(&place, &visit);
        settle(*op);
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

static void add_field(const struct fftnd__engine *engine, char *sum, char *addend, int sign) {
    static fftnd__visit_run *const add[] = {[FFTND_DOUBLE] = add_double,
                                            [FFTND_FLOAT] = add_float,
                                            [FFTND_LONG_DOUBLE] = add_long_double};
    const struct fftnd__transform *transform = &engine->transform;
    const struct fftnd__step *array = array_of(engine, 1);
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    struct addition addition = {fftnd__elements_of(transform, array, sum),
                                fftnd__elements_of(transform, array, addend), sign};
    const struct fftnd__block field = fftnd__block_of_array(transform, array, addition.to, stride);
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
        add_field(engine, field, op->addend, term->sign);
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
