/* SPDX-License-Identifier: BSD-3-Clause */
/* Planning, executing and checking one case: see fft_run.h. */
#include "fft_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft_layout.h"
#include "fft_sides.h"
#include "harness.h"
#include "poison.h"
#include "random.h"

/* ---------------------------------------------------------------- making a run */

/* Checks that a side lies where it does in a plan for all ranks. */
static void check_part(const fft_run *run, const fftnd_plan *plan, enum fftnd_side side) {
    fftnd_layout own = FFTND_LAYOUT_DEFAULT, all = FFTND_LAYOUT_DEFAULT;
    check_ok(fftnd_plan_layout(run->plan, side, &own));
    check_ok(fftnd_plan_layout(plan, side, &all));
    check_all(memcmp(own.sizes, all.sizes, sizeof own.sizes) == 0 &&
                  memcmp(own.start, all.start, sizeof own.start) == 0 &&
                  memcmp(own.count, all.count, sizeof own.count) == 0,
              "side %d lies elsewhere than without `ranks`", (int)side);
}

/* Checks the number of ranks, and takes grid and order of the sides: those of a plan for all ranks. */
static void check_ranks(fft_run *run) {
    const redist_index wanted = run->given->options.ranks, found = run->info.ranks;
    fft_case all = *run->given;
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    int nranks, product = 1;
    MPI_Comm_size(run->comm, &nranks);
    for (int i = 0; i < run->info.grid_ndims; i++) {
        product *= run->info.grid[i];
    }
    check_all(found == product && (wanted < 0 ? found <= nranks : found == wanted),
              "%lld ranks on a grid of %d, not %lld", (long long)found, product, (long long)wanted);
    all.options.ranks = 0;
    check_ok(fft_case_plan(run->comm, &all, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_all(info.ranks == nranks, "a plan without `ranks` has %lld", (long long)info.ranks);
    check_part(run, plan, FFTND_PHYSICAL);
    check_part(run, plan, FFTND_SPECTRAL);
    check_ok(fftnd_plan_free(&plan));
    run->info.grid_ndims = info.grid_ndims;
    memcpy(run->info.grid, info.grid, sizeof info.grid);
    memcpy(run->info.order, info.order, sizeof info.order);
}

static void check_info(fft_run *run, int has_workspace) {
    check_ok(fftnd_plan_info_init(&run->info, sizeof run->info));
    check_ok(fftnd_plan_get_info(run->plan, &run->info));
    if (run->given->options.ranks != 0) {
        check_ranks(run);
        return;
    }
    const char *found = fft_info_fault(run->given, run->comm, &run->info, has_workspace);
    check_all(found == NULL, "fftnd_plan_get_info: %s", found);
}

static void check_plan(fft_run *run) {
    const char *found;
    check_ok(fft_case_plan(run->comm, run->given, &run->plan));
    check_info(run, !run->given->options.user_workspace);
    for (enum fftnd_side side = FFTND_PHYSICAL; side <= FFTND_SPECTRAL; side++) {
        check_ok(fftnd_layout_init(&run->layout[side], sizeof run->layout[side]));
        check_ok(fftnd_plan_layout(run->plan, side, &run->layout[side]));
        found = run->given->options.ranks != 0
                    ? NULL
                    : fft_layout_fault(run->given, run->comm, &run->info, side, &run->layout[side]);
        check_all(found == NULL, "fftnd_plan_layout of side %d: %s", (int)side, found);
    }
}

static void create_arrays(fft_run *run, const enum fft_memory memory[2]) {
    const fft_case *given = run->given;
    const int in_place = given->options.in_place;
    const size_t number_bytes = fft_case_number_bytes(given);
    size_t bytes[2] = {run->layout[0].bytes, run->layout[1].bytes};
    if (in_place && bytes[1] > bytes[0]) {
        bytes[0] = bytes[1];
    }
    for (int side = 0; side < (in_place ? 1 : 2); side++) {
        check_ok(fft_array_create(run->comm, bytes[side], memory[side], number_bytes,
                                  &run->store[side]));
    }
    run->array[0] = &run->store[0];
    run->array[1] = &run->store[in_place ? 0 : 1];
}

void fft_run_set_workspace(fft_run *run, fft_array *workspace) {
    run->workspace = workspace;
    check_ok(fftnd_plan_set_workspace(run->plan, fft_array_address(workspace), workspace->bytes));
    check_info(run, 1);
}

void fft_run_create(MPI_Comm comm, const fft_case *given, fft_run *run) {
    *run = (fft_run){.comm = comm, .given = given};
    harness_case("%s", fft_case_text(given));
    check_plan(run);
    create_arrays(run, given->memory);
    fft_reference_create(comm, given, random_bits(), &run->reference);
    if (given->options.user_workspace) {
        check_ok(fft_array_create(comm, run->info.workspace_bytes, given->workspace,
                                  fft_case_number_bytes(given), &run->own_workspace));
        fft_run_set_workspace(run, &run->own_workspace);
    }
}

void fft_run_free(fft_run *run) {
    harness_case("freeing %s", fft_case_text(run->given));
    check_ok(fftnd_plan_free(&run->plan));
    check_all(run->plan == NULL, "fftnd_plan_free left the pointer");
    check_ok(fft_array_free(&run->store[0]));
    check_ok(fft_array_free(&run->store[1]));
    check_ok(fft_array_free(&run->own_workspace));
    fft_reference_free(&run->reference);
}

/* ---------------------------------------------------------------- values */

static const long double *oracle_value(const fft_reference *reference, enum fftnd_side side,
                                       const fft_place *place) {
    const size_t element = (size_t)place->field * reference->nelements[side] + place->global;
    return reference->values[side] + element * (size_t)reference->ncomponents[side];
}

void fft_run_load(fft_run *run, enum fftnd_side side, long double factor) {
    const fft_walk walk = fft_walk_make(&run->layout[side], run->given->options.batch);
    const size_t number_bytes = fft_case_number_bytes(run->given);
    unsigned char *data = run->array[side]->data;
    fft_array_poison(run->array[side]);
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        const fft_place place = fft_walk_place(&walk, which);
        const long double *value = oracle_value(&run->reference, side, &place);
        for (int i = 0; i < run->reference.ncomponents[side]; i++) {
            fft_number_set(run->given, data + place.offset + (size_t)i * number_bytes,
                           value[i] * factor);
        }
    }
}

double fft_run_error(const fft_run *run, enum fftnd_side side, long double factor) {
    const fft_walk walk = fft_walk_make(&run->layout[side], run->given->options.batch);
    const size_t number_bytes = fft_case_number_bytes(run->given);
    const unsigned char *data = run->array[side]->data;
    long double largest = 0;
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        const fft_place place = fft_walk_place(&walk, which);
        const long double *value = oracle_value(&run->reference, side, &place);
        for (int i = 0; i < run->reference.ncomponents[side]; i++) {
            const long double got =
                fft_number_get(run->given, data + place.offset + (size_t)i * number_bytes);
            const long double error = fabsl(got - value[i] * factor);
            largest = isnan(error) ? INFINITY : fmaxl(largest, error);
        }
    }
    return (double)(largest / (run->reference.largest[side] * factor));
}

