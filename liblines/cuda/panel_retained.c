/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The array has one of the two modes half-way (Nyquist). Forward, the other one is written to scratch memory and added
 * from there; backward, both are read from scratch memory, which has half of the array's.
 */
#include "arrays.h"
#include "rates.h"
#include "tasks.h"

/* A loop: strides in elements of the arrays, and among the modes half-way. */
struct loop {
    struct lines__loop arrays;
    ptrdiff_t half_way;
};

struct lines__retained_plan {
    struct lines__retained retained;
    int forward, is_real;
    size_t number_bytes;
    ptrdiff_t stride;    /* from one mode of the array to the next, in elements */
    int nloops, ninside; /* from the slowest to the fastest; the last ones are in a launch */
    struct loop loops[REDIST_MAX_NDIMS];
    ptrdiff_t nlines; /* with padding */
    struct lines__panel_plan *lines;
    void *stream;
};

/* ---------------------------------------------------------------- plans */

/* Sets the loops; modes half-way have the order of the array, in rows of even lengths, since pairs of floats are read
 * at once. */
static void set_loops(struct lines__retained_plan *plan, const struct lines__task *task) {
    ptrdiff_t next = 1;
    plan->nloops = task->nloops;
    for (int i = task->nloops - 1; i >= 0; i--) {
        plan->loops[i] = (struct loop){task->loops[i], next};
        next *= (task->loops[i].n + 1) / 2 * 2;
    }
    plan->nlines = next;
}

/* Takes the fastest variant without a gap. Backward kernel 0 spills registers for pairs of floats with a gap, so that
 * kernel 1 with as many lines takes its place: on an H200 it takes 0.67 to 1.09 of the time there, and forward 1.04 to
 * 1.51 of it (docs/performance-notebook.md, "Variants of liblines"). */
static void choose_variant(const struct lines__problem *problem,
                           const struct lines__retained_plan *plan,
                           struct lines__panel_lines *lines) {
    double bytes = 2.0 * (double)plan->number_bytes * (double)lines->axis.n;
    for (int i = 0; i < plan->nloops; i++)
        bytes *= (double)plan->loops[i].arrays.n;
    const struct lines__rates rates =
        lines__rates_of_lines(problem, lines->axis.n, bytes >= LINES__MEASURED_BYTES);
    lines->variant = rates.variant[lines->layout == LINES__REAL && !plan->forward ? LINES__TO_REAL
                                                                                  : lines->layout];
    int other = lines->variant + LINES__PANEL_WIDTHS;
    if (plan->retained.modes > 0 && !plan->forward && !lines->is_double && lines->variant >= 0 &&
        lines->variant < LINES__PANEL_WIDTHS && lines__panel_plan_has_variant(lines, other))
        lines->variant = other;
}

static int make_plan(struct lines__retained_plan *plan, const struct lines__problem *problem) {
    const struct lines__task task = lines__task_make(problem, 1, problem->axes, 0, 1, -1);
    struct lines__panel_lines lines;
    if (problem->retained[0].modes > 0)
        lines__task_all_lines(&task, &lines);
    else
        lines__task_filled_lines(&task, problem->filled[0], &lines);
    lines.filled = problem->filled[0];
    lines.is_double = problem->precision == FFTND_DOUBLE;
    lines.direction = problem->direction;
    plan->retained = problem->retained[0];
    plan->forward = problem->direction == REDIST_FORWARD;
    plan->is_real = problem->kind == FFTND_R2C;
    plan->number_bytes = lines__item_bytes(problem->precision, 1);
    plan->stride = plan->forward ? task.axes[0].out : task.axes[0].in;
    plan->ninside = lines.nouter + (task.nloops > 0);
    plan->stream = problem->stream;
    set_loops(plan, &task);
    choose_variant(problem, plan, &lines);
    REDIST_TRY(lines__panel_plan_create(&lines, &plan->lines));
    return plan->lines != NULL ? REDIST_OK
                               : redist_fail_in("libfftnd", REDIST_ERR_LIMIT,
                                                "too many lines of %lld elements for a launch",
                                                (long long)lines.axis.n);
}

int lines__retained_create(const struct lines__problem *problem,
                           struct lines__retained_plan **result) {
    struct lines__retained_plan *plan = *result = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    return make_plan(plan, problem);
}

void lines__retained_scale(struct lines__retained_plan *plan, double factor) {
    lines__panel_plan_scale(plan->lines, factor);
}

void lines__retained_destroy(struct lines__retained_plan *plan) {
    if (plan != NULL)
        lines__panel_plan_destroy(plan->lines);
    redist_release(plan);
}

/* ---------------------------------------------------------------- modes half-way */

