/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bad arguments: all ranks return the same code, the message names the argument, its value and the
 * rank, and no array is touched. Each fault is made on all ranks, on the first and on the last only.
 */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "calls.h"
#include "harness.h"

/* ---------------------------------------------------------------- integers */

static const struct fault {
    size_t field; /* an int of struct call */
    int add, value;
    int code;
    const char *words[2]; /* in the message */
} faults[] = {
#define FIELD(name) offsetof(struct call, name)
    {FIELD(ndims), 0, 0, REDIST_ERR_ARGUMENT, {"ndims", "0"}},
    {FIELD(ndims), 0, 1, REDIST_ERR_ARGUMENT, {"ndims", "1"}},
    {FIELD(ndims), 0, -4, REDIST_ERR_ARGUMENT, {"ndims", "-4"}},
    {FIELD(ndims), 0, REDIST_MAX_NDIMS + 1, REDIST_ERR_ARGUMENT, {"ndims", "17"}},
    {FIELD(ndims), 0, INT_MAX, REDIST_ERR_ARGUMENT, {"ndims", "2147483647"}},
    {FIELD(axis_a), 0, -1, REDIST_ERR_AXIS, {"axis_a", "-1"}},
    {FIELD(axis_a), 0, 3, REDIST_ERR_AXIS, {"axis_a", "3"}},
    {FIELD(axis_b), 0, -7, REDIST_ERR_AXIS, {"axis_b", "-7"}},
    {FIELD(axis_b), 0, INT_MAX, REDIST_ERR_AXIS, {"axis_b", "2147483647"}},
    {FIELD(axis_b), 0, 0, REDIST_ERR_AXIS, {"axis_b", "0"}},
    {FIELD(axis_a), 0, 1, REDIST_ERR_AXIS, {"axis_a", "1"}},
    {FIELD(sizes_a[0]), 0, -9, REDIST_ERR_SIZE, {"sizes_a", "-9"}},
    {FIELD(sizes_a[1]), 0, -1, REDIST_ERR_SIZE, {"sizes_a", "-1"}},
    {FIELD(sizes_a[2]), 0, INT_MIN, REDIST_ERR_SIZE, {"sizes_a", "-2147483648"}},
    {FIELD(sizes_b[0]), 0, -2, REDIST_ERR_SIZE, {"sizes_b", "-2"}},
    {FIELD(sizes_b[1]), 0, -3, REDIST_ERR_SIZE, {"sizes_b", "-3"}},
    {FIELD(sizes_b[2]), 0, -4, REDIST_ERR_SIZE, {"sizes_b", "-4"}},
    {FIELD(sizes_a[0]), 1, 20, REDIST_ERR_SIZE, {"sizes_a[0]", "29"}},
    {FIELD(sizes_b[1]), 1, 20, REDIST_ERR_SIZE, {"sizes_b[1]", "30"}},
    {FIELD(sizes_a[1]), 1, 1, REDIST_ERR_SIZE, {"sizes_a[1]", NULL}},
    {FIELD(sizes_a[1]), 1, -1, REDIST_ERR_SIZE, {"sizes_a[1]", NULL}},
    {FIELD(sizes_b[0]), 1, 1, REDIST_ERR_SIZE, {"sizes_b[0]", NULL}},
    {FIELD(sizes_b[0]), 1, -1, REDIST_ERR_SIZE, {"sizes_b[0]", NULL}},
    {FIELD(sizes_a[2]), 1, 1, REDIST_ERR_SIZE, {"sizes_a[2]", "5"}},
    {FIELD(sizes_b[2]), 1, 3, REDIST_ERR_SIZE, {"sizes_b[2]", "7"}},
    {FIELD(null_sizes_a), 0, 1, REDIST_ERR_NULL, {"sizes_a", NULL}},
    {FIELD(null_sizes_b), 0, 1, REDIST_ERR_NULL, {"sizes_b", NULL}},
#undef FIELD
};

static void apply_fault(const struct fault *fault, struct call *call) {
    void *field = (char *)call + fault->field;
    int *number = field;
    redist_index *extent = field;
    if (fault->field >= offsetof(struct call, sizes_a) &&
        fault->field < offsetof(struct call, sizes_b) + sizeof call->sizes_b)
        *extent = fault->add ? *extent + fault->value : fault->value;
    else
        *number = fault->add ? *number + fault->value : fault->value;
}

