/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ghosts of the physical side, filled by backward transforms and added by forward ones: random shapes, grids, boxes and
 * widths against the oracle's global array, on the host and on a device, enqueued or not. Nothing else around a rank's
 * points is changed.
 *     test_fftnd_ghosts [RANKS_PER_NODE]
 * With an argument nodes are imitated by REDIST_NODE_SIZE.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fft_run.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "random.h"
#include "stream_device.h"

/* ---------------------------------------------------------------- the ghosts of a rank */

/* The box of a rank, and a place in it or around it. */
struct box {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
};

struct place {
    redist_index index[REDIST_MAX_NDIMS]; /* in the box, negative before it */
    size_t global;                        /* of the element that it shows */
    size_t number;                        /* of the ghost */
};

typedef void visit(void *data, const struct place *place);

/* Visits all ghosts of a box, in C order. */
static void visit_ghosts(const fftnd_layout *layout, const struct box *box, const redist_halo *halo,
                         visit *do_it, void *data) {
    struct place place = {.number = 0};
    size_t all = 1;
    for (int i = 0; i < layout->ndims; i++) {
        all *= (size_t)(box->count[i] == 0 ? 0 : box->count[i] + halo->low[i] + halo->high[i]);
    }
    for (size_t which = 0; which < all; which++) {
        size_t rest = which, step = 1;
        int outside = 0, exists = 1;
        place.global = 0;
        for (int i = layout->ndims - 1; i >= 0; i--) {
            const size_t extent = (size_t)(box->count[i] + halo->low[i] + halo->high[i]);
            const redist_index at = (redist_index)(rest % extent) - halo->low[i],
                               size = layout->sizes[i], index = box->start[i] + at;
            rest /= extent;
            place.index[i] = at;
            outside += at < 0 || at >= box->count[i];
            exists = exists && (halo->periodic[i] || (index >= 0 && index < size));
            place.global += (size_t)((index % size + size) % size) * step;
            step *= (size_t)size;
        }
        if (exists && (outside == 1 || (outside > 1 && halo->corners))) {
            do_it(data, &place);
            place.number++;
        }
    }
}

/* ---------------------------------------------------------------- a case */

struct trial {
    fft_run run;
    redist_halo halo;
    struct box *boxes; /* of all ranks */
    long double *sums; /* of the ghosts that show each point: [field][point][component] */
    unsigned char *used;
    int rank; /* whose ghosts are visited */
    long double factor, worst;
};

static size_t numbers_of(const struct trial *trial) {
    return trial->run.reference.nelements[0] * (size_t)trial->run.reference.ncomponents[0];
}

static unsigned char *address_of(const struct trial *trial, const struct place *place, int field) {
    const fftnd_layout *layout = &trial->run.layout[FFTND_PHYSICAL];
    ptrdiff_t at = layout->offset + field * layout->batch_stride;
    for (int i = 0; i < layout->ndims; i++) {
        at += (ptrdiff_t)place->index[i] * layout->stride[i];
    }
    return (unsigned char *)trial->run.array[FFTND_PHYSICAL]->data +
           at * (ptrdiff_t)layout->element_bytes;
}

/* The value of a ghost before it is added, which all ranks know. */
static long double ghost_value(const struct trial *trial, const struct place *place, int field,
                               int component) {
    const uint64_t seed = ((uint64_t)trial->rank << 40) + ((uint64_t)place->number << 8) +
                          (uint64_t)(2 * field + component);
    return (long double)((double)(random_hash(seed) % 2001) / 1000 - 1);
}

static void add_up(void *data, const struct place *place) {
    struct trial *trial = data;
    const int n = trial->run.reference.ncomponents[0];
    for (int field = 0; field < trial->run.given->options.batch; field++) {
        for (int i = 0; i < n; i++) {
            trial
                ->sums[(size_t)field * numbers_of(trial) + place->global * (size_t)n + (size_t)i] +=
                ghost_value(trial, place, field, i);
        }
    }
}

