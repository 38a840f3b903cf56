/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that are narrower between the ranks of devices than in their arrays: the bytes of an exchange in host memory
 * in the same format, by all methods that pack, also in streams and graphs; sums; methods that pack nothing.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchanges.h"
#include "harness.h"
#include "redist_support.h"
#include "stream_device.h"
#include "wire_kinds.h"

/* ---------------------------------------------------------------- contents */

static uint64_t sequence;

static uint64_t draw_below(uint64_t n) {
    sequence = random_hash(sequence + 1);
    return (sequence >> 11) % n;
}

/* Numbers of one magnitude over some rows of the formats; some are not usual. */
static double draw(size_t i) {
    static const double unusual[] = {0, -0.0, INFINITY, NAN, DBL_MAX, -DBL_MAX, 0x1p-1060, 1e-310};
    double number = (double)draw_below((uint64_t)1 << 53) * 0x1p-52 - 1;
    if (draw_below(2000) == 0)
        return unusual[draw_below(sizeof unusual / sizeof *unusual)];
    return ldexp(number, (int)(i / 200 % 9) * 15 - 60);
}

static void fill(size_t bytes, char *array, size_t number) {
    for (size_t i = 0; i < bytes / number; i++) {
        double wide = draw(i);
        float narrow = (float)wide;
        memcpy(array + i * number, number == sizeof wide ? (void *)&wide : &narrow, number);
    }
}

/* Numbers that are none have no bits that must agree. */
static void unify(size_t bytes, char *array, size_t number) {
    for (size_t i = 0; i < bytes / number; i++) {
        double wide;
        float narrow;
        memcpy(&narrow, array + i * number, sizeof narrow);
        if (number == sizeof wide)
            memcpy(&wide, array + i * number, sizeof wide);
        if (number == sizeof wide ? isnan(wide) : isnan(narrow))
            memset(array + i * number, 0, number);
    }
}

/* ---------------------------------------------------------------- a case */

struct trial {
    exchange given;
    const struct wire_kind *kind;
    redist_options options; /* of the plan on the device */
    char *host[2];
    test_array arrays[2];
    redist_plan *exact, *plan; /* `exact` in bytes: in host memory, of the same format */
};

static int plan(const struct trial *trial, const redist_options *options, void *a, void *b,
                redist_plan **made) {
    const exchange *given = &trial->given;
    return redist_plan_boxes(given->comm, given->element->type, given->ndims, given->sizes,
                             &given->boxes[0][given->rank], a, &given->boxes[1][given->rank], b,
                             options, made);
}

static int plan_on_device(struct trial *trial) {
    return plan(trial, &trial->options, exchange_pointer(&trial->arrays[0]),
                exchange_pointer(&trial->arrays[1]), &trial->plan);
}

/* Whether any message is narrowed. */
static int narrows(const struct trial *trial) {
    const int *node_of;
    int nnodes;
    check_ok(redist_nodes(trial->given.comm, 0, &nnodes, &node_of));
    return (trial->options.wire_scope == REDIST_WIRE_EVERYWHERE ? trial->given.nranks : nnodes) > 1;
}

/* Makes it of the format that the plan on the device has, which may have declined it where it is measured. */
static void plan_on_host(struct trial *trial) {
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    check_ok(redist_plan_get_info(trial->plan, &info));
    if (trial->options.effort == REDIST_ESTIMATE)
        check_all(info.wire == (narrows(trial) ? trial->options.wire : REDIST_WIRE_SAME),
                  "wire is %d", (int)info.wire);
    options.method = strncmp(trial->options.method, "kway", 4) != 0 ? "p2p" : trial->options.method;
    options.effort = REDIST_ESTIMATE;
    options.wire = info.wire;
    options.wire_scope = trial->options.wire_scope;
    options.overlap = trial->options.overlap;
    check_ok(plan(trial, &options, trial->host[0], trial->host[1], &trial->exact));
}

static void begin(struct trial *trial, const enum test_memory memory[2]) {
    exchange_arrays(&trial->given, memory, trial->arrays);
    for (int side = 0; side < 2; side++)
        trial->host[side] = malloc(trial->arrays[side].bytes + 1);
}

