/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous pairs of transforms, and operators, that are enqueued with work of the user in between, or replayed;
 * failures. On a device that stands in for CUDA, or on CUDA's.
 *     test_fftnd_pairs [RANKS_PER_NODE [short]]
 * With an argument nodes are imitated by REDIST_NODE_SIZE, and exchanges between them are NCCL's, or by both links;
 * with "short" only the tests in which it matters how many ranks and nodes there are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fft_random.h"
#include "fft_run.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "stream_device.h"

static int has_nodes;

#define NEEDS_TIMEOUTS()                                                                           \
    if (has_nodes)                                                                                 \
    skip_test("kernels of NCCL wait for a rank without limit")

/* ---------------------------------------------------------------- pairs with work in between */

struct pair {
    fftnd_plan *plan;
    fftnd_layout layout[2];
    double *array[2], *values, *found;
    void *stream;
    fftnd_operator *op;
    double *other; /* output of the operator */
};

static int uses_workspace;
static const char *method;
static int dimensions; /* of the grid, 0 = the usual ones */
static int npairs;     /* every other one by both links, where there are nodes */

static void *allocate(size_t bytes) {
    return stream_device_memory()->allocate(MPI_COMM_WORLD, bytes + 16, 0);
}

static void begin_pair(struct pair *pair, enum fftnd_effort effort, double wait_seconds) {
    fft_case own = FFT_CASE(FFTND_C2C, 8, 12, 10);
    *pair = (struct pair){.stream = stream_device_create(),
                          .layout = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT}};
    own.options.space = REDIST_SPACE_CUDA;
    own.options.asynchronous = 1;
    own.options.stream = pair->stream;
    own.options.wait_seconds = wait_seconds;
    own.options.effort = effort;
    own.options.plan_seconds = 0.05;
    own.options.grid_ndims = dimensions;
    own.options.user_workspace = uses_workspace;
    own.options.method = has_nodes && method == NULL && npairs++ % 2 ? "hier:nccl" : method;
    own.options.scaling = FFTND_SCALE_NONE; /* 960 points */
    check_ok(fft_case_plan(MPI_COMM_WORLD, &own, &pair->plan));
    for (int side = 0; side < 2; side++) {
        check_ok(fftnd_plan_layout(pair->plan, (enum fftnd_side)side, &pair->layout[side]));
        pair->array[side] = allocate(pair->layout[side].bytes);
    }
    pair->values = malloc(pair->layout[0].bytes + 16);
    pair->found = malloc(pair->layout[0].bytes + 16);
    for (size_t i = 0; i < pair->layout[0].bytes / sizeof(double); i++)
        pair->values[i] = random_between(-1000, 1000) * 1e-3;
    stream_device_memory()->copy(pair->array[0], pair->values, pair->layout[0].bytes);
}

static int run_pair(const struct pair *pair) {
    int forth = fftnd_forward(pair->plan, pair->array[0], pair->array[1]);
    stream_device_scale(pair->array[1], pair->layout[1].bytes / sizeof(double), 1.0 / 960,
                        pair->stream);
    int back = fftnd_backward(pair->plan, pair->array[1], pair->array[0]);
    return forth == REDIST_OK ? back : forth;
}

static void check_pair(const struct pair *pair) {
    double worst = 0;
    stream_device_wait(pair->stream);
    stream_device_memory()->copy(pair->found, pair->array[0], pair->layout[0].bytes);
    for (size_t i = 0; i < pair->layout[0].bytes / sizeof(double); i++) {
        const double error = fabs(pair->found[i] - pair->values[i]);
        worst = isnan(error) ? INFINITY : fmax(worst, error);
    }
    check_all(worst < 1e-12, "off by %g", worst);
    check_ok(fftnd_plan_query(pair->plan));
}

static void end_pair(struct pair *pair) {
    check_ok(fftnd_plan_free(&pair->plan));
    for (int side = 0; side < 2; side++)
        stream_device_memory()->release(pair->array[side], 0);
    stream_device_destroy(pair->stream);
    free(pair->values);
    free(pair->found);
}

/* Tries pairs in segments and partitions. */
static void try_cuts(double wait_seconds, void (*try)(struct pair *pair)) {
    static const int cuts[][2] = {{1, 1}, {2, 2}, {3, 1}, {4, 8}, {1, 3}};
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        struct pair pair;
        fft_use_chunks(cuts[i][0], 0, cuts[i][1], random_between(0, 2));
        begin_pair(&pair, FFTND_ESTIMATE, wait_seconds);
        try(&pair);
        end_pair(&pair);
    }
}

