/* SPDX-License-Identifier: BSD-3-Clause */
#include "applied.h"

#include <string.h>

/* ---------------------------------------------------------------- both transforms */

/* Memory for the layout of an array in the middle, which no program lists. */
struct middle {
    struct fftnd__layout layout;
    redist_index numbers[4 * REDIST_MAX_NDIMS + 1];
    ptrdiff_t strides[REDIST_MAX_NDIMS + 1];
};

/* A transform, there or back: the arrays before and after it, and their cut. */
struct half {
    struct fftnd__step steps[2];
    struct middle middle; /* of one of the steps */
    struct fftnd__cut cut;
    redist_index numbers[3 * REDIST_MAX_NDIMS]; /* of the cut */
    struct fftnd__side in, out;
};

/* Returns the array in the middle that belongs to one outside, with its layout. An axis may keep its extent outside. */
static struct fftnd__step middle_step(const struct fftnd__transform *transform,
                                      const struct fftnd__step *step,
                                      const struct fftnd__step *outside, int kept,
                                      struct middle *own) {
    const struct fftnd__chain *chain = &transform->chain;
    struct fftnd__step middle = *outside;
    fftnd__place_layout(&own->layout, chain->ndims, own->numbers, own->strides);
    fftnd__copy_layout(&own->layout, outside->layout, chain->ndims);
    middle.layout = &own->layout;
    int forward = step->direction == REDIST_FORWARD;
    middle.truncates_inside = step->truncates_inside; /* outside; a block has all modes */
    for (int i = 0; i < step->naxes; i++) {
        int axis = step->axes[i];
        if (axis == kept)
            continue;
        fftnd__set_whole(&own->layout.alignment, axis,
                         fftnd__side_extent(chain, axis, (enum fftnd_side)forward), 0);
        middle.real = axis == chain->halved ? !forward : middle.real;
    }
    return middle;
}

static void set_whole_counts(const struct fftnd__transform *transform, struct half *half) {
    for (int i = 0; i < half->cut.ndims; i++)
        if (half->cut.whole[i]) {
            half->cut.before[i] = fftnd__count_of(transform, &half->steps[0], i);
            half->cut.after[i] = fftnd__count_of(transform, &half->steps[1], i);
        }
}

/* Returns the axis transformed next to the operator: the halved one, else the last. */
static int axis_inside(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    int halved = transform->chain.halved;
    return halved >= 0 && fftnd__is_transformed(step, halved) ? halved
                                                              : step->axes[step->naxes - 1];
}

/* Begins with the array outside on both sides. */
static void begin_half(struct half *half, const struct fftnd__kernel_problem *problem, int back,
                       const struct fftnd__side *in, const struct fftnd__side *out) {
    *half = (struct half){.in = *in, .out = *out};
    fftnd__place_cut(&half->cut, REDIST_MAX_NDIMS, half->numbers);
    fftnd__copy_cut(&half->cut, problem->cut);
    half->steps[0] = half->steps[1] = *(back ? problem->step : fftnd__previous(problem->step));
}

/* Sets the axes to transform: those of the step, at first. */
static void set_axes(struct half *half, const struct fftnd__step *step, int back) {
    half->steps[1].naxes = step->naxes;
    memcpy(half->steps[1].axes, step->axes, sizeof step->axes);
    half->steps[1].direction = back ? !step->direction : step->direction;
}

static void find_half(struct half *half, const struct fftnd__applied *applied,
                      const struct fftnd__kernel_problem *problem, int back) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step;
    begin_half(half, problem, back, back ? &applied->middle[1] : problem->in,
               back ? problem->out : &applied->middle[0]);
    half->steps[!back] =
        middle_step(transform, step, &half->steps[back], applied->kept, &half->middle);
    set_axes(half, step, back);
    if (applied->inside.ndims > 0) {
        fftnd__copy_cut(&half->cut, &applied->inside);
        half->in.truncation = half->out.truncation = NULL;
        fftnd__take_axis(&half->steps[1], axis_inside(transform, step));
    }
    if (applied->trip.library != NULL)
        fftnd__remove_axis(&half->steps[1], problem->trip_axis - applied->shift);
    set_whole_counts(transform, half);
}

