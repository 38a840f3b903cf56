/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that cannot be, and functions of the user's that fail: an error on all ranks, and nobody waits in vain. */
#include <string.h>

#include "fftnd_operators.h"
#include "harness.h"

struct trial {
    fftnd_plan *plan;
    void *arrays[2];
    size_t bytes[2];
};

static void *allocate(size_t bytes) {
    void *memory = NULL;
    check_ok(redist_alloc(MPI_COMM_WORLD, bytes, &memory));
    return memory;
}

static struct trial open_trial(enum fftnd_kind kind, fftnd_options *options) {
    const redist_index sizes[3] = {6, 12, 10};
    struct trial trial = {NULL, {NULL, NULL}, {0, 0}};
    options->effort = FFTND_ESTIMATE;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, kind, FFTND_DOUBLE, options, &trial.plan));
    for (int side = 0; side < 2; side++) {
        fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
        check_ok(fftnd_plan_layout(trial.plan, (enum fftnd_side)side, &layout));
        trial.bytes[side] = layout.bytes;
        trial.arrays[side] = allocate(layout.bytes);
    }
    return trial;
}

static void close_trial(struct trial *trial) {
    check_ok(fftnd_plan_free(&trial->plan));
    check_ok(redist_free(&trial->arrays[0]));
    check_ok(redist_free(&trial->arrays[1]));
}

/* ---------------------------------------------------------------- failures */

static int fails_here(void *data, const fftnd_row *row) {
    const int *failing = data;
    for (int i = 0; i < row->numbers * row->n; i++) {
        row->outputs[0][i] = row->inputs[0][i];
    }
    return *failing == harness_rank ? 42 : 0;
}

/* On one rank: all of them learn of it, now or in the next call, and the plan goes on. */
START_TEST(functions_that_fail) {
    for (int i = 0; i < 8; i++) {
        fftnd_options choice = FFTND_OPTIONS_DEFAULT;
        choice.fusion = i % 2 ? FFTND_FUSION_NEVER : FFTND_FUSION_AUTO;
        choice.threads = i / 4 % 2 ? 2 : 1;
        struct trial trial = open_trial(FFTND_R2C, &choice);
        fftnd_operator *op = NULL;
        int failing = harness_nranks - 1;
        fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
        options.function = fails_here;
        options.data = &failing;
        const int points = i / 2 % 2;
        check_ok(
            fftnd_operator_create(trial.plan, points ? FFTND_POINTS : FFTND_MODES, &options, &op));
        void *in = allocate(trial.bytes[points]), *out = allocate(trial.bytes[points]);
        int (*const apply)(fftnd_plan *, fftnd_operator *, void *, void *) =
            points ? fftnd_apply_physical : fftnd_apply;
        const int first = apply(trial.plan, op, in, out);
        const int named = strstr(redist_error_message(), "returned 42") != NULL;
        check_all(harness_rank != failing || (first == REDIST_ERR_ARGUMENT && named),
                  "the failing rank returned %d: %s", first, redist_error_message());
        check_all(apply(trial.plan, op, in, out) != REDIST_OK, "a rank knows of no failure");
        check_ok(fftnd_forward(trial.plan, trial.arrays[0], trial.arrays[1]));
        check_ok(fftnd_operator_free(&op));
        check_ok(redist_free(&in));
        check_ok(redist_free(&out));
        close_trial(&trial);
    }
}
END_TEST

/* ---------------------------------------------------------------- wrong arguments */

static int do_nothing(void *data, const fftnd_row *row) {
    (void)data, (void)row;
    return 0;
}

static void refuse(fftnd_plan *plan, enum fftnd_operator_kind kind,
                   const fftnd_operator_options *options, int code, const char *part) {
    fftnd_operator *op = NULL;
    harness_case("operator %d, \"%s\"", (int)kind, part);
    check_code(fftnd_operator_create(plan, kind, options, &op), code);
    check_all(strstr(redist_error_message(), part) != NULL, "the message is \"%s\"",
              redist_error_message());
    check_all(op == NULL, "there is an operator all the same");
}

#define REFUSE(plan, kind, code, part, ...)                                                        \
    do {                                                                                           \
        fftnd_operator_options refused = FFTND_OPERATOR_OPTIONS_DEFAULT;                           \
        __VA_ARGS__;                                                                               \
        refuse(plan, kind, &refused, code, part);                                                  \
    } while (0)

