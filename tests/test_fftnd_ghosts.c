/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ghosts of the physical side, filled by backward transforms and added by forward ones: random shapes, grids, boxes and
 * widths against the oracle's global array, on the host and on a device, enqueued or not.
 *     test_fftnd_ghosts [RANKS_PER_NODE]
 * With an argument nodes are imitated by REDIST_NODE_SIZE.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fftnd_operators.h"
#include "ghost_trial.h"
#include "harness.h"
#include "random.h"
#include "stream_device.h"

/* ---------------------------------------------------------------- random cases */

static int has_nodes;

/* Names a method that does all of a case. */
static const char *choose_method(const fftnd_options *options) {
    static const char *const adding[] = {"p2p", "alltoallv", "direct"};
    if (options->asynchronous) {
        return "nccl";
    }
    const int is_direct = options->space != REDIST_SPACE_CUDA && !has_nodes;
    return options->accumulate_ghosts ? adding[random_between(0, 1 + is_direct)] : "alltoallw";
}

/* Gives a case ghosts of any widths, for which boxes have room. */
static void add_ghosts(fft_case *given, redist_halo *halo) {
    *halo = REDIST_HALO_DEFAULT;
    halo->corners = random_chance(70);
    for (int i = 0; i < given->ndims; i++) {
        const int points = fft_case_filled(given, i), most = points < 4 ? points : 3;
        halo->periodic[i] = points == given->sizes[i] && random_chance(60);
        halo->low[i] = random_chance(70) ? random_between(0, most) : 0;
        halo->high[i] = random_chance(70) ? random_between(0, most) : 0;
        if (given->has_box[FFTND_PHYSICAL]) {
            given->offset[FFTND_PHYSICAL][i] = (int)halo->low[i] + random_between(0, 1);
            given->padding[FFTND_PHYSICAL][i] =
                given->offset[FFTND_PHYSICAL][i] + (int)halo->high[i] + random_between(0, 1);
        }
    }
    given->options.ghosts = halo;
    given->options.fill_ghosts = random_chance(85);
    given->options.accumulate_ghosts = random_chance(60);
    given->options.method = random_chance(60) ? NULL : choose_method(&given->options);
    if (random_chance(25)) {
        fft_random_format(given);
    }
}

