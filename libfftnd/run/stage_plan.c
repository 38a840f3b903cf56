/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage_plan.h"
#include "../../liblines/lines.h"
#include "stage_device.h"

#include <stdint.h>

enum { ALIGNMENT = 64 };

/* Of the modes of a chunk, at most, where the axes allow. */
enum { CHUNK_BYTES = 64 << 20 };

/* Of a chunk with an operator, which is read and written more often: what the last caches of devices hold. */
enum { APPLIED_BYTES = 32 << 20 };

/* ---------------------------------------------------------------- the settings */

enum setting {
    WHOLE,    /* one piece: the array */
    SEGMENTS, /* boxes of the array that are sent as they are done, begin as they arrive, or share scratch memory */
    CHUNKS,   /* boxes of an array of a device that have all modes in memory of their own */
    TILES,    /* in the caches */
    COLUMNS,  /* of the array, of an operator's step */
    DEVICE_TILES /* in the memory of a device */
};

/* Tiles that leave threads idle are worse than the serial library's own threads. */
static int is_coarse(const struct fftnd__program *program, const struct fftnd__transform *transform,
                     const struct fftnd__step *step) {
    redist_index numbers[3 * REDIST_MAX_NDIMS];
    struct fftnd__partition partition;
    const struct fftnd__cut cut = fftnd__pass_cut(program, transform, step);
    fftnd__place_partition(&partition, REDIST_MAX_NDIMS, numbers);
    fftnd__cut_tiles(&partition, transform, step, &cut);
    return partition.n < fftnd__pool_size(transform->pool);
}

/* A transform of a single axis between arrays of this rank, which may be done by itself. */
static int is_untiled(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return transform->configuration.untiled && step->naxes == 1 && !step->ruins_source &&
           step[-1].fused_with != FFTND__PULLED && step[1].fused_with != FFTND__PUSHED;
}

/* An operator on one field between transforms of such an axis, whose columns gain: all three work on a few columns
 * where these lie, which the second-level cache holds meanwhile. */
static int applies_in_array(const struct fftnd__transform *transform,
                            const struct fftnd__step *step) {
    const struct fftnd__operator *op = transform->applied;
    const struct lines__problem lines = {.precision = transform->precision,
                                         .effort = transform->options.effort,
                                         .library = transform->library};
    struct fftnd__truncation truncation;
    fftnd__truncation_of(&truncation, transform, step);
    return step->applies && is_untiled(transform, step) && step[-1].buffer != FFTND__INPUT &&
           !step->real && !step[-1].real && truncation.n == 0 && op->type->in_place &&
           op->inputs == 1 && op->outputs == 1 && !fftnd__takes_boxes(op) &&
           transform->offload == NULL && transform->pool == NULL &&
           lines__columns_gain(&lines, transform->chain.points[step->axes[0]], 1);
}

static int goes_in_segments(const struct fftnd__step *step) {
    return step[1].fused_with == FFTND__PUSHED || step[-1].by_partitions;
}

static enum setting setting_of(const struct fftnd__program *program,
                               const struct fftnd__transform *transform,
                               const struct fftnd__step *step) {
    if (transform->offload != NULL && step->naxes > 0)
        return DEVICE_TILES;
    if (transform->space->asynchronous &&
        (step->applies || (step->truncates && !step->truncates_inside)))
        return CHUNKS;
    if (!program->fused && (goes_in_segments(step) || (step->truncates_inside && step->naxes > 1)))
        return SEGMENTS;
    if (applies_in_array(transform, step))
        return COLUMNS;
    int tiled =
        program->fused || (transform->configuration.tiled && !transform->space->asynchronous &&
                           step->naxes > 0 && !is_coarse(program, transform, step));
    return fftnd__needs_tiles(step) || (tiled && !is_untiled(transform, step)) ? TILES : WHOLE;
}

static int has_pass(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return step->type != FFTND__EXCHANGE && !fftnd__is_empty(transform, step) &&
           !fftnd__is_empty(transform, step - 1);
}

/* Kernels are planned on these. */
static int takes_arrays(enum setting setting) {
    return setting <= SEGMENTS || setting == COLUMNS;
}

int fftnd__needs_scratch(const struct fftnd__program *program,
                         const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps; i++)
        if (has_pass(transform, &program->steps[i]) &&
            takes_arrays(setting_of(program, transform, &program->steps[i])))
            return !transform->space->asynchronous;
    return 0;
}