/* Enqueues once, as a graph, and replays it five times; the caller frees it. */
static void *replay(const struct pair *pair, int (*enqueue)(const struct pair *pair)) {
    stream_device_capture(pair->stream);
    int code = enqueue(pair);
    void *graph = stream_device_captured(pair->stream);
    check_all(code == REDIST_OK && graph != NULL, "%s", redist_error_message());
    for (int i = 0; i < 5; i++)
        stream_device_replay(graph, pair->stream);
    return graph;
}

/* Runs some pairs, and counts the graphs of the library: as many as it can see are expected. */
static void run_pairs(const struct pair *pair, int pairs, int graphs) {
    const int before = stream_device_replays();
    int failed = 0;
    for (int again = 0; again < pairs; again++)
        failed |= run_pair(pair);
    check_all(!failed, "%s", redist_error_message());
    check_all(before < 0 || stream_device_replays() == before + graphs, "replayed %d times",
              stream_device_replays() - before);
}

/* From the third time on as graphs of the library. */
static void try_enqueued(struct pair *pair) {
    run_pairs(pair, 6, 8);
    check_pair(pair);
}

START_TEST(enqueued) {
    NEEDS_FFT_STREAMS();
    try_cuts(0, try_enqueued);
}
END_TEST

static void try_replayed(struct pair *pair) {
    void *graph = replay(pair, run_pair);
    check_ok(run_pair(pair));
    check_pair(pair);
    stream_device_free(graph);
}

START_TEST(replayed) {
    NEEDS_FFT_STREAMS();
    try_cuts(0, try_replayed);
}
END_TEST

/* A graph that one rank cannot make, wherever that fails, costs it no more than the graph. */
START_TEST(spoilt) {
    enum { CALLS = 24 };
    NEEDS_FFT_STREAMS();
    if (!stream_device_spoil(-1))
        skip_test("graphs cannot be spoilt");
    for (int call = 0; call <= CALLS; call++) {
        struct pair pair;
        const int spoils = harness_rank == call % harness_nranks;
        fft_use_chunks(1, 0, 1, call % 3 == 1);
        method = has_nodes      ? (call % 4 < 2 ? "hier:nccl" : "nccl")
                 : call % 4 < 2 ? "signals:engines"
                                : "signals:kernel";
        begin_pair(&pair, FFTND_ESTIMATE, 0);
        (void)stream_device_spoil(!spoils ? -1 : call < CALLS ? call : 1000000);
        run_pairs(&pair, 5, spoils ? 0 : 6);
        (void)stream_device_spoil(-1);
        for (int again = 0; again < 2; again++)
            check_ok(run_pair(&pair));
        check_pair(&pair);
        end_pair(&pair);
    }
    method = NULL;
}
END_TEST

/* Spectra in more arrays than a plan remembers, some more often than others. */
static void try_many_arrays(struct pair *pair) {
    enum { ARRAYS = 11, ROUNDS = 60 };
    double *arrays[ARRAYS] = {pair->array[1]};
    int failed = 0;
    for (int i = 1; i < ARRAYS; i++)
        arrays[i] = allocate(pair->layout[1].bytes);
    for (int round = 0; round < ROUNDS; round++) {
        pair->array[1] = arrays[random_chance(60) ? round % 3 : random_between(0, ARRAYS - 1)];
        failed |= run_pair(pair);
        /* no later round may rely on what is left there */
        stream_device_scale(pair->array[1], pair->layout[1].bytes / sizeof(double), NAN,
                            pair->stream);
    }
    check_all(!failed, "%s", redist_error_message());
    check_pair(pair);
    for (int i = 1; i < ARRAYS; i++)
        stream_device_memory()->release(arrays[i], 0);
    pair->array[1] = arrays[0];
}

START_TEST(many_arrays) {
    NEEDS_FFT_STREAMS();
    try_cuts(0, try_many_arrays);
}
END_TEST

/* From the third time on a transform is one launch: work space that changes begins anew. */
START_TEST(another_workspace) {
    struct pair pair;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    void *work[2];
    NEEDS_FFT_STREAMS();
    fft_use_chunks(1, 0, 1, random_between(0, 2));
    uses_workspace = 1;
    begin_pair(&pair, FFTND_ESTIMATE, 0);
    uses_workspace = 0;
    check_ok(fftnd_plan_get_info(pair.plan, &info));
    for (int i = 0; i < 2; i++) {
        check_ok(
            redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, info.workspace_bytes, &work[i]));
    }
    for (int i = 0; i < 3; i++) {
        check_ok(fftnd_plan_set_workspace(pair.plan, work[i % 2], info.workspace_bytes));
        run_pairs(&pair, 5, 6);
        check_pair(&pair);
        stream_device_scale(work[i % 2], info.workspace_bytes / sizeof(double), NAN, pair.stream);
    }
    end_pair(&pair);
    for (int i = 0; i < 2; i++) {
        check_ok(redist_free(&work[i]));
    }
}
END_TEST

