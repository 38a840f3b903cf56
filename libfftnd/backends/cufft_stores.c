/* SPDX-License-Identifier: BSD-3-Clause */
#include "cufft_stores.h"
#include "cufft_lines.h"
#include "redist_support.h"

#include <stdint.h>
#include <string.h>

/* Eight lines side by side make rows of 128 bytes, which a link between devices wants; wider panels gain nothing. */
enum { STRIDED_VARIANT = 1 };

_Static_assert((int)FFTND__MOST_PARTS <= (int)FFTND__PANEL_PARTS, "parts fit a table");

struct plan {
    struct fftnd__line_plan *lines;
    int nloops;
    int loops[1 + FFTND__PANEL_LOOPS]; /* of the problem: the side, then the outer ones */
};

/* Loops of more than one element, from the fastest on. Returns 0 if there are too many. */
static int sort_loops(const struct fftnd__serial_problem *problem, struct plan *plan) {
    for (int i = 0; i < problem->nloops; i++) {
        int at = plan->nloops;
        if (problem->loops[i].n == 1)
            continue;
        if (at > FFTND__PANEL_LOOPS)
            return 0;
        for (; at > 0 && problem->loops[plan->loops[at - 1]].in > problem->loops[i].in; at--)
            plan->loops[at] = plan->loops[at - 1];
        plan->loops[at] = i;
        plan->nloops++;
    }
    return 1;
}

/* Outputs are parts, with strides of their own. */
static struct fftnd__loop of_input(const struct fftnd__loop *loop) {
    return (struct fftnd__loop){loop->n, loop->in, loop->in};
}

static struct fftnd__lines describe(const struct fftnd__serial_problem *problem,
                                    const struct plan *plan) {
    const struct fftnd__loop *axis = &problem->axes[0];
    int is_contiguous = axis->in == 1;
    struct fftnd__lines lines = {.layout = is_contiguous ? FFTND__CONTIGUOUS : FFTND__STRIDED,
                                 .is_double = problem->precision == FFTND_DOUBLE,
                                 .direction = problem->direction,
                                 .variant = is_contiguous ? FFTND__PANEL_GUESS : STRIDED_VARIANT,
                                 .axis = of_input(axis),
                                 .side = {1, 0, 0}};
    if (plan->nloops > 0)
        lines.side = of_input(&problem->loops[plan->loops[0]]);
    for (int i = 1; i < plan->nloops; i++)
        lines.outer[lines.nouter++] = of_input(&problem->loops[plan->loops[i]]);
    return lines;
}

static void destroy(void *data) {
    struct plan *plan = data;
    redist_space_at(REDIST_SPACE_CUDA)
        ->drain(); /* of an asynchronous plan something may be under way */
    fftnd__lines_destroy(plan->lines);
    redist_release(plan);
}

static int create(const struct fftnd__serial_problem *problem, void **result) {
    struct plan *plan = redist_calloc(1, sizeof *plan);
    *result = NULL;
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    int fits = problem->kind == FFTND_C2C && sort_loops(problem, plan), code = REDIST_OK;
    if (fits) {
        const struct fftnd__lines lines = describe(problem, plan);
        code = fftnd__lines_create(&lines, &plan->lines);
    }
    if (plan->lines != NULL)
        *result = plan;
    else
        destroy(plan);
    return code;
}

/* A part's strides in place of those that the plan was made with. */
static struct fftnd__panel_part make_part(const struct plan *plan, redist_index begin,
                                          const struct fftnd__serial_part *from) {
    struct fftnd__panel_part part = {
        (unsigned)begin, (unsigned)from->end, from->memory, from->axis, 0, {0}};
    for (int i = 0; i < plan->nloops; i++)
        *(i == 0 ? &part.side : &part.outer[i - 1]) = from->loops[plan->loops[i]];
    return part;
}

static int execute(void *data, const void *in, int nparts, const struct fftnd__serial_part parts[],
                   void *stream) {
    const struct plan *plan = data;
    struct fftnd__panel_parts lines = {0};
    for (int i = 0; i < nparts; i++)
        lines.part[i] = make_part(plan, i > 0 ? parts[i - 1].end : 0, &parts[i]);
    return fftnd__lines_execute_parts(plan->lines, in, &lines, stream);
}

const struct fftnd__serial_stores fftnd__cufft_stores = {
    .create = create, .execute = execute, .destroy = destroy};