static void end(struct trial *trial) {
    check_ok(redist_plan_free(&trial->plan));
    check_ok(redist_plan_free(&trial->exact));
    exchange_free_arrays(trial->arrays);
    free(trial->host[0]);
    free(trial->host[1]);
}

/* Fills all arrays, those of the host and of the device alike. */
static void prepare(const struct trial *trial, int direction) {
    for (int side = 0; side < 2; side++) {
        const test_array *array = &trial->arrays[side];
        memset(trial->host[side], 0x40, array->bytes);
        if (side == direction || trial->options.overlap == REDIST_OVERLAP_ADD)
            fill(array->bytes, trial->host[side], trial->kind->bytes);
        arrays_device()->copy(array->data, trial->host[side], array->bytes);
    }
}

/* Compares both arrays with those of the host. */
static void compare(const struct trial *trial, int direction) {
    check_ok(redist_plan_execute(trial->exact, direction));
    for (int side = 0; side < 2; side++) {
        size_t bytes = trial->arrays[side].bytes, wrong = 0;
        char *got = malloc(bytes + 1);
        arrays_device()->copy(got, trial->arrays[side].data, bytes);
        unify(bytes, got, trial->kind->bytes);
        unify(bytes, trial->host[side], trial->kind->bytes);
        for (size_t i = 0; i < bytes; i++)
            wrong += got[i] != trial->host[side][i];
        check_all(wrong == 0, "%zu of %zu bytes of array %d are others than on the host", wrong,
                  bytes, side);
        free(got);
    }
}

static void run(const struct trial *trial, int direction) {
    prepare(trial, direction);
    check_ok(redist_plan_execute(trial->plan, direction));
    if (trial->options.asynchronous) {
        stream_device_wait(trial->options.stream);
        check_ok(redist_plan_query(trial->plan));
    }
    compare(trial, direction);
}

/* ---------------------------------------------------------------- random exchanges */

static struct trial draw_trial(const char *method, test_element *element, MPI_Comm comm) {
    struct trial trial = {.kind = &wire_kinds[random_between(0, WIRE_KINDS - 1)],
                          .options = REDIST_OPTIONS_DEFAULT};
    *element = wire_element(trial.kind);
    trial.options.method = method;
    trial.options.effort = random_chance(90) ? REDIST_ESTIMATE : REDIST_MEASURE;
    trial.options.tune_seconds = 0.02;
    trial.options.space = REDIST_SPACE_CUDA;
    trial.options.wire = trial.kind->bytes == sizeof(double)
                             ? (enum redist_wire)random_between(1, 2)
                             : REDIST_WIRE_16_BITS;
    trial.given = exchange_between_random_boxes(comm, element, 5000);
    sequence = random_bits() + (uint64_t)harness_rank;
    return trial;
}

static void say(const struct trial *trial, int node) {
    harness_case("%s of %s, format %d, scope %d, nodes of %d, %lldx%lldx%lld",
                 trial->options.method, trial->kind->name, (int)trial->options.wire,
                 (int)trial->options.wire_scope, node, (long long)trial->given.sizes[0],
                 (long long)trial->given.sizes[1], (long long)trial->given.sizes[2]);
}

static int has_word(const char *method, const char *word) {
    return strstr(method, word) != NULL;
}

/* `hier` has exact messages within nodes, and arrays that peers map; `kway` sends through others. */
static enum redist_wire_scope scope_of(const char *method, int i) {
    return has_word(method, "kway") || (i % 3 == 0 && !has_word(method, "hier"))
               ? REDIST_WIRE_EVERYWHERE
               : REDIST_WIRE_BETWEEN_NODES;
}