/* Describes the transform of the other axes, in place, of a piece that is cut inside. */
static void find_others(struct half *half, const struct fftnd__kernel_problem *problem, int back) {
    const struct fftnd__side *side = back ? problem->out : problem->in;
    begin_half(half, problem, back, side, side);
    half->steps[1].truncates_inside = 0;
    set_axes(half, problem->step, back);
    fftnd__remove_axis(&half->steps[1], axis_inside(problem->transform, problem->step));
    set_whole_counts(problem->transform, half);
}

/* Returns nonzero for pieces larger than a tile that can be cut inside: at the physical end, where no points are
 * missing between the transforms. */
static int is_large(const struct fftnd__kernel_problem *problem) {
    const struct fftnd__step *step = problem->step;
    return !problem->on_device && step->direction == REDIST_BACKWARD && step->naxes > 1 &&
           !fftnd__truncates_on(problem->transform, step, FFTND_PHYSICAL) && !step->twiddles &&
           !problem->in->in_array && !fftnd__takes_boxes(problem->transform->applied) &&
           fftnd__is_smallest(problem->cut) &&
           problem->in->bytes + problem->out->bytes > problem->transform->configuration.tile_bytes;
}

/* Cuts a piece, with one element along the axes that the array is cut along, in rows of all fields. These take half of
 * a tile, their source the other half. */
static void cut_inside(struct fftnd__applied *applied,
                       const struct fftnd__kernel_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step;
    struct middle own;
    const struct fftnd__step middle = middle_step(transform, step, step, -1, &own);
    struct fftnd__cut *inside = &applied->inside;
    size_t item = fftnd__element_bytes(transform, middle.real), row = item;
    int last = axis_inside(transform, step) + applied->shift;
    fftnd__place_cut(inside, REDIST_MAX_NDIMS, applied->numbers);
    fftnd__copy_cut(inside, problem->cut);
    for (int i = 0; i < inside->ndims; i++) {
        redist_index n = fftnd__count_of(transform, &middle, i);
        inside->whole[i] = i == last || i == applied->batch;
        inside->before[i] = inside->after[i] = problem->cut->whole[i] ? n : 1;
        if (i == applied->batch)
            n += fftnd__count_of(transform, fftnd__previous(step), i);
        row *= inside->whole[i] && n > 0 ? (size_t)n : 1;
    }
    fftnd__cut_to_fit(inside, item, row, transform->configuration.tile_bytes / 2);
}

/* ---------------------------------------------------------------- memory of a piece */

/* Lays out an array in the middle, with all modes or points of which the arrays have some. */
static void lay_out_middle(struct fftnd__applied *applied,
                           const struct fftnd__kernel_problem *problem, int i) {
    const struct fftnd__transform *transform = problem->transform;
    struct half half;
    find_half(&half, applied, problem, i);
    const struct fftnd__step *middle = &half.steps[!i];
    struct fftnd__side *side = &applied->middle[i];
    struct fftnd__piece first;
    redist_index count[REDIST_MAX_NDIMS];
    fftnd__truncation_of(&applied->truncation, transform, problem->step,
                         (enum fftnd_side) !problem->step->direction);
    side->truncation = applied->truncation.n > 0 ? &applied->truncation : NULL;
    side->item = fftnd__element_bytes(transform, middle->real);
    fftnd__find_piece(&half.cut, 0, &first);
    fftnd__widen(side->truncation, half.cut.ndims, i == 0 ? first.after : first.before, count);
    if (applied->in_place)
        *side = *problem->in;
    else
        side->bytes = fftnd__lay_out(half.cut.ndims, count, side->item, !problem->on_device,
                                     FFTND__DEVICE_ALIGNMENT, side->stride);
    for (int at = 0; at < half.cut.ndims; at++) {
        applied->extent[i][at] = half.cut.whole[at] ? fftnd__count_of(transform, middle, at) : -1;
        applied->count[at] = fftnd__count_of(transform, middle, at);
        if (at != transform->batch.axis)
            applied->start[at] = middle->layout->alignment.start[at - transform->batch.shift];
    }
}