static void write_ghost(void *data, const struct place *place) {
    const struct trial *trial = data;
    for (int field = 0; field < trial->run.given->options.batch; field++) {
        for (int i = 0; i < trial->run.reference.ncomponents[0]; i++) {
            fft_number_set(trial->run.given,
                           address_of(trial, place, field) +
                               (size_t)i * fft_case_number_bytes(trial->run.given),
                           ghost_value(trial, place, field, i));
        }
    }
}

static void compare_ghost(void *data, const struct place *place) {
    struct trial *trial = data;
    const int n = trial->run.reference.ncomponents[0];
    for (int field = 0; field < trial->run.given->options.batch; field++) {
        const long double *value = trial->run.reference.values[0] +
                                   (size_t)field * numbers_of(trial) + place->global * (size_t)n;
        for (int i = 0; i < n; i++) {
            const long double error =
                fabsl(fft_number_get(trial->run.given,
                                     address_of(trial, place, field) +
                                         (size_t)i * fft_case_number_bytes(trial->run.given)) -
                      value[i] * trial->factor);
            trial->worst = isnan(error) ? INFINITY : fmaxl(trial->worst, error);
        }
    }
}

static void mark_ghost(void *data, const struct place *place) {
    const struct trial *trial = data;
    const fft_array *array = trial->run.array[FFTND_PHYSICAL];
    for (int field = 0; field < trial->run.given->options.batch; field++) {
        memset(trial->used + (address_of(trial, place, field) - (unsigned char *)array->data), 1,
               trial->run.layout[FFTND_PHYSICAL].element_bytes);
    }
}

static void visit_own(struct trial *trial, visit *do_it) {
    trial->rank = harness_rank;
    visit_ghosts(&trial->run.layout[FFTND_PHYSICAL], &trial->boxes[harness_rank], &trial->halo,
                 do_it, trial);
}

/* Gathers the boxes of all ranks, and adds up their ghosts. */
static void prepare(struct trial *trial) {
    const fftnd_layout *layout = &trial->run.layout[FFTND_PHYSICAL];
    struct box own;
    memcpy(own.start, layout->start, sizeof own.start);
    memcpy(own.count, layout->count, sizeof own.count);
    trial->boxes = calloc((size_t)harness_nranks, sizeof own);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, trial->boxes, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    trial->sums =
        calloc((size_t)trial->run.given->options.batch * numbers_of(trial), sizeof *trial->sums);
    for (trial->rank = 0; trial->rank < harness_nranks; trial->rank++) {
        visit_ghosts(layout, &trial->boxes[trial->rank], &trial->halo, add_up, trial);
    }
}

/* Points and ghosts whose sums are the oracle's points. */
static void load_sums(struct trial *trial) {
    const fft_run *run = &trial->run;
    const fft_walk walk = fft_walk_make(&run->layout[FFTND_PHYSICAL], run->given->options.batch);
    const size_t n = (size_t)run->reference.ncomponents[0],
                 number_bytes = fft_case_number_bytes(run->given);
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        const fft_place place = fft_walk_place(&walk, which);
        const size_t at = (size_t)place.field * numbers_of(trial) + place.global * n;
        for (size_t i = 0; i < n; i++) {
            fft_number_set(run->given,
                           (unsigned char *)run->array[0]->data + place.offset + i * number_bytes,
                           run->reference.values[0][at + i] - trial->sums[at + i]);
        }
    }
    visit_own(trial, write_ghost);
}

/* Returns nonzero if the array may serve as work space, beyond its points too: one with other room does not. */
static int is_free(const struct trial *trial) {
    const fft_case *given = trial->run.given;
    redist_index room = 0;
    for (int i = 0; i < given->ndims; i++) {
        room += trial->halo.low[i] + trial->halo.high[i] + given->padding[FFTND_PHYSICAL][i];
    }
    return given->options.in_place || (given->options.overwrite_input && room == 0);
}

