/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Row prefetch: a serial library reads its input in an order that the processor does not foresee, and waits for
 * memory. Row by row along the contiguous axis, each is fetched while the ones before it are transformed; the other
 * axes are then transformed where the results are, in the caches.
 */
#include "kernel.h"

/* Rows to fetch ahead, into the second-level cache: a row has more cache lines than the first-level cache waits for at
 * once (measured: docs/performance-notebook.md, "Rows that are fetched"). MOST_BYTES of a row is a guess. */
enum { AHEAD = 4, SECOND_LEVEL = 2, CACHE_LINE = 64, MOST_BYTES = 8192, ALIGNMENT = 16 };

/* Returns nonzero if all rows are aligned alike, as fast plans of the library need. */
static int keeps_alignment(const struct lines__problem *problem, int n,
                           const struct lines__loop loops[]) {
    for (int i = 0; i < n; i++)
        if ((size_t)loops[i].in * lines__item_of(problem, 0) % ALIGNMENT != 0 ||
            (size_t)loops[i].out * lines__item_of(problem, 1) % ALIGNMENT != 0)
            return 0;
    return 1;
}

int fftnd__rows_suit(const struct lines__problem *problem) {
    int last = problem->naxes - 1;
    int c2r = problem->kind == FFTND_R2C && problem->direction == REDIST_BACKWARD;
    if (last < 0 || problem->kind == FFTND_R2R || c2r || problem->threads != NULL)
        return 0;
    const struct lines__loop *axis = &problem->axes[last];
    size_t bytes = lines__item_of(problem, 0) * (size_t)axis->n;
    return axis->in == 1 && axis->out == 1 && bytes >= LINES__SHORT_LINE && bytes <= MOST_BYTES &&
           keeps_alignment(problem, last, problem->axes) &&
           keeps_alignment(problem, problem->nloops, problem->loops);
}

static void add_loops(struct fftnd__rows *rows, const struct lines__problem *problem, int n,
                      const struct lines__loop loops[]) {
    ptrdiff_t in = (ptrdiff_t)lines__item_of(problem, 0),
              out = (ptrdiff_t)lines__item_of(problem, 1);
    for (int i = 0; i < n; i++) {
        rows->count *= loops[i].n;
        if (loops[i].n > 1)
            rows->loops[rows->nloops++] =
                (struct lines__loop){loops[i].n, loops[i].in * in, loops[i].out * out};
    }
}

/* Describes the transform of all axes except the last, in the output. */
static void describe_rest(const struct lines__problem *problem, struct lines__problem *rest) {
    int last = problem->naxes - 1;
    redist_index n = problem->axes[last].n;
    *rest = *problem;
    rest->kind = FFTND_C2C;
    rest->naxes = last;
    for (int i = 0; i < last; i++)
        rest->axes[i].in = rest->axes[i].out;
    for (int i = 0; i < rest->nloops; i++)
        rest->loops[i].in = rest->loops[i].out;
    rest->loops[rest->nloops++] =
        (struct lines__loop){problem->kind == FFTND_R2C ? n / 2 + 1 : n, 1, 1};
}

int fftnd__rows_create(struct fftnd__rows *rows, const struct lines__problem *problem, void *in,
                       void *out) {
    struct lines__problem row = *problem, rest;
    int last = problem->naxes - 1;
    *rows = (struct fftnd__rows){.count = 1};
    rows->bytes = lines__item_of(problem, 0) * (size_t)problem->axes[last].n;
    add_loops(rows, problem, problem->nloops, problem->loops);
    add_loops(rows, problem, last, problem->axes);
    row.naxes = 1;
    row.axes[0] = problem->axes[last];
    row.nloops = 0;
    REDIST_TRY(lines__create(problem->general, &row, in, out, &rows->row));
    if (last == 0)
        return REDIST_OK;
    describe_rest(problem, &rest);
    return lines__create(problem->general, &rest, out, out, &rows->rest);
}

void fftnd__rows_free(struct fftnd__rows *rows) {
    lines__destroy(&rows->row);
    lines__destroy(&rows->rest);
    *rows = (struct fftnd__rows){0};
}

/* ---------------------------------------------------------------- running */

static void fetch(const char *row, size_t bytes) {
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        __builtin_prefetch(row + i, 0, SECOND_LEVEL);
}

int fftnd__rows_run(const struct fftnd__rows *rows, char *in, char *out) {
    struct lines__position position = {{0}, 0, 0}, ahead = position;
    for (long long i = -AHEAD; i < rows->count; i++) {
        if (i + AHEAD < rows->count) {
            fetch(in + ahead.in, rows->bytes);
            lines__next_line(rows->nloops, rows->loops, &ahead);
        }
        if (i < 0)
            continue;
        REDIST_TRY(lines__execute(&rows->row, in + position.in, out + position.out));
        lines__next_line(rows->nloops, rows->loops, &position);
    }
    return rows->rest.data != NULL ? lines__execute(&rows->rest, out, out) : REDIST_OK;
}