static size_t take(size_t *next, size_t bytes) {
    size_t place = *next;
    *next += fftnd__round_up(bytes, FFTND__DEVICE_ALIGNMENT);
    return place;
}

/* Returns nonzero if rows inside a piece may be written in the place of the input's. */
static int replaces_input(const struct fftnd__kernel_problem *problem) {
    const struct fftnd__side *in = problem->in, *out = problem->out;
    redist_index count[REDIST_MAX_NDIMS];
    struct fftnd__piece first;
    fftnd__find_piece(problem->cut, 0, &first);
    fftnd__widen(out->truncation, problem->cut->ndims, first.after, count);
    return in->bytes >= out->bytes &&
           fftnd__lies_alike(problem->cut->ndims, count, in->stride, out->stride);
}

/* Places the blocks of a piece, in the memory of earlier ones that are used up and have the same layout; blocks in an
 * array get memory to plan on. In the caches a transform between two places is faster than one in place, for which FFTW
 * copies lines to a buffer and back, but several fields would take too much memory. */
static void place_blocks(struct fftnd__applied *applied,
                         const struct fftnd__kernel_problem *problem) {
    const struct fftnd__side *in = problem->in, *out = problem->out, *middle = applied->middle;
    const struct fftnd__operator *op = applied->op;
    int alike = op->inputs == op->outputs, is_single = op->inputs == 1 && alike;
    int in_apart = in->in_array || problem->outside[0];
    int out_apart = out->in_array || problem->outside[1];
    int is_cut = applied->inside.ndims > 0;
    int apart = in->item != middle[0].item || (is_single && !problem->on_device) || is_cut ||
                problem->step->truncates_inside;
    int replaces = is_cut ? replaces_input(problem) : alike;
    size_t next = 0, first, second;
    applied->places.in = take(&next, problem->outside[0] ? 0 : in->bytes);
    first = apart || in_apart ? take(&next, middle[0].bytes) : applied->places.in;
    second = alike ? first : take(&next, middle[1].bytes);
    applied->places.middle[0] = first;
    applied->places.middle[1] = second;
    applied->places.out = !apart && !out_apart ? second
                          : replaces && !in_apart && !out_apart
                              ? applied->places.in
                              : take(&next, problem->outside[1] ? 0 : out->bytes);
    applied->places.bytes = next;
}

/* Places rows behind the blocks. */
static void place_rows(struct fftnd__applied *applied) {
    const struct fftnd__operator *op = applied->op;
    size_t rows = 2 * FFTND__ROW * (size_t)(op->inputs + op->outputs) + fftnd__operator_spare(op);
    applied->places.rows =
        take(&applied->places.bytes, fftnd__takes_boxes(op) ? 0 : rows * sizeof(double));
}

/* Returns the axis whose points alone are in the middle, as its round trip adds the others; -1 = none. */
static int axis_kept(const struct fftnd__kernel_problem *problem) {
    int axis = problem->trip_axis - problem->transform->batch.shift;
    return problem->needs_trip && problem->step->truncates_inside &&
                   fftnd__is_truncated(&problem->transform->chain, axis, FFTND_PHYSICAL)
               ? axis
               : -1;
}