/* ---------------------------------------------------------------- executing */

void *fft_run_data(const fft_run *run, enum fftnd_side side) {
    return fft_array_address(run->array[side]);
}

/* The arrays of a run that are on a device, there and back. */
static void move_arrays(const fft_run *run, void (*move)(const fft_array *array)) {
    move(run->array[0]);
    move(run->array[1]);
    if (run->workspace != NULL) {
        move(run->workspace);
    }
}

static int transform(fft_run *run, enum fftnd_side side) {
    void *physical = fft_run_data(run, FFTND_PHYSICAL);
    void *spectral = fft_run_data(run, FFTND_SPECTRAL);
    return side == FFTND_PHYSICAL ? fftnd_forward(run->plan, physical, spectral)
                                  : fftnd_backward(run->plan, spectral, physical);
}

int fft_run_execute(fft_run *run, enum fftnd_side side) {
    move_arrays(run, fft_array_upload);
    poison_forget();
    const int code = transform(run, side);
    run->raised = poison_raised();
    move_arrays(run, fft_array_download);
    return code;
}

static const char *direction_name(enum fftnd_side from) {
    return from == FFTND_PHYSICAL ? "forward" : "backward";
}

/* Marks the bytes of the elements of a side. In place the spare numbers at the ends of real rows are the library's,
 * unless there is padding before them. */
