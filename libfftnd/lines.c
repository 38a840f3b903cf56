/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines: a serial library reads its input in an order that the processor does not foresee, and waits for memory.
 * Line by line along the contiguous axis, each is fetched while the ones before it are transformed; the other
 * axes are then transformed where the results are, in the caches.
 */
#include "lines.h"

/* A line is asked for so many lines before its turn. Short ones cost more to call for than they wait. */
enum { AHEAD = 2, LINE = 64, LEAST_BYTES = 1536, MOST_BYTES = 8192, ALIGNMENT = 16 };

static size_t in_bytes(const struct fftnd__serial_problem *problem) {
    return fftnd__item_bytes(problem->precision, problem->kind == FFTND_R2C);
}

static size_t out_bytes(const struct fftnd__serial_problem *problem) {
    return fftnd__item_bytes(problem->precision, 0);
}

/* Whether all lines are aligned alike, as the library's fast plans need it. */
static int keeps_alignment(const struct fftnd__serial_problem *problem, int n,
                           const struct fftnd__loop loops[]) {
    for (int i = 0; i < n; i++)
        if ((size_t)loops[i].in * in_bytes(problem) % ALIGNMENT != 0 ||
            (size_t)loops[i].out * out_bytes(problem) % ALIGNMENT != 0)
            return 0;
    return 1;
}

int fftnd__lines_suit(const struct fftnd__serial_problem *problem) {
    int last = problem->naxes - 1;
    int c2r = problem->kind == FFTND_R2C && problem->direction == REDIST_BACKWARD;
    if (last < 0 || problem->kind == FFTND_R2R || c2r || problem->team != NULL)
        return 0;
    const struct fftnd__loop *axis = &problem->axes[last];
    size_t bytes = in_bytes(problem) * (size_t)axis->n;
    return axis->in == 1 && axis->out == 1 && bytes >= LEAST_BYTES && bytes <= MOST_BYTES &&
           keeps_alignment(problem, last, problem->axes) &&
           keeps_alignment(problem, problem->nloops, problem->loops);
}

static void add_loops(struct fftnd__lines *lines, const struct fftnd__serial_problem *problem,
                      int n, const struct fftnd__loop loops[]) {
    ptrdiff_t in = (ptrdiff_t)in_bytes(problem), out = (ptrdiff_t)out_bytes(problem);
    for (int i = 0; i < n; i++) {
        lines->count *= loops[i].n;
        if (loops[i].n > 1)
            lines->loops[lines->nloops++] =
                (struct fftnd__loop){loops[i].n, loops[i].in * in, loops[i].out * out};
    }
}

/* The axes but the last, in the output. */
static void describe_rest(const struct fftnd__serial_problem *problem,
                          struct fftnd__serial_problem *rest) {
    int last = problem->naxes - 1, n = problem->axes[last].n;
    *rest = *problem;
    rest->kind = FFTND_C2C;
    rest->naxes = last;
    for (int i = 0; i < last; i++)
        rest->axes[i].in = rest->axes[i].out;
    for (int i = 0; i < rest->nloops; i++)
        rest->loops[i].in = rest->loops[i].out;
    rest->loops[rest->nloops++] =
        (struct fftnd__loop){problem->kind == FFTND_R2C ? n / 2 + 1 : n, 1, 1};
}

int fftnd__lines_create(struct fftnd__lines *lines, const struct fftnd__serial *library,
                        const struct fftnd__serial_problem *problem, void *in, void *out) {
    struct fftnd__serial_problem line = *problem, rest;
    int last = problem->naxes - 1;
    *lines = (struct fftnd__lines){.count = 1};
    lines->bytes = in_bytes(problem) * (size_t)problem->axes[last].n;
    add_loops(lines, problem, problem->nloops, problem->loops);
    add_loops(lines, problem, last, problem->axes);
    line.naxes = 1;
    line.axes[0] = problem->axes[last];
    line.nloops = 0;
    int code = library->create(&line, in, out, &lines->line);
    if (code != REDIST_OK || last == 0)
        return code;
    describe_rest(problem, &rest);
    return library->create(&rest, out, out, &lines->rest);
}

void fftnd__lines_free(struct fftnd__lines *lines, const struct fftnd__serial *library) {
    if (lines->line != NULL)
        library->destroy(lines->line);
    if (lines->rest != NULL)
        library->destroy(lines->rest);
    *lines = (struct fftnd__lines){0};
}

/* ---------------------------------------------------------------- running */

/* A line: its indices and offsets in both arrays. */
struct place {
    int index[REDIST_MAX_NDIMS];
    ptrdiff_t in, out;
};

static void go_on(const struct fftnd__lines *lines, struct place *place) {
    for (int i = lines->nloops - 1; i >= 0; i--) {
        const struct fftnd__loop *loop = &lines->loops[i];
        place->in += loop->in;
        place->out += loop->out;
        if (++place->index[i] < loop->n)
            return;
        place->index[i] = 0;
        place->in -= loop->n * loop->in;
        place->out -= loop->n * loop->out;
    }
}

static void fetch(const char *line, size_t bytes) {
    for (size_t i = 0; i < bytes; i += LINE)
        __builtin_prefetch(line + i);
}

int fftnd__lines_run(const struct fftnd__lines *lines, const struct fftnd__serial *library,
                     char *in, char *out) {
    struct place place = {{0}, 0, 0}, ahead = place;
    int code = REDIST_OK;
    for (long long i = -AHEAD; i < lines->count && code == REDIST_OK; i++) {
        if (i + AHEAD < lines->count) {
            fetch(in + ahead.in, lines->bytes);
            go_on(lines, &ahead);
        }
        if (i < 0)
            continue;
        code = library->execute(lines->line, in + place.in, out + place.out);
        go_on(lines, &place);
    }
    if (code == REDIST_OK && lines->rest != NULL)
        code = library->execute(lines->rest, out, out);
    return code;
}
