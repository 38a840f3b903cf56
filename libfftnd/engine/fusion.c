/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusion: exchanges that the transforms beside them do, and the arrays of all steps. */
#include "../program/program.h"
#include "parts.h"

#include <limits.h>
#include <string.h>

/* Runs shorter than a cache line move more than they carry. */
enum { SHORTEST_RUN = 64 };

static int is_exchange(const struct fftnd__step *step) {
    return step->type == FFTND__EXCHANGE;
}

/* ---------------------------------------------------------------- arrays */

/* Lets the last steps run in the output, as long as all of them may run in place. */
static void find_last_steps(struct fftnd__program *program) {
    int reaches = 1;
    for (int i = program->nsteps; i >= 1; i--) {
        program->steps[i].reaches_output = reaches;
        reaches = reaches && program->steps[i].type == FFTND__KEEPS_LAYOUT;
    }
}

/* Reduces numbers of all ranks. Collective. */
static int reduce(const struct fftnd__transform *transform, int n, long long numbers[],
                  MPI_Op operation) {
    return redist_all_reduce(transform->comm, numbers, n, MPI_LONG_LONG, operation);
}

/* Facts of a step; with truncation the sides on which the serial library can do it, from bit INSIDE on. */
enum { KEEPS_LAYOUT = 1, FITS_OUTPUT = 2, INSIDE = 2 };

static long long facts_of(const struct fftnd__program *program,
                          const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    const struct fftnd__step *last = &program->steps[program->nsteps];
    long long facts = step->type == FFTND__KEEPS_LAYOUT ? KEEPS_LAYOUT : 0;
    if (fftnd__step_bytes(transform, step) <= fftnd__step_bytes(transform, last))
        facts |= FITS_OUTPUT;
    if (transform->library->truncates != NULL && fftnd__truncates(transform, step))
        facts |= fftnd__may_truncate_inside(transform, step) << INSIDE;
    return facts;
}

/* Lists the steps, the same on all ranks, which choose buffers by their facts, as some may have no elements: a step
 * keeps its array's layout, its array fits the output, and the serial library truncates only if that holds on all of
 * them. One reduction finds failures, too. Collective. */
static int list_steps(struct fftnd__program *program, const struct fftnd__transform *transform,
                      int direction, int transposed, enum fftnd__split split) {
    enum { DONE = 0 };
    long long facts[FFTND__MOST_STEPS + 1] = {0};
    int own = fftnd__list_steps(program, transform, direction, transposed, split);
    facts[DONE] = own == REDIST_OK;
    for (int i = 1; own == REDIST_OK && i <= program->nsteps; i++)
        facts[i] = facts_of(program, transform, &program->steps[i]);
    int code = reduce(transform, FFTND__MOST_STEPS + 1, facts, MPI_BAND);
    if (own != REDIST_OK || code != REDIST_OK || !facts[DONE])
        return redist_agree(transform->comm, own != REDIST_OK ? own : code);
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i];
        if (step->type == FFTND__KEEPS_LAYOUT && !(facts[i] & KEEPS_LAYOUT))
            step->type = FFTND__CHANGES_LAYOUT;
        step->reaches_output = (facts[i] & FITS_OUTPUT) != 0;
        step->truncates_inside = (int)(facts[i] >> INSIDE);
    }
    return REDIST_OK;
}

/* Returns nonzero if one work array has to do, since the input may be overwritten. */
static int must_be_lean(const struct fftnd__transform *transform) {
    return transform->settings.in_place || transform->settings.overwrite_input;
}

static int uses_second_work(const struct fftnd__program *program) {
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].buffer == FFTND__WORK1)
            return 1;
    return 0;
}

/* ---------------------------------------------------------------- segments of whole arrays */

/* Returns nonzero if each piece of a transform is a box of the arrays before and after it: segments, or chunks that
 * drop nothing there. Such pieces can be sent when they are done and begin when they arrive. */
static int goes_in_pieces(const struct fftnd__transform *transform,
                          const struct fftnd__step *step) {
    int has_chunks = step->applies && transform->space->asynchronous;
    return step->naxes > 0 &&
           (!fftnd__needs_tiles(step) ||
            (has_chunks && step->direction == REDIST_FORWARD &&
             (step->truncates_inside || !fftnd__truncates_on(transform, step, FFTND_PHYSICAL))));
}

/* Returns nonzero if an axis, transformed last, has more modes before than the array after the step has points. */
static int has_no_room(const struct fftnd__transform *transform, const struct fftnd__step *step,
                       int axis) {
    return step->naxes > 1 && step->direction == REDIST_BACKWARD &&
           fftnd__is_truncated(&transform->chain, axis, FFTND_PHYSICAL);
}