static void try_fault(const struct fault *fault, enum entry entry, enum place place) {
    struct call call = call_valid();
    if (call_is_culprit(place))
        apply_fault(fault, &call);
    harness_case("field at %zu %s %d, entry %d, place %d", fault->field,
                 fault->add ? "more by" : "set to", fault->value, entry, place);
    check_code(call_make(entry, &call), fault->code);
    call_check_message(fault->words[0]);
    call_check_message(fault->words[1]);
    call_check_rank(place);
}

START_TEST(integers) {
    call_begin();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        for (int place = EVERYWHERE; place < PLACES; place++)
            try_fault(&faults[i], (enum entry)(((int)i + place) % ENTRIES), (enum place)place);
    call_check_untouched();
}
END_TEST

/* The call that the faults spoil is right, for both entries. */
START_TEST(valid) {
    call_begin();
    for (int entry = 0; entry < ENTRIES; entry++) {
        struct call call = call_valid();
        check_ok(call_make((enum entry)entry, &call));
        if (entry == EXCHANGE)
            exchange_check(&call_exchange, call_arrays, REDIST_FORWARD, 11);
        exchange_prepare(&call_exchange, call_arrays, REDIST_FORWARD, 11);
    }
}
END_TEST

/* A program built for an earlier version passes a smaller structure. */
START_TEST(older_options) {
    static const size_t sizes[] = {offsetof(redist_options, effort),
                                   offsetof(redist_options, bind_a),
                                   offsetof(redist_options, tiles)};
    call_begin();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct call call = call_valid();
        call.options.size = sizes[i];
        call.options.tiles = (enum redist_tiles)99; /* behind the end: not read */
        harness_case("options of %zu bytes", sizes[i]);
        check_ok(call_make(PLAN_EXCHANGE, &call));
    }
}
END_TEST

/* ---------------------------------------------------------------- pointers and handles */

static void null_a(struct call *call) {
    call->a = NULL;
}

static void null_b(struct call *call) {
    call->b = NULL;
}

static void same_array(struct call *call) {
    call->b = call->a;
}

static void shifted_array(struct call *call) {
    call->b = call_arrays[0].data + call_arrays[0].bytes - 1;
}

static void array_behind(struct call *call) {
    call->a = call_arrays[1].data + call_arrays[1].bytes - 8;
}

static void null_plan(struct call *call) {
    call->null_plan = 1;
}

static void null_datatype(struct call *call) {
    call->datatype = MPI_DATATYPE_NULL;
}

static MPI_Datatype uncommitted, empty_type;

static void uncommitted_datatype(struct call *call) {
    call->datatype = uncommitted;
}

static void empty_datatype(struct call *call) {
    call->datatype = empty_type;
}

static void small_options(struct call *call) {
    call->options.size = 1;
}

static void large_options(struct call *call) {
    call->options.size = 1 << 20;
}

static void negative_wait(struct call *call) {
    call->options.wait_seconds = -0.5;
}

static void reserved_option(struct call *call) {
    call->options.reserved = 9;
}

static void undefined_wait(struct call *call) {
    call->options.wait_seconds = NAN;
}

static void bad_effort(struct call *call) {
    call->options.effort = (enum redist_effort)77;
}

static void bad_tiles(struct call *call) {
    call->options.tiles = (enum redist_tiles) - 1;
}

static void bad_binding(struct call *call) {
    call->options.bind_b = (enum redist_binding)3;
}

static void bad_staging(struct call *call) {
    call->options.staging = (enum redist_staging)3;
}

static void bad_space(struct call *call) {
    call->options.space = (enum redist_space)3;
}

static void unknown_method(struct call *call) {
    call->options.method = "carrier-pigeon";
}

static void unknown_variant(struct call *call) {
    call->options.method = "direct:upwards";
}

static void empty_method(struct call *call) {
    call->options.method = "";
}