static void check_case(fft_case *given) {
    struct trial trial = {.rank = 0};
    if (given->ndims == 1 && harness_nranks > 1) { /* one long axis */
        return;
    }
    add_ghosts(given, &trial.halo);
    fft_run_create(MPI_COMM_WORLD, given, &trial.run);
    begin_trial(&trial);
    check_forward(&trial);
    if (given->drops_modes) {
        fft_reference_use_returned(&trial.run.reference);
    }
    check_backward(&trial);
    end_trial(&trial);
}

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 12); i++) {
        fft_case given = fft_random_mixed_case(harness_nranks, 0);
        check_case(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Bricks of a particle mesh. */
START_TEST(bricks) {
    for (int i = 0; harness_another(i, 8); i++) {
        fft_case given = FFT_CASE(random_chance(70) ? FFTND_R2C : FFTND_C2C, random_between(3, 9),
                                  random_between(3, 9), random_between(3, 9));
        given.has_box[FFTND_PHYSICAL] = 1;
        given.box_seed = random_bits();
        given.options.in_place = random_chance(30);
        given.options.batch = random_between(1, 2);
        check_case(&given);
    }
}
END_TEST

/* An operator that changes nothing adds the ghosts of its input, and fills those of its output. */
START_TEST(operators) {
    static const double none[3];
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = FFT_CASE(random_chance(70) ? FFTND_R2C : FFTND_C2C, random_between(3, 9),
                                  random_between(3, 9), random_between(3, 9));
        struct trial trial = {.rank = 0};
        fft_array output;
        fftnd_operator *op = NULL;
        fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
        given.has_box[FFTND_PHYSICAL] = random_chance(50);
        given.box_seed = random_bits();
        add_ghosts(&given, &trial.halo);
        fft_run_create(MPI_COMM_WORLD, &given, &trial.run);
        begin_trial(&trial);
        fft_run_load(&trial.run, FFTND_PHYSICAL, 1);
        if (given.options.accumulate_ghosts) {
            load_sums(&trial);
        }
        options.shift = none;
        fft_array *input = trial.run.array[FFTND_PHYSICAL];
        check_ok(fft_array_create(MPI_COMM_WORLD, input->bytes, FFT_MEMORY_HEAP, 8, &output));
        check_ok(fftnd_operator_create(trial.run.plan, FFTND_SHIFT, &options, &op));
        check_ok(fftnd_apply(trial.run.plan, op, input->data, output.data));
        trial.run.array[FFTND_PHYSICAL] = &output;
        trial.factor = 1;
        check_result(&trial, "an operator");
        check_ok(fftnd_operator_free(&op));
        check_ok(fft_array_free(&output));
        end_trial(&trial);
    }
}
END_TEST

/* ---------------------------------------------------------------- messages of their own */

static long nsends;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    nsends++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* Counts the messages of a transform in each direction, between two layouts that differ on all ranks. */
static void count_messages(const redist_halo *halo, long messages[2]) {
    const redist_index sizes[3] = {8, 12, 10};
    const int split[1] = {1};
    fftnd_layout layout[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    void *array[2];
    options.effort = FFTND_ESTIMATE;
    options.fusion = FFTND_FUSION_NEVER;
    options.method = "p2p";
    options.skip_agreement = 1;
    options.grid_ndims = 1;
    options.split[FFTND_PHYSICAL] = split;
    options.ghosts = halo;
    options.accumulate_ghosts = 1;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &plan));
    for (int side = 0; side < 2; side++) {
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layout[side]));
        array[side] = calloc(layout[side].bytes + 1, 1);
    }
    long before = nsends;
    check_ok(fftnd_forward(plan, array[0], array[1]));
    messages[FFTND_PHYSICAL] = nsends - before;
    before = nsends;
    check_ok(fftnd_backward(plan, array[1], array[0]));
    messages[FFTND_SPECTRAL] = nsends - before;
    check_ok(fftnd_plan_free(&plan));
    free(array[0]);
    free(array[1]);
}

/* Ghosts go with the elements that move between the sides and the chain anyway. */
START_TEST(in_one_exchange) {
    redist_halo halo = REDIST_HALO_DEFAULT;
    long messages[2], with_ghosts[2];
    unsetenv("FFTND_CONFIGURATION");
    halo.corners = 1;
    for (int i = 0; i < 3; i++) {
        halo.low[i] = halo.high[i] = halo.periodic[i] = 1;
    }
    count_messages(NULL, messages);
    count_messages(&halo, with_ghosts);
    for (int side = 0; side < 2; side++) {
        check_all(messages[side] == with_ghosts[side], "side %d: %ld messages, with ghosts %ld",
                  side, messages[side], with_ghosts[side]);
    }
}
END_TEST

/* ---------------------------------------------------------------- on a device */

#define NEEDS_DEVICE_ARRAYS()                                                                      \
    NEEDS_STREAM_DEVICE();                                                                         \
    fft_array_use(stream_device_memory());                                                         \
    unsetenv("FFTND_CONFIGURATION")

START_TEST(on_a_device) {
    NEEDS_DEVICE_ARRAYS();
    for (int i = 0; harness_another(i, 16); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        given.options.asynchronous = i % 2;
        check_case(&given);
    }
    fft_array_use(NULL);
}
END_TEST

/* A plan in a stream, or one that the host waits for, with its arrays. */
struct pair {
    fftnd_plan *plan;
    fftnd_layout layout[2];
    void *stream;
    double *array[2], *values;
};