/* Returns nonzero if the transform before an exchange ends with complex lines along the axis that is split, and its
 * library has targets for as many arrays. */
static int can_store_directly(const struct fftnd__transform *transform,
                              const struct fftnd__step *step) {
    const struct fftnd__step *before = fftnd__previous(step);
    const struct fftnd__configuration *configuration = &transform->configuration;
    int axis = step->axis_source - transform->batch.shift;
    if (transform->library->stores == NULL || step->grid_dim < 0 || before->real ||
        fftnd__needs_tiles(before) || fftnd__truncates_on(transform, before, FFTND_SPECTRAL) ||
        has_no_room(transform, before, axis) ||
        (configuration->direct_stores == FFTND__DIRECT_ALL &&
         configuration->grid[step->grid_dim] > LINES__MOST_TARGETS))
        return 0;
    return fftnd__is_transformed(before, axis) && !fftnd__is_r2r(transform, axis) &&
           !(before[-1].real && axis == transform->chain.halved);
}

/* Lets transforms do the exchanges into mapped arrays that follow them, segment by segment or by direct stores. */
static void push_exchanges(struct fftnd__program *program,
                           const struct fftnd__transform *transform) {
    const struct fftnd__configuration *configuration = &transform->configuration;
    for (int i = 2; i < program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i];
        if (!is_exchange(step) || !goes_in_pieces(transform, fftnd__previous(step)))
            continue;
        if (can_store_directly(transform, step))
            step->direct_stores = configuration->direct_stores;
        if (configuration->segments > 1 || step->direct_stores)
            step->fused_with = FFTND__PUSHED;
    }
}

/* Chooses the axis along which all ranks can cut a transform best in `n` pieces, -1 = none. Collective. */
static int choose_cut(const struct fftnd__transform *transform, const struct fftnd__step *step,
                      int n, int *axis) {
    redist_index extents[REDIST_MAX_NDIMS];
    long long least[REDIST_MAX_NDIMS];
    int ndims = step->layout->local.ndims, empty = fftnd__is_empty(transform, step);
    fftnd__list_cuttable(transform, step, extents);
    for (int i = 0; i < ndims; i++)
        least[i] = empty ? INT_MAX : extents[i]; /* can be cut along any axis */
    REDIST_TRY(reduce(transform, ndims, least, MPI_MIN));
    for (int i = 0; i < ndims; i++)
        extents[i] = (redist_index)least[i];
    *axis = fftnd__choose_axis(ndims, step->layout->local.order, extents, n);
    return REDIST_OK;
}

/* Returns nonzero if the next transform may begin with partitions along an axis. With direct stores each partition of
 * each rank is a target, of one piece along the axis that the exchange splits; the next exchange is not open yet. */
static int takes_partitions(const struct fftnd__transform *transform,
                            const struct fftnd__step *step, int axis) {
    const struct fftnd__configuration *configuration = &transform->configuration;
    if (axis < 0 || step->direct_stores != FFTND__DIRECT_ALL)
        return axis >= 0;
    int nothers = configuration->grid[step->grid_dim] - 1;
    return axis == step->axis_source && !is_exchange(fftnd__next(step) + 1) &&
           nothers * configuration->partitions < LINES__MOST_TARGETS;
}

/* Receives pushed exchanges by partitions, if all ranks can cut the next transform, whose results must not overwrite
 * segments that wait to be sent. Collective. */
static int receive_by_partitions(struct fftnd__program *program,
                                 const struct fftnd__transform *transform) {
    for (int i = 1; i < program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i], *next = fftnd__next(step);
        if (transform->configuration.partitions == 1 || step->fused_with != FFTND__PUSHED ||
            !goes_in_pieces(transform, next))
            continue;
        REDIST_TRY(
            choose_cut(transform, next, transform->configuration.partitions, &next->arrival_axis));
        step->by_partitions = takes_partitions(transform, step, next->arrival_axis);
    }
    return REDIST_OK;
}

/* Chooses the axes of segments, along which messages are cut too. Collective. */
static int choose_segments(struct fftnd__program *program,
                           const struct fftnd__transform *transform) {
    for (int i = 2; i < program->nsteps; i++)
        if (program->steps[i].fused_with == FFTND__PUSHED)
            REDIST_TRY(choose_cut(transform, &program->steps[i - 1],
                                  transform->configuration.segments,
                                  &program->steps[i - 1].segment_axis));
    return REDIST_OK;
}

static int needs_too_much(const struct fftnd__program *program,
                          const struct fftnd__transform *transform, int found) {
    return !found || (must_be_lean(transform) && uses_second_work(program));
}

/* Assigns buffers. If these are none or too many, gives up partitions, then pushing, of as few of the last exchanges as
 * needed. */
