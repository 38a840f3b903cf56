/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous transforms: results as of FFTW, whole and in segments and partitions; pairs that are enqueued with work
 * of the user in between, or replayed; failures. On a device that stands in for CUDA, or on CUDA's.
 *     test_fftnd_asynchronous [RANKS_PER_NODE [short]]
 * With an argument nodes are imitated by REDIST_NODE_SIZE, and exchanges between them are NCCL's, or by both links;
 * with "short" only the tests in which it matters how many ranks and nodes there are.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchanges.h"
#include "fft_random.h"
#include "fft_run.h"
#include "fft_sides.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "stream_device.h"

#define NEEDS_FFT_STREAMS()                                                                        \
    NEEDS_STREAM_DEVICE();                                                                         \
    fft_array_use(stream_device_memory());                                                         \
    unsetenv("FFTND_CONFIGURATION")

static int has_nodes;

#define NEEDS_TIMEOUTS()                                                                           \
    if (has_nodes)                                                                                 \
    skip_test("kernels of NCCL wait for a rank without limit")

static void configure(int segments, int partitions, int transposed) {
    fft_use_chunks(segments, transposed, partitions, random_between(0, 2));
}

static fft_case asynchronous(fft_case given) {
    given.options.space = REDIST_SPACE_CUDA;
    given.options.asynchronous = 1;
    return given;
}

START_TEST(slabs_and_pencils) {
    static const int cuts[][2] = {{1, 1}, {2, 1}, {3, 4}, {2, 2}};
    NEEDS_FFT_STREAMS();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (int grid_ndims = 1; grid_ndims < 3; grid_ndims++)
            for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
                fft_case given = asynchronous(FFT_CASE((enum fftnd_kind)kind, 9, 12, 10));
                given.options.grid_ndims = grid_ndims;
                configure(cuts[i][0], cuts[i][1], 0);
                fft_check_once(MPI_COMM_WORLD, &given);
                given.options.method =
                    "nccl:plain"; /* which sends whole arrays, however they are cut */
                fft_check_once(MPI_COMM_WORLD, &given);
                given.options.method = "hier:nccl";
                fft_check_once(MPI_COMM_WORLD, &given);
            }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* The transform behind an exchange begins with what has arrived by both links. */
