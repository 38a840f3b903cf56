/* SPDX-License-Identifier: BSD-3-Clause */
#include "../operation.h"
#include "rates.h"
#include "tasks.h"

/* Eight neighbouring lines make rows of 128 bytes, a write of a link between devices; wider panels are no faster if
 * each row begins with a line of the cache. */
enum { STRIDED_VARIANT = 1 };

_Static_assert((int)LINES__MOST_TARGETS <= (int)LINES__PANEL_TARGETS, "targets fit a table");

struct plan {
    struct lines__panel_plan *lines;
    int nloops;
    int loops[1 + LINES__PANEL_LOOPS]; /* numbers in the problem: the side, then the outer ones */
};

/* Sorts loops of more than one element from the fastest on, then perhaps the others. Returns 0 if there are too
 * many. */
static int sort_loops(const struct lines__problem *problem, int takes_all, struct plan *plan) {
    for (int i = 0; i < problem->nloops; i++) {
        int at = plan->nloops;
        if (problem->loops[i].n == 1)
            continue;
        if (at > LINES__PANEL_LOOPS)
            return 0;
        for (; at > 0 && problem->loops[plan->loops[at - 1]].in > problem->loops[i].in; at--)
            plan->loops[at] = plan->loops[at - 1];
        plan->loops[at] = i;
        plan->nloops++;
    }
    for (int i = 0; takes_all && i < problem->nloops; i++)
        if (problem->loops[i].n == 1) {
            if (plan->nloops > LINES__PANEL_LOOPS)
                return 0;
            plan->loops[plan->nloops++] = i;
        }
    return 1;
}

/* A loop for plans with targets, which have strides of their own. */
static struct lines__loop of_input(const struct lines__loop *loop) {
    return (struct lines__loop){loop->n, loop->in, loop->in};
}

static int layout_of(const struct lines__problem *problem, int to_targets) {
    const struct lines__loop *axis = &problem->axes[0];
    return axis->in == 1 && (to_targets || axis->out == 1) ? LINES__CONTIGUOUS : LINES__STRIDED;
}

static struct lines__panel_lines describe(const struct lines__problem *problem,
                                          const struct plan *plan, int to_targets, int variant) {
    const struct lines__loop *axis = &problem->axes[0];
    struct lines__panel_lines lines = {.layout = layout_of(problem, to_targets),
                                       .is_double = problem->precision == FFTND_DOUBLE,
                                       .direction = problem->direction,
                                       .variant = variant,
                                       .axis = to_targets ? of_input(axis) : *axis,
                                       .side = {1, 0, 0},
                                       .filled = problem->filled[0]};
    for (int i = 0; i < plan->nloops; i++) {
        const struct lines__loop *loop = &problem->loops[plan->loops[i]];
        *(i == 0 ? &lines.side : &lines.outer[lines.nouter++]) =
            to_targets ? of_input(loop) : *loop;
    }
    return lines;
}

static void destroy(void *data) {
    struct plan *plan = data;
    redist_space_at(REDIST_SPACE_CUDA)->drain(); /* asynchronous plans may be executing */
    lines__panel_plan_destroy(plan->lines);
    redist_release(plan);
}

/* Makes a plan; *result is NULL where panels cannot. */
static int create_plan(const struct lines__problem *problem, int to_targets, int variant,
                       void **result) {
    struct plan *plan = redist_calloc(1, sizeof *plan);
    *result = NULL;
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    int fits = problem->kind == FFTND_C2C && sort_loops(problem, !to_targets, plan),
        code = REDIST_OK;
    if (fits) {
        const struct lines__panel_lines lines = describe(problem, plan, to_targets, variant);
        code = lines__panel_plan_create(&lines, &plan->lines);
    }
    if (plan->lines != NULL)
        *result = plan;
    else
        destroy(plan);
    return code;
}

/* ---------------------------------------------------------------- direct stores */

static int has_aligned_rows(const struct lines__problem *problem) {
    struct lines__loop loops[1 + REDIST_MAX_NDIMS] = {of_input(&problem->axes[0])};
    for (int i = 0; i < problem->nloops; i++)
        loops[1 + i] = of_input(&problem->loops[i]);
    return lines__rows_are_aligned(problem->precision == FFTND_DOUBLE, 1 + problem->nloops, loops);
}