static void mark_elements(const fft_run *run, enum fftnd_side side, unsigned char used[]) {
    fftnd_layout layout = run->layout[side];
    const int halved = fft_case_halved_axis(run->given);
    if (side == FFTND_PHYSICAL && halved >= 0 && layout.offset == 0) {
        layout.count[halved] += fft_sides_spare(run->given, &run->info, layout.count);
    }
    const fft_walk walk = fft_walk_make(&layout, run->given->options.batch);
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        memset(used + fft_walk_place(&walk, which).offset, 1, layout.element_bytes);
    }
}

static int is_padded(const fft_run *run, enum fftnd_side side) {
    int padded = 0;
    for (int axis = 0; axis < run->given->ndims; axis++) {
        padded |= run->given->padding[side][axis] != 0;
    }
    return padded;
}

/* Bytes that a transform has changed in the array of a side beside the elements of the sides that are in it: none,
 * unless it may use the array as it likes. */
static size_t count_changed(const fft_run *run, enum fftnd_side side) {
    const fft_array *array = run->array[side];
    const int in_place = run->given->options.in_place;
    const int is_free = in_place || run->given->options.overwrite_input;
    const enum fftnd_side other = in_place ? fft_case_opposite(side) : side;
    if (array->bytes == 0 || (is_free && !is_padded(run, side) && !is_padded(run, other))) {
        return 0;
    }
    unsigned char *used = calloc(array->bytes, 1);
    mark_elements(run, side, used);
    mark_elements(run, other, used);
    const size_t changed = fft_array_changed(array, used);
    free(used);
    return changed;
}

/* What a transform from `side` may not change. */
static void check_bytes(const fft_run *run, enum fftnd_side side) {
    const fftnd_options *options = &run->given->options;
    const fft_array *workspace = run->workspace;
    const int may_change = options->in_place || options->overwrite_input;
    check_all(may_change || fft_array_is_as_kept(run->array[side]), "%s changed its input",
              direction_name(side));
    check_all(fft_array_is_guarded(run->array[0]) && fft_array_is_guarded(run->array[1]),
              "%s wrote outside an array", direction_name(side));
    check_all(count_changed(run, FFTND_PHYSICAL) == 0 && count_changed(run, FFTND_SPECTRAL) == 0,
              "%s changed %zu bytes of padding on the physical side, %zu on the spectral one",
              direction_name(side), count_changed(run, FFTND_PHYSICAL),
              count_changed(run, FFTND_SPECTRAL));
    check_all(run->raised == NULL, "%s raised %s", direction_name(side), run->raised);
    check_all(workspace == NULL || fft_array_is_guarded(workspace),
              "%s wrote outside the work space", direction_name(side));
}

static void check_result(const fft_run *run, enum fftnd_side side, long double factor,
                         const char *what) {
    const double tolerance = fft_case_tolerance(run->given);
    const double error = fft_run_error(run, side, factor);
    check_all(error <= tolerance, "%s is off by %.3g, more than %.3g", what, error, tolerance);
}

/* What a forward and a backward transform multiply with. */
static long double round_trip_factor(const fft_case *given) {
    return given->options.scaling == FFTND_SCALE_NONE ? fft_case_logical_size(given) : 1;
}

void fft_run_transform(fft_run *run, enum fftnd_side side) {
    const enum fftnd_side target = fft_case_opposite(side);
    const long double scale = fft_case_scale(run->given, FFTND_PHYSICAL);
    const long double round_trip = round_trip_factor(run->given);
    harness_case("%s of %s", direction_name(side), fft_case_text(run->given));
    fft_array_poison(run->array[target]);
    if (run->workspace != NULL) {
        fft_array_poison(run->workspace);
    }
    fft_run_load(run, side, side == FFTND_SPECTRAL ? scale : 1);
    fft_array_keep(run->array[side]);
    check_ok(fft_run_execute(run, side));
    check_result(run, target, target == FFTND_SPECTRAL ? scale : round_trip, direction_name(side));
    check_bytes(run, side);
}