/* ---------------------------------------------------------------- operators */

static void create_operator(struct pair *pair, const fftnd_operator_options *options,
                            enum fftnd_operator_kind kind) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    check_ok(fftnd_operator_create(pair->plan, kind, options, &pair->op));
    check_ok(fftnd_operator_layout(pair->op, 1, &layout));
    pair->other = allocate(layout.bytes);
}

static void free_operator(struct pair *pair) {
    check_ok(fftnd_operator_free(&pair->op));
    stream_device_memory()->release(pair->other, 0);
}

static int apply(const struct pair *pair) {
    return fftnd_apply(pair->plan, pair->op, pair->array[0], pair->other);
}

static int count_call(void *data, const fftnd_box *box) {
    (void)box;
    ++*(int *)data;
    return 0;
}

/* It may do something else each time. */
START_TEST(function_of_user) {
    struct pair pair;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    int calls = 0;
    NEEDS_FFT_STREAMS();
    begin_pair(&pair, FFTND_ESTIMATE, 0);
    options.box_function = count_call;
    options.data = &calls;
    create_operator(&pair, &options, FFTND_MODES);
    check_ok(apply(&pair));
    const int once = calls;
    for (int again = 0; again < 4; again++)
        check_ok(apply(&pair));
    check_all(calls == 5 * once, "called %d times, at first %d", calls, once);
    stream_device_wait(pair.stream);
    free_operator(&pair);
    end_pair(&pair);
}
END_TEST

/* Multiplies the modes by i. */
static void begin_operator(struct pair *pair) {
    double factors[2 * 8];
    const double *const symbols[3] = {factors};
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.symbols = symbols;
    for (int i = 0; i < 16; i++)
        factors[i] = i % 2;
    create_operator(pair, &options, FFTND_SYMBOLS);
}

/* Twice with work of the user in between: all is twice what it was. */
static int run_operator(const struct pair *pair) {
    int forth = apply(pair);
    stream_device_scale(pair->other, pair->layout[0].bytes / sizeof(double), -2.0 / (960.0 * 960.0),
                        pair->stream);
    int back = fftnd_apply(pair->plan, pair->op, pair->other, pair->array[0]);
    return forth == REDIST_OK ? back : forth;
}

/* As a graph, and enqueued. */
static void try_operators(struct pair *pair) {
    begin_operator(pair);
    check_ok(run_operator(pair));
    void *graph = replay(pair, run_operator);
    check_ok(run_operator(pair));
    for (size_t i = 0; i < pair->layout[0].bytes / sizeof(double); i++)
        pair->values[i] *= 128; /* seven times */
    check_pair(pair);
    stream_device_free(graph);
    free_operator(pair);
}

START_TEST(operators) {
    NEEDS_FFT_STREAMS();
    try_cuts(0, try_operators);
}
END_TEST

/* ---------------------------------------------------------------- failures */

static int transform(const struct pair *pair) {
    return fftnd_forward(pair->plan, pair->array[0], pair->array[1]);
}

/* Rank 0 stays away from a call; whoever waits for it gives up. */
static void stay_away(const struct pair *pair, int (*call)(const struct pair *pair)) {
    if (harness_rank != 0)
        (void)call(pair);
    stream_device_wait(pair->stream);
    int code = fftnd_plan_query(pair->plan);
    check_all(harness_rank == 0 || code == REDIST_ERR_PEER, "query said %d", code);
    (void)call(pair);
    stream_device_wait(pair->stream);
    check_code(fftnd_plan_query(pair->plan), REDIST_ERR_PEER);
    check_code(call(pair), REDIST_ERR_PEER);
}

static void try_late(struct pair *pair) {
    stay_away(pair, transform);
}

START_TEST(late) {
    NEEDS_FFT_STREAMS();
    NEEDS_TIMEOUTS();
    if (harness_nranks == 1)
        skip_test("one rank waits for nobody");
    try_cuts(0.05, try_late);
}
END_TEST

/* Rank 0 is later than its peers within the node wait, in an exchange that stays there: the others know of it by the
 * next exchange, which is NCCL's. */