static const struct spoiler {
    void (*spoil)(struct call *call);
    int code;
    const char *words[2];
    int plan_only; /* an argument that redist_exchange has not */
} spoilers[] = {
    {null_a, REDIST_ERR_NULL, {"a = NULL", NULL}, 0},
    {null_b, REDIST_ERR_NULL, {"b = NULL", NULL}, 0},
    {same_array, REDIST_ERR_OVERLAP, {"a", "b"}, 0},
    {shifted_array, REDIST_ERR_OVERLAP, {"a", "b"}, 0},
    {array_behind, REDIST_ERR_OVERLAP, {"a", "b"}, 0},
    {null_plan, REDIST_ERR_NULL, {"plan", NULL}, 1},
    {null_datatype, REDIST_ERR_DATATYPE, {"datatype", "MPI_DATATYPE_NULL"}, 0},
    {uncommitted_datatype, REDIST_ERR_DATATYPE, {"datatype", "committed"}, 0},
    {empty_datatype, REDIST_ERR_DATATYPE, {"datatype", "size"}, 0},
    {small_options, REDIST_ERR_ARGUMENT, {"size", "1"}, 1},
    {large_options, REDIST_ERR_ARGUMENT, {"size", "1048576"}, 1},
    {bad_effort, REDIST_ERR_ARGUMENT, {"effort = 77", "REDIST_MEASURE..REDIST_ESTIMATE (0..1)"}, 1},
    {bad_tiles, REDIST_ERR_ARGUMENT, {"options->tiles = -1", "REDIST_WHOLE..REDIST_GET"}, 1},
    {bad_binding,
     REDIST_ERR_ARGUMENT,
     {"options->bind_b = 3", "REDIST_BIND_AT_PLAN..REDIST_BIND_AT_EXECUTION_MAPPED"},
     1},
    {bad_staging,
     REDIST_ERR_ARGUMENT,
     {"options->staging = 3", "REDIST_STAGING_AUTO..REDIST_STAGING_NEVER"},
     1},
    {bad_space,
     REDIST_ERR_ARGUMENT,
     {"options->space = 3", "REDIST_SPACE_AUTO..REDIST_SPACE_CUDA"},
     1},
    {negative_wait, REDIST_ERR_ARGUMENT, {"wait_seconds", "-0.5"}, 1},
    {reserved_option, REDIST_ERR_ARGUMENT, {"options->reserved", "9"}, 1},
    {undefined_wait, REDIST_ERR_ARGUMENT, {"wait_seconds", "nan"}, 1},
    {unknown_method, REDIST_ERR_METHOD, {"options->method", "carrier-pigeon"}, 1},
    {unknown_method, REDIST_ERR_METHOD, {"there are: auto, ", ", alltoallw, "}, 1},
    {unknown_variant, REDIST_ERR_METHOD, {"method", "direct:upwards"}, 1},
    {empty_method, REDIST_ERR_METHOD, {"method", NULL}, 1},
};

static void try_spoiler(const struct spoiler *spoiler, enum entry entry, enum place place) {
    struct call call = call_valid();
    harness_case("entry %d, place %d, %s %s", entry, place, spoiler->words[0],
                 spoiler->words[1] ? spoiler->words[1] : "");
    if (call_is_culprit(place))
        spoiler->spoil(&call);
    check_code(call_make(entry, &call), spoiler->code);
    call_check_message(spoiler->words[0]);
    call_check_message(spoiler->words[1]);
    call_check_rank(place);
}

START_TEST(handles) {
    call_begin();
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Type_contiguous(0, MPI_INT, &empty_type);
    MPI_Type_commit(&empty_type);
    for (size_t i = 0; i < sizeof(spoilers) / sizeof(spoilers[0]); i++)
        for (int place = EVERYWHERE; place < PLACES; place++) {
            try_spoiler(&spoilers[i], PLAN_EXCHANGE, (enum place)place);
            if (!spoilers[i].plan_only)
                try_spoiler(&spoilers[i], EXCHANGE, (enum place)place);
        }
    MPI_Type_free(&uncommitted);
    MPI_Type_free(&empty_type);
    call_check_untouched();
}
END_TEST

/* ---------------------------------------------------------------- refusals of wrappers */