static void begin_pair(struct pair *pair, int is_split, int asynchronous) {
    const redist_index sizes[3] = {8, 12, 10};
    const int split[1] = {1};
    redist_halo halo = REDIST_HALO_DEFAULT;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    *pair = (struct pair){.layout = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT},
                          .stream = asynchronous ? stream_device_create() : NULL};
    for (int i = 0; i < 3; i++) {
        halo.low[i] = halo.high[i] = 2;
        halo.periodic[i] = i != 1;
    }
    options.space = REDIST_SPACE_CUDA;
    options.stream = pair->stream;
    options.asynchronous = asynchronous;
    options.effort = FFTND_ESTIMATE;
    options.grid_ndims = 1;
    options.split[FFTND_PHYSICAL] = is_split ? split : NULL;
    options.ghosts = &halo;
    options.accumulate_ghosts = 1;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options,
                               &pair->plan));
    for (int side = 0; side < 2; side++) {
        check_ok(fftnd_plan_layout(pair->plan, (enum fftnd_side)side, &pair->layout[side]));
        pair->array[side] =
            stream_device_memory()->allocate(MPI_COMM_WORLD, pair->layout[side].bytes + 16, 0);
    }
    pair->values = malloc(pair->layout[0].bytes + 16);
    for (size_t i = 0; i < pair->layout[0].bytes / sizeof(double); i++) {
        pair->values[i] = (double)(random_hash(i) % 2001) / 1000 - 1;
    }
    stream_device_memory()->copy(pair->array[0], pair->values, pair->layout[0].bytes);
}

static int run_pair(const struct pair *pair, int times) {
    int code = REDIST_OK;
    for (int i = 0; i < times && code == REDIST_OK; i++) {
        code = fftnd_forward(pair->plan, pair->array[0], pair->array[1]);
        code =
            code == REDIST_OK ? fftnd_backward(pair->plan, pair->array[1], pair->array[0]) : code;
    }
    return code;
}

/* Points grow where ghosts show them. */
static void compare_pairs(const struct pair *one, const struct pair *other) {
    double worst = 0, most = 0;
    stream_device_wait(one->stream);
    for (int i = 0; i < 2; i++) {
        const struct pair *pair = i == 0 ? one : other;
        stream_device_memory()->copy(pair->values, pair->array[0], pair->layout[0].bytes);
    }
    for (size_t i = 0; i < one->layout[0].bytes / sizeof(double); i++) {
        const double error = fabs(one->values[i] - other->values[i]);
        worst = isnan(error) ? INFINITY : fmax(worst, error);
        most = fmax(most, fabs(other->values[i]));
    }
    check_all(worst <= 1e-12 * (1 + most), "off by %g of %g", worst, most);
    check_ok(fftnd_plan_query(one->plan));
}

static void end_pair(struct pair *pair) {
    check_ok(fftnd_plan_free(&pair->plan));
    for (int side = 0; side < 2; side++) {
        stream_device_memory()->release(pair->array[side], 0);
    }
    if (pair->stream != NULL) {
        stream_device_destroy(pair->stream);
    }
    free(pair->values);
}

/* Transforms in a stream do as those that the host waits for: one by one, as graphs of the library from the third time
 * on, and in one graph of the user. */
START_TEST(enqueued) {
    NEEDS_DEVICE_ARRAYS();
    for (int i = 0; i < 4; i++) {
        struct pair pair, waited;
        void *graph = NULL;
        harness_case("%s, %s", i % 2 ? "another split" : "that of the chain",
                     i / 2 ? "captured" : "enqueued");
        begin_pair(&waited, i % 2, 0);
        begin_pair(&pair, i % 2, 1);
        const int before = stream_device_replays(), is_captured = i / 2;
        if (is_captured) {
            stream_device_capture(pair.stream);
            const int code = run_pair(&pair, 1);
            graph = stream_device_captured(pair.stream);
            check_all(code == REDIST_OK && graph != NULL, "%s", redist_error_message());
        }
        for (int again = 0; again < 5 && is_captured; again++) {
            stream_device_replay(graph, pair.stream);
        }
        check_ok(run_pair(&pair, is_captured ? 1 : 6));
        stream_device_wait(pair.stream); /* the stand-in for NCCL does not order several streams */
        check_ok(run_pair(&waited, 6));
        compare_pairs(&pair, &waited);
        check_all(is_captured || before < 0 || stream_device_replays() == before + 8,
                  "replayed %d times", stream_device_replays() - before);
        if (is_captured) {
            stream_device_free(graph);
        }
        end_pair(&pair);
        end_pair(&waited);
    }
    fft_array_use(NULL);
}
END_TEST

