/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ghosts of the physical side, filled by backward transforms and added by forward ones: random shapes, grids, boxes and
 * widths against the oracle's global array, on the host and on the stand-in for a device. Nothing else around a rank's
 * points is read or changed.
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

/* Checks that only points, and ghosts if they are filled, are no longer poison; not in place. */
static void check_rest(struct trial *trial) {
    const fft_run *run = &trial->run;
    const fft_array *array = run->array[FFTND_PHYSICAL];
    const fft_walk walk = fft_walk_make(&run->layout[FFTND_PHYSICAL], run->given->options.batch);
    check_all(fft_array_is_guarded(array), "wrote outside of the array");
    if (run->given->options.in_place) {
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
    given->options.method = random_chance(60)                  ? NULL
                            : given->options.accumulate_ghosts ? "p2p"
                                                               : "alltoallw";
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

START_TEST(on_a_device) {
    NEEDS_STREAM_DEVICE();
    fft_array_use(stream_device_memory());
    unsetenv("FFTND_CONFIGURATION");
    for (int i = 0; harness_another(i, 8); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        given.options.asynchronous = 0;
        check_case(&given);
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

START_TEST(asynchronous) {
    const redist_index sizes[2] = {6, 8};
    redist_halo halo = REDIST_HALO_DEFAULT;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    NEEDS_STREAM_DEVICE();
    options.space = REDIST_SPACE_CUDA;
    options.asynchronous = 1;
    options.ghosts = &halo;
    refuse(&options, sizes, REDIST_ERR_ARGUMENT,
           "options->ghosts is not supported with options->asynchronous");
}
END_TEST

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
    const TTest *const tests[] = {random_cases, bricks,   operators, on_a_device,
                                  asynchronous, refusals, NULL};
    return harness_run(argc, argv, "test_fftnd_ghosts", tests);
}