static int is_pair(const struct lines__retained_plan *plan) {
    return plan->retained.nyquist == LINES__NYQUIST_PAIR;
}

/* Nonzero if a mode half-way is in scratch memory. */
static int has_scratch(const struct lines__retained_plan *plan) {
    return is_pair(plan) || (!plan->forward && plan->retained.nyquist != LINES__NYQUIST_NONE);
}

size_t lines__retained_area(const struct lines__retained_plan *plan) {
    return has_scratch(plan) ? (size_t)plan->nlines * 2 * plan->number_bytes : 0;
}

/* The index of the array's mode half-way in a line. */
static redist_index half_way(const struct lines__retained_plan *plan) {
    return is_pair(plan) ? plan->retained.low : plan->retained.low - 1;
}

static int change(const struct lines__retained_plan *plan, enum lines__change change, char *array,
                  char *area) {
    ptrdiff_t item = (ptrdiff_t)(2 * plan->number_bytes);
    struct lines__modes modes = {.change = change,
                                 .number_bytes = plan->number_bytes,
                                 .numbers = 2,
                                 .ndims = plan->nloops > 0 ? plan->nloops : 1,
                                 .count = {1},
                                 .memory = array + (ptrdiff_t)half_way(plan) * plan->stride * item};
    modes.partner = has_scratch(plan) ? area - modes.memory : 0;
    for (int i = 0; i < plan->nloops; i++) {
        const struct loop *loop = &plan->loops[i];
        modes.count[i] = loop->arrays.n;
        modes.stride[i] = (plan->forward ? loop->arrays.out : loop->arrays.in) * item;
        modes.partner_stride[i] = loop->half_way * item;
    }
    return redist_space_at(REDIST_SPACE_CUDA)
        ->check_call((int)lines__cuda_change(&modes, plan->stream), "a kernel");
}

/* ---------------------------------------------------------------- lines */

/* The gap: modes that the array does not have, and those in scratch memory. */
static struct lines__panel_gap find_gap(const struct lines__retained_plan *plan, char *area) {
    const struct lines__retained *retained = &plan->retained;
    unsigned low = (unsigned)retained->low, high = (unsigned)(retained->modes - retained->high),
             none = (unsigned)retained->modes;
    int last = plan->nloops - 1;
    struct lines__panel_gap gap = {.low = low,
                                   .high = high,
                                   .half = {none, none},
                                   .shift = (long long)(high - low) * plan->stride,
                                   .half_way = area};
    if (has_scratch(plan))
        gap.half[0] = is_pair(plan) ? low : low - 1;
    if (has_scratch(plan) && is_pair(plan) && !plan->forward)
        gap.half[1] = high;
    gap.side = last >= 0 ? plan->loops[last].half_way : 0;
    for (int i = 1; i < plan->ninside; i++)
        gap.outer[i - 1] = plan->loops[last - i].half_way;
    return gap;
}

static int launch(const struct lines__retained_plan *plan, const char *in, char *out, char *area) {
    struct lines__panel_work work = {.gap = NULL};
    struct lines__panel_gap gap;
    if (plan->retained.modes > 0) {
        gap = find_gap(plan, area);
        work.gap = &gap;
    }
    return lines__panel_plan_execute(plan->lines, &work, in, out, plan->stream);
}

/* Loops that a launch lacks are several launches. */
static int launch_all(const struct lines__retained_plan *plan, int loop, const char *in, char *out,
                      char *area) {
    if (loop >= plan->nloops - plan->ninside)
        return launch(plan, in, out, area);
    const struct loop *at = &plan->loops[loop];
    ptrdiff_t item = (ptrdiff_t)(2 * plan->number_bytes),
              in_item = plan->is_real && plan->forward ? item / 2 : item,
              out_item = plan->is_real && !plan->forward ? item / 2 : item;
    for (redist_index i = 0; i < at->arrays.n; i++)
        REDIST_TRY(launch_all(plan, loop + 1, in + (ptrdiff_t)i * at->arrays.in * in_item,
                              out + (ptrdiff_t)i * at->arrays.out * out_item,
                              area + (ptrdiff_t)i * at->half_way * item));
    return REDIST_OK;
}

int lines__retained_execute(const struct lines__retained_plan *plan, void *in, void *out,
                            void *area) {
    enum lines__nyquist nyquist = plan->retained.nyquist;
    if (nyquist != LINES__NYQUIST_NONE && !plan->forward)
        REDIST_TRY(change(plan, LINES__HALVE, in, area));
    REDIST_TRY(launch_all(plan, 0, in, out, area));
    if (nyquist != LINES__NYQUIST_NONE && plan->forward)
        return change(plan, is_pair(plan) ? LINES__ADD : LINES__ADD_CONJUGATE, out, area);
    return REDIST_OK;
}