/* The widest variant, in the kernel of the fastest one if that has it. */
static int find_widest(const struct lines__problem *problem, int fastest) {
    const struct lines__panel_lines lines = {.layout = LINES__STRIDED,
                                             .is_double = problem->precision == FFTND_DOUBLE,
                                             .axis = of_input(&problem->axes[0])};
    int kernel = fastest >= 0 ? fastest / LINES__PANEL_WIDTHS : 0;
    for (int width = LINES__PANEL_WIDTHS - 1; width >= 0; width--)
        for (int i = 0; i < LINES__PANEL_KERNELS; i++) {
            int variant = (kernel + i) % LINES__PANEL_KERNELS * LINES__PANEL_WIDTHS + width;
            if (lines__panel_plan_has_variant(&lines, variant))
                return variant;
        }
    return LINES__PANEL_GUESS;
}

/* Chooses a variant. Rows that begin within a line of the cache share it with neighbours, the fewer the wider they are:
 * beside copies to peers narrow ones take up to 1.5 times as long, which rates do not include
 * (docs/performance-notebook.md, "Rows that begin between lines of the cache"). */
static int choose_variant(const struct lines__problem *problem, int is_near) {
    int layout = layout_of(problem, 1), is_strided = layout == LINES__STRIDED,
        widens = is_strided && !has_aligned_rows(problem) && !lines__rates_are_dictated(),
        kind = widens ? LINES__UNALIGNED : layout;
    if (!is_near && !widens)
        return is_strided ? STRIDED_VARIANT : LINES__PANEL_GUESS;
    const struct lines__rates rates =
        lines__rates_of_lines(problem, problem->axes[0].n, problem->effort != FFTND_ESTIMATE);
    int fastest = rates.panels[kind] > 0.0 ? rates.variant[kind] : LINES__PANEL_GUESS;
    return widens ? find_widest(problem, fastest) : fastest;
}

static int create(const struct lines__problem *problem, int is_near, void **result) {
    return create_plan(problem, 1, choose_variant(problem, is_near), result);
}

/* A target with its strides in the order of the plan's loops. */
static struct lines__panel_target make_target(const struct plan *plan, redist_index begin,
                                              const struct lines__target *from) {
    struct lines__panel_target target = {
        (unsigned)begin, (unsigned)from->end, from->memory, from->axis, 0, {0}};
    for (int i = 0; i < plan->nloops; i++)
        *(i == 0 ? &target.side : &target.outer[i - 1]) = from->loops[plan->loops[i]];
    return target;
}

static int execute(void *data, const void *in, int ntargets, const struct lines__target targets[],
                   void *stream) {
    const struct plan *plan = data;
    struct lines__panel_targets lines = {0};
    for (int i = 0; i < ntargets; i++)
        lines.target[i] = make_target(plan, i > 0 ? targets[i - 1].end : 0, &targets[i]);
    return lines__panel_plan_execute(plan->lines, &(struct lines__panel_work){.targets = &lines},
                                     in, NULL, stream);
}

static int scale_results(void *data, long double factor) {
    const struct plan *plan = data;
    lines__panel_plan_scale(plan->lines, (double)factor);
    return 1;
}

const struct lines__stores lines__cufft_stores = {
    .create = create, .execute = execute, .scale_results = scale_results, .destroy = destroy};

/* ---------------------------------------------------------------- round trips */

/* Plans in the guessed variant, as rates are of one transform. FFTND_LINES = cufft refuses, so that cuFFT is
 * measured. */
static int create_round_trip(const struct lines__problem *problem, void **result) {
    const struct lines__rates rates = lines__rates_of_lines(problem, problem->axes[0].n, 0);
    int layout = layout_of(problem, 0);
    struct lines__problem back = *problem;
    *result = NULL;
    back.direction = REDIST_BACKWARD;
    return rates.panels[layout] > 0.0 ? create_plan(&back, 0, rates.variant[layout], result)
                                      : REDIST_OK;
}

static int execute_round_trip(void *data, const void *in, void *out,
                              const struct lines__operation *operation, int axis, void *stream) {
    static const struct lines__operation_axis none = {.count = 1};
    const struct plan *plan = data;
    struct lines__operation own = *operation;
    own.axes[0] = operation->axes[axis];
    for (int i = 0; i <= LINES__PANEL_LOOPS; i++) {
        int at = i < plan->nloops ? plan->loops[i] + (plan->loops[i] >= axis) : 0;
        own.axes[1 + i] = i < plan->nloops ? operation->axes[at] : none;
    }
    return lines__panel_plan_execute(plan->lines, &(struct lines__panel_work){.operation = &own},
                                     in, out, stream);
}

const struct lines__round_trips lines__cufft_round_trips = {
    .create = create_round_trip, .execute = execute_round_trip, .destroy = destroy};