static int assign_lean_buffers(struct fftnd__program *program,
                               const struct fftnd__transform *transform) {
    int found = fftnd__assign_buffers(program, transform);
    for (int keeps_pushing = 1; keeps_pushing >= 0; keeps_pushing--)
        for (int i = program->nsteps; i >= 1 && needs_too_much(program, transform, found); i--) {
            struct fftnd__step *step = &program->steps[i];
            if (keeps_pushing ? !step->by_partitions : step->fused_with != FFTND__PUSHED)
                continue;
            step->by_partitions = 0;
            if (!keeps_pushing) {
                step->fused_with = FFTND__UNFUSED;
                step->direct_stores = FFTND__DIRECT_NONE;
            }
            found = fftnd__assign_buffers(program, transform);
        }
    return found;
}

/* Returns nonzero if a copy is faster than real lines alone, which take a launch each with the batch's fields side by
 * side. */
static int prefers_copy(const struct fftnd__transform *transform) {
    const struct lines__library *library = transform->library;
    return library->prefers_copy != NULL &&
           (transform->batch.axis > 0 ||
            library->prefers_copy(transform->chain.ndims, transform->chain.points,
                                  transform->precision));
}

/* Lists the steps, split as little as the buffers allow. */
static int find_steps(struct fftnd__program *program, const struct fftnd__transform *transform,
                      int direction, int transposed, int *found) {
    *found = 0;
    for (enum fftnd__split split = FFTND__UNSPLIT; split <= FFTND__WITH_COPY && !*found; split++) {
        if (split == FFTND__COPY_FIRST && !prefers_copy(transform))
            continue;
        REDIST_TRY(list_steps(program, transform, direction, transposed, split));
        if (transform->configuration.segments == 1 && !transform->configuration.direct_stores)
            find_last_steps(program);
        push_exchanges(program, transform);
        REDIST_TRY(receive_by_partitions(program, transform));
        REDIST_TRY(choose_segments(program, transform));
        *found = assign_lean_buffers(program, transform);
    }
    return REDIST_OK;
}

/* Transposes only without a second work array where one has to do, unless the user insists. */
int fftnd__build_stepwise(struct fftnd__program *program, const struct fftnd__transform *transform,
                          int direction) {
    const struct fftnd__settings *settings = &transform->settings;
    int transposed = transform->configuration.transposed, found;
    int lean = must_be_lean(transform) && settings->local_transpose != FFTND_LOCAL_TRANSPOSE_ALWAYS;
    REDIST_TRY(find_steps(program, transform, direction, transposed, &found));
    if (transposed && (!found || (lean && uses_second_work(program))))
        REDIST_TRY(find_steps(program, transform, direction, 0, &found));
    if (!found)
        return redist_fail_in(
            "libfftnd", REDIST_ERR_ARGUMENT,
            "options->in_place = %d, overwrite_input = %d and asynchronous = %d leave no "
            "array for a step between input and output: make the plan without them",
            settings->in_place, settings->overwrite_input, settings->asynchronous);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- tiles */

/* Cuts tiles without regard to the exchanges. */
static void cut_freely(const struct fftnd__transform *transform, const struct fftnd__step *step,
                       struct fftnd__cut *cut) {
    const struct fftnd__tiling tiling = {.bytes = transform->configuration.tile_bytes,
                                         .on_device = transform->workplace->copies_tiles};
    fftnd__cut_tiles(cut, transform, step, &tiling);
}

static int has_long_runs(const struct fftnd__program *program,
                         const struct fftnd__transform *transform) {
    redist_index numbers[3 * REDIST_MAX_NDIMS];
    struct fftnd__cut cut;
    fftnd__place_cut(&cut, REDIST_MAX_NDIMS, numbers);
    for (int i = 1; i <= program->nsteps; i++) {
        const struct fftnd__step *step = &program->steps[i];
        if (is_exchange(step) || fftnd__is_empty(transform, step))
            continue;
        cut_freely(transform, step, &cut);
        if (fftnd__run_bytes(&cut, cut.after, cut.after, cut.after,
                             fftnd__element_bytes(transform, step->real)) < SHORTEST_RUN)
            return 0;
    }
    return 1;
}

/* Finds the bytes of runs of an exchange if it is pushed and if it is pulled. */
static void compare_runs(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         long long *pushed, long long *pulled) {
    const redist_index *source = fftnd__previous(step)->layout->local.extent,
                       *destination = step->layout->local.extent;
    size_t item = fftnd__element_bytes(transform, step->real);
    size_t bytes = (size_t)step->layout->local.ndims * sizeof *source;
    redist_index box[REDIST_MAX_NDIMS], numbers[3 * REDIST_MAX_NDIMS];
    struct fftnd__cut cut;
    fftnd__place_cut(&cut, REDIST_MAX_NDIMS, numbers);
    cut_freely(transform, fftnd__previous(step), &cut);
    memcpy(box, destination, bytes);
    box[step->axis_destination] = source[step->axis_destination];
    *pushed = fftnd__run_bytes(&cut, cut.after, box, destination, item);
    cut_freely(transform, fftnd__next(step), &cut);
    memcpy(box, source, bytes);
    box[step->axis_source] = destination[step->axis_source];
    *pulled = fftnd__run_bytes(&cut, cut.before, box, source, item);
}

static int is_serial(const struct fftnd__program *program, int i) {
    return i >= 1 && i <= program->nsteps && !is_exchange(&program->steps[i]);
}

/* Fuses the exchanges between two transforms with the one that has longer runs; in a format all tiles are pushed.
 * Collective. */
static int fuse_exchanges(struct fftnd__program *program,
                          const struct fftnd__transform *transform) {
    for (int i = 2; i < program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i];
        long long runs[2];
        if (!is_exchange(step) || !is_serial(program, i - 1) || !is_serial(program, i + 1))
            continue;
        compare_runs(transform, step, &runs[0], &runs[1]);
        REDIST_TRY(reduce(transform, 2, runs, MPI_SUM));
        int pushes = transform->settings.wire != REDIST_WIRE_SAME || runs[0] >= runs[1];
        step->fused_with = pushes ? FFTND__PUSHED : FFTND__PULLED;
    }
    return REDIST_OK;
}

