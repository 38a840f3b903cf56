/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms one axis after the other: by the general library where that has a plan for the lines, else in rows, to
 * which lines are copied, which the library transforms in place, and from which the results are copied to the output
 * (r2r_lines.h). Rows are scratch memory; lines that exceed it follow in further turns.
 */
#include "inner.h"
#include "r2r_lines.h"

_Static_assert((int)LINES__DCT1 == (int)FFTND_DCT1 && (int)LINES__DHT == (int)FFTND_DHT &&
                   (int)LINES__DST4 == (int)FFTND_DST4,
               "the same numbers");

enum { ROWS_BYTES = 64 << 20, ALIGNMENT = 256 };

struct axis {
    struct lines__r2r_lines before, after;
    redist_index nlines;
    int is_whole;               /* the first plan is of the lines themselves */
    struct lines__plan *serial; /* two: for as many rows as there is room for, and for the rest */
};

struct plan {
    struct lines__inner inner; /* rows are its own scratch memory */
    const struct lines__library *library;
    void *stream;
    int naxes;
    struct axis axes[REDIST_MAX_NDIMS];
};

/* ---------------------------------------------------------------- one axis */

static redist_index length_of(enum fftnd_r2r r2r, redist_index n) {
    return r2r == FFTND_DCT1 ? 2 * (n - 1) : r2r == FFTND_DST1 ? 2 * (n + 1) : n;
}

/* A loop or axis, in the output behind the first axis. */
static struct lines__loop place(const struct lines__loop *loop, int which) {
    return which > 0 ? (struct lines__loop){loop->n, loop->out, loop->out} : *loop;
}

/* The problem of one axis; the other axes are loops. */
static struct lines__problem problem_of(const struct lines__problem *problem, int which) {
    struct lines__problem own = *problem;
    own.naxes = 1;
    own.nloops = 0;
    own.r2r[0] = problem->r2r[which];
    own.axes[0] = place(&problem->axes[which], which);
    for (int i = 0; i < problem->naxes + problem->nloops; i++)
        if (i != which)
            own.loops[own.nloops++] = place(lines__loop_at(problem, i), which);
    return own;
}

static void describe(struct axis *axis, const struct lines__problem *own) {
    ptrdiff_t item = (ptrdiff_t)lines__item_bytes(own->precision, 1);
    enum fftnd_r2r r2r = own->r2r[0];
    redist_index length = length_of(r2r, own->axes[0].n);
    int is_complex = r2r == FFTND_DCT4 || r2r == FFTND_DST4;
    axis->before = (struct lines__r2r_lines){.number_bytes = (size_t)item,
                                             .r2r = (int)r2r,
                                             .n = own->axes[0].n,
                                             .filled = own->axes[0].n,
                                             .length = length,
                                             .row = is_complex ? length : length / 2 + 1,
                                             .is_complex = is_complex,
                                             .nloops = own->nloops,
                                             .step = own->axes[0].in * item};
    axis->after = axis->before;
    axis->after.step = own->axes[0].out * item;
    if (own->filled[0] > 0)
        (own->direction == REDIST_FORWARD ? &axis->before : &axis->after)->filled = own->filled[0];
    axis->nlines = 1;
    for (int i = 0; i < own->nloops; i++) {
        axis->before.extent[i] = axis->after.extent[i] = own->loops[i].n;
        axis->before.stride[i] = own->loops[i].in * item;
        axis->after.stride[i] = own->loops[i].out * item;
        axis->nlines *= own->loops[i].n;
    }
}

static int create_rows(struct axis *axis, const struct lines__problem *problem, redist_index count,
                       void *memory, struct lines__plan *serial) {
    const struct lines__r2r_lines *rows = &axis->before;
    struct lines__problem own = *problem;
    own.kind = rows->is_complex ? FFTND_C2C : FFTND_R2C;
    own.direction = REDIST_FORWARD;
    own.keep_input = 0;
    own.filled[0] = 0;
    own.naxes = own.nloops = 1;
    own.axes[0] = (struct lines__loop){rows->length, 1, 1};
    own.loops[0] =
        (struct lines__loop){count, rows->is_complex ? rows->row : 2 * rows->row, rows->row};
    return lines__create(problem->general, &own, memory, memory, serial);
}

