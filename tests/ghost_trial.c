/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ghost_trial.h"
#include "harness.h"
#include "random.h"

/* ---------------------------------------------------------------- the ghosts of a rank */

/* A place in the box of a rank or around it. */
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

/* ---------------------------------------------------------------- values */

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

/* ---------------------------------------------------------------- a trial */

void begin_trial(struct trial *trial) {
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

void end_trial(struct trial *trial) {
    fft_run_free(&trial->run);
    free(trial->boxes);
    free(trial->sums);
}

void load_sums(struct trial *trial) {
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

void check_forward(struct trial *trial) {
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

void check_result(struct trial *trial, const char *what) {
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

void check_backward(struct trial *trial) {
    fft_run *run = &trial->run;
    const fftnd_options *options = &run->given->options;
    harness_case("backward of %s", fft_case_text(run->given));
    trial->factor = options->scaling == FFTND_SCALE_NONE ? fft_case_logical_size(run->given) : 1;
    fft_array_poison(run->array[FFTND_PHYSICAL]);
    fft_run_load(run, FFTND_SPECTRAL, fft_case_scale(run->given, FFTND_PHYSICAL));
    check_ok(fft_run_execute(run, FFTND_SPECTRAL));
    check_result(trial, "backward");
}
