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
    struct fftnd__cut cut;
    const struct fftnd__tiling tiling = fftnd__stage_tiling(program, transform, step);
    fftnd__place_cut(&cut, REDIST_MAX_NDIMS, numbers);
    fftnd__cut_tiles(&cut, transform, step, &tiling);
    return cut.n < fftnd__pool_size(transform->pool);
}

/* A transform of a single axis between arrays of this rank, which may be done by itself. */
static int is_untiled(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return transform->configuration.untiled && step->naxes == 1 && !step->ruins_source &&
           fftnd__previous(step)->fused_with != FFTND__PULLED &&
           fftnd__next(step)->fused_with != FFTND__PUSHED;
}

/* An operator on one field between transforms of such an axis, whose columns gain: all three work on a few columns
 * where these lie, which the second-level cache holds meanwhile. */
static int applies_in_array(const struct fftnd__transform *transform,
                            const struct fftnd__step *step) {
    const struct fftnd__operator *op = transform->applied;
    const struct lines__problem lines = {.precision = transform->precision,
                                         .effort = transform->options.effort,
                                         .general = transform->library};
    struct fftnd__truncation truncation;
    fftnd__truncation_of(&truncation, transform, step);
    return step->applies && is_untiled(transform, step) &&
           fftnd__previous(step)->buffer != FFTND__INPUT && !step->real &&
           !fftnd__previous(step)->real && truncation.n == 0 && op->type->in_place &&
           op->inputs == 1 && op->outputs == 1 && !fftnd__takes_boxes(op) &&
           transform->offload == NULL && transform->pool == NULL &&
           lines__columns_gain(&lines, transform->chain.points[step->axes[0]], 1);
}

static int goes_in_segments(const struct fftnd__step *step) {
    return fftnd__next(step)->fused_with == FFTND__PUSHED || fftnd__previous(step)->by_partitions;
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

static int has_stage(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return step->type != FFTND__EXCHANGE && !fftnd__is_empty(transform, step) &&
           !fftnd__is_empty(transform, fftnd__previous(step));
}

/* Kernels are planned on these. */
static int takes_arrays(enum setting setting) {
    return setting <= SEGMENTS || setting == COLUMNS;
}

int fftnd__needs_scratch(const struct fftnd__program *program,
                         const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps; i++)
        if (has_stage(transform, &program->steps[i]) &&
            takes_arrays(setting_of(program, transform, &program->steps[i])))
            return !transform->space->asynchronous;
    return 0;
}

