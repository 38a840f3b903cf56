/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad arguments of fftnd_plan_create: the same code and message on all ranks, no plan. */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fft_case.h"
#include "fftnd.h"
#include "harness.h"

/* All arguments of a call, so that any of them can be spoilt. */
typedef struct arguments {
    MPI_Comm comm;
    int ndims;
    redist_index sizes[REDIST_MAX_NDIMS];
    int kind;
    int precision;
    int grid[REDIST_MAX_NDIMS];
    int r2r[REDIST_MAX_NDIMS];
    int order[REDIST_MAX_NDIMS];
    fftnd_options options;
    int is_without_sizes;
    int is_without_r2r;
} arguments;

static arguments good_arguments(enum fftnd_kind kind) {
    const fftnd_options defaults = FFTND_OPTIONS_DEFAULT;
    arguments made = {.comm = MPI_COMM_WORLD,
                      .ndims = 3,
                      .sizes = {9, 10, 11},
                      .kind = (int)kind,
                      .precision = FFTND_DOUBLE,
                      .r2r = {FFTND_DCT1, FFTND_DST2, FFTND_DCT4},
                      .order = {1, 0, 2},
                      .options = defaults};
    made.options.effort = FFTND_ESTIMATE;
    made.options.grid_ndims = 2;
    return made;
}

static int create(arguments *call, fftnd_plan **plan) {
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS];
    for (int axis = 0; axis < REDIST_MAX_NDIMS; axis++) {
        r2r[axis] = (enum fftnd_r2r)call->r2r[axis];
    }
    call->options.grid = call->grid;
    const int fits = call->ndims == 3 && call->options.halved_axis != 1;
    call->options.order = fits ? call->order : NULL;
    call->options.r2r = call->is_without_r2r ? NULL : r2r;
    return fftnd_plan_create(call->comm, call->ndims, call->is_without_sizes ? NULL : call->sizes,
                             (enum fftnd_kind)call->kind, (enum fftnd_precision)call->precision,
                             &call->options, plan);
}

/* The call fails with `code`, and the message names the argument, its value and the rank. */
static void check_failure(arguments *call, int code, const char *argument, const char *value,
                          int rank) {
    char where[32];
    fftnd_plan *plan = NULL;
    snprintf(where, sizeof(where), "(rank %d)", rank);
    check_code(create(call, &plan), code);
    check_all(plan == NULL, "a plan was made");
    const char *message = redist_error_message();
    check_all(strstr(message, "fftnd_plan_create") != NULL, "no function in: %s", message);
    check_all(strstr(message, argument) != NULL, "no '%s' in: %s", argument, message);
    check_all(strstr(message, value) != NULL, "no value %s in: %s", value, message);
    check_all(strstr(message, where) != NULL, "no '%s' in: %s", where, message);
}

static void check_success(arguments *call) {
    fftnd_plan *plan = NULL;
    check_ok(create(call, &plan));
    check_ok(fftnd_plan_free(&plan));
}

/* ---------------------------------------------------------------- values out of range */

typedef struct mistake {
    enum fftnd_kind kind; /* of the good call */
    size_t offset;        /* of the int in struct arguments */
    int value;
    int code;
    const char *argument; /* in the message */
    const char *shown;    /* the value in the message */
} mistake;

#define AT(member) offsetof(arguments, member)