static int create_axis(struct plan *plan, const struct lines__problem *problem, int which, void *in,
                       void *memory) {
    struct axis *axis = &plan->axes[which];
    const struct lines__problem own = problem_of(problem, which);
    axis->serial = &plan->inner.plans[2 * which];
    describe(axis, &own);
    if (axis->nlines == 0)
        return REDIST_OK;
    REDIST_TRY(lines__create(own.general, &own, which > 0 ? memory : in, memory, &axis->serial[0]));
    axis->is_whole = axis->serial[0].data != NULL;
    if (axis->is_whole)
        return REDIST_OK;
    size_t bytes = (size_t)axis->before.row * lines__item_bytes(problem->precision, 0);
    redist_index most = bytes < ROWS_BYTES ? (redist_index)(ROWS_BYTES / bytes) : 1;
    redist_index count = axis->nlines < most ? axis->nlines : most, rest = axis->nlines % count;
    axis->before.count = axis->after.count = count;
    bytes = (bytes * (size_t)count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    plan->inner.own_bytes = bytes > plan->inner.own_bytes ? bytes : plan->inner.own_bytes;
    REDIST_TRY(create_rows(axis, problem, count, memory, &axis->serial[0]));
    return rest > 0 ? create_rows(axis, problem, rest, memory, &axis->serial[1]) : REDIST_OK;
}

/* ---------------------------------------------------------------- plans */

static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    struct plan *plan = redist_calloc(1, sizeof *plan);
    int code = REDIST_OK;
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    plan->inner.each = 2;
    plan->library = problem->general;
    plan->stream = problem->stream;
    plan->naxes = problem->naxes;
    for (int i = 0; i < problem->naxes && code == REDIST_OK; i++)
        code = create_axis(plan, problem, i, in, out);
    if (code == REDIST_OK)
        *result = plan;
    else
        lines__inner_destroy(plan);
    return code;
}

/* Transforms lines from number `first` on. */
static int run_rows(const struct plan *plan, const struct axis *axis, redist_index first,
                    const char *in, char *out) {
    struct lines__r2r_lines before = axis->before, after = axis->after;
    redist_index rest = axis->nlines - first;
    int is_shorter = rest < before.count;
    before.first = after.first = first;
    before.count = after.count = is_shorter ? rest : before.count;
    before.from = in;
    before.to = plan->inner.area;
    after.from = plan->inner.area;
    after.to = out;
    int code = plan->library->r2r(&before, 0, plan->stream);
    if (code == REDIST_OK)
        code = lines__execute(&axis->serial[is_shorter], plan->inner.area, plan->inner.area);
    return code == REDIST_OK ? plan->library->r2r(&after, 1, plan->stream) : code;
}

static int run_axis(const struct plan *plan, const struct axis *axis, void *in, void *out) {
    int code = REDIST_OK;
    if (axis->is_whole)
        return lines__execute(&axis->serial[0], in, out);
    for (redist_index first = 0; first < axis->nlines && code == REDIST_OK;
         first += axis->before.count)
        code = run_rows(plan, axis, first, in, out);
    return code;
}

static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    int code = REDIST_OK;
    for (int i = 0; i < plan->naxes && code == REDIST_OK; i++)
        code = run_axis(plan, &plan->axes[i], i == 0 ? in : out, out);
    return code;
}

/* Always: such libraries have no other way. An axis that is filled in part is the only one. */
static int percent(const struct lines__problem *problem, const void *in, const void *out) {
    (void)in;
    (void)out;
    return problem->kind == FFTND_R2R && problem->general->r2r != NULL && problem->naxes > 0 &&
           (problem->naxes == 1 || !lines__truncates_some(problem));
}

const struct lines__library lines__library_real_to_real = {.name = "real to real",
                                                           .percent = percent,
                                                           .fills = 1,
                                                           .create = create,
                                                           .area_bytes = lines__inner_area_bytes,
                                                           .set_area = lines__inner_set_area,
                                                           .scale_results =
                                                               lines__inner_scale_results,
                                                           .execute = execute,
                                                           .destroy = lines__inner_destroy};