static void try_random(int i) {
    static const char *const methods[] = {"nccl",       "p2p",  "alltoallv", "hier:nccl",
                                          "nccl:plain", "hier", "auto",      "kway:2"};
    static const enum redist_staging stagings[] = {REDIST_STAGING_AUTO, REDIST_STAGING_ALWAYS};
    const char *method = methods[i % 8];
    int node = i % 2 ? 1 : random_between(0, 2);
    MPI_Comm comm = harness_begin_nodes(node);
    test_element element;
    struct trial trial = draw_trial(method, &element, comm);
    enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
    trial.options.wire_scope = scope_of(method, i);
    trial.options.staging = stagings[random_between(0, 1)];
    for (int side = 0; side < 2 && !has_word(method, "hier"); side++)
        memory[side] = (enum test_memory)random_between(0, MEMORY_KINDS - 1);
    say(&trial, node);
    begin(&trial, memory);
    check_ok(plan_on_device(&trial));
    plan_on_host(&trial);
    for (int k = 0; k < 2; k++)
        run(&trial, k);
    end(&trial);
    harness_end_nodes(&comm);
}

START_TEST(exchanges) {
    NEEDS_STREAM_DEVICE();
    wire_types_create();
    for (int i = 0; harness_another(i, 24); i++)
        try_random(i);
    wire_types_free();
}
END_TEST

/* ---------------------------------------------------------------- streams */

/* Replays a graph, which works on what the arrays have then. */
static void replay(const struct trial *trial, int direction) {
    void *stream = trial->options.stream;
    stream_device_capture(stream);
    check_ok(redist_plan_execute(trial->plan, direction));
    void *graph = stream_device_captured(stream);
    for (int i = 0; i < 2; i++) {
        prepare(trial, direction);
        stream_device_replay(graph, stream);
        stream_device_wait(stream);
        compare(trial, direction);
    }
    stream_device_free(graph);
    check_ok(redist_plan_query(trial->plan));
}

static void try_stream(int i) {
    static const char *const methods[] = {"nccl", "hier:nccl"};
    static const enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
    int node = i / 2 % 2 + 1;
    MPI_Comm comm = harness_begin_nodes(node);
    test_element element;
    struct trial trial = draw_trial(methods[i % 2], &element, comm);
    trial.options.wire_scope = scope_of(methods[i % 2], i);
    trial.options.asynchronous = 1;
    trial.options.stream = stream_device_create_own(0);
    say(&trial, node);
    begin(&trial, memory);
    check_ok(plan_on_device(&trial));
    plan_on_host(&trial);
    for (int direction = 0; direction < 2; direction++) {
        run(&trial, direction);
        replay(&trial, direction);
    }
    void *stream = trial.options.stream;
    end(&trial);
    stream_device_destroy(stream);
    harness_end_nodes(&comm);
}

START_TEST(streams) {
    NEEDS_STREAM_DEVICE();
    wire_types_create();
    for (int i = 0; harness_another(i, 8); i++)
        try_stream(i);
    wire_types_free();
}
END_TEST

/* ---------------------------------------------------------------- tiles */

/* Puts array A in slabs, as the plan expects them or otherwise, the last one first. */
static void put(const struct trial *trial, int nslabs) {
    check_ok(redist_plan_put_begin(trial->plan, exchange_pointer(&trial->arrays[1])));
    for (int slab = nslabs - 1; slab >= 0; slab--) {
        exchange_tile tile = exchange_slab(&trial->given, 0, &trial->arrays[0], nslabs, slab);
        check_ok(redist_plan_put(trial->plan, tile.start, tile.count, tile.data, tile.stride));
    }
    check_ok(redist_plan_put_end(trial->plan));
}

/* Floats are the same however messages are cut. */
static void try_tiles(const char *method, int segments) {
    static const enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
    MPI_Comm comm = harness_begin_nodes(random_between(1, 2));
    test_element element;
    struct trial trial = draw_trial(method, &element, comm);
    redist_index sizes[3];
    random_sizes(3, 1, 20, 5000, sizes);
    trial.kind = &wire_kinds[COMPLEX_DOUBLE];
    element = wire_element(trial.kind);
    trial.given = exchange_between_axes(comm, &element, 3, sizes, 0, random_between(1, 2));
    trial.options.effort = REDIST_ESTIMATE;
    trial.options.wire = REDIST_WIRE_FLOAT;
    trial.options.tiles = REDIST_PUT;
    trial.options.segments = segments;
    say(&trial, segments);
    begin(&trial, memory);
    check_ok(plan_on_device(&trial));
    plan_on_host(&trial);
    for (int i = 0; i < 2; i++) {
        prepare(&trial, REDIST_FORWARD);
        put(&trial, i == 0 && segments > 0 ? segments : random_between(1, 4));
        compare(&trial, REDIST_FORWARD);
    }
    end(&trial);
    harness_end_nodes(&comm);
}