static const mistake mistakes[] = {
    {FFTND_C2C, AT(ndims), 0, REDIST_ERR_ARGUMENT, "ndims", "0"},
    {FFTND_C2C, AT(ndims), -2, REDIST_ERR_ARGUMENT, "ndims", "-2"},
    {FFTND_C2C, AT(ndims), REDIST_MAX_NDIMS, REDIST_ERR_ARGUMENT, "ndims", "16"},
    {FFTND_C2C, AT(sizes[1]), 0, REDIST_ERR_SIZE, "sizes[1]", "0"},
    {FFTND_R2C, AT(sizes[2]), -7, REDIST_ERR_SIZE, "sizes[2]", "-7"},
    {FFTND_C2C, AT(kind), 4, REDIST_ERR_ARGUMENT, "kind = 4", "FFTND_C2C..FFTND_MIXED (0..3)"},
    {FFTND_C2C, AT(kind), -1, REDIST_ERR_ARGUMENT, "kind", "-1"},
    {FFTND_C2C, AT(precision), 3, REDIST_ERR_ARGUMENT, "precision = 3",
     "FFTND_DOUBLE..FFTND_LONG_DOUBLE"},
    {FFTND_C2C, AT(precision), -1, REDIST_ERR_ARGUMENT, "precision", "-1"},
    {FFTND_C2C, AT(options.grid_ndims), 3, REDIST_ERR_GRID, "grid_ndims", "3"},
    {FFTND_C2C, AT(options.grid_ndims), 0, REDIST_ERR_GRID, "options->grid needs", "grid_ndims"},
    {FFTND_C2C, AT(options.grid_ndims), -1, REDIST_ERR_GRID, "grid_ndims", "-1"},
    {FFTND_C2C, AT(grid[0]), 97, REDIST_ERR_GRID, "grid", "97"},
    {FFTND_C2C, AT(grid[1]), -1, REDIST_ERR_GRID, "grid", "-1"},
    {FFTND_C2C, AT(options.effort), 3, REDIST_ERR_ARGUMENT, "effort = 3",
     "FFTND_ESTIMATE..FFTND_PATIENT"},
    {FFTND_C2C, AT(options.scaling), 4, REDIST_ERR_ARGUMENT, "scaling = 4",
     "FFTND_SCALE_NONE..FFTND_SCALE_UNITARY"},
    {FFTND_C2C, AT(options.scaling), -1, REDIST_ERR_ARGUMENT, "scaling", "-1"},
    {FFTND_C2C, AT(options.alignment), 2, REDIST_ERR_ARGUMENT, "alignment = 2",
     "FFTND_ALIGN_CHAIN..FFTND_ALIGN_INPUT"},
    {FFTND_C2C, AT(options.batch), 0, REDIST_ERR_ARGUMENT, "batch", "0"},
    {FFTND_C2C, AT(options.batch), -5, REDIST_ERR_ARGUMENT, "batch", "-5"},
    {FFTND_C2C, AT(options.batch_position), 2, REDIST_ERR_ARGUMENT, "batch_position = 2",
     "FFTND_BATCH_FIRST..FFTND_BATCH_LAST"},
    {FFTND_C2C, AT(options.threads), 0, REDIST_ERR_ARGUMENT, "threads", "0"},
    {FFTND_C2C, AT(options.threads), -1, REDIST_ERR_ARGUMENT, "threads", "-1"},
    {FFTND_C2C, AT(options.fusion), 3, REDIST_ERR_ARGUMENT, "fusion = 3",
     "FFTND_FUSION_AUTO..FFTND_FUSION_ALWAYS"},
    {FFTND_C2C, AT(options.local_transpose), 3, REDIST_ERR_ARGUMENT, "local_transpose = 3",
     "FFTND_LOCAL_TRANSPOSE_AUTO..FFTND_LOCAL_TRANSPOSE_ALWAYS"},
    {FFTND_R2C, AT(options.halved_axis), 3, REDIST_ERR_AXIS, "halved_axis", "3"},
    {FFTND_R2C, AT(options.halved_axis), -2, REDIST_ERR_AXIS, "halved_axis", "-2"},
    {FFTND_C2C, AT(order[0]), 0, REDIST_ERR_AXIS, "order[1]", "0"},
    {FFTND_C2C, AT(order[1]), 3, REDIST_ERR_AXIS, "order[1]", "3"},
    {FFTND_R2C, AT(order[2]), -1, REDIST_ERR_AXIS, "order[2]", "-1"},
    {FFTND_R2C, AT(options.halved_axis), 0, REDIST_ERR_AXIS, "order[1]", "0"},
    {FFTND_R2R, AT(r2r[1]), 11, REDIST_ERR_ARGUMENT, "r2r[1] = 11",
     "FFTND_DCT1..FFTND_DHT (0..10)"},
    {FFTND_R2R, AT(r2r[2]), -1, REDIST_ERR_ARGUMENT, "r2r[2]", "-1"},
    {FFTND_R2R, AT(sizes[0]), 1, REDIST_ERR_SIZE, "sizes[0]", "1"},
};