START_TEST(wrong_operators) {
    const enum fftnd_axis axes[3] = {FFTND_AXIS_NONE, FFTND_AXIS_R2R, FFTND_AXIS_HALVED};
    const enum fftnd_r2r r2r[3] = {FFTND_DST1, FFTND_DST1, FFTND_DST1};
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    choice.axes = axes;
    choice.r2r = r2r;
    struct trial trial = open_trial(FFTND_MIXED, &choice);
    fftnd_plan *plan = trial.plan;
    const double lengths[3] = {1, 0.5, 2}, bad_lengths[3] = {1, 0, 1}, shift[3] = {0, 1, 0},
                 no_shift[3] = {0};
    const int orders[3] = {0, 1, 0}, negative[3] = {0, 0, -1}, along_none[3] = {2, 0, 0};
    const int all[3] = {1, 1, 1}, none[3] = {0}, own[3] = {0, harness_rank == 0, 1};
    const int middle_only[3] = {0, 1, 0}, last_only[3] = {0, 0, 1};
    REFUSE(plan, (enum fftnd_operator_kind)99, REDIST_ERR_ARGUMENT,
           "kind = 99 is not in FFTND_DERIVATIVE..FFTND_OPEN_POISSON (0..17)", (void)0);
    REFUSE(
        plan, FFTND_GRADIENT, REDIST_ERR_AXIS,
        "FFTND_GRADIENT along axis 1 makes cosines of its sines, which FFTND_DST1 cannot represent",
        (void)0);
    REFUSE(plan, FFTND_CURL, REDIST_ERR_AXIS, "FFTND_CURL along axis 1", (void)0);
    REFUSE(plan, FFTND_CURL, REDIST_ERR_AXIS, "axes, got 0 in options->axes", refused.axes = none);
    REFUSE(plan, FFTND_GRADIENT, REDIST_ERR_AXIS, "kind = FFTND_GRADIENT needs 1 to",
           refused.axes = none);
    REFUSE(plan, FFTND_LAPLACIAN, REDIST_ERR_AXIS,
           "FFTND_LAPLACIAN needs wavenumbers along axis 0, which is not transformed",
           refused.axes = all);
    REFUSE(plan, FFTND_LAPLACIAN, REDIST_ERR_ARGUMENT, "options->lengths[1] = 0",
           refused.lengths = bad_lengths);
    REFUSE(plan, FFTND_DERIVATIVE, REDIST_ERR_NULL, "options->orders", (void)0);
    REFUSE(plan, FFTND_DERIVATIVE, REDIST_ERR_AXIS, "FFTND_DERIVATIVE along axis 1 makes cosines",
           refused.orders = orders);
    REFUSE(plan, FFTND_DERIVATIVE, REDIST_ERR_ARGUMENT, "options->orders[2] = -1",
           refused.orders = negative);
    REFUSE(plan, FFTND_DERIVATIVE, REDIST_ERR_AXIS, "needs wavenumbers along axis 0",
           refused.orders = along_none);
    const double along_last[3] = {0, 0, 0.5}, ones[2 * 12] = {1};
    const double *const tables[3] = {NULL, NULL, ones};
    REFUSE(plan, FFTND_DERIVATIVE, REDIST_ERR_AXIS, "options->orders[1] is set",
           refused.orders = orders, refused.axes = last_only);
    REFUSE(plan, FFTND_SHIFT, REDIST_ERR_AXIS, "options->shift[2] is set",
           refused.shift = along_last, refused.axes = middle_only);
    REFUSE(plan, FFTND_SYMBOLS, REDIST_ERR_AXIS, "options->symbols[2] is set",
           refused.symbols = tables, refused.axes = middle_only);
    REFUSE(plan, FFTND_SHIFT, REDIST_ERR_NULL, "options->shift", (void)0);
    REFUSE(plan, FFTND_SHIFT, REDIST_ERR_AXIS, "FFTND_SHIFT along axis 1 makes cosines",
           refused.shift = shift);
    REFUSE(plan, FFTND_SYMBOLS, REDIST_ERR_NULL, "options->symbols", (void)0);
    REFUSE(plan, FFTND_MODES, REDIST_ERR_NULL, "options->function", (void)0);
    REFUSE(plan, FFTND_LAPLACIAN, REDIST_ERR_ARGUMENT, "options->reserved = 2",
           refused.reserved = 2);
    REFUSE(plan, FFTND_LAPLACIAN, REDIST_ERR_ARGUMENT, "options->reserved2 = 3",
           refused.reserved2 = 3);
    REFUSE(plan, FFTND_POINTS, REDIST_ERR_ARGUMENT, "options->outputs = 0",
           refused.function = do_nothing, refused.outputs = 0);
    if (harness_nranks > 1) {
        REFUSE(plan, FFTND_LAPLACIAN, REDIST_ERR_DISAGREE,
               "options->axes: {0, 1, 1} on rank 0, {0, 0, 1} on", refused.axes = own);
        REFUSE(plan, FFTND_LAPLACIAN, REDIST_ERR_DISAGREE,
               "options->zero_mode: 0.5 on rank 0, 0 on rank 1", refused.axes = last_only,
               refused.zero_mode = harness_rank == 0 ? 0.5 : 0);
        REFUSE(plan, FFTND_LAPLACIAN, REDIST_ERR_DISAGREE,
               "options->lengths: {1, 0.5, 2} on rank 0, NULL on", refused.axes = last_only,
               refused.lengths = harness_rank == 0 ? lengths : NULL);
    }
    check_code(fftnd_operator_create(plan, FFTND_LAPLACIAN, NULL, NULL), REDIST_ERR_NULL);
    fftnd_operator *op = NULL, *points = NULL;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.function = do_nothing;
    options.shift = no_shift;
    check_ok(fftnd_operator_create(plan, FFTND_SHIFT, &options, &op));
    check_ok(fftnd_operator_create(plan, FFTND_POINTS, &options, &points));
    check_code(fftnd_plan_free(&plan), REDIST_ERR_STATE);
    void *const *arrays = trial.arrays;
    check_code(fftnd_apply(plan, points, arrays[1], arrays[0]), REDIST_ERR_ARGUMENT);
    check_code(fftnd_apply_physical(plan, op, arrays[0], arrays[1]), REDIST_ERR_ARGUMENT);
    fftnd_operator *mine = harness_rank == 0 ? NULL : op;
    check_code(fftnd_apply(plan, mine, arrays[0], arrays[1]), REDIST_ERR_STATE);
    check_code(fftnd_apply(plan, op, arrays[0], arrays[0]), REDIST_ERR_OVERLAP);
    fftnd_operator *other = NULL;
    check_ok(fftnd_operator_create(plan, FFTND_SHIFT, &options, &other));
    mine = harness_rank == 0 ? op : other;
    unsigned char *bytes = memset(arrays[1], 90, trial.bytes[1]);
    check_code(fftnd_apply(plan, mine, arrays[0], arrays[1]),
               harness_nranks > 1 ? REDIST_ERR_DISAGREE : REDIST_OK);
    size_t touched = 0;
    for (size_t i = 0; i < trial.bytes[1]; i++) {
        touched += bytes[i] != 90;
    }
    check_all(touched == 0 || harness_nranks == 1, "%zu bytes of the output were touched", touched);
    check_ok(fftnd_operator_free(&other));
    fftnd_operator *gone = op;
    check_ok(fftnd_operator_free(&op));
    check_ok(fftnd_operator_free(&op));
    check_code(fftnd_operator_free(&gone), REDIST_ERR_STATE);
    check_ok(fftnd_operator_free(&points));
    close_trial(&trial);
}
END_TEST