static int set_sides(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                     const struct fftnd__step *step) {
    int forward = step->direction == REDIST_FORWARD;
    pass->in.item = fftnd__element_bytes(transform, step[-1].real);
    pass->out.item = fftnd__element_bytes(transform, step->real);
    struct fftnd__truncation found;
    fftnd__truncation_of(&found, transform, step);
    if (found.n == 0 || step->truncates_inside)
        return REDIST_OK;
    pass->truncation = redist_calloc(1, sizeof *pass->truncation);
    if (pass->truncation == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    *pass->truncation = found;
    if (!forward)
        pass->in.truncation = pass->truncation;
    if (forward != step->applies)
        pass->out.truncation = pass->truncation;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- arrays, whole or in segments */

static int same_array(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return step[-1].buffer == step->buffer ||
           (transform->options.in_place && step[-1].buffer <= FFTND__OUTPUT &&
            step->buffer <= FFTND__OUTPUT);
}

static int create_events(struct fftnd__pass *pass, const redist__space *space) {
    pass->events = redist_calloc((size_t)pass->partition.n, sizeof *pass->events);
    if (pass->events == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for %lld events",
                              pass->partition.n);
    for (long long i = 0; i < pass->partition.n; i++)
        REDIST_TRY(space->event_create(&pass->events[i]));
    return REDIST_OK;
}

/* What is pushed goes one piece behind, which the host waits for, unless that goes in streams too. */
static int set_window(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                      const struct fftnd__step *step) {
    if (transform->options.asynchronous)
        return REDIST_OK;
    pass->window = 2;
    return step[1].fused_with == FFTND__PUSHED && transform->space->asynchronous
               ? create_events(pass, transform->space)
               : REDIST_OK;
}

/* Several axes of which some are truncated need scratch memory, for all elements of a segment. */
static int cut_arrays(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                      const struct fftnd__step *step) {
    size_t before = fftnd__step_bytes(transform, step - 1),
           after = fftnd__step_bytes(transform, step);
    if (!goes_in_segments(step)) {
        fftnd__cut_chunks(&pass->partition, transform, step, before > after ? before : after,
                          CHUNK_BYTES);
        return REDIST_OK;
    }
    fftnd__cut_segments(&pass->partition, transform, step);
    return set_window(pass, transform, step);
}

/* Not where the link waits for the first segment, whose second axis the second one's first axis would delay. */
static int has_two_streams(const struct fftnd__pass *pass, const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    return transform->second != NULL && pass->window > 1 && pass->partition.n > 1 &&
           (step[1].fused_with != FFTND__PUSHED ||
            (step->naxes == 1 && step[1].stored != FFTND__STORES_ALL));
}

static int plan_arrays(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, enum setting setting,
                       void *const scratch[2]) {
    const fftnd_options *options = &transform->options;
    struct fftnd__kernel_problem problem = fftnd__pass_problem(pass, transform, step);
    fftnd__set_extents(&pass->partition, transform, step);
    fftnd__byte_strides(transform, step - 1, pass->in.stride);
    fftnd__byte_strides(transform, step, pass->out.stride);
    pass->in.in_array = pass->out.in_array = 1;
    pass->in.memory = scratch[0];
    pass->out.memory = scratch[same_array(transform, step) ? 0 : 1];
    problem.keep_input = step[-1].real != step->real && step[-1].buffer == FFTND__INPUT &&
                         !options->in_place && !options->overwrite_input;
    problem.may_ruin =
        step[-1].buffer != FFTND__INPUT || options->in_place || options->overwrite_input;
    if (setting == SEGMENTS) {
        REDIST_TRY(cut_arrays(pass, transform, step));
    } else {
        fftnd__cut_along(&pass->partition, -1, 1);
        problem.pool = transform->pool;
    }
    int stored = setting == SEGMENTS ? step[1].stored : FFTND__STORES_NONE;
    if (stored)
        REDIST_TRY(fftnd__stores_create(&pass->stores, &pass->kernel, &problem, step[1].axis_source,
                                        stored));
    else
        REDIST_TRY(fftnd__kernel_create(&pass->kernel, &problem));
    if (!has_two_streams(pass, transform, step))
        return REDIST_OK;
    pass->second = redist_calloc(1, sizeof *pass->second);
    if (pass->second == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    pass->second->library = transform->library;
    if (pass->stores.library != NULL) /* it stores in any stream, and has no kernel before that */
        return REDIST_OK;
    problem.stream = transform->second;
    return fftnd__kernel_create(pass->second, &problem);
}

/* ---------------------------------------------------------------- chunks of an array on a device */

/* Of all modes. */
static size_t spectral_bytes(const struct fftnd__partition *partition,
                             const struct fftnd__side *spectral) {
    redist_index wide[REDIST_MAX_NDIMS];
    size_t bytes = spectral->item;
    fftnd__widen(fftnd__truncated(spectral), partition->ndims, partition->after, wide);
    for (int i = 0; i < partition->ndims; i++)
        bytes *= (size_t)wide[i];
    return bytes;
}

/* The physical side is where it is in the array, the spectral one in scratch memory. */
static int plan_chunks(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, void *const scratch[2]) {
    int forward = step->direction == REDIST_FORWARD, ndims = step->layout->local.ndims;
    struct fftnd__side *physical = forward ? &pass->in : &pass->out,
                       *spectral = forward ? &pass->out : &pass->in;
    const struct fftnd__kernel_problem problem = fftnd__pass_problem(pass, transform, step);
    redist_index wide[REDIST_MAX_NDIMS];
    struct fftnd__piece first;
    fftnd__set_extents(&pass->partition, transform, step);
    fftnd__cut_chunks(&pass->partition, transform, step, spectral_bytes(&pass->partition, spectral),
                      CHUNK_BYTES);
    fftnd__find_piece(&pass->partition, 0, &first);
    fftnd__widen(fftnd__truncated(spectral), ndims, forward ? first.after : first.before, wide);
    spectral->bytes =
        fftnd__lay_out(ndims, wide, spectral->item, 0, FFTND__DEVICE_ALIGNMENT, spectral->stride);
    spectral->memory = scratch[0];
    fftnd__byte_strides(transform, forward ? step - 1 : step, physical->stride);
    physical->in_array = 1;
    physical->memory = scratch[1];
    return fftnd__kernel_create(&pass->kernel, &problem);
}

/* An array that drops modes, or must not be ruined, has its chunks in scratch memory. */
static void lay_out_chunk(struct fftnd__side *side, const struct fftnd__transform *transform,
                          const struct fftnd__step *array, const redist_index box[], int may_lie) {
    redist_index wide[REDIST_MAX_NDIMS];
    side->in_array = may_lie && fftnd__truncated(side)->n == 0;
    fftnd__widen(fftnd__truncated(side), array->layout->local.ndims, box, wide);
    side->bytes = fftnd__lay_out(array->layout->local.ndims, wide, side->item, 0,
                                 FFTND__DEVICE_ALIGNMENT, side->stride);
    if (side->in_array)
        fftnd__byte_strides(transform, array, side->stride);
}

static void lay_out_chunks(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    const fftnd_options *options = &transform->options;
    int keeps_input = step->direction == REDIST_BACKWARD && step[-1].buffer == FFTND__INPUT &&
                      !options->in_place && !options->overwrite_input;
    struct fftnd__piece first;
    fftnd__find_piece(&pass->partition, 0, &first);
    lay_out_chunk(&pass->in, transform, step - 1, first.before, !keeps_input);
    lay_out_chunk(&pass->out, transform, step, first.after, 1);
}

/* What is pushed chunk by chunk has as many as others have segments, what arrives as many as there are partitions. */
static size_t chunk_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step,
                          size_t bytes, int may_be_large) {
    const struct fftnd__configuration *configuration = &transform->configuration;
    int sent = step[1].fused_with == FFTND__PUSHED ? configuration->segments : 1;
    int arriving = step[-1].by_partitions ? configuration->partitions : 1;
    size_t n = (size_t)(sent > arriving ? sent : arriving);
    return may_be_large || bytes / n < APPLIED_BYTES ? bytes / n + 1 : APPLIED_BYTES;
}

static int place_chunks(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                        const struct fftnd__step *step, size_t bytes, int may_be_large,
                        struct fftnd__applied_problem *problem) {
    fftnd__applied_free(pass->applied);
    fftnd__set_extents(&pass->partition, transform, step);
    fftnd__cut_chunks(&pass->partition, transform, step, bytes,
                      chunk_bytes(transform, step, bytes, may_be_large));
    lay_out_chunks(pass, transform, step);
    *problem = fftnd__pass_applied_problem(pass, transform, step);
    return fftnd__applied_create(problem, &pass->applied);
}

static int try_chunks(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                      const struct fftnd__step *step, size_t bytes, int makes_trip,
                      void *const scratch[2]) {
    struct fftnd__applied_problem problem;
    REDIST_TRY(place_chunks(pass, transform, step, bytes, makes_trip, &problem));
    problem.trip_axis = makes_trip ? problem.trip_axis : -1;
    problem.needs_trip = makes_trip;
    pass->in.memory =
        pass->in.in_array ? scratch[1] : (char *)scratch[0] + pass->applied->places.in;
    pass->out.memory =
        pass->out.in_array ? scratch[1] : (char *)scratch[0] + pass->applied->places.out;
    return fftnd__applied_plan(pass->applied, &problem, scratch[0]);
}

/* How many bytes an uncut piece takes says how to cut it. What goes there and back in one pass need not fit a cache. */
static int plan_applied_chunks(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                               const struct fftnd__step *step, void *const scratch[2]) {
    struct fftnd__applied_problem problem;
    pass->kernel.library = transform->library;
    REDIST_TRY(place_chunks(pass, transform, step, 1, 0, &problem));
    size_t bytes = pass->applied->places.bytes;
    if (problem.trip_axis >= 0)
        REDIST_TRY(try_chunks(pass, transform, step, bytes, 1, scratch));
    if (pass->applied->trip.library == NULL)
        REDIST_TRY(try_chunks(pass, transform, step, bytes, 0, scratch));
    return step[1].fused_with == FFTND__PUSHED ? set_window(pass, transform, step) : REDIST_OK;
}

/* ---------------------------------------------------------------- tiles in the caches */

/* A tile that lies in the array just as it would in memory of its own needs no copy. */
static void lay_out_side(struct fftnd__side *side, const struct fftnd__transform *transform,
                         const struct fftnd__step *array, const redist_index box[], int may_lie) {
    int ndims = array->layout->local.ndims;
    redist_index count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    fftnd__widen(fftnd__truncated(side), ndims, box, count);
    fftnd__byte_strides(transform, array, stride);
    side->bytes = fftnd__lay_out(ndims, count, side->item, 0, ALIGNMENT, side->stride);
    side->in_array = may_lie && fftnd__truncated(side)->n == 0 &&
                     fftnd__lies_alike(ndims, count, side->stride, stride);
    if (!side->in_array)
        side->bytes = fftnd__lay_out(ndims, count, side->item, 1, ALIGNMENT, side->stride);
}

/* Memory to plan in, of one tile. Those that run share theirs with other passes: each has so many bytes for each
 * thread. */
static int borrow_tiles(struct fftnd__pass *pass, size_t bytes, size_t share, void **borrowed,
                        char **memory) {
    *borrowed = redist_calloc(bytes + ALIGNMENT, 1);
    if (*borrowed == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              bytes);
    pass->share = share;
    pass->tile_bytes = share * (size_t)fftnd__pool_size(pass->pool) + ALIGNMENT;
    *memory = (char *)*borrowed + (ALIGNMENT - (uintptr_t)*borrowed % ALIGNMENT) % ALIGNMENT;
    return REDIST_OK;
}

/* The sides are laid out; what the step reads may be ruined in memory of its own. */
static int plan_applied(struct fftnd__pass *pass, const struct fftnd__transform *transform,
                        const struct fftnd__step *step) {
    const struct fftnd__applied_problem problem =
        fftnd__pass_applied_problem(pass, transform, step);
    void *borrowed;
    char *memory = NULL;
    pass->kernel.library = transform->library; /* what changes the pieces; they have no plan here */
    REDIST_TRY(fftnd__applied_create(&problem, &pass->applied));
    size_t bytes = pass->applied->places.bytes;
    REDIST_TRY(borrow_tiles(pass, bytes, bytes, &borrowed, &memory));
    pass->in.memory = memory + pass->applied->places.in;
    pass->out.memory = memory + pass->applied->places.out;
    int code = fftnd__applied_plan(pass->applied, &problem, memory);
    redist_release(borrowed);
    return code;
}

/* As many columns as are read and written at once. The memory of pieces has but rows of the operator. */
static int plan_columns(struct fftnd__pass *pass, const struct fftnd__program *program,
                        const struct fftnd__transform *transform, const struct fftnd__step *step,
                        void *const scratch[2]) {
    struct fftnd__applied_problem problem = fftnd__pass_applied_problem(pass, transform, step);
    struct fftnd__cut cut = fftnd__pass_cut(program, transform, step);
    void *borrowed;
    char *memory = NULL;
    problem.in_place = 1;
    cut.bytes = (size_t)transform->chain.points[step->axes[0]] * LINES__AT_ONCE_BYTES;
    fftnd__cut_tiles(&pass->partition, transform, step, &cut);
    fftnd__byte_strides(transform, step - 1, pass->in.stride);
    fftnd__byte_strides(transform, step, pass->out.stride);
    pass->in.in_array = pass->out.in_array = 1;
    pass->kernel.library = transform->library;
    pass->in.memory = scratch[0];
    pass->out.memory = scratch[same_array(transform, step) ? 0 : 1];
    REDIST_TRY(fftnd__applied_create(&problem, &pass->applied));
    size_t bytes = pass->applied->places.bytes;
    REDIST_TRY(borrow_tiles(pass, bytes, bytes, &borrowed, &memory));
    int code = fftnd__applied_plan(pass->applied, &problem, memory);
    redist_release(borrowed);
    return code;
}

static int plan_tiles(struct fftnd__pass *pass, const struct fftnd__program *program,
                      const struct fftnd__transform *transform, const struct fftnd__step *step) {
    struct fftnd__kernel_problem problem = fftnd__pass_problem(pass, transform, step);
    const struct fftnd__cut cut = fftnd__pass_cut(program, transform, step);
    int changes = step[-1].real != step->real;
    int ruins_source =
        (changes || step->twiddles || step->applies) && step->direction == REDIST_BACKWARD;
    void *borrowed;
    struct fftnd__piece first;
    fftnd__cut_tiles(&pass->partition, transform, step, &cut);
    fftnd__find_piece(&pass->partition, 0, &first);
    lay_out_side(&pass->in, transform, step - 1, first.before, cut.local_load && !ruins_source);
    lay_out_side(&pass->out, transform, step, first.after,
                 cut.local_store && cut.cached_store && (step->applies || !pass->in.in_array));
    int apart = changes || pass->in.in_array || pass->out.in_array;
    pass->pool = transform->pool;
    if (step->applies)
        return plan_applied(pass, transform, step);
    size_t in = pass->in.bytes, out = apart ? pass->out.bytes : 0;
    size_t share = (pass->in.in_array ? 0 : in) + (pass->out.in_array ? 0 : out);
    REDIST_TRY(borrow_tiles(pass, in + out, share, &borrowed, &pass->in.memory));
    pass->out.memory = pass->in.memory + (apart ? in : 0);
    problem.prefetches = pass->in.in_array;
    int code = fftnd__kernel_create(&pass->kernel, &problem);
    redist_release(borrowed);
    return code;
}

/* ---------------------------------------------------------------- all passes */

/* Allocates a pass, and behind it the numbers of its cuts and the strides of its sides. */
static struct fftnd__pass *allocate(int ndims) {
    size_t n = (size_t)ndims;
    struct fftnd__pass *pass =
        redist_calloc(1, sizeof *pass + n * (3 * sizeof(redist_index) + 2 * sizeof(ptrdiff_t)));
    if (pass == NULL)
        return NULL;
    fftnd__place_partition(&pass->partition, ndims, (redist_index *)(pass + 1));
    pass->in.stride = (ptrdiff_t *)((redist_index *)(pass + 1) + 3 * n);
    pass->out.stride = pass->in.stride + n;
    return pass;
}

static int plan_pass(struct fftnd__program *program, const struct fftnd__transform *transform,
                     struct fftnd__step *step, void *const scratch[2]) {
    enum setting setting = setting_of(program, transform, step);
    struct fftnd__pass *pass = step->pass = allocate(step->layout->local.ndims);
    if (pass == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    pass->window = 1;
    REDIST_TRY(set_sides(pass, transform, step));
    switch (setting) {
    case TILES:
        return plan_tiles(pass, program, transform, step);
    case COLUMNS:
        return plan_columns(pass, program, transform, step, scratch);
    case CHUNKS:
        return (step->applies ? plan_applied_chunks : plan_chunks)(pass, transform, step, scratch);
    case DEVICE_TILES:
        return fftnd__pass_plan_device(pass, program, transform, step);
    default:
        return plan_arrays(pass, transform, step, setting, scratch);
    }
}

int fftnd__plan_passes(struct fftnd__program *program, const struct fftnd__transform *transform,
                       void *const scratch[2]) {
    for (int i = 1; i <= program->nsteps; i++)
        if (has_pass(transform, &program->steps[i]))
            REDIST_TRY(plan_pass(program, transform, &program->steps[i], scratch));
    return REDIST_OK;
}

static void free_pass(struct fftnd__pass *pass, const redist__space *space) {
    fftnd__pass_free_kernels(pass);
    for (long long i = 0; i < pass->partition.n && pass->events != NULL; i++)
        space->event_destroy(pass->events[i]);
    redist_release(pass->events);
    redist_release(pass->truncation);
    redist_release(pass);
}

void fftnd__free_passes(struct fftnd__program *program, const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps; i++) {
        if (program->steps[i].pass != NULL)
            free_pass(program->steps[i].pass, transform->space);
        program->steps[i].pass = NULL;
    }
}