void fft_run_round_trips(fft_run *run) {
    const long double factor = round_trip_factor(run->given);
    harness_case("round trips of %s", fft_case_text(run->given));
    fft_run_load(run, FFTND_PHYSICAL, 1);
    move_arrays(run, fft_array_upload);
    for (int i = 0; i < 2; i++) {
        check_ok(transform(run, FFTND_PHYSICAL));
        check_ok(transform(run, FFTND_SPECTRAL));
    }
    move_arrays(run, fft_array_download);
    check_result(run, FFTND_PHYSICAL, factor * factor, "the second round trip");
}

/* A user may use other arrays each time, of other memory unless peers were promised to map it. Not on devices, where
 * what peers have mapped outlives the plan. */
static void renew_arrays(fft_run *run) {
    const int low = run->given->options.mapped_arrays ? FFT_MEMORY_SHARED : FFT_MEMORY_HEAP;
    enum fft_memory memory[2];
    for (int side = 0; side < 2; side++) {
        check_ok(fft_array_free(&run->store[side]));
        memory[side] = (enum fft_memory)random_between(low, FFT_MEMORY_LOCAL);
    }
    harness_case("memory %d and %d of %s", memory[0], memory[1], fft_case_text(run->given));
    create_arrays(run, memory);
}

void fft_run_limit(MPI_Comm comm, fft_case *given, size_t bytes) {
    fftnd_plan *plan = NULL;
    int code = REDIST_ERR_ARGUMENT;
    for (; code == REDIST_ERR_ARGUMENT; bytes *= 2) {
        given->options.device_bytes = bytes;
        harness_case("limit for %s", fft_case_text(given));
        code = fft_case_plan(comm, given, &plan);
    }
    check_ok(code);
    check_ok(fftnd_plan_free(&plan));
}

void fft_check_once(MPI_Comm comm, const fft_case *given) {
    fft_run run;
    fft_run_create(comm, given, &run);
    fft_run_transform(&run, FFTND_PHYSICAL);
    if (given->drops_modes) {
        fft_reference_use_returned(&run.reference);
    }
    fft_run_transform(&run, FFTND_SPECTRAL);
    if (fft_case_repeats(given)) {
        fft_run_round_trips(&run);
    } else {
        fft_reference_use_returned(&run.reference); /* the noise again */
    }
    if (!given->options.pin_arrays && given->options.space != REDIST_SPACE_CUDA &&
        random_chance(30)) {
        renew_arrays(&run);
        fft_run_transform(&run, FFTND_PHYSICAL);
    }
    fft_run_free(&run);
}

void fft_check(MPI_Comm comm, const fft_case *given) {
    fft_case apart = *given;
    if (harness_draws_case()) {
        fft_check_once(comm, given);
    }
    apart.options.fusion = FFTND_FUSION_NEVER;
    if (harness_nranks > 1 && harness_draws_case()) {
        fft_check_once(comm, &apart);
    }
}

/* Every way to write nranks as a product, from grid dimension `dim` on. */
static void check_grids(fft_case *given, int dim, int nranks) {
    if (dim == given->options.grid_ndims - 1) {
        given->grid[dim] = nranks;
        fft_check(MPI_COMM_WORLD, given);
        return;
    }
    for (int factor = 1; factor <= nranks; factor++) {
        if (nranks % factor == 0) {
            given->grid[dim] = factor;
            check_grids(given, dim + 1, nranks / factor);
        }
    }
}

void fft_check_all_grids(fft_case given) {
    for (int grid_ndims = 1; grid_ndims < given.ndims; grid_ndims++) {
        given.options.grid_ndims = grid_ndims;
        check_grids(&given, 0, harness_nranks);
    }
}

static void *transform_noise(const fft_case *given, size_t *bytes) {
    fft_run run;
    random_seed(1);
    fft_run_create(MPI_COMM_WORLD, given, &run);
    fft_run_transform(&run, FFTND_PHYSICAL);
    *bytes = run.layout[FFTND_SPECTRAL].bytes;
    void *copy = calloc(*bytes + 1, 1);
    if (*bytes > 0) {
        memcpy(copy, fft_run_data(&run, FFTND_SPECTRAL), *bytes);
    }
    fft_run_free(&run);
    return copy;
}

void fft_check_same(const fft_case *one, const fft_case *other) {
    size_t bytes[2];
    void *first = transform_noise(one, &bytes[0]), *second = transform_noise(other, &bytes[1]);
    check_all(bytes[0] == bytes[1] && memcmp(first, second, bytes[0]) == 0, "the results differ");
    free(first);
    free(second);
}