/* FFTW's libraries of other precisions than double may be missing. */
START_TEST(every_precision_or_where_to_get_it) {
    for (int precision = FFTND_DOUBLE; precision <= FFTND_LONG_DOUBLE; precision++) {
        arguments call = good_arguments(FFTND_R2C);
        fftnd_plan *plan = NULL;
        call.precision = precision;
        harness_case("precision %d", precision);
        if (fft_case_precision((enum fftnd_precision)precision) ==
            (enum fftnd_precision)precision) {
            check_success(&call);
        } else {
            check_code(create(&call, &plan), REDIST_ERR_SERIAL);
            const char *message = redist_error_message();
            check_all(plan == NULL, "a plan was made");
            check_all(strstr(message, "libfftw3-dev") != NULL, "no package in: %s", message);
        }
    }
}
END_TEST

static void set_int(arguments *call, size_t offset, int value) {
    const redist_index extent = value;
    if (offset >= offsetof(arguments, sizes) &&
        offset < offsetof(arguments, sizes) + sizeof(call->sizes)) {
        memcpy((char *)call + offset, &extent, sizeof(extent));
    } else {
        memcpy((char *)call + offset, &value, sizeof(value));
    }
}

START_TEST(values_out_of_range) {
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const mistake *made = &mistakes[i];
        for (int guilty = -1; guilty < harness_nranks; guilty += harness_nranks) {
            arguments call = good_arguments(made->kind);
            harness_case("%s = %d on rank %d", made->argument, made->value, guilty);
            if (guilty == -1 || guilty == harness_rank) {
                set_int(&call, made->offset, made->value);
            }
            check_failure(&call, made->code, made->argument, made->shown,
                          guilty == -1 ? 0 : guilty);
        }
    }
}
END_TEST

START_TEST(options_of_another_size) {
    /* what larger structures hold is looked at by test_structures, which has them */
    static const size_t sizes[] = {0, 1, sizeof(fftnd_options) + 1, 1 << 20};
    for (int i = 0; i < 4; i++) {
        char shown[32];
        arguments call = good_arguments(FFTND_C2C);
        call.options.size = sizes[i];
        snprintf(shown, sizeof(shown), "%zu", sizes[i]);
        harness_case("options.size = %zu", sizes[i]);
        check_failure(&call, REDIST_ERR_ARGUMENT, "size", shown, 0);
    }
}
END_TEST

START_TEST(null_pointers) {
    fftnd_plan *plan = NULL;
    arguments call = good_arguments(FFTND_C2C);
    call.is_without_sizes = 1;
    check_failure(&call, REDIST_ERR_NULL, "sizes", "", 0);
    call = good_arguments(FFTND_C2C);
    call.is_without_sizes = harness_rank == harness_nranks - 1;
    check_failure(&call, REDIST_ERR_NULL, "sizes", "", harness_nranks - 1);
    call = good_arguments(FFTND_R2R);
    call.is_without_r2r = harness_rank == harness_nranks - 1;
    check_failure(&call, REDIST_ERR_NULL, "r2r", "", harness_nranks - 1);
    call = good_arguments(FFTND_C2C);
    const int is_guilty = harness_rank == harness_nranks - 1;
    check_code(create(&call, is_guilty ? NULL : &plan), REDIST_ERR_NULL);
    check_all(plan == NULL, "a plan was made");
    check_code(create(&call, NULL), REDIST_ERR_NULL);
}
END_TEST

