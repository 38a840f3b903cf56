/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include <string.h>

/* Some axes of a step, transformed at once from one side to the other. */
struct substep {
    const struct fftnd__side *in, *out;
    struct fftnd__step before, step;
    int narrow_axis; /* of which only the retained modes are transformed; -1 = none */
    int fills;       /* the library adds the points that the array lacks, which has one axis */
    unsigned few;    /* other axes of the library's numbers of which there are only filled points */
};

/* Returns the number of retained modes, rounded up to full column groups. */
static redist_index count_narrow(const struct fftnd__kernel_problem *problem,
                                 const struct substep *substep) {
    const struct fftnd__cut *cut = problem->cut;
    const struct lines__problem lines = {.precision = problem->transform->precision,
                                         .direction = problem->direction,
                                         .effort = problem->transform->settings.effort,
                                         .threads = fftnd__pool_threads(problem->pool),
                                         .general = problem->library};
    int forward = problem->direction == REDIST_FORWARD;
    const redist_index *retained = forward ? cut->after : cut->before;
    redist_index all[REDIST_MAX_NDIMS], count = retained[substep->narrow_axis];
    fftnd__widen((forward ? problem->out : problem->in)->truncation, cut->ndims, retained, all);
    if (substep->step.naxes == 1)
        count = lines__columns_fill(&lines, problem->transform->chain.points[substep->step.axes[0]],
                                    count);
    return count < all[substep->narrow_axis] ? count : all[substep->narrow_axis];
}

/* Returns the library's problem for pieces like the first one, or for shorter ones. */
static struct lines__problem serial_of(const struct fftnd__kernel_problem *problem,
                                       const struct substep *substep, int is_shorter) {
    const struct fftnd__cut *cut = problem->cut;
    ptrdiff_t in[REDIST_MAX_NDIMS], out[REDIST_MAX_NDIMS];
    redist_index count[REDIST_MAX_NDIMS];
    struct lines__problem serial;
    struct fftnd__piece piece;
    fftnd__find_piece(cut, is_shorter ? cut->n - 1 : 0, &piece);
    fftnd__widen(problem->out->truncation, cut->ndims, piece.after, count);
    if (substep->narrow_axis >= 0)
        count[substep->narrow_axis] = count_narrow(problem, substep);
    for (int axis = 0; axis < problem->transform->chain.ndims; axis++)
        if (substep->few >> axis & 1)
            count[axis + problem->transform->batch.shift] = problem->transform->chain.filled[axis];
    for (int i = 0; i < cut->ndims; i++) {
        in[i] = substep->in->stride[i] / (ptrdiff_t)substep->in->item;
        out[i] = substep->out->stride[i] / (ptrdiff_t)substep->out->item;
    }
    fftnd__describe_serial(problem->transform, &substep->before, &substep->step, problem->direction,
                           in, out, count, &serial);
    serial.stream = problem->stream;
    serial.threads = fftnd__pool_threads(problem->pool);
    serial.keep_input = problem->keep_input;
    serial.may_ruin = problem->may_ruin;
    serial.general = problem->library;
    if (problem->fills || substep->fills)
        serial.filled[0] = problem->transform->chain.filled[substep->step.axes[0]];
    if (substep->step.truncates_inside)
        fftnd__retain(problem->transform, &serial, &substep->step);
    return serial;
}

struct lines__problem fftnd__kernel_lines(const struct fftnd__kernel_problem *problem,
                                          const struct fftnd__side *in,
                                          const struct fftnd__side *out, int axis, int is_shorter) {
    struct substep alone = {in, out, *problem->step, *problem->step, -1, 0, 0};
    fftnd__take_axis(&alone.step, axis - problem->transform->batch.shift);
    return serial_of(problem, &alone, is_shorter);
}

static int create_variant(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                          const struct substep *substep, int is_shorter) {
    const struct lines__problem serial = serial_of(problem, substep, is_shorter);
    const struct lines__library *library =
        lines__choose(&serial, substep->in->memory, substep->out->memory);
    if (library == kernel->library && kernel->nplans == 1 && problem->prefetches &&
        fftnd__rows_suit(&serial)) {
        kernel->rows[is_shorter] = redist_calloc(1, sizeof *kernel->rows[0]);
        if (kernel->rows[is_shorter] == NULL)
            return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for rows of a plan");
        return fftnd__rows_create(kernel->rows[is_shorter], &serial, substep->in->memory,
                                  substep->out->memory);
    }
    return lines__create(library, &serial, substep->in->memory, substep->out->memory,
                         &kernel->plans[kernel->nplans - 1].serial[is_shorter]);
}