static void try_refusal(enum entry entry, enum place place) {
    struct call call = call_valid();
    harness_case("entry %d, place %d", entry, place);
    if (call_is_culprit(place)) {
        redist_refuse("overwritten");
        redist_refuse("shape is 16; it is a sequence");
        call.a = NULL;
        call.ndims = 0; /* what is wrong beside it is not what the user has to read */
    }
    check_code(call_make(entry, &call), REDIST_ERR_ARGUMENT);
    call_check_message("shape is 16; it is a sequence (rank");
    call_check_rank(place);
}

/* What a wrapper finds wrong on one rank, all ranks read; the next call is as any other. */
START_TEST(refusals) {
    char words[600];
    memset(words, 'x', sizeof words);
    words[sizeof words - 1] = 0;
    call_begin();
    for (int entry = 0; entry < ENTRIES; entry++) {
        for (int place = EVERYWHERE; place < PLACES; place++)
            try_refusal((enum entry)entry, (enum place)place);
        call_check_untouched();
        redist_refuse(words);
        redist_refuse(NULL);
        const struct call call = call_valid();
        check_ok(call_make((enum entry)entry, &call));
        exchange_prepare(&call_exchange, call_arrays, REDIST_FORWARD, 11);
    }
}
END_TEST

/* Where there is no device, the message names the space and the reason. */
START_TEST(absent_space) {
    void *array = NULL;
    if (redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, 64, &array) == REDIST_OK) {
        check_ok(redist_free(&array));
        skip_test("there is a device");
    }
    check_code(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, 64, &array), REDIST_ERR_ARGUMENT);
    call_check_message("space = REDIST_SPACE_CUDA: ");
    const char *reason = strstr(redist_error_message(), "CUDA: ");
    check_all(strncmp(reason, "CUDA: this build has no such memory", 35) == 0 ||
                  strncmp(reason, "CUDA: no usable device (the driver says: ", 41) == 0,
              "%s", redist_error_message());
}
END_TEST

/* ---------------------------------------------------------------- communicators */

START_TEST(null_communicator) {
    call_begin();
    const int dims[1] = {0};
    redist_grid *grid = NULL;
    void *array = &grid;
    MPI_Comm comms[1];
    for (int entry = 0; entry < ENTRIES; entry++) {
        struct call call = call_valid();
        call.comm = MPI_COMM_NULL;
        check_code(call_make((enum entry)entry, &call), REDIST_ERR_COMM);
        call_check_message("MPI_COMM_NULL");
        call_check_message("comm");
    }
    check_code(redist_grid_create(MPI_COMM_NULL, 1, dims, &grid), REDIST_ERR_COMM);
    check_code(redist_subcomm(MPI_COMM_NULL, 1, comms), REDIST_ERR_COMM);
    check_code(redist_alloc(MPI_COMM_NULL, 8, &array), REDIST_ERR_COMM);
    check_all(array == &grid, "a refused redist_alloc wrote its result");
    call_check_untouched();
}
END_TEST