/* On all ranks, and on the last one alone. */
START_TEST(axes_for_another_kind) {
    static const enum fftnd_axis axes[3] = {FFTND_AXIS_NONE, FFTND_AXIS_NONE, FFTND_AXIS_COMPLEX};
    const int last = harness_nranks - 1;
    for (int kind = FFTND_C2C; kind <= FFTND_R2R; kind++) {
        for (int all = 0; all < 2; all++) {
            static const char *const shown[] = {"not FFTND_C2C", "not FFTND_R2C", "not FFTND_R2R"};
            arguments call = good_arguments((enum fftnd_kind)kind);
            harness_case("kind %d%s", kind, all ? " on all" : "");
            call.options.axes = all || harness_rank == last ? axes : NULL;
            check_failure(&call, REDIST_ERR_ARGUMENT, "options->axes", shown[kind], all ? 0 : last);
        }
    }
}
END_TEST

START_TEST(unknown_methods) {
    static const char *const methods[] = {"carrier-pigeon", "", "alltoallw:carrier-pigeon"};
    for (int i = 0; i < 3; i++) {
        fftnd_plan *plan = NULL;
        arguments call = good_arguments(FFTND_C2C);
        call.options.method = methods[i];
        harness_case("method \"%s\"", methods[i]);
        check_code(create(&call, &plan), REDIST_ERR_METHOD);
        check_all(plan == NULL, "a plan was made");
        check_all(strstr(redist_error_message(), methods[i]) != NULL, "no method in: %s",
                  redist_error_message());
    }
}
END_TEST

/* Joined transforms and exchanges need an exchange, and a method that works in tiles. */
START_TEST(fusion_that_cannot_be) {
    static const char *const methods[] = {"alltoallw", "alltoallv", "p2p-type"};
    fftnd_plan *plan = NULL;
    arguments call = good_arguments(FFTND_C2C);
    call.options.fusion = FFTND_FUSION_ALWAYS;
    for (int i = 0; i < 3; i++) {
        call.options.method = methods[i];
        harness_case("method %s", methods[i]);
        check_code(create(&call, &plan), REDIST_ERR_METHOD);
        check_all(plan == NULL, "a plan was made");
    }
}
END_TEST