int fftnd__applied_create(const struct fftnd__kernel_problem *problem,
                          struct fftnd__applied **made) {
    const struct fftnd__batch *batch = &problem->transform->batch;
    struct fftnd__applied *applied = *made = redist_calloc(1, sizeof *applied);
    if (applied == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of an operator");
    applied->op = problem->transform->applied;
    applied->batch = batch->axis;
    applied->shift = batch->shift;
    applied->fields = batch->count;
    applied->in_place = problem->in_place;
    applied->kept = axis_kept(problem);
    for (int i = 0; i < 2; i++)
        applied->middle[i].stride = applied->strides[i];
    if (is_large(problem))
        cut_inside(applied, problem);
    for (int i = 0; i < 2; i++)
        lay_out_middle(applied, problem, i);
    if (!applied->in_place)
        place_blocks(applied, problem);
    place_rows(applied);
    return REDIST_OK;
}

static int create_kernel(struct fftnd__kernel *kernel, const struct half *half,
                         const struct fftnd__kernel_problem *problem) {
    struct fftnd__kernel_problem own = *problem;
    own.step = &half->steps[1];
    own.direction = half->steps[1].direction;
    own.cut = &half->cut;
    own.in = &half->in;
    own.out = &half->out;
    own.prefetches = half->in.in_array && !problem->on_device && !problem->in_place;
    return fftnd__kernel_create(kernel, &own);
}

/* Plans the round trip in the middle, or without other axes from the piece before to the one after. */
static int create_trip(struct fftnd__applied *applied,
                       const struct fftnd__kernel_problem *problem) {
    struct half half;
    find_half(&half, applied, problem, 0);
    const struct fftnd__side *in = problem->in, *out = problem->out;
    int is_alone = problem->step->naxes == 1;
    struct fftnd__piece first;
    fftnd__find_piece(&half.cut, 0, &first);
    if (is_alone && in->in_array == out->in_array && /* perhaps one array */
        !fftnd__lies_alike(half.cut.ndims, first.after, in->stride, out->stride))
        return REDIST_OK;
    struct fftnd__kernel_problem own = *problem;
    own.cut = &half.cut;
    own.in = is_alone ? in : &applied->middle[0];
    own.out = is_alone ? out : &applied->middle[1];
    return fftnd__round_trip_create(&applied->trip, &own, problem->trip_axis);
}

int fftnd__applied_plan(struct fftnd__applied *applied, const struct fftnd__kernel_problem *problem,
                        char *memory) {
    for (int i = 0; i < 2; i++)
        applied->middle[i].memory =
            applied->in_place ? problem->in->memory : memory + applied->places.middle[i];
    if (problem->trip_axis >= 0)
        REDIST_TRY(create_trip(applied, problem));
    if (applied->trip.library != NULL ? problem->step->naxes == 1 : problem->needs_trip)
        return REDIST_OK;
    for (int back = 0; back < 2; back++) {
        struct half half;
        find_half(&half, applied, problem, back);
        REDIST_TRY(create_kernel(&applied->kernels[back], &half, problem));
        if (applied->inside.ndims > 0) {
            struct half others;
            find_others(&others, problem, back);
            REDIST_TRY(create_kernel(&applied->others[back], &others, problem));
        }
    }
    return REDIST_OK;
}

void fftnd__applied_free(struct fftnd__applied *applied) {
    if (applied == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        fftnd__kernel_free(&applied->kernels[i]);
        fftnd__kernel_free(&applied->others[i]);
    }
    fftnd__round_trip_free(&applied->trip);
    redist_release(applied);
}

size_t fftnd__applied_area(const struct fftnd__applied *applied) {
    if (applied == NULL)
        return 0;
    size_t there = fftnd__kernel_area(&applied->kernels[0]);
    size_t back = fftnd__kernel_area(&applied->kernels[1]);
    return there > back ? there : back;
}

int fftnd__applied_set_area(const struct fftnd__applied *applied, void *area) {
    if (applied == NULL)
        return REDIST_OK;
    REDIST_TRY(fftnd__kernel_set_area(&applied->kernels[0], area));
    return fftnd__kernel_set_area(&applied->kernels[1], area);
}

/* ---------------------------------------------------------------- a piece */

/* Returns a block in the middle of a piece, and in `count` its extents as the array would retain them. */
static struct fftnd__block middle_block(const struct fftnd__applied *applied, int i,
                                        const struct fftnd__piece *piece,
                                        const struct fftnd__block *outside, char *memory,
                                        redist_index count[]) {
    const struct fftnd__side *side = &applied->middle[i];
    struct fftnd__block block = {.precision = outside->precision,
                                 .ndims = outside->ndims,
                                 .start = piece->start,
                                 .stride = side->stride,
                                 .item = side->item,
                                 .memory = memory + applied->places.middle[i],
                                 .truncation = side->truncation,
                                 .library = outside->library,
                                 .stream = outside->stream};
    for (int at = 0; at < block.ndims; at++)
        count[at] = applied->extent[i][at] >= 0 ? applied->extent[i][at] : piece->before[at];
    fftnd__widen(side->truncation, block.ndims, count, block.count);
    return block;
}

/* Runs the round trip on all modes of the blocks. */
static int run_trip(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                    const struct fftnd__block *const blocks[2], const redist_index count[]) {
    struct lines__operation operation;
    redist_index all[REDIST_MAX_NDIMS];
    memcpy(all, count, sizeof all);
    all[applied->trip.axis] = applied->trip.modes;
    fftnd__boxes_describe(applied, piece, blocks[0], all, &operation);
    return fftnd__round_trip_run(&applied->trip, piece->shorter, &operation, blocks[0], blocks[1]);
}

/* Runs a piece, or some rows of one that is cut inside. */
static int run_both(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                    char *memory, const struct fftnd__block *in, const struct fftnd__block *out) {
    int is_alone = applied->trip.library != NULL && applied->kernels[0].library == NULL;
    redist_index count[2][REDIST_MAX_NDIMS];
    struct fftnd__block middle[2] = {middle_block(applied, 0, piece, in, memory, count[0]),
                                     middle_block(applied, 1, piece, out, memory, count[1])};
    if (applied->in_place)
        middle[0].memory = middle[1].memory = in->memory;
    const struct fftnd__block *const trip[2] = {is_alone ? in : &middle[0],
                                                is_alone ? out : &middle[1]};
    if (is_alone)
        return run_trip(applied, piece, trip, count[0]);
    REDIST_TRY(fftnd__kernel_run(&applied->kernels[0], piece->shorter, in, &middle[0]));
    REDIST_TRY(applied->trip.library != NULL ? run_trip(applied, piece, trip, count[0])
                                             : fftnd__boxes_run(applied, piece, middle, count[0],
                                                                memory + applied->places.rows));
    return fftnd__kernel_run(&applied->kernels[1], piece->shorter, &middle[1], out);
}

static int run_inside(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                      char *memory, const struct fftnd__block *in, const struct fftnd__block *out) {
    for (long long i = 0; i < applied->inside.n; i++) {
        struct fftnd__block rows_in = *in, rows_out = *out;
        struct fftnd__piece rows;
        fftnd__find_piece(&applied->inside, i, &rows);
        rows_in.memory += fftnd__offset(in->ndims, rows.start, in->stride);
        rows_out.memory += fftnd__offset(out->ndims, rows.start, out->stride);
        for (int at = 0; at < in->ndims; at++)
            rows.start[at] += piece->start[at];
        REDIST_TRY(run_both(applied, &rows, memory, &rows_in, &rows_out));
    }
    return REDIST_OK;
}

int fftnd__applied_run(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                       char *memory, const struct fftnd__block *in,
                       const struct fftnd__block *out) {
    if (applied->inside.ndims == 0)
        return run_both(applied, piece, memory, in, out);
    struct fftnd__block all[2] = {*in, *out}; /* modes, of which the rows inside have some */
    all[0].truncation = all[1].truncation = NULL;
    REDIST_TRY(fftnd__kernel_run(&applied->others[0], piece->shorter, in, &all[0]));
    REDIST_TRY(run_inside(applied, piece, memory, &all[0], &all[1]));
    return fftnd__kernel_run(&applied->others[1], piece->shorter, &all[1], out);
}
