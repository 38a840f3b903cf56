/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include <string.h>

/* A part of the transform: from which side to which, over which axes. */
struct part {
    const struct fftnd__side *in, *out;
    struct fftnd__step before, step;
    int narrow_axis; /* with the modes that the array has; -1 = none */
};

/* For what is asked of columns before there is a plan. */
static struct lines__problem lines_of(const struct fftnd__kernel_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    return (struct lines__problem){.precision = transform->precision,
                                   .direction = problem->direction,
                                   .effort = transform->options.effort,
                                   .threads = fftnd__pool_threads(problem->pool),
                                   .library = problem->library};
}

/* The modes that the array has, and some that it has not where that makes groups of columns full. */
static redist_index count_narrow(const struct fftnd__kernel_problem *problem,
                                 const struct part *part) {
    const struct fftnd__cut *cut = problem->cut;
    const struct lines__problem lines = lines_of(problem);
    int forward = problem->direction == REDIST_FORWARD;
    const redist_index *retained = forward ? cut->after : cut->before;
    redist_index all[REDIST_MAX_NDIMS], count = retained[part->narrow_axis];
    fftnd__widen(forward ? fftnd__truncated(problem->out) : fftnd__truncated(problem->in),
                 cut->ndims, retained, all);
    if (part->step.naxes == 1)
        count = lines__columns_fill(&lines, problem->transform->chain.points[part->step.axes[0]],
                                    count);
    return count < all[part->narrow_axis] ? count : all[part->narrow_axis];
}

/* What the library has to do for pieces like the first one, or for shorter ones. */
static struct lines__problem serial_of(const struct fftnd__kernel_problem *problem,
                                       const struct part *part, int is_shorter) {
    const struct fftnd__cut *cut = problem->cut;
    ptrdiff_t in[REDIST_MAX_NDIMS], out[REDIST_MAX_NDIMS];
    redist_index count[REDIST_MAX_NDIMS];
    struct lines__problem serial;
    struct fftnd__piece piece;
    fftnd__find_piece(cut, is_shorter ? cut->n - 1 : 0, &piece);
    fftnd__widen(fftnd__truncated(problem->out), cut->ndims, piece.after, count);
    if (part->narrow_axis >= 0)
        count[part->narrow_axis] = count_narrow(problem, part);
    for (int i = 0; i < cut->ndims; i++) {
        in[i] = part->in->stride[i] / (ptrdiff_t)part->in->item;
        out[i] = part->out->stride[i] / (ptrdiff_t)part->out->item;
    }
    fftnd__describe_serial(problem->transform, &part->before, &part->step, problem->direction, in,
                           out, count, &serial);
    serial.stream = problem->stream;
    serial.threads = fftnd__pool_threads(problem->pool);
    serial.keep_input = problem->keep_input;
    serial.library = problem->library;
    if (part->step.truncates_inside)
        fftnd__retain(problem->transform, &serial, &part->step);
    return serial;
}

struct lines__problem fftnd__kernel_lines(const struct fftnd__kernel_problem *problem,
                                          const struct fftnd__side *in,
                                          const struct fftnd__side *out, int axis, int is_shorter) {
    const struct fftnd__cut *cut = problem->cut;
    struct fftnd__step step = *problem->step;
    ptrdiff_t strides[2][REDIST_MAX_NDIMS];
    struct lines__problem serial;
    struct fftnd__piece piece;
    fftnd__find_piece(cut, is_shorter ? cut->n - 1 : 0, &piece);
    for (int i = 0; i < cut->ndims; i++) {
        strides[0][i] = in->stride[i] / (ptrdiff_t)in->item;
        strides[1][i] = out->stride[i] / (ptrdiff_t)out->item;
    }
    step.naxes = 1;
    step.axes[0] = axis - problem->transform->batch.shift;
    fftnd__describe_serial(problem->transform, &step, &step, problem->direction, strides[0],
                           strides[1], piece.after, &serial);
    serial.stream = problem->stream;
    return serial;
}