static int set_sides(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                     const struct fftnd__step *step) {
    int forward = step->direction == REDIST_FORWARD;
    stage->in.item = fftnd__element_bytes(transform, fftnd__previous(step)->real);
    stage->out.item = fftnd__element_bytes(transform, step->real);
    struct fftnd__truncation found;
    fftnd__truncation_of(&found, transform, step);
    if (found.n == 0 || step->truncates_inside)
        return REDIST_OK;
    stage->truncation = redist_calloc(1, sizeof *stage->truncation);
    if (stage->truncation == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    *stage->truncation = found;
    if (!forward)
        stage->in.truncation = stage->truncation;
    if (forward != step->applies)
        stage->out.truncation = stage->truncation;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- arrays, whole or in segments */

static int same_array(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return fftnd__previous(step)->buffer == step->buffer ||
           (transform->options.in_place && fftnd__previous(step)->buffer <= FFTND__OUTPUT &&
            step->buffer <= FFTND__OUTPUT);
}

static int create_events(struct fftnd__stage *stage, const redist__space *space) {
    stage->events = redist_calloc((size_t)stage->cut.n, sizeof *stage->events);
    if (stage->events == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for %lld events",
                              stage->cut.n);
    for (long long i = 0; i < stage->cut.n; i++)
        REDIST_TRY(space->event_create(&stage->events[i]));
    return REDIST_OK;
}

/* What is pushed goes one piece behind, which the host waits for, unless that goes in streams too. */
static int set_window(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                      const struct fftnd__step *step) {
    if (transform->options.asynchronous)
        return REDIST_OK;
    stage->window = 2;
    return fftnd__next(step)->fused_with == FFTND__PUSHED && transform->space->asynchronous
               ? create_events(stage, transform->space)
               : REDIST_OK;
}

/* Several axes of which some are truncated need scratch memory, for all elements of a segment. */
static int cut_arrays(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                      const struct fftnd__step *step) {
    size_t before = fftnd__step_bytes(transform, fftnd__previous(step)),
           after = fftnd__step_bytes(transform, step);
    if (!goes_in_segments(step)) {
        fftnd__cut_chunks(&stage->cut, transform, step, before > after ? before : after,
                          CHUNK_BYTES);
        return REDIST_OK;
    }
    fftnd__cut_segments(&stage->cut, transform, step);
    return set_window(stage, transform, step);
}

/* Not where the link waits for the first segment, whose second axis the second one's first axis would delay. */
static int has_two_streams(const struct fftnd__stage *stage,
                           const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    return transform->second != NULL && stage->window > 1 && stage->cut.n > 1 &&
           (fftnd__next(step)->fused_with != FFTND__PUSHED ||
            (step->naxes == 1 && fftnd__next(step)->direct_stores != FFTND__DIRECT_ALL));
}

static int plan_arrays(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, enum setting setting,
                       void *const scratch[2]) {
    const fftnd_options *options = &transform->options;
    struct fftnd__kernel_problem problem = fftnd__stage_problem(stage, transform, step);
    fftnd__set_extents(&stage->cut, transform, step);
    fftnd__byte_strides(transform, fftnd__previous(step), stage->in.stride);
    fftnd__byte_strides(transform, step, stage->out.stride);
    stage->in.in_array = stage->out.in_array = 1;
    stage->in.memory = scratch[0];
    stage->out.memory = scratch[same_array(transform, step) ? 0 : 1];
    problem.keep_input = fftnd__previous(step)->real != step->real &&
                         fftnd__previous(step)->buffer == FFTND__INPUT && !options->in_place &&
                         !options->overwrite_input;
    problem.may_ruin = fftnd__previous(step)->buffer != FFTND__INPUT || options->in_place ||
                       options->overwrite_input;
    if (setting == SEGMENTS) {
        REDIST_TRY(cut_arrays(stage, transform, step));
    } else {
        fftnd__cut_along(&stage->cut, -1, 1);
        problem.pool = transform->pool;
    }
    int stored = setting == SEGMENTS ? fftnd__next(step)->direct_stores : FFTND__DIRECT_NONE;
    if (stored)
        REDIST_TRY(fftnd__direct_stores_create(&stage->stores, &stage->kernel, &problem,
                                               fftnd__next(step)->axis_source, stored));
    else
        REDIST_TRY(fftnd__kernel_create(&stage->kernel, &problem));
    if (!has_two_streams(stage, transform, step))
        return REDIST_OK;
    stage->second = redist_calloc(1, sizeof *stage->second);
    if (stage->second == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    stage->second->library = transform->library;
    if (stage->stores.library != NULL) /* it stores in any stream, and has no kernel before that */
        return REDIST_OK;
    problem.stream = transform->second;
    return fftnd__kernel_create(stage->second, &problem);
}

/* ---------------------------------------------------------------- chunks of an array on a device */

/* Of all modes. */
static size_t spectral_bytes(const struct fftnd__cut *cut, const struct fftnd__side *spectral) {
    redist_index wide[REDIST_MAX_NDIMS];
    size_t bytes = spectral->item;
    fftnd__widen(fftnd__truncated(spectral), cut->ndims, cut->after, wide);
    for (int i = 0; i < cut->ndims; i++)
        bytes *= (size_t)wide[i];
    return bytes;
}

/* The physical side is where it is in the array, the spectral one in scratch memory. */
static int plan_chunks(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, void *const scratch[2]) {
    int forward = step->direction == REDIST_FORWARD, ndims = step->layout->local.ndims;
    struct fftnd__side *physical = forward ? &stage->in : &stage->out,
                       *spectral = forward ? &stage->out : &stage->in;
    const struct fftnd__kernel_problem problem = fftnd__stage_problem(stage, transform, step);
    redist_index wide[REDIST_MAX_NDIMS];
    struct fftnd__piece first;
    fftnd__set_extents(&stage->cut, transform, step);
    fftnd__cut_chunks(&stage->cut, transform, step, spectral_bytes(&stage->cut, spectral),
                      CHUNK_BYTES);
    fftnd__find_piece(&stage->cut, 0, &first);
    fftnd__widen(fftnd__truncated(spectral), ndims, forward ? first.after : first.before, wide);
    spectral->bytes =
        fftnd__lay_out(ndims, wide, spectral->item, 0, FFTND__DEVICE_ALIGNMENT, spectral->stride);
    spectral->memory = scratch[0];
    fftnd__byte_strides(transform, forward ? fftnd__previous(step) : step, physical->stride);
    physical->in_array = 1;
    physical->memory = scratch[1];
    return fftnd__kernel_create(&stage->kernel, &problem);
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

static void lay_out_chunks(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    const fftnd_options *options = &transform->options;
    int keeps_input = step->direction == REDIST_BACKWARD &&
                      fftnd__previous(step)->buffer == FFTND__INPUT && !options->in_place &&
                      !options->overwrite_input;
    struct fftnd__piece first;
    fftnd__find_piece(&stage->cut, 0, &first);
    lay_out_chunk(&stage->in, transform, fftnd__previous(step), first.before, !keeps_input);
    lay_out_chunk(&stage->out, transform, step, first.after, 1);
}

/* What is pushed chunk by chunk has as many as others have segments, what arrives as many as there are partitions. */
static size_t chunk_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step,
                          size_t bytes, int may_be_large) {
    const struct fftnd__configuration *configuration = &transform->configuration;
    int sent = fftnd__next(step)->fused_with == FFTND__PUSHED ? configuration->segments : 1;
    int arriving = fftnd__previous(step)->by_partitions ? configuration->partitions : 1;
    size_t n = (size_t)(sent > arriving ? sent : arriving);
    return may_be_large || bytes / n < APPLIED_BYTES ? bytes / n + 1 : APPLIED_BYTES;
}

static int place_chunks(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                        const struct fftnd__step *step, size_t bytes, int may_be_large,
                        struct fftnd__applied_problem *problem) {
    fftnd__applied_free(stage->applied);
    fftnd__set_extents(&stage->cut, transform, step);
    fftnd__cut_chunks(&stage->cut, transform, step, bytes,
                      chunk_bytes(transform, step, bytes, may_be_large));
    lay_out_chunks(stage, transform, step);
    *problem = fftnd__stage_applied_problem(stage, transform, step);
    return fftnd__applied_create(problem, &stage->applied);
}

static int try_chunks(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                      const struct fftnd__step *step, size_t bytes, int makes_trip,
                      void *const scratch[2]) {
    struct fftnd__applied_problem problem;
    REDIST_TRY(place_chunks(stage, transform, step, bytes, makes_trip, &problem));
    problem.trip_axis = makes_trip ? problem.trip_axis : -1;
    problem.needs_trip = makes_trip;
    stage->in.memory =
        stage->in.in_array ? scratch[1] : (char *)scratch[0] + stage->applied->places.in;
    stage->out.memory =
        stage->out.in_array ? scratch[1] : (char *)scratch[0] + stage->applied->places.out;
    return fftnd__applied_plan(stage->applied, &problem, scratch[0]);
}

/* Cuts by the bytes that an uncut piece takes. What is transformed there and back in one sweep need not fit a cache. */
static int plan_applied_chunks(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                               const struct fftnd__step *step, void *const scratch[2]) {
    struct fftnd__applied_problem problem;
    stage->kernel.library = transform->library;
    REDIST_TRY(place_chunks(stage, transform, step, 1, 0, &problem));
    size_t bytes = stage->applied->places.bytes;
    if (problem.trip_axis >= 0)
        REDIST_TRY(try_chunks(stage, transform, step, bytes, 1, scratch));
    if (stage->applied->trip.library == NULL)
        REDIST_TRY(try_chunks(stage, transform, step, bytes, 0, scratch));
    return fftnd__next(step)->fused_with == FFTND__PUSHED ? set_window(stage, transform, step)
                                                          : REDIST_OK;
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

/* Memory to plan in, of one tile. Those that run share theirs with other stages: each has so many bytes for each
 * thread. */
static int borrow_tiles(struct fftnd__stage *stage, size_t bytes, size_t share, void **borrowed,
                        char **memory) {
    *borrowed = redist_calloc(bytes + ALIGNMENT, 1);
    if (*borrowed == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              bytes);
    stage->share = share;
    stage->tile_bytes = share * (size_t)fftnd__pool_size(stage->pool) + ALIGNMENT;
    *memory = (char *)*borrowed + (ALIGNMENT - (uintptr_t)*borrowed % ALIGNMENT) % ALIGNMENT;
    return REDIST_OK;
}

/* The sides are laid out; what the step reads may be ruined in memory of its own. */
static int plan_applied(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                        const struct fftnd__step *step) {
    const struct fftnd__applied_problem problem =
        fftnd__stage_applied_problem(stage, transform, step);
    void *borrowed;
    char *memory = NULL;
    stage->kernel.library =
        transform->library; /* what changes the pieces; they have no plan here */
    REDIST_TRY(fftnd__applied_create(&problem, &stage->applied));
    size_t bytes = stage->applied->places.bytes;
    REDIST_TRY(borrow_tiles(stage, bytes, bytes, &borrowed, &memory));
    stage->in.memory = memory + stage->applied->places.in;
    stage->out.memory = memory + stage->applied->places.out;
    int code = fftnd__applied_plan(stage->applied, &problem, memory);
    redist_release(borrowed);
    return code;
}

/* As many columns as are read and written at once. The memory of pieces has but rows of the operator. */
static int plan_columns(struct fftnd__stage *stage, const struct fftnd__program *program,
                        const struct fftnd__transform *transform, const struct fftnd__step *step,
                        void *const scratch[2]) {
    struct fftnd__applied_problem problem = fftnd__stage_applied_problem(stage, transform, step);
    struct fftnd__tiling tiling = fftnd__stage_tiling(program, transform, step);
    void *borrowed;
    char *memory = NULL;
    problem.in_place = 1;
    tiling.bytes = (size_t)transform->chain.points[step->axes[0]] * LINES__AT_ONCE_BYTES;
    fftnd__cut_tiles(&stage->cut, transform, step, &tiling);
    fftnd__byte_strides(transform, fftnd__previous(step), stage->in.stride);
    fftnd__byte_strides(transform, step, stage->out.stride);
    stage->in.in_array = stage->out.in_array = 1;
    stage->kernel.library = transform->library;
    stage->in.memory = scratch[0];
    stage->out.memory = scratch[same_array(transform, step) ? 0 : 1];
    REDIST_TRY(fftnd__applied_create(&problem, &stage->applied));
    size_t bytes = stage->applied->places.bytes;
    REDIST_TRY(borrow_tiles(stage, bytes, bytes, &borrowed, &memory));
    int code = fftnd__applied_plan(stage->applied, &problem, memory);
    redist_release(borrowed);
    return code;
}

static int plan_tiles(struct fftnd__stage *stage, const struct fftnd__program *program,
                      const struct fftnd__transform *transform, const struct fftnd__step *step) {
    struct fftnd__kernel_problem problem = fftnd__stage_problem(stage, transform, step);
    const struct fftnd__tiling tiling = fftnd__stage_tiling(program, transform, step);
    int changes = fftnd__previous(step)->real != step->real;
    int ruins_source =
        (changes || step->twiddles || step->applies) && step->direction == REDIST_BACKWARD;
    void *borrowed;
    struct fftnd__piece first;
    fftnd__cut_tiles(&stage->cut, transform, step, &tiling);
    fftnd__find_piece(&stage->cut, 0, &first);
    lay_out_side(&stage->in, transform, fftnd__previous(step), first.before,
                 tiling.local_load && !ruins_source);
    lay_out_side(&stage->out, transform, step, first.after,
                 tiling.local_store && tiling.cached_store &&
                     (step->applies || !stage->in.in_array));
    int apart = changes || stage->in.in_array || stage->out.in_array;
    stage->pool = transform->pool;
    if (step->applies)
        return plan_applied(stage, transform, step);
    size_t in = stage->in.bytes, out = apart ? stage->out.bytes : 0;
    size_t share = (stage->in.in_array ? 0 : in) + (stage->out.in_array ? 0 : out);
    REDIST_TRY(borrow_tiles(stage, in + out, share, &borrowed, &stage->in.memory));
    stage->out.memory = stage->in.memory + (apart ? in : 0);
    problem.prefetches = stage->in.in_array;
    int code = fftnd__kernel_create(&stage->kernel, &problem);
    redist_release(borrowed);
    return code;
}

/* ---------------------------------------------------------------- all stages */

/* Allocates a stage, and behind it the numbers of its cuts and the strides of its sides. */
static struct fftnd__stage *allocate(int ndims) {
    size_t n = (size_t)ndims;
    struct fftnd__stage *stage =
        redist_calloc(1, sizeof *stage + n * (3 * sizeof(redist_index) + 2 * sizeof(ptrdiff_t)));
    if (stage == NULL)
        return NULL;
    fftnd__place_cut(&stage->cut, ndims, (redist_index *)(stage + 1));
    stage->in.stride = (ptrdiff_t *)((redist_index *)(stage + 1) + 3 * n);
    stage->out.stride = stage->in.stride + n;
    return stage;
}

static int plan_stage(struct fftnd__program *program, const struct fftnd__transform *transform,
                      struct fftnd__step *step, void *const scratch[2]) {
    enum setting setting = setting_of(program, transform, step);
    struct fftnd__stage *stage = step->stage = allocate(step->layout->local.ndims);
    if (stage == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    stage->window = 1;
    REDIST_TRY(set_sides(stage, transform, step));
    switch (setting) {
    case TILES:
        return plan_tiles(stage, program, transform, step);
    case COLUMNS:
        return plan_columns(stage, program, transform, step, scratch);
    case CHUNKS:
        return (step->applies ? plan_applied_chunks : plan_chunks)(stage, transform, step, scratch);
    case DEVICE_TILES:
        return fftnd__stage_plan_device(stage, program, transform, step);
    default:
        return plan_arrays(stage, transform, step, setting, scratch);
    }
}

int fftnd__plan_stages(struct fftnd__program *program, const struct fftnd__transform *transform,
                       void *const scratch[2]) {
    for (int i = 1; i <= program->nsteps; i++)
        if (has_stage(transform, &program->steps[i]))
            REDIST_TRY(plan_stage(program, transform, &program->steps[i], scratch));
    return REDIST_OK;
}

static void free_stage(struct fftnd__stage *stage, const redist__space *space) {
    fftnd__stage_free_kernels(stage);
    for (long long i = 0; i < stage->cut.n && stage->events != NULL; i++)
        space->event_destroy(stage->events[i]);
    redist_release(stage->events);
    redist_release(stage->truncation);
    redist_release(stage);
}

void fftnd__free_stages(struct fftnd__program *program, const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps; i++) {
        if (program->steps[i].stage != NULL)
            free_stage(program->steps[i].stage, transform->space);
        program->steps[i].stage = NULL;
    }
}