/* ---------------------------------------------------------------- kernels and multipliers */

/* Each of up to nine ranks has points and modes. */
static fftnd_plan *plan_of(enum fftnd_kind kind) {
    const redist_index sizes[3] = {9, 9, 8};
    const enum fftnd_r2r r2r[3] = {FFTND_DCT2, FFTND_DST2, FFTND_DCT2};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    options.effort = FFTND_ESTIMATE;
    options.r2r = r2r;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, kind, FFTND_DOUBLE, &options, &plan));
    return plan;
}

/* On the last rank alone, which all learn of. */
static void check_named(int code, int expected, const char *text) {
    check_all(code != REDIST_OK, "a rank has no error");
    check_all(harness_rank != harness_nranks - 1 || code == expected, "the rank's code is %d",
              code);
    check_all(harness_rank != harness_nranks - 1 || strstr(redist_error_message(), text) != NULL,
              "the message is \"%s\"", redist_error_message());
}

START_TEST(bad_kernels) {
    static double kernel[9 * 9 * 8], factors[2 * 9 * 9 * 5];
    const int is_last = harness_rank == harness_nranks - 1, without[3] = {1, 0, 1};
    fftnd_plan *plan = plan_of(FFTND_R2C);
    fftnd_operator *op = NULL;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.multiplier = is_last ? NULL : factors;
    check_named(fftnd_operator_create(plan, FFTND_MULTIPLY, &options, &op), REDIST_ERR_NULL,
                "options->multiplier = NULL");
    check_named(fftnd_operator_from_kernel(plan, is_last ? NULL : kernel, NULL, &op),
                REDIST_ERR_NULL, "kernel = NULL");
    check_named(fftnd_operator_from_kernel(plan, kernel, NULL, is_last ? NULL : &op),
                REDIST_ERR_NULL, "fftnd_operator_from_kernel: op = NULL");
    options.reserved = is_last;
    check_named(fftnd_operator_from_kernel(plan, kernel, &options, &op), REDIST_ERR_ARGUMENT,
                "options->reserved = 1");
    options.reserved = 0;
    options.reserved2 = is_last;
    check_named(fftnd_operator_from_kernel(plan, kernel, &options, &op), REDIST_ERR_ARGUMENT,
                "options->reserved2 = 1");
    options.reserved2 = 0;
    fftnd_plan *other = plan_of(FFTND_C2C);
    options.kernel_plan = is_last ? other : plan;
    check_named(fftnd_operator_from_kernel(plan, kernel, &options, &op), REDIST_ERR_ARGUMENT,
                "options->kernel_plan has another kind of axis 2");
    options.kernel_plan = is_last ? NULL : plan;
    if (harness_nranks > 1) {
        check_code(fftnd_operator_from_kernel(plan, kernel, &options, &op), REDIST_ERR_DISAGREE);
    }
    options.kernel_plan = NULL;
    check_ok(fftnd_plan_free(&other));
    options.multiplier = factors;
    options.axes = without;
    check_named(fftnd_operator_create(plan, FFTND_MULTIPLY, &options, &op), REDIST_ERR_AXIS,
                "options->axes[1] = 0");
    options.axes = NULL;
    options.conjugated = is_last;
    if (harness_nranks > 1) {
        check_code(fftnd_operator_create(plan, FFTND_MULTIPLY, &options, &op), REDIST_ERR_DISAGREE);
        check_code(fftnd_operator_from_kernel(plan, kernel, &options, &op), REDIST_ERR_DISAGREE);
        check_all(strncmp(redist_error_message(), "fftnd_operator_from_kernel:", 27) == 0,
                  "the message is \"%s\"", redist_error_message());
    }
    check_all(op == NULL, "an operator was made");
    check_ok(fftnd_operator_from_kernel(plan, kernel, NULL, &op)); /* the plan is as before */
    check_ok(fftnd_operator_free(&op));
    check_ok(fftnd_plan_free(&plan));
    plan = plan_of(FFTND_R2R);
    check_named(fftnd_operator_from_kernel(plan, kernel, NULL, &op), REDIST_ERR_AXIS,
                "axis 0 of plan is real-to-real");
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

/* A plan that can have no operators: one axis over all ranks. */
START_TEST(kernels_of_one_axis) {
    const redist_index size = 12;
    static double kernel[2 * 12];
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    fftnd_operator *op = NULL;
    choice.effort = FFTND_ESTIMATE;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 1, &size, FFTND_C2C, FFTND_DOUBLE, &choice, &plan));
    const int code = fftnd_operator_from_kernel(plan, kernel, NULL, &op);
    if (harness_nranks > 1) {
        check_named(code, REDIST_ERR_ARGUMENT,
                    "fftnd_operator_from_kernel: plan transforms one axis over several ranks");
    } else {
        check_ok(code);
    }
    check_ok(fftnd_operator_free(&op));
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {functions_that_fail, wrong_operators, bad_kernels,
                                  kernels_of_one_axis, NULL};
    return harness_run(argc, argv, "test_fftnd_operator_errors", tests);
}