/* Returns the bytes of work space of a plan in a stream. */
static size_t work_of(int fills, int accumulates, int overwrites) {
    const redist_index sizes[3] = {8, 12, 10};
    redist_halo halo = REDIST_HALO_DEFAULT;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_plan *plan = NULL;
    halo.low[0] = halo.high[1] = halo.periodic[1] = 1;
    options.space = REDIST_SPACE_CUDA;
    options.stream = stream_device_create();
    options.asynchronous = 1;
    options.effort = FFTND_ESTIMATE;
    options.grid_ndims = 1;
    options.ghosts = &halo;
    options.fill_ghosts = fills;
    options.accumulate_ghosts = accumulates;
    options.overwrite_input = overwrites;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    stream_device_destroy(options.stream);
    return info.workspace_bytes;
}

/* Filling takes no array in work space, and adding one only for a copy of an input that is kept. */
START_TEST(work_space) {
    NEEDS_DEVICE_ARRAYS();
    for (int overwrites = 0; overwrites < 2; overwrites++) {
        const size_t least = work_of(0, 0, overwrites), filled = work_of(1, 0, overwrites),
                     added = work_of(0, 1, overwrites);
        check_all(filled == least, "filling ghosts takes %zu bytes, not %zu", filled, least);
        check_all((added == least) == overwrites, "adding ghosts takes %zu bytes, not %zu", added,
                  least);
    }
    fft_array_use(NULL);
}
END_TEST

/* ---------------------------------------------------------------- errors */

static void refuse(const fftnd_options *options, const redist_index sizes[2], int code,
                   const char *words) {
    fftnd_plan *plan = NULL;
    check_code(fftnd_plan_create(MPI_COMM_WORLD, 2, sizes, FFTND_R2C, FFTND_DOUBLE, options, &plan),
               code);
    check_all(plan == NULL && strstr(redist_error_message(), words) != NULL, "%s",
              redist_error_message());
}

START_TEST(refusals) {
    const redist_index sizes[2] = {6, 8};
    redist_halo halo = REDIST_HALO_DEFAULT;
    redist_box box = REDIST_BOX_DEFAULT;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.effort = FFTND_ESTIMATE;
    options.ghosts = &halo;
    halo.low[1] = harness_rank == harness_nranks - 1 ? -1 : 0;
    refuse(&options, sizes, REDIST_ERR_SIZE, "options->ghosts->low[1] = -1 is not in 0..");
    halo.low[1] = 0;
    halo.reserved = harness_rank == 0;
    refuse(&options, sizes, REDIST_ERR_ARGUMENT, "options->ghosts->reserved = 1");
    halo.reserved = 0;
    halo.high[0] = 7;
    refuse(&options, sizes, REDIST_ERR_SIZE,
           "options->ghosts->high[0] = 7 is wider than sizes[0] = 6, and the axis is not periodic");
    halo.high[0] = 2;
    box.count[0] = harness_rank == 0 ? 6 : 0;
    box.count[1] = 8;
    box.extent[0] = 7;
    box.extent[1] = 8;
    options.box[FFTND_PHYSICAL] = &box;
    refuse(
        &options, sizes, REDIST_ERR_SIZE,
        "options->ghosts->high[0] = 2, but options->box[FFTND_PHYSICAL] has room for 1 elements");
    options.box[FFTND_PHYSICAL] = NULL;
    if (harness_nranks > 1) {
        halo.periodic[1] = harness_rank == 0;
        refuse(&options, sizes, REDIST_ERR_DISAGREE,
               "options->ghosts->periodic: {0, 1} on rank 0, {0, 0} on");
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases,    bricks,      operators,
                                  in_one_exchange, on_a_device, enqueued,
                                  work_space,      refusals,    NULL};
    has_nodes = argc > 1;
    if (has_nodes) {
        setenv("REDIST_NODE_SIZE", argv[1], 1);
    }
    return harness_run(argc, argv, "test_fftnd_ghosts", tests);
}