/* On one rank there is no exchange. In place, tiles need no second work array. */
START_TEST(fusion_that_can_be) {
    static const char *const methods[] = {NULL, "direct", "p2p"};
    for (int i = 0; i < 3 * 3 * 2; i++) {
        fftnd_plan *plan = NULL;
        arguments call = good_arguments(FFTND_C2C);
        call.options.fusion = FFTND_FUSION_ALWAYS;
        call.options.method = methods[i % 3];
        call.options.in_place = i / 3 % 3 == 1;
        call.options.overwrite_input = i / 3 % 3 == 2;
        call.options.grid_ndims = 1 + i / 9;
        harness_case("method %s, case %d", methods[i % 3] == NULL ? "NULL" : methods[i % 3], i);
        check_code(create(&call, &plan), harness_nranks > 1 ? REDIST_OK : REDIST_ERR_METHOD);
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

/* ---------------------------------------------------------------- communicators and grids */

START_TEST(null_communicator) {
    fftnd_plan *plan = NULL;
    arguments call = good_arguments(FFTND_C2C);
    call.comm = MPI_COMM_NULL;
    check_code(create(&call, &plan), REDIST_ERR_COMM);
    check_all(plan == NULL, "a plan was made");
    check_all(strstr(redist_error_message(), "fftnd_plan_create: comm") != NULL,
              "no function or 'comm' in: %s", redist_error_message());
    call.comm = MPI_COMM_WORLD;
    check_success(&call);
}
END_TEST

START_TEST(intercommunicator) {
    const int half = harness_rank % 2;
    fftnd_plan *plan = NULL;
    arguments call = good_arguments(FFTND_C2C);
    MPI_Comm local;
    if (harness_nranks == 1) {
        skip_test("needs two ranks");
    }
    MPI_Comm_split(MPI_COMM_WORLD, half, harness_rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - half, 7, &call.comm);
    check_code(create(&call, &plan), REDIST_ERR_COMM);
    check_all(plan == NULL, "a plan was made");
    MPI_Comm_free(&call.comm);
    MPI_Comm_free(&local);
}
END_TEST

START_TEST(grids_that_do_not_fit) {
    arguments call = good_arguments(FFTND_C2C);
    call.grid[0] = harness_nranks;
    call.grid[1] = 2;
    check_failure(&call, REDIST_ERR_GRID, "grid", "", 0);
    call.grid[1] = 0;
    check_success(&call);
    call.grid[0] = harness_nranks + 1;
    check_failure(&call, REDIST_ERR_GRID, "grid", "", 0);
    call.ndims = 2;
    call.grid[0] = call.grid[1] = 0;
    check_failure(&call, REDIST_ERR_GRID, "grid_ndims", "2", 0);
    call.options.grid_ndims = 1;
    check_success(&call);
}
END_TEST

START_TEST(one_axis_on_several_ranks) {
    arguments call = good_arguments(FFTND_C2C);
    call.ndims = 1;
    call.options.grid_ndims = 0;
    check_success(&call);
    call.options.grid_ndims = 1;
    check_failure(&call, REDIST_ERR_GRID, "grid_ndims", "1", 0);
    call = good_arguments(FFTND_R2R);
    call.ndims = 1;
    call.options.grid_ndims = 0;
    if (harness_nranks > 1) {
        check_failure(&call, REDIST_ERR_GRID, "ndims", "1", 0);
    }
}
END_TEST

START_TEST(totals_beyond_the_machine) {
    fftnd_plan *plan = NULL;
    arguments call = good_arguments(FFTND_C2C);
    call.sizes[0] = call.sizes[1] = call.sizes[2] = INT_MAX;
    check_code(create(&call, &plan), REDIST_ERR_LIMIT);
    check_all(plan == NULL, "a plan was made");
    call = good_arguments(FFTND_R2C);
    call.sizes[0] = call.sizes[1] = INT_MAX;
    call.options.batch = INT_MAX;
    check_code(create(&call, &plan), REDIST_ERR_LIMIT);
    check_all(plan == NULL, "a plan was made");
}
END_TEST

/* ---------------------------------------------------------------- ranks that disagree */

typedef struct difference {
    enum fftnd_kind kind;
    size_t offset;
    int value; /* of the last rank; allowed, but not that of the good call */
    const char *argument;
} difference;

static const difference differences[] = {
    {FFTND_C2C, AT(ndims), 4, "ndims"},
    {FFTND_C2C, AT(sizes[0]), 8, "sizes: {"},
    {FFTND_R2C, AT(sizes[2]), 10, "sizes: {"},
    {FFTND_C2C, AT(kind), FFTND_R2C, "kind: FFTND_"},
    {FFTND_R2C, AT(kind), FFTND_R2R, "kind"},
    {FFTND_C2C, AT(precision), FFTND_FLOAT, "precision"},
    {FFTND_C2C, AT(options.grid_ndims), 1, "grid_ndims"},
    {FFTND_C2C, AT(options.effort), FFTND_MEASURE, "effort"},
    {FFTND_C2C, AT(options.scaling), FFTND_SCALE_NONE, "FFTND_SCALE_NONE on rank"},
    {FFTND_C2C, AT(options.alignment), FFTND_ALIGN_INPUT, "alignment"},
    {FFTND_C2C, AT(options.batch), 2, "batch"},
    {FFTND_C2C, AT(options.batch_position), FFTND_BATCH_LAST, "batch_position"},
    {FFTND_R2C, AT(options.halved_axis), 1, "halved_axis"},
    {FFTND_R2R, AT(r2r[0]), FFTND_DST4, "r2r: {FFTND_D"},
    {FFTND_R2R, AT(r2r[2]), FFTND_DCT3, "FFTND_DST2, FFTND_DCT3}"},
    {FFTND_C2C, AT(options.in_place), 1, "in_place"},
    {FFTND_C2C, AT(options.overwrite_input), 1, "overwrite_input"},
    {FFTND_C2C, AT(options.user_workspace), 1, "user_workspace"},
    {FFTND_C2C, AT(options.threads), 3, "threads"},
    {FFTND_C2C, AT(options.fusion), FFTND_FUSION_NEVER, "FFTND_FUSION_NEVER on rank"},
    {FFTND_C2C, AT(options.fusion), FFTND_FUSION_ALWAYS, "FFTND_FUSION_ALWAYS on rank"},
    {FFTND_C2C, AT(options.local_transpose), FFTND_LOCAL_TRANSPOSE_ALWAYS, "local_transpose"},
    {FFTND_C2C, AT(options.device), REDIST_SPACE_HOST, "device"},
    {FFTND_C2C, AT(options.pin_arrays), 1, "pin_arrays"},
    {FFTND_C2C, AT(options.mapped_arrays), 1, "mapped_arrays"},
    {FFTND_C2C, AT(options.skip_agreement), 1, "skip_agreement"},
};

/* Which rank is named is the library's choice: both the odd one and the others are right. */
static void check_disagreement(arguments *call, const char *argument) {
    fftnd_plan *plan = NULL;
    check_code(create(call, &plan), REDIST_ERR_DISAGREE);
    check_all(plan == NULL, "a plan was made");
    const char *message = redist_error_message();
    check_all(strstr(message, argument) != NULL, "no '%s' in: %s", argument, message);
    check_all(strstr(message, "rank") != NULL, "no rank in: %s", message);
    check_all(strstr(message, "hash") == NULL, "a hash in: %s", message);
}

START_TEST(arguments_that_differ) {
    if (harness_nranks == 1) {
        skip_test("needs two ranks");
    }
    for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
        const difference *made = &differences[i];
        if (made->offset == AT(precision) && fft_case_precision(FFTND_FLOAT) != FFTND_FLOAT) {
            continue; /* an error of that rank's own */
        }
        for (int odd = 0; odd < harness_nranks; odd += harness_nranks - 1) {
            arguments call = good_arguments(made->kind);
            call.sizes[3] = 5;
            harness_case("%s = %d on rank %d", made->argument, made->value, odd);
            if (harness_rank == odd) {
                set_int(&call, made->offset, made->value);
            }
            check_disagreement(&call, made->argument);
        }
    }
}
END_TEST

START_TEST(grids_and_methods_that_differ) {
    const int is_odd = harness_rank == harness_nranks - 1;
    arguments call = good_arguments(FFTND_C2C);
    if (harness_nranks == 1) {
        skip_test("needs two ranks");
    }
    call.grid[0] = is_odd ? 1 : harness_nranks;
    check_disagreement(&call, "grid");
    call = good_arguments(FFTND_C2C);
    call.options.method = is_odd ? "p2p" : "alltoallw";
    check_disagreement(&call, "options->method: \"alltoallw\" on rank 0, \"p2p\" on rank");
    call.options.method = is_odd ? "p2p" : NULL;
    check_disagreement(&call, "options->method: NULL on rank 0, \"p2p\" on rank");
    call.options.method = "p2p";
    check_success(&call);
}
END_TEST

/* ---------------------------------------------------------------- before MPI_Init */

static int code_before_init;

START_TEST(before_init) {
    check_code(code_before_init, REDIST_ERR_STATE);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {values_out_of_range,
                                  every_precision_or_where_to_get_it,
                                  options_of_another_size,
                                  null_pointers,
                                  axes_for_another_kind,
                                  unknown_methods,
                                  fusion_that_cannot_be,
                                  fusion_that_can_be,
                                  null_communicator,
                                  intercommunicator,
                                  grids_that_do_not_fit,
                                  one_axis_on_several_ranks,
                                  totals_beyond_the_machine,
                                  arguments_that_differ,
                                  grids_and_methods_that_differ,
                                  before_init,
                                  NULL};
    fftnd_plan *plan = NULL;
    arguments call = good_arguments(FFTND_C2C);
    code_before_init = create(&call, &plan);
    return harness_run(argc, argv, "test_fftnd_errors", tests);
}