START_TEST(tiles) {
    NEEDS_STREAM_DEVICE();
    wire_types_create();
    for (int i = 0; harness_another(i, 8); i++)
        try_tiles(i % 2 ? "hier:nccl" : "nccl", i / 2 % 4);
    wire_types_free();
}
END_TEST

/* ---------------------------------------------------------------- sums */

enum { NUMBERS = 777 };

/* Each rank has its own numbers in A, and all numbers in B, which are added to A on the way back. */
static void try_sum(const char *method, enum redist_wire wire, int kind) {
    static const enum test_memory memory[2] = {MEMORY_PLAIN, MEMORY_PLAIN};
    const redist_index sizes[1] = {(redist_index)NUMBERS * harness_nranks};
    const test_element element = wire_element(&wire_kinds[kind]);
    struct trial trial = {.kind = &wire_kinds[kind], .options = REDIST_OPTIONS_DEFAULT};
    trial.given = exchange_between_boxes(MPI_COMM_WORLD, &element, 1, sizes);
    for (int rank = 0; rank < harness_nranks; rank++) {
        trial.given.boxes[0][rank].start[0] = (redist_index)NUMBERS * rank;
        trial.given.boxes[0][rank].count[0] = NUMBERS;
        trial.given.boxes[1][rank].count[0] = sizes[0];
    }
    trial.options.method = method;
    trial.options.effort = REDIST_ESTIMATE;
    trial.options.space = REDIST_SPACE_CUDA;
    trial.options.wire = wire;
    trial.options.wire_scope = REDIST_WIRE_EVERYWHERE;
    trial.options.overlap = REDIST_OVERLAP_ADD;
    sequence = random_bits() + (uint64_t)harness_rank;
    harness_case("sums by %s of %s, format %d", method, wire_kinds[kind].name, (int)wire);
    begin(&trial, memory);
    check_ok(plan_on_device(&trial));
    plan_on_host(&trial);
    run(&trial, REDIST_BACKWARD);
    end(&trial);
}

START_TEST(sums) {
    static const char *const methods[] = {"nccl", "p2p", "alltoallv"};
    NEEDS_STREAM_DEVICE();
    wire_types_create();
    for (int i = 0; i < 9; i++)
        try_sum(methods[i % 3], i / 3 == 0 ? REDIST_WIRE_FLOAT : REDIST_WIRE_16_BITS,
                i / 3 == 1 ? COMPLEX_FLOAT : COMPLEX_DOUBLE);
    wire_types_free();
}
END_TEST

/* ---------------------------------------------------------------- methods that pack nothing */

START_TEST(refusals) {
    static const char *const methods[] = {"direct", "hier", "hier:nccl", "signals", "hier:nccl"};
    static const enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
    NEEDS_STREAM_DEVICE();
    wire_types_create();
    if (harness_nranks == 1)
        skip_test("messages between ranks");
    for (int i = 0; i < 5; i++) {
        MPI_Comm comm = harness_begin_nodes(harness_nranks);
        test_element element;
        struct trial trial = draw_trial(methods[i], &element, comm);
        trial.options.wire_scope = REDIST_WIRE_EVERYWHERE;
        trial.options.asynchronous = i >= 3;
        trial.options.stream = i >= 3 ? stream_device_create_own(0) : NULL;
        say(&trial, harness_nranks);
        begin(&trial, memory);
        check_code(plan_on_device(&trial), REDIST_ERR_METHOD);
        check_all(strstr(redist_error_message(), "packs no messages") != NULL ||
                      strstr(redist_error_message(), "is exact within nodes") != NULL,
                  "%s", redist_error_message());
        void *stream = trial.options.stream;
        end(&trial);
        if (stream != NULL)
            stream_device_destroy(stream);
        harness_end_nodes(&comm);
    }
    wire_types_free();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {exchanges, streams, tiles, sums, refusals, NULL};
    return harness_run(argc, argv, "test_redist_wire_device", tests);
}