/* Checks that only points, and ghosts if they are filled, are no longer poison. */
static void check_rest(struct trial *trial) {
    const fft_run *run = &trial->run;
    const fft_array *array = run->array[FFTND_PHYSICAL];
    const fft_walk walk = fft_walk_make(&run->layout[FFTND_PHYSICAL], run->given->options.batch);
    check_all(fft_array_is_guarded(array), "wrote outside of the array");
    if (is_free(trial)) {
        return;
    }
    trial->used = calloc(array->bytes + 1, 1);
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        memset(trial->used + fft_walk_place(&walk, which).offset, 1, walk.layout->element_bytes);
    }
    if (run->given->options.fill_ghosts) {
        visit_own(trial, mark_ghost);
    }
    const size_t changed = fft_array_changed(array, trial->used);
    free(trial->used);
    check_all(changed == 0, "%zu bytes changed around points and ghosts", changed);
}

static void check_forward(struct trial *trial) {
    fft_run *run = &trial->run;
    const long double scale = fft_case_scale(run->given, FFTND_PHYSICAL);
    harness_case("forward of %s", fft_case_text(run->given));
    fft_array_poison(run->array[FFTND_SPECTRAL]);
    fft_run_load(run, FFTND_PHYSICAL, 1);
    if (run->given->options.accumulate_ghosts) {
        load_sums(trial);
    }
    check_ok(fft_run_execute(run, FFTND_PHYSICAL));
    const double error = fft_run_error(run, FFTND_SPECTRAL, scale),
                 most = 4 * fft_case_tolerance(run->given);
    check_all(error <= most, "forward is off by %.3g, more than %.3g", error, most);
}

/* Checks points and ghosts of the physical side. */
static void check_result(struct trial *trial, const char *what) {
    fft_run *run = &trial->run;
    const double error = fft_run_error(run, FFTND_PHYSICAL, trial->factor),
                 most = 4 * fft_case_tolerance(run->given);
    check_all(error <= most, "%s is off by %.3g, more than %.3g", what, error, most);
    check_rest(trial);
    trial->worst = 0;
    if (run->given->options.fill_ghosts) {
        visit_own(trial, compare_ghost);
    }
    trial->worst /= run->reference.largest[0] * trial->factor;
    check_all(trial->worst <= (long double)most, "ghosts of %s are off by %.3Lg, more than %.3g",
              what, trial->worst, most);
}

static void check_backward(struct trial *trial) {
    fft_run *run = &trial->run;
    const fftnd_options *options = &run->given->options;
    harness_case("backward of %s", fft_case_text(run->given));
    trial->factor = options->scaling == FFTND_SCALE_NONE ? fft_case_logical_size(run->given) : 1;
    fft_array_poison(run->array[FFTND_PHYSICAL]);
    fft_run_load(run, FFTND_SPECTRAL, fft_case_scale(run->given, FFTND_PHYSICAL));
    check_ok(fft_run_execute(run, FFTND_SPECTRAL));
    check_result(trial, "backward");
}

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
        const int most = given->sizes[i] < 4 ? given->sizes[i] : 3;
        halo->periodic[i] = random_chance(60);
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
}

static void end(struct trial *trial) {
    fft_run_free(&trial->run);
    free(trial->boxes);
    free(trial->sums);
}

static void check_case(fft_case *given) {
    struct trial trial = {.rank = 0};
    if (given->ndims == 1 && harness_nranks > 1) { /* one long axis */
        return;
    }
    add_ghosts(given, &trial.halo);
    fft_run_create(MPI_COMM_WORLD, given, &trial.run);
    prepare(&trial);
    check_forward(&trial);
    if (given->drops_modes) {
        fft_reference_use_returned(&trial.run.reference);
    }
    check_backward(&trial);
    end(&trial);
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
        prepare(&trial);
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
        end(&trial);
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
    const TTest *const tests[] = {random_cases, bricks,   operators, in_one_exchange,
                                  on_a_device,  enqueued, refusals,  NULL};
    has_nodes = argc > 1;
    if (has_nodes) {
        setenv("REDIST_NODE_SIZE", argv[1], 1);
    }
    return harness_run(argc, argv, "test_fftnd_ghosts", tests);
}