/* Appends a plan without libraries. REDIST_ERR_MEMORY. */
static int add_plan(struct fftnd__kernel *kernel) {
    size_t n = (size_t)kernel->nplans;
    struct fftnd__kernel_plan *plans = redist_calloc(n + 1, sizeof *plans);
    if (plans == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    if (n > 0)
        memcpy(plans, kernel->plans, n * sizeof *plans);
    redist_release(kernel->plans);
    kernel->plans = plans;
    kernel->nplans++;
    return REDIST_OK;
}

/* Plans a substep for pieces like the first one, and for shorter ones, if any. */
static int create_both(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                       const struct substep *substep) {
    REDIST_TRY(add_plan(kernel));
    kernel->plans[kernel->nplans - 1].from_out = substep->in == problem->out;
    kernel->plans[kernel->nplans - 1].to_in = substep->out == problem->in;
    for (int i = 0; i < fftnd__count_lengths(problem->cut); i++)
        REDIST_TRY(create_variant(kernel, problem, substep, i));
    return REDIST_OK;
}

/* Leaves a substep the axes of one kind. */
static void select_axes(const struct fftnd__transform *transform, int is_r2r,
                        struct substep *substep) {
    int n = 0;
    for (int i = 0; i < substep->step.naxes; i++)
        if (fftnd__is_r2r(transform, substep->step.axes[i]) == is_r2r)
            substep->step.axes[n++] = substep->step.axes[i];
    substep->step.naxes = n;
}

/* Appends the axes of another substep: the halved one is last. */
static void append_axes(struct substep *substep, const struct substep *other) {
    struct fftnd__step *step = &substep->step;
    memcpy(step->axes + step->naxes, other->step.axes, (size_t)other->step.naxes);
    step->naxes += other->step.naxes;
}

/* Returns the halved axis of a substep alone, between the blocks: forward it is first. */
static struct substep halved_of(const struct fftnd__kernel_problem *problem,
                                const struct substep *substep) {
    struct substep alone = *substep;
    fftnd__take_axis(&alone.step, problem->transform->chain.halved);
    return alone;
}

/* Returns an axis of a substep alone: last, in the block after, or if the others lead to real elements first, in the
 * block before. */
static struct substep alone_of(const struct fftnd__kernel_problem *problem,
                               const struct substep *substep, int i) {
    struct substep alone = *substep;
    alone.step.naxes = 1;
    alone.step.axes[0] = substep->step.axes[i];
    if (problem->direction == REDIST_FORWARD || substep->before.real == substep->step.real) {
        alone.in = substep->out;
        alone.before.real = substep->step.real;
    } else {
        alone.out = substep->in;
        alone.step.real = substep->before.real;
        alone.narrow_axis = problem->transform->chain.halved + problem->transform->batch.shift;
    }
    return alone;
}

/* Finds an axis whose lines are faster alone, in memory of the pieces. Returns its place among those of the substep, or
 * -1. The halved axis is tried last. */
static int find_apart(const struct fftnd__kernel_problem *problem, const struct substep *substep) {
    int changes = substep->before.real != substep->step.real;
    int ruins = changes && problem->direction == REDIST_BACKWARD;
    if (substep->step.naxes < 2 || problem->pool != NULL || problem->in->truncation != NULL ||
        problem->out->truncation != NULL || problem->library->space != REDIST_SPACE_HOST ||
        (ruins && substep->in->in_array && !problem->may_ruin))
        return -1;
    for (int i = 0; i < substep->step.naxes; i++) {
        int is_halved = changes && substep->step.axes[i] == problem->transform->chain.halved;
        const struct substep alone =
            is_halved ? halved_of(problem, substep) : alone_of(problem, substep, i);
        const struct lines__problem serial = serial_of(problem, &alone, 0);
        if (lines__choose(&serial, alone.in->memory, alone.out->memory) != problem->library)
            return i;
    }
    return -1;
}

static int create_apart(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                        const struct substep *together);

/* Plans Fourier axes, all at once except those that are faster alone. */
static int create_fourier(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                          const struct substep *substep) {
    struct substep others = *substep;
    int at = find_apart(problem, substep);
    if (at < 0)
        return create_both(kernel, problem, substep);
    if (substep->before.real != substep->step.real &&
        substep->step.axes[at] == problem->transform->chain.halved)
        return create_apart(kernel, problem, substep);
    const struct substep alone = alone_of(problem, substep, at);
    int is_last = alone.in == substep->out;
    fftnd__remove_axis(&others.step, substep->step.axes[at]);
    if (!is_last)
        REDIST_TRY(create_both(kernel, problem, &alone));
    REDIST_TRY(create_fourier(kernel, problem, &others));
    return is_last ? create_both(kernel, problem, &alone) : REDIST_OK;
}

/* Plans the halved axis alone, and the others only for its retained modes. */
static int create_apart(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                        const struct substep *together) {
    int forward = kernel->is_forward, halved = problem->transform->chain.halved;
    const struct substep alone = halved_of(problem, together);
    struct substep others = *together;
    fftnd__remove_axis(&others.step, halved);
    others.in = others.out = forward ? together->out : together->in;
    others.before.real = others.step.real = 0;
    others.narrow_axis = halved + problem->transform->batch.shift;
    if (forward)
        REDIST_TRY(create_both(kernel, problem, &alone));
    REDIST_TRY(create_fourier(kernel, problem, &others));
    return forward ? REDIST_OK : create_both(kernel, problem, &alone);
}

/* ---------------------------------------------------------------- axes filled in part */

/* Returns nonzero if the array of the physical side lacks points of an axis that its pieces have. */
static int lacks_points(const struct fftnd__kernel_problem *problem, int axis) {
    const struct fftnd__side *side =
        problem->direction == REDIST_FORWARD ? problem->in : problem->out;
    return side->truncation != NULL &&
           fftnd__is_truncated(&problem->transform->chain, axis, FFTND_PHYSICAL);
}

/* Returns an axis' place forward: the halved one is first, then those that lack no points, the last one, and others. */
static int order_of(const struct fftnd__kernel_problem *problem, const struct substep *all,
                    int axis) {
    return axis == problem->transform->chain.halved      ? 0
           : !lacks_points(problem, axis)                ? 1
           : axis == all->step.axes[all->step.naxes - 1] ? 2
                                                         : 3;
}

/* Sorts the axes of a step, backward in the reverse order. */
static struct substep sorted_of(const struct fftnd__kernel_problem *problem,
                                const struct substep *all) {
    struct substep sorted = *all;
    int n = all->step.naxes, forward = problem->direction == REDIST_FORWARD;
    for (int order = 0, to = 0; order < 4; order++)
        for (int i = 0; i < n; i++)
            if (order_of(problem, all, all->step.axes[i]) == order) {
                sorted.step.axes[forward ? to : n - 1 - to] = all->step.axes[i];
                to++;
            }
    return sorted;
}

/* Returns number `at` of the sorted axes alone. Forward, those behind it have the points of the array as yet; backward,
 * those before it by then. */
static struct substep filled_of(const struct fftnd__kernel_problem *problem,
                                const struct substep *sorted, int at) {
    int n = sorted->step.naxes, forward = problem->direction == REDIST_FORWARD;
    int changes = sorted->before.real != sorted->step.real, axis = sorted->step.axes[at];
    struct substep alone = changes && at == (forward ? 0 : n - 1) ? halved_of(problem, sorted)
                                                                  : alone_of(problem, sorted, at);
    if (!changes && at == 0)
        alone.in = sorted->in;
    if (changes && forward && at > 0)
        alone.narrow_axis = problem->transform->chain.halved + problem->transform->batch.shift;
    for (int i = forward ? at + 1 : 0; i < (forward ? n : at); i++)
        if (lacks_points(problem, sorted->step.axes[i]))
            alone.few |= 1u << sorted->step.axes[i];
    alone.fills = lacks_points(problem, axis);
    for (int i = 0; alone.fills && i < fftnd__count_lengths(problem->cut); i++) {
        const struct lines__problem lines = serial_of(problem, &alone, i);
        alone.fills = lines__choose(&lines, alone.in->memory, alone.out->memory)->fills;
    }
    return alone;
}

/* Returns nonzero if axes that lack points are transformed one after the other: lines of zeros alone, and of points
 * that are dropped, are not transformed then. Fourier axes of which the library fills none are transformed at once. */
static int are_apart(const struct fftnd__kernel_problem *problem, const struct substep *sorted) {
    int n = sorted->step.naxes, fills = 0, skips = 0, has_r2r = 0;
    if (problem->library->space != REDIST_SPACE_HOST || problem->pool != NULL ||
        problem->step->twiddles)
        return 0;
    for (int at = 0; at < n; at++) {
        const struct substep alone = filled_of(problem, sorted, at);
        fills |= alone.fills;
        skips |= alone.few != 0;
        has_r2r |= fftnd__is_r2r(problem->transform, sorted->step.axes[at]);
    }
    return fills || (skips && has_r2r);
}

/* Plans each axis alone. Forward, those that no library fills are padded in the block before, if it is the first, or
 * else in the block after. */
static int create_filled(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                         const struct substep *sorted) {
    int shift = problem->transform->batch.shift;
    for (int at = 0; at < sorted->step.naxes; at++) {
        const struct substep alone = filled_of(problem, sorted, at);
        unsigned axis = 1u << (sorted->step.axes[at] + shift);
        int lacks = kernel->is_forward && lacks_points(problem, sorted->step.axes[at]);
        REDIST_TRY(create_both(kernel, problem, &alone));
        if (lacks && (alone.fills || at > 0))
            kernel->filled |= axis;
        kernel->plans[kernel->nplans - 1].few = alone.few << shift;
        if (lacks && !alone.fills && at > 0)
            kernel->plans[kernel->nplans - 1].pads = axis;
    }
    return REDIST_OK;
}

/* Returns a block that has of some axes only what a truncation leaves. */
static struct fftnd__block narrow(struct fftnd__block block,
                                  const struct fftnd__truncation *truncation, unsigned few) {
    for (int i = 0; truncation != NULL && i < truncation->n; i++)
        if (few >> truncation->axes[i].axis & 1)
            block.count[truncation->axes[i].axis] = truncation->axes[i].low;
    return block;
}

/* Pads some axes of such a block. */
static int pad(struct fftnd__block block, const struct fftnd__truncation *truncation,
               unsigned axes) {
    struct fftnd__truncation some = {0};
    for (int i = 0; truncation != NULL && i < truncation->n; i++)
        if (axes >> truncation->axes[i].axis & 1)
            some.axes[some.n++] = truncation->axes[i];
    block.truncation = &some;
    return fftnd__pad(&block);
}

/* ---------------------------------------------------------------- all axes */

/* Plans Fourier axes from one block to the other, then real-to-real axes, which commute with them, in the results. */
static int create_mixed(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                        const struct substep *all) {
    const struct fftnd__chain *chain = &problem->transform->chain;
    struct substep fourier = *all, r2r = *all;
    select_axes(problem->transform, 0, &fourier);
    select_axes(problem->transform, 1, &r2r);
    if (all->step.truncates_inside) {
        append_axes(&r2r, &fourier);
        return create_both(kernel, problem, &r2r);
    }
    if (all->step.naxes > 0) {
        const struct substep sorted = sorted_of(problem, all);
        if (are_apart(problem, &sorted))
            return create_filled(kernel, problem, &sorted);
    }
    int apart = all->before.real != all->step.real && fourier.step.naxes > 1 &&
                chain->modes[chain->halved] < chain->points[chain->halved];
    if (fourier.step.naxes > 0 || r2r.step.naxes == 0)
        REDIST_TRY((apart ? create_apart : create_fourier)(kernel, problem, &fourier));
    if (r2r.step.naxes == 0)
        return REDIST_OK;
    if (fourier.step.naxes > 0) {
        r2r.in = r2r.out;
        r2r.before.real = r2r.step.real;
    }
    return create_both(kernel, problem, &r2r);
}

/* Finds a halved axis that another kernel transforms and that is truncated, -1 = none. */
static int find_narrow(const struct fftnd__kernel_problem *problem) {
    const struct fftnd__truncation *truncation = problem->out->truncation;
    int halved = problem->transform->chain.halved;
    for (int i = 0; truncation != NULL && i < truncation->n && halved >= 0; i++)
        if (truncation->axes[i].axis == halved + problem->transform->batch.shift &&
            !fftnd__is_transformed(problem->step, halved))
            return truncation->axes[i].axis;
    return -1;
}

int fftnd__kernel_create(struct fftnd__kernel *kernel,
                         const struct fftnd__kernel_problem *problem) {
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    const struct substep substep = {
        problem->in, problem->out, *before, *step, find_narrow(problem), 0, 0};
    *kernel = (struct fftnd__kernel){.library = problem->library,
                                     .precision = problem->transform->precision,
                                     .is_forward = problem->direction == REDIST_FORWARD,
                                     .halves = before->real && !step->real};
    REDIST_TRY(create_mixed(kernel, problem, &substep));
    if (!step->twiddles)
        return REDIST_OK;
    int columns = problem->transform->batch.shift + 1;
    return fftnd__twiddles_create(problem->transform, problem->direction,
                                  step->layout->alignment.start[1], problem->cut->count[columns],
                                  &kernel->twiddles);
}

void fftnd__kernel_free(struct fftnd__kernel *kernel) {
    for (int i = 0; i < kernel->nplans; i++)
        for (int j = 0; j < 2; j++)
            lines__destroy(&kernel->plans[i].serial[j]);
    for (int i = 0; i < 2; i++) {
        if (kernel->rows[i] != NULL)
            fftnd__rows_free(kernel->rows[i]);
        redist_release(kernel->rows[i]);
    }
    redist_release(kernel->twiddles);
    redist_release(kernel->plans);
    *kernel = (struct fftnd__kernel){0};
}

/* Adds mirror images of a truncated halved axis right after its own plan: forward the first one, or that of an earlier
 * kernel. */
int fftnd__kernel_run(const struct fftnd__kernel *kernel, int is_shorter,
                      const struct fftnd__block *in, const struct fftnd__block *out) {
    const struct fftnd__rows *rows = kernel->rows[is_shorter];
    REDIST_TRY(pad(narrow(*in, in->truncation, kernel->filled), in->truncation, ~kernel->filled));
    if (kernel->twiddles != NULL && !kernel->is_forward)
        fftnd__twiddles_apply(kernel->twiddles, in);
    for (int i = 0; i < kernel->nplans; i++) {
        const struct fftnd__kernel_plan *plan = &kernel->plans[i];
        char *from = plan->from_out ? out->memory : in->memory;
        char *to = plan->to_in ? in->memory : out->memory;
        const struct fftnd__block few = narrow(*out, in->truncation, plan->few);
        if (i == 0 && !kernel->halves)
            REDIST_TRY(fftnd__add_half_way(LINES__NYQUIST_MIRROR, out));
        if (plan->pads != 0)
            REDIST_TRY(pad(few, in->truncation, plan->pads));
        REDIST_TRY(i == 0 && rows != NULL ? fftnd__rows_run(rows, from, to)
                                          : lines__execute(&plan->serial[is_shorter], from, to));
        if (i == 0 && kernel->halves)
            REDIST_TRY(fftnd__add_half_way(LINES__NYQUIST_MIRROR, &few));
    }
    if (kernel->twiddles != NULL && kernel->is_forward)
        fftnd__twiddles_apply(kernel->twiddles, out);
    REDIST_TRY(fftnd__add_half_way(LINES__NYQUIST_PAIR, out));
    return fftnd__add_half_way(LINES__NYQUIST_ALONE, out);
}

/* Scales by one of its plans, since all are linear: the last one that can. */
int fftnd__kernel_scale(const struct fftnd__kernel *kernel, int is_shorter, long double factor) {
    int i = kernel->nplans - 1;
    while (i >= 0 && !lines__scale_results(&kernel->plans[i].serial[is_shorter], factor))
        i--;
    return i >= 0;
}

size_t fftnd__kernel_area(const struct fftnd__kernel *kernel) {
    size_t most = 0;
    for (int i = 0; i < 2 * kernel->nplans; i++) {
        size_t bytes = lines__area_bytes(&kernel->plans[i / 2].serial[i % 2]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int fftnd__kernel_set_area(const struct fftnd__kernel *kernel, void *area) {
    for (int i = 0; i < 2 * kernel->nplans; i++)
        REDIST_TRY(lines__set_area(&kernel->plans[i / 2].serial[i % 2], area));
    return REDIST_OK;
}