START_TEST(by_partitions) {
    NEEDS_FFT_STREAMS();
    fft_case given = asynchronous(FFT_CASE(FFTND_C2C, 16, 16, 16));
    given.options.grid_ndims = 1;
    given.options.method = has_nodes ? "hier:nccl" : NULL;
    for (int stores = 0; stores < 3; stores++) {
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        fftnd_plan *plan;
        fft_use_chunks(2, 0, 2, stores);
        check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
        check_ok(fftnd_plan_get_info(plan, &info));
        check_all(harness_nranks == 1 || info.partitions == 2 || stores == 1, "%d partitions",
                  info.partitions);
        check_ok(fftnd_plan_free(&plan));
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* The last transform before an exchange stores into the peers' arrays, or what stays on its rank into its own one,
 * asynchronously or not, of whole arrays and of segments; some ranks cannot. */
START_TEST(stored) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; harness_another(i, 24); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        given.options.asynchronous = random_chance(60);
        if (has_nodes && random_chance(70)) { /* which needs arrays that peers can map */
            given.options.method = "hier:nccl";
            given.options.mapped_arrays = 1;
            given.memory[0] = given.memory[1] = given.workspace = FFT_MEMORY_SHARED;
        }
        fft_use_chunks(random_chance(50) ? 1 : random_between(2, 4), random_between(0, 2),
                       random_between(1, 3), random_between(1, 2));
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Segments are sent, and arrays whole, by messages over MPI, from memory of the device or through the host's. */
START_TEST(by_messages) {
    static const char *const methods[] = {"p2p", "p2p:1m", "p2p-streams", "alltoallv"};
    NEEDS_FFT_STREAMS();
    for (int i = 0; i < harness_cases(12); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        given.options.asynchronous = 0;
        given.options.method = methods[i % 4];
        given.options.staging = stream_device_is_for_mpi() && random_chance(50)
                                    ? REDIST_STAGING_NEVER
                                    : REDIST_STAGING_ALWAYS;
        configure(random_between(1, 5), random_between(1, 4), 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* The chain runs on some of the ranks. */
START_TEST(on_some_ranks) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; harness_another(i, 12); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        unsetenv("FFTND_CONFIGURATION");
        if (given.ndims == 1)
            continue;
        given.options.asynchronous = random_chance(50);
        given.options.ranks = random_between(1, harness_nranks);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Each real-to-real transform along each axis, of odd and even numbers of points, of one and two. */
START_TEST(real_to_real) {
    static const int shapes[][3] = {{7, 8, 5}, {4, 9, 2}, {1, 6, 3}};
    NEEDS_FFT_STREAMS();
    for (int i = 0; i < 22; i++) {
        const int *shape = shapes[i % 3];
        fft_case given =
            asynchronous(FFT_CASE(i % 2 ? FFTND_MIXED : FFTND_R2R, shape[0], shape[1], shape[2]));
        given.options.asynchronous = i % 4 < 2;
        for (int axis = 0; axis < 3; axis++) {
            given.axes[axis] = axis == 1 ? FFTND_AXIS_COMPLEX : FFTND_AXIS_R2R;
            given.r2r[axis] = (enum fftnd_r2r)((i / 2 + 4 * axis) % 11);
            if (shape[axis] == 1 && given.r2r[axis] == FFTND_DCT1)
                given.r2r[axis] = FFTND_DST1;
        }
        configure(1 + i % 3, 1 + i % 2, 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Modes that are dropped are neither stored nor sent: the spectral side is as small on a device. */
START_TEST(retained_modes) {
    static const int kept[][3] = {{9, 12, 10}, {6, 8, 6}, {5, 1, 7}, {9, 7, 10}};
    NEEDS_FFT_STREAMS();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
            fft_case given = asynchronous(FFT_CASE((enum fftnd_kind)kind, 9, 12, 10));
            given.options.asynchronous = i % 2 == 0;
            given.options.tile_bytes = i < 2 ? 2000 : 0;
            given.drops_modes = 1;
            memcpy(given.retained, kept[i], sizeof(kept[i]));
            configure(2, 2, 0);
            fft_check_once(MPI_COMM_WORLD, &given);
        }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* By the serial library, and in scratch memory where it cannot. */
START_TEST(random_retained_modes) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; i < harness_cases(12); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        given.options.asynchronous = random_chance(50);
        if (given.kind == FFTND_R2R) {
            given.kind = FFTND_C2C; /* any order of the axes is one of complex axes too */
        }
        fft_random_kept(&given);
        configure(random_between(1, 5), random_between(1, 5), 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

START_TEST(random_cases) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        if (random_chance(15)) {
            given.options.effort = FFTND_MEASURE;
            given.options.plan_seconds = 0.02;
            unsetenv("FFTND_CONFIGURATION");
        } else {
            configure(random_between(1, 5), random_between(1, 5), random_between(0, 2));
        }
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Where the axis that is whole at first is not transformed, a direction ends with an exchange of the chain. */
START_TEST(ends_with_an_exchange) {
    NEEDS_FFT_STREAMS();
    for (int first = FFTND_AXIS_COMPLEX; first <= FFTND_AXIS_HALVED; first++) {
        fft_case given = asynchronous(FFT_CASE(FFTND_MIXED, 13, 8));
        given.axes[0] = FFTND_AXIS_NONE;
        given.axes[1] = (enum fftnd_axis)first;
        given.has_order = 1;
        given.order[0] = 1;
        configure(first, 1, 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* ---------------------------------------------------------------- pairs with work in between */

struct pair {
    fftnd_plan *plan;
    fftnd_layout layout[2];
    double *array[2], *values, *found;
    void *stream;
};

static int uses_workspace;
static const char *method;
static int dimensions; /* of the grid, 0 = the usual ones */
static int npairs;     /* every other one by both links, where there are nodes */

static void begin_pair(struct pair *pair, enum fftnd_effort effort, double wait_seconds) {
    const fft_case given = FFT_CASE(FFTND_C2C, 8, 12, 10);
    fft_case own = asynchronous(given);
    *pair = (struct pair){.stream = stream_device_create(),
                          .layout = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT}};
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
        pair->array[side] =
            stream_device_memory()->allocate(MPI_COMM_WORLD, pair->layout[side].bytes + 16, 0);
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

static const int pair_cuts[][2] = {{1, 1}, {2, 2}, {3, 1}, {4, 8}, {1, 3}};

/* Bytes that are copied beside the transforms and messages of a pair. */
static long copied_bytes(enum fftnd_kind kind, int grid_ndims, int transposed) {
    /* on four ranks in two segments the stand-in can store all of them */
    fft_case given = asynchronous(FFT_CASE(kind, 120, 120, 4));
    given.options.grid_ndims = grid_ndims;
    given.options.method = "nccl";
    fft_use_chunks(random_between(1, 2), transposed, 1, 1);
    long before = stream_device_copied();
    fft_check_once(MPI_COMM_WORLD, &given);
    return stream_device_copied() - before;
}

/* Counts copies: contiguous arrivals are not unpacked, and direct stores not packed, but the results of real transforms
 * along the axis that is split next are. */
START_TEST(contiguous_arrivals) {
    NEEDS_FFT_STREAMS();
    if (harness_nranks == 1 || stream_device_copied() < 0)
        skip_test("nothing is copied, or copies are not counted");
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (int grid_ndims = 1; grid_ndims < 3; grid_ndims++) {
            long usual = copied_bytes((enum fftnd_kind)kind, grid_ndims, 0);
            long least = copied_bytes((enum fftnd_kind)kind, grid_ndims, 2);
            int is_slab = grid_ndims == 1 || harness_nranks < 4 || harness_nranks == 5;
            int packs = kind == FFTND_R2C && !is_slab;
            check_all(least < usual && (least > 0) == packs, "%ld bytes and %ld", usual, least);
        }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* From the third time on as graphs of the library. */
START_TEST(enqueued) {
    NEEDS_FFT_STREAMS();
    for (size_t i = 0; i < sizeof(pair_cuts) / sizeof(pair_cuts[0]); i++) {
        struct pair pair;
        int failed = 0;
        configure(pair_cuts[i][0], pair_cuts[i][1], 0);
        begin_pair(&pair, FFTND_ESTIMATE, 0);
        const int before = stream_device_replays();
        for (int again = 0; again < 6; again++)
            failed |= run_pair(&pair);
        check_all(!failed, "%s", redist_error_message());
        check_all(before < 0 || stream_device_replays() == before + 8, "replayed %d times",
                  stream_device_replays() - before);
        check_pair(&pair);
        end_pair(&pair);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

START_TEST(replayed) {
    NEEDS_FFT_STREAMS();
    for (size_t i = 0; i < sizeof(pair_cuts) / sizeof(pair_cuts[0]); i++) {
        struct pair pair;
        configure(pair_cuts[i][0], pair_cuts[i][1], 0);
        begin_pair(&pair, FFTND_ESTIMATE, 0);
        stream_device_capture(pair.stream);
        int code = run_pair(&pair);
        void *graph = stream_device_captured(pair.stream);
        check_all(code == REDIST_OK && graph != NULL, "%s", redist_error_message());
        for (int replay = 0; replay < 5; replay++)
            stream_device_replay(graph, pair.stream);
        check_ok(run_pair(&pair));
        check_pair(&pair);
        stream_device_free(graph);
        end_pair(&pair);
    }
    unsetenv("FFTND_CONFIGURATION");
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
        const int before = stream_device_replays();
        for (int again = 0; again < 5; again++)
            check_ok(run_pair(&pair));
        check_all(stream_device_replays() == before + (spoils ? 0 : 6), "replayed %d times",
                  stream_device_replays() - before);
        (void)stream_device_spoil(-1);
        for (int again = 0; again < 2; again++)
            check_ok(run_pair(&pair));
        check_pair(&pair);
        end_pair(&pair);
    }
    method = NULL;
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Spectra in more arrays than a plan remembers, some more often than others. */
START_TEST(many_arrays) {
    enum { ARRAYS = 11, ROUNDS = 60 };
    NEEDS_FFT_STREAMS();
    for (size_t i = 0; i < sizeof(pair_cuts) / sizeof(pair_cuts[0]); i++) {
        struct pair pair;
        double *arrays[ARRAYS];
        int failed = 0;
        configure(pair_cuts[i][0], pair_cuts[i][1], 0);
        begin_pair(&pair, FFTND_ESTIMATE, 0);
        arrays[0] = pair.array[1];
        for (int j = 1; j < ARRAYS; j++)
            arrays[j] =
                stream_device_memory()->allocate(MPI_COMM_WORLD, pair.layout[1].bytes + 16, 0);
        for (int round = 0; round < ROUNDS; round++) {
            pair.array[1] = arrays[random_chance(60) ? round % 3 : random_between(0, ARRAYS - 1)];
            failed |= run_pair(&pair);
            /* no later round may rely on what is left there */
            stream_device_scale(pair.array[1], pair.layout[1].bytes / sizeof(double), NAN,
                                pair.stream);
        }
        check_all(!failed, "%s", redist_error_message());
        check_pair(&pair);
        for (int j = 1; j < ARRAYS; j++)
            stream_device_memory()->release(arrays[j], 0);
        pair.array[1] = arrays[0];
        end_pair(&pair);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* From the third time on a transform is one launch: work space that changes begins anew. */
START_TEST(another_workspace) {
    struct pair pair;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    void *work[2];
    NEEDS_FFT_STREAMS();
    configure(1, 1, 0);
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
        const int before = stream_device_replays();
        for (int again = 0; again < 5; again++)
            check_ok(run_pair(&pair));
        check_all(before < 0 || stream_device_replays() == before + 6, "replayed %d times",
                  stream_device_replays() - before);
        check_pair(&pair);
        stream_device_scale(work[i % 2], info.workspace_bytes / sizeof(double), NAN, pair.stream);
    }
    end_pair(&pair);
    for (int i = 0; i < 2; i++) {
        check_ok(redist_free(&work[i]));
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* ---------------------------------------------------------------- operators */

static int count_call(void *data, const fftnd_box *box) {
    (void)box;
    ++*(int *)data;
    return 0;
}

/* It may do something else each time. */
START_TEST(function_of_user) {
    struct pair pair;
    fftnd_operator *op = NULL;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    int calls = 0;
    NEEDS_FFT_STREAMS();
    begin_pair(&pair, FFTND_ESTIMATE, 0);
    options.box_function = count_call;
    options.data = &calls;
    check_ok(fftnd_operator_create(pair.plan, FFTND_MODES, &options, &op));
    check_ok(fftnd_operator_layout(op, 1, &layout));
    double *other = stream_device_memory()->allocate(MPI_COMM_WORLD, layout.bytes + 16, 0);
    check_ok(fftnd_apply(pair.plan, op, pair.array[0], other));
    const int once = calls;
    for (int again = 0; again < 4; again++)
        check_ok(fftnd_apply(pair.plan, op, pair.array[0], other));
    check_all(calls == 5 * once, "called %d times, at first %d", calls, once);
    stream_device_wait(pair.stream);
    check_ok(fftnd_operator_free(&op));
    stream_device_memory()->release(other, 0);
    end_pair(&pair);
}
END_TEST

/* Multiplies the modes by i. */
static void begin_operator(const struct pair *pair, fftnd_operator **op) {
    double factors[2 * 8];
    const double *const symbols[3] = {factors};
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.symbols = symbols;
    for (int i = 0; i < 16; i++)
        factors[i] = i % 2;
    check_ok(fftnd_operator_create(pair->plan, FFTND_SYMBOLS, &options, op));
}

/* Twice with work of the user in between: all is twice what it was. */
static int run_operator(const struct pair *pair, fftnd_operator *op, double *other) {
    int forth = fftnd_apply(pair->plan, op, pair->array[0], other);
    stream_device_scale(other, pair->layout[0].bytes / sizeof(double), -2.0 / (960.0 * 960.0),
                        pair->stream);
    int back = fftnd_apply(pair->plan, op, other, pair->array[0]);
    return forth == REDIST_OK ? back : forth;
}

/* As a graph, and enqueued. */
START_TEST(operators) {
    NEEDS_FFT_STREAMS();
    for (size_t i = 0; i < sizeof(pair_cuts) / sizeof(pair_cuts[0]); i++) {
        struct pair pair;
        fftnd_operator *op = NULL;
        fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
        configure(pair_cuts[i][0], pair_cuts[i][1], 0);
        begin_pair(&pair, FFTND_ESTIMATE, 0);
        begin_operator(&pair, &op);
        check_ok(fftnd_operator_layout(op, 1, &layout));
        double *other = stream_device_memory()->allocate(MPI_COMM_WORLD, layout.bytes + 16, 0);
        check_ok(run_operator(&pair, op, other));
        stream_device_capture(pair.stream);
        int code = run_operator(&pair, op, other);
        void *graph = stream_device_captured(pair.stream);
        check_all(code == REDIST_OK && graph != NULL, "%s", redist_error_message());
        for (int replay = 0; replay < 5; replay++)
            stream_device_replay(graph, pair.stream);
        check_ok(run_operator(&pair, op, other));
        for (size_t j = 0; j < pair.layout[0].bytes / sizeof(double); j++)
            pair.values[j] *= 128; /* seven times */
        check_pair(&pair);
        stream_device_free(graph);
        check_ok(fftnd_operator_free(&op));
        stream_device_memory()->release(other, 0);
        end_pair(&pair);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* ---------------------------------------------------------------- failures */

/* Rank 0 stays away; whoever waits for it gives up. */
START_TEST(late) {
    NEEDS_FFT_STREAMS();
    NEEDS_TIMEOUTS();
    if (harness_nranks == 1)
        skip_test("one rank waits for nobody");
    for (size_t i = 0; i < sizeof(pair_cuts) / sizeof(pair_cuts[0]); i++) {
        struct pair pair;
        configure(pair_cuts[i][0], pair_cuts[i][1], 0);
        begin_pair(&pair, FFTND_ESTIMATE, 0.05);
        if (harness_rank != 0)
            (void)fftnd_forward(pair.plan, pair.array[0], pair.array[1]);
        stream_device_wait(pair.stream);
        int code = fftnd_plan_query(pair.plan);
        check_all(harness_rank == 0 || code == REDIST_ERR_PEER, "query said %d", code);
        (void)fftnd_forward(pair.plan, pair.array[0], pair.array[1]);
        stream_device_wait(pair.stream);
        check_code(fftnd_plan_query(pair.plan), REDIST_ERR_PEER);
        check_code(fftnd_forward(pair.plan, pair.array[0], pair.array[1]), REDIST_ERR_PEER);
        end_pair(&pair);
    }
    unsetenv("FFTND_CONFIGURATION");
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
        (void)fftnd_forward(pair.plan, pair.array[0], pair.array[1]);
        stream_device_wait(pair.stream);
        check_code(fftnd_plan_query(pair.plan), REDIST_ERR_PEER);
        end_pair(&pair);
    }
    method = NULL;
    dimensions = 0;
}
END_TEST

/* The same with an operator, of which the plan's query says it; the plan goes on. */
START_TEST(late_operator) {
    NEEDS_FFT_STREAMS();
    struct pair pair;
    fftnd_operator *op = NULL;
    NEEDS_TIMEOUTS();
    if (harness_nranks == 1)
        skip_test("one rank waits for nobody");
    begin_pair(&pair, FFTND_ESTIMATE, 0.5);
    begin_operator(&pair, &op);
    double *other = stream_device_memory()->allocate(MPI_COMM_WORLD, pair.layout[0].bytes + 16, 0);
    if (harness_rank != 0)
        (void)fftnd_apply(pair.plan, op, pair.array[0], other);
    stream_device_wait(pair.stream);
    int code = fftnd_plan_query(pair.plan);
    check_all(harness_rank == 0 || code == REDIST_ERR_PEER, "query said %d", code);
    (void)fftnd_apply(pair.plan, op, pair.array[0], other);
    stream_device_wait(pair.stream);
    check_code(fftnd_plan_query(pair.plan), REDIST_ERR_PEER);
    check_code(fftnd_apply(pair.plan, op, pair.array[0], other), REDIST_ERR_PEER);
    check_ok(fftnd_operator_free(&op));
    check_ok(run_pair(&pair));
    check_pair(&pair);
    stream_device_memory()->release(other, 0);
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

START_TEST(refusals) {
    NEEDS_FFT_STREAMS();
    fft_case given = asynchronous(FFT_CASE(FFTND_C2C, 8, 8, 8));
    fftnd_plan *plan = NULL;
    given.options.method = "direct";
    int code = fft_case_plan(MPI_COMM_WORLD, &given, &plan);
    check_all(harness_nranks == 1 || (code == REDIST_ERR_METHOD && plan == NULL), "it said %d",
              code);
    check_ok(fftnd_plan_free(&plan));
    given.options.method = NULL;
    given.options.space = REDIST_SPACE_HOST;
    fft_array_use(NULL);
    fft_check_once(MPI_COMM_WORLD, &given);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {slabs_and_pencils,
                                  by_partitions,
                                  stored,
                                  by_messages,
                                  real_to_real,
                                  retained_modes,
                                  random_retained_modes,
                                  random_cases,
                                  ends_with_an_exchange,
                                  contiguous_arrivals,
                                  enqueued,
                                  replayed,
                                  spoilt,
                                  many_arrays,
                                  another_workspace,
                                  function_of_user,
                                  operators,
                                  late,
                                  late_inside,
                                  late_operator,
                                  measured_in_vain,
                                  refusals,
                                  on_some_ranks,
                                  NULL};
    const TTest *const both_links[] = {slabs_and_pencils, by_partitions, stored, enqueued,
                                       replayed,          on_some_ranks, NULL};
    has_nodes = argc > 1;
    if (has_nodes)
        setenv("REDIST_NODE_SIZE", argv[1], 1);
    return harness_run(argc, argv, "test_fftnd_asynchronous", argc > 2 ? both_links : tests);
}