/* Fuses the exchanges between a side and the chain if peers map the user's arrays. */
static void fuse_moves(struct fftnd__program *program, const struct fftnd__transform *transform) {
    int n = program->nsteps;
    if (!transform->settings.mapped_arrays)
        return;
    if (is_exchange(&program->steps[1]) && is_serial(program, 2))
        program->steps[1].fused_with = FFTND__PULLED;
    if (is_exchange(&program->steps[n]) && is_serial(program, n - 1))
        program->steps[n].fused_with = FFTND__PUSHED;
}

static void unfuse_moves(struct fftnd__program *program) {
    struct fftnd__step *ends[2] = {&program->steps[1], &program->steps[program->nsteps]};
    for (int i = 0; i < 2; i++)
        if (is_exchange(ends[i]))
            ends[i]->fused_with = FFTND__UNFUSED;
}

static void fuse_exchanges_evenly(struct fftnd__program *program) {
    enum fftnd__fused_with with = FFTND__PUSHED;
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].fused_with != FFTND__UNFUSED) {
            program->steps[i].fused_with = with;
            with = FFTND__PULLED;
        }
}

/* Assigns buffers: none before a pushed exchange, none after a pulled one. */
static int assign_fused_buffers(struct fftnd__program *program,
                                const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i];
        int passes_on =
            step->fused_with == FFTND__PULLED || fftnd__next(step)->fused_with == FFTND__PUSHED;
        step->buffer = passes_on ? FFTND__NOWHERE : FFTND__OUTPUT;
    }
    return fftnd__assign_buffers(program, transform);
}

/* Returns nonzero if a second work array is avoidable: only transforms that drop modes, never in place, may need
 * one. */
static int wastes_work(const struct fftnd__program *program) {
    int truncates = 0;
    for (int i = 1; i <= program->nsteps; i++)
        truncates |= program->steps[i].truncates;
    return uses_second_work(program) && !truncates;
}

/* Assigns buffers. If these are none or too many, unfuses exchanges with a side, then pushes and pulls in turns, so
 * that two exchanges take one work array. Returns 0 if none can be. */
static int choose_buffers(struct fftnd__program *program,
                          const struct fftnd__transform *transform) {
    int lean = must_be_lean(transform), found = assign_fused_buffers(program, transform);
    if (!found || (lean && wastes_work(program))) {
        unfuse_moves(program);
        found = assign_fused_buffers(program, transform);
    }
    if (lean && (!found || wastes_work(program))) {
        fuse_exchanges_evenly(program);
        found = assign_fused_buffers(program, transform) && !wastes_work(program);
    }
    return found;
}

int fftnd__build_fused(struct fftnd__program *program, const struct fftnd__transform *transform,
                       int direction, int *may_fuse) {
    REDIST_TRY(list_steps(program, transform, direction, 0, FFTND__UNSPLIT));
    program->fused = 1;
    long long suited = transform->chain.nlinks > 1 && has_long_runs(program, transform);
    int code = reduce(transform, 1, &suited, MPI_MIN);
    *may_fuse = (int)suited;
    if (code == REDIST_OK && suited)
        code = fuse_exchanges(program, transform);
    if (code == REDIST_OK && suited) {
        fuse_moves(program, transform);
        *may_fuse = choose_buffers(program, transform);
    }
    return redist_agree(transform->comm, code);
}