static int create_variant(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                          const struct part *part, int is_shorter) {
    const struct lines__problem serial = serial_of(problem, part, is_shorter);
    const struct lines__library *library =
        lines__choose(&serial, part->in->memory, part->out->memory);
    if (library == kernel->library && kernel->nplans == 1 && problem->prefetches &&
        fftnd__rows_suit(&serial)) {
        kernel->rows[is_shorter] = redist_calloc(1, sizeof *kernel->rows[0]);
        if (kernel->rows[is_shorter] == NULL)
            return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for rows of a plan");
        return fftnd__rows_create(kernel->rows[is_shorter], kernel->library, &serial,
                                  part->in->memory, part->out->memory);
    }
    int last = kernel->nplans - 1;
    kernel->plans[last].library[is_shorter] = library;
    return library->create(&serial, part->in->memory, part->out->memory,
                           &kernel->plans[last].serial[is_shorter]);
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

/* For pieces like the first one, and for shorter ones if there are some. */
static int create_both(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                       const struct part *part) {
    struct fftnd__piece last;
    REDIST_TRY(add_plan(kernel));
    kernel->plans[kernel->nplans - 1].from_out = part->in == problem->out;
    kernel->plans[kernel->nplans - 1].to_in = part->out == problem->in;
    fftnd__find_piece(problem->cut, problem->cut->n - 1, &last);
    REDIST_TRY(create_variant(kernel, problem, part, 0));
    return last.shorter ? create_variant(kernel, problem, part, 1) : REDIST_OK;
}

/* The axes of one sort out of those of a part. */
static void select_axes(const struct fftnd__transform *transform, int is_r2r, struct part *part) {
    int n = 0;
    for (int i = 0; i < part->step.naxes; i++)
        if (fftnd__is_r2r(transform, part->step.axes[i]) == is_r2r)
            part->step.axes[n++] = part->step.axes[i];
    part->step.naxes = n;
}

/* The halved axis of a part, by itself between the blocks: forward it is first. */
static struct part halved_of(const struct fftnd__kernel_problem *problem, const struct part *part) {
    struct part alone = *part;
    alone.step.naxes = 1;
    alone.step.axes[0] = problem->transform->chain.halved;
    return alone;
}

/* An axis of a part, by itself: backward it is first, in the block before if the others change that to real
 * elements. */
static struct part alone_of(const struct fftnd__kernel_problem *problem, const struct part *part,
                            int i) {
    struct part alone = *part;
    alone.step.naxes = 1;
    alone.step.axes[0] = part->step.axes[i];
    if (problem->direction == REDIST_FORWARD || part->before.real == part->step.real) {
        alone.in = part->out;
        alone.before.real = part->step.real;
    } else {
        alone.out = part->in;
        alone.step.real = part->before.real;
        alone.narrow_axis = problem->transform->chain.halved + problem->transform->batch.shift;
    }
    return alone;
}

/* An axis whose lines are faster by themselves, in memory of the pieces: its place among those of the part, -1 = none.
 * One between the others, in their results, is taken before the halved one. */
static int find_apart(const struct fftnd__kernel_problem *problem, const struct part *part) {
    int changes = part->before.real != part->step.real;
    int ruins = changes && problem->direction == REDIST_BACKWARD;
    if (part->step.naxes < 2 || problem->pool != NULL || fftnd__truncated(problem->in)->n > 0 ||
        fftnd__truncated(problem->out)->n > 0 || problem->library->space != REDIST_SPACE_HOST ||
        (ruins && part->in->in_array && !problem->may_ruin))
        return -1;
    for (int i = 0; i < part->step.naxes; i++) {
        int is_halved = changes && part->step.axes[i] == problem->transform->chain.halved;
        const struct part alone = is_halved ? halved_of(problem, part) : alone_of(problem, part, i);
        const struct lines__problem serial = serial_of(problem, &alone, 0);
        if (lines__choose(&serial, alone.in->memory, alone.out->memory) != problem->library)
            return i;
    }
    return -1;
}

static int create_apart(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                        const struct part *together);

/* Fourier axes, all at once but those that are faster by themselves. */
static int create_fourier(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                          const struct part *part) {
    struct part others = *part;
    int at = find_apart(problem, part);
    if (at < 0)
        return create_both(kernel, problem, part);
    if (part->before.real != part->step.real &&
        part->step.axes[at] == problem->transform->chain.halved)
        return create_apart(kernel, problem, part);
    const struct part alone = alone_of(problem, part, at);
    int is_last = alone.in == part->out;
    fftnd__remove_axis(&others.step, part->step.axes[at]);
    if (!is_last)
        REDIST_TRY(create_both(kernel, problem, &alone));
    REDIST_TRY(create_fourier(kernel, problem, &others));
    return is_last ? create_both(kernel, problem, &alone) : REDIST_OK;
}

/* The halved axis by itself, and the others only for the modes of it that the array retains. */
static int create_apart(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                        const struct part *together) {
    int forward = kernel->is_forward, halved = problem->transform->chain.halved;
    const struct part alone = halved_of(problem, together);
    struct part others = *together;
    fftnd__remove_axis(&others.step, halved);
    others.in = others.out = forward ? together->out : together->in;
    others.before.real = others.step.real = 0;
    others.narrow_axis = halved + problem->transform->batch.shift;
    if (forward)
        REDIST_TRY(create_both(kernel, problem, &alone));
    REDIST_TRY(create_fourier(kernel, problem, &others));
    return forward ? REDIST_OK : create_both(kernel, problem, &alone);
}

/* Fourier axes on the way from one block to the other, then those from real to real where the results are: on
 * real and imaginary parts these change nothing in what the others do. */
static int create_mixed(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                        const struct part *all) {
    const struct fftnd__chain *chain = &problem->transform->chain;
    struct part fourier = *all, r2r = *all;
    select_axes(problem->transform, 0, &fourier);
    select_axes(problem->transform, 1, &r2r);
    if (all->step.truncates_inside)
        return create_both(kernel, problem, all);
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

/* A halved axis that another kernel transforms, and of which the array retains some modes. */
static int find_narrow(const struct fftnd__kernel_problem *problem) {
    const struct fftnd__truncation *truncation = fftnd__truncated(problem->out);
    int halved = problem->transform->chain.halved;
    for (int i = 0; i < truncation->n && halved >= 0; i++)
        if (truncation->axes[i].axis == halved + problem->transform->batch.shift &&
            !fftnd__is_transformed(problem->step, halved))
            return truncation->axes[i].axis;
    return -1;
}

int fftnd__kernel_create(struct fftnd__kernel *kernel,
                         const struct fftnd__kernel_problem *problem) {
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    const struct part part = {problem->in, problem->out, *before, *step, find_narrow(problem)};
    *kernel = (struct fftnd__kernel){.library = problem->library,
                                     .precision = problem->transform->precision,
                                     .is_forward = problem->direction == REDIST_FORWARD,
                                     .halves = before->real && !step->real};
    REDIST_TRY(create_mixed(kernel, problem, &part));
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
            if (kernel->plans[i].serial[j] != NULL)
                kernel->plans[i].library[j]->destroy(kernel->plans[i].serial[j]);
    for (int i = 0; i < 2; i++) {
        if (kernel->rows[i] != NULL)
            fftnd__rows_free(kernel->rows[i], kernel->library);
        redist_release(kernel->rows[i]);
    }
    redist_release(kernel->twiddles);
    redist_release(kernel->plans);
    *kernel = (struct fftnd__kernel){0};
}

/* The mirror images of a truncated halved axis are known after its own plan, the first one forward, which another
 * kernel may have had. All that is done here is linear, so that any plan may multiply. */
int fftnd__kernel_run(const struct fftnd__kernel *kernel, int is_shorter,
                      const struct fftnd__truncation *truncation_in,
                      const struct fftnd__truncation *truncation_out, const struct fftnd__block *in,
                      const struct fftnd__block *out, long double *factor) {
    const struct fftnd__rows *rows = kernel->rows[is_shorter];
    REDIST_TRY(fftnd__pad_modes(truncation_in, in));
    if (kernel->twiddles != NULL && !kernel->is_forward)
        fftnd__twiddles_apply(kernel->twiddles, in);
    for (int i = 0; i < kernel->nplans; i++) {
        const struct fftnd__kernel_plan *plan = &kernel->plans[i];
        const struct lines__library *library = plan->library[is_shorter];
        char *from = plan->from_out ? out->memory : in->memory;
        char *to = plan->to_in ? in->memory : out->memory;
        if (i == 0 && !kernel->halves)
            REDIST_TRY(fftnd__add_half_way(truncation_out, LINES__NYQUIST_MIRROR, out));
        if (i == 0 && rows != NULL) {
            REDIST_TRY(fftnd__rows_run(rows, kernel->library, from, to));
        } else if (factor == NULL || library->execute_scaled == NULL) {
            REDIST_TRY(library->execute(plan->serial[is_shorter], from, to));
        } else {
            const long double by = *factor;
            *factor = 1;
            REDIST_TRY(library->execute_scaled(plan->serial[is_shorter], from, to, by));
        }
        if (i == 0 && kernel->halves)
            REDIST_TRY(fftnd__add_half_way(truncation_out, LINES__NYQUIST_MIRROR, out));
    }
    if (kernel->twiddles != NULL && kernel->is_forward)
        fftnd__twiddles_apply(kernel->twiddles, out);
    REDIST_TRY(fftnd__add_half_way(truncation_out, LINES__NYQUIST_PAIR, out));
    return fftnd__add_half_way(truncation_out, LINES__NYQUIST_ALONE, out);
}

/* Scratch of a plan is that of all others of the kernel. */
size_t fftnd__kernel_area(const struct fftnd__kernel *kernel) {
    size_t most = 0;
    for (int i = 0; i < 2 * kernel->nplans; i++) {
        const struct lines__library *library = kernel->plans[i / 2].library[i % 2];
        void *plan = kernel->plans[i / 2].serial[i % 2];
        size_t bytes = plan != NULL && library->area_bytes != NULL ? library->area_bytes(plan) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

int fftnd__kernel_set_area(const struct fftnd__kernel *kernel, void *area) {
    for (int i = 0; i < 2 * kernel->nplans; i++) {
        const struct lines__library *library = kernel->plans[i / 2].library[i % 2];
        void *plan = kernel->plans[i / 2].serial[i % 2];
        if (plan != NULL && library->set_area != NULL)
            REDIST_TRY(library->set_area(plan, area));
    }
    return REDIST_OK;
}