START_TEST(late_inside) {
    NEEDS_FFT_STREAMS();
    struct pair pair;
    if (!has_nodes || strcmp(getenv("REDIST_NODE_SIZE"), "2") != 0 || harness_nranks != 4)
        skip_test("two nodes of two have both kinds of exchanges");
    method = "auto";
    dimensions = 2;
    for (int direction = 0; direction < 2; direction++) {
        begin_pair(&pair, FFTND_ESTIMATE, 0.05);
        if (harness_rank == 0)
            usleep(500000);
        (void)(direction == 0 ? fftnd_forward : fftnd_backward)(pair.plan, pair.array[direction],
                                                                pair.array[!direction]);
        stream_device_wait(pair.stream);
        check_all(direction > 0 || fftnd_plan_query(pair.plan) == REDIST_ERR_PEER,
                  "query said that all is well");
        (void)transform(&pair);
        stream_device_wait(pair.stream);
        check_code(fftnd_plan_query(pair.plan), REDIST_ERR_PEER);
        end_pair(&pair);
    }
    method = NULL;
    dimensions = 0;
}
END_TEST

/* The same with an operator, of which the plan's query says it: the plan fails with it, as a late rank may still write
 * to the work space that both have. One with work space of the user goes on. */
START_TEST(late_operator) {
    NEEDS_FFT_STREAMS();
    NEEDS_TIMEOUTS();
    if (harness_nranks == 1)
        skip_test("one rank waits for nobody");
    for (int own = 0; own < 2; own++) {
        struct pair pair;
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        void *work = NULL;
        uses_workspace = own;
        begin_pair(&pair, FFTND_ESTIMATE, 0.5);
        uses_workspace = 0;
        check_ok(fftnd_plan_get_info(pair.plan, &info));
        check_ok(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, info.workspace_bytes, &work));
        if (own)
            check_ok(fftnd_plan_set_workspace(pair.plan, work, info.workspace_bytes));
        begin_operator(&pair);
        stay_away(&pair, apply);
        free_operator(&pair);
        const int code = run_pair(&pair);
        if (own) {
            check_ok(code);
            check_pair(&pair);
        } else {
            stream_device_wait(pair.stream);
            check_code(fftnd_plan_query(pair.plan), REDIST_ERR_PEER);
        }
        end_pair(&pair);
        check_ok(redist_free(&work));
    }
}
END_TEST

/* The device of a rank that was too late learns from the plan's next transform, before any host asks. */
START_TEST(late_operator_before_a_pair) {
    NEEDS_FFT_STREAMS();
    struct pair pair;
    NEEDS_TIMEOUTS();
    if (harness_nranks == 1)
        skip_test("one rank waits for nobody");
    begin_pair(&pair, FFTND_ESTIMATE, 0.2);
    begin_operator(&pair);
    if (harness_rank != 0)
        (void)apply(&pair);
    stream_device_wait(pair.stream);
    (void)run_pair(&pair);
    stream_device_wait(pair.stream);
    check_code(fftnd_plan_query(pair.plan), REDIST_ERR_PEER);
    free_operator(&pair);
    end_pair(&pair);
}
END_TEST

/* A device that hangs while it is measured costs less than the patience of the plan, which is 600 s; about ten. */
START_TEST(measured_in_vain) {
    NEEDS_FFT_STREAMS();
    struct pair pair;
    NEEDS_TIMEOUTS();
    if (harness_nranks != 2)
        skip_test("two ranks tell enough");
    if (!stream_device_hang(harness_rank == 0))
        skip_test("CUDA devices do not hang at will");
    double begin = MPI_Wtime();
    begin_pair(&pair, FFTND_MEASURE, 0);
    check_all(MPI_Wtime() - begin < 60, "planning took %g s", MPI_Wtime() - begin);
    stream_device_hang(0);
    check_ok(run_pair(&pair));
    check_pair(&pair);
    end_pair(&pair);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {enqueued,
                                  replayed,
                                  spoilt,
                                  many_arrays,
                                  another_workspace,
                                  function_of_user,
                                  operators,
                                  late,
                                  late_inside,
                                  late_operator,
                                  late_operator_before_a_pair,
                                  measured_in_vain,
                                  NULL};
    const TTest *const both_links[] = {enqueued, replayed, NULL};
    has_nodes = argc > 1;
    if (has_nodes)
        setenv("REDIST_NODE_SIZE", argv[1], 1);
    return harness_run(argc, argv, "test_fftnd_pairs", argc > 2 ? both_links : tests);
}