START_TEST(intercommunicator) {
    if (harness_nranks < 2)
        skip_test("one rank");
    call_begin();
    MPI_Comm half, inter;
    int second = harness_rank >= harness_nranks / 2;
    const int dims[1] = {0};
    redist_grid *grid = NULL;
    void *array;
    MPI_Comm_split(MPI_COMM_WORLD, second, harness_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, second ? 0 : harness_nranks / 2, 5, &inter);
    for (int entry = 0; entry < ENTRIES; entry++) {
        struct call call = call_valid();
        call.comm = inter;
        check_code(call_make((enum entry)entry, &call), REDIST_ERR_COMM);
        call_check_message("intercommunicator");
    }
    check_code(redist_grid_create(inter, 1, dims, &grid), REDIST_ERR_COMM);
    check_code(redist_alloc(inter, 8, &array), REDIST_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    call_check_untouched();
}
END_TEST

/* ---------------------------------------------------------------- disagreement */

static void other_ndims(struct call *call) {
    call->ndims = 4;
    call->sizes_a[3] = call->sizes_b[3] = 1;
}

/* A call that is right in itself, but about another exchange */
static void other_axes(struct call *call) {
    redist_index sizes[REDIST_MAX_NDIMS];
    memcpy(sizes, call->sizes_a, sizeof(sizes));
    memcpy(call->sizes_a, call->sizes_b, sizeof(sizes));
    memcpy(call->sizes_b, sizes, sizeof(sizes));
    call->axis_a = 1;
    call->axis_b = 0;
    call->a = call_arrays[1].data;
    call->b = call_arrays[0].data;
}

static void other_extent(struct call *call) {
    call->sizes_a[2] = call->sizes_b[2] = 3;
}

static void other_whole_extent(struct call *call) {
    redist_index nothing;
    call->sizes_a[0] = 8;
    redist_decompose(8, harness_nranks, harness_rank, &call->sizes_b[0], &nothing);
}

static void other_extent_of_type(struct call *call) {
    call->datatype = MPI_FLOAT;
}

static MPI_Datatype thin_type;

/* The same extent, but less data */
static void other_size_of_type(struct call *call) {
    call->datatype = thin_type;
}

static void other_method(struct call *call) {
    call->options.method = "p2p";
}

static void other_effort(struct call *call) {
    call->options.effort = REDIST_ESTIMATE;
}

static void other_bind_a(struct call *call) {
    call->options.bind_a = REDIST_BIND_AT_EXECUTION;
}

static void other_bind_b(struct call *call) {
    call->options.bind_b = REDIST_BIND_AT_EXECUTION_MAPPED;
}

static void other_skip_agreement(struct call *call) {
    call->options.skip_agreement = 1;
}

static const struct spoiler disagreements[] = {
    {other_ndims, REDIST_ERR_DISAGREE, {"ndims", NULL}, 0},
    {other_axes, REDIST_ERR_DISAGREE, {"axis_a", NULL}, 0},
    {other_extent, REDIST_ERR_DISAGREE, {"extent", "3"}, 0},
    {other_whole_extent, REDIST_ERR_DISAGREE, {"extent", "8"}, 0},
    {other_extent_of_type, REDIST_ERR_DISAGREE, {"datatype", "4"}, 0},
    {other_size_of_type, REDIST_ERR_DISAGREE, {"datatype", "4"}, 0},
    {other_method, REDIST_ERR_DISAGREE, {"method: ", "NULL on rank 0, \"p2p\" on rank"}, 1},
    {other_effort, REDIST_ERR_DISAGREE, {"effort: REDIST_", "REDIST_ESTIMATE on rank"}, 1},
    {other_bind_a, REDIST_ERR_DISAGREE, {"bind_a: ", "REDIST_BIND_AT_EXECUTION on rank"}, 1},
    {other_bind_b, REDIST_ERR_DISAGREE, {"bind_b: ", "REDIST_BIND_AT_EXECUTION_MAPPED on rank"}, 1},
    {other_skip_agreement, REDIST_ERR_DISAGREE, {"skip_agreement", NULL}, 1},
};

static void try_disagreement(const struct spoiler *spoiler, enum entry entry, enum place place) {
    struct call call = call_valid();
    harness_case("entry %d, place %d, %s", entry, place, spoiler->words[0]);
    if (call_is_culprit(place))
        spoiler->spoil(&call);
    check_code(call_make(entry, &call), spoiler->code);
    call_check_message(spoiler->words[0]);
    call_check_message(place == LAST ? spoiler->words[1] : NULL);
    call_check_message("rank");
    check_all(strstr(redist_error_message(), "hash") == NULL, "%s", redist_error_message());
}

START_TEST(disagreement) {
    if (harness_nranks < 2)
        skip_test("one rank");
    call_begin();
    MPI_Type_create_resized(MPI_FLOAT, 0, 8, &thin_type);
    MPI_Type_commit(&thin_type);
    for (size_t i = 0; i < sizeof(disagreements) / sizeof(disagreements[0]); i++)
        for (int place = FIRST; place < PLACES; place++) {
            try_disagreement(&disagreements[i], PLAN_EXCHANGE, (enum place)place);
            if (!disagreements[i].plan_only)
                try_disagreement(&disagreements[i], EXCHANGE, (enum place)place);
        }
    MPI_Type_free(&thin_type);
    call_check_untouched();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {valid,        older_options, integers,          handles,
                                  refusals,     absent_space,  null_communicator, intercommunicator,
                                  disagreement, NULL};
    return harness_run(argc, argv, "test_errors", tests);
}
