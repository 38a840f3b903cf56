/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms of contiguous lines. FFTW transforms them one by one, and the numbers of one line have less to do alike
 * than those of several: its real lines take as long in float as in double. Here a few lines at once become columns in
 * registers (column_passes.h). Real points are taken as complex elements of half the length, from whose transform
 * theirs follows.
 */
#include "../neighbours.h"
#include "columns.h"
#include "measure.h"

#include <math.h>

enum { MOST_LINES = 16 }; /* numbers of the widest registers */

struct plan {
    lines__run_contiguous *run;
    int width; /* lines of a group */
    struct lines__passes passes;
    char *factors; /* of real lines */
    struct lines__contiguous lines;
    int nloops;
    struct lines__loop loops[REDIST_MAX_NDIMS]; /* strides in bytes */
    long long count;                            /* of lines */
};

/* Complex elements that radix passes transform. */
static redist_index elements_of(const struct lines__problem *problem) {
    return problem->kind == FFTND_R2C ? problem->axes[0].n / 2 : problem->axes[0].n;
}

/* ---------------------------------------------------------------- plans */

static void set_loops(struct plan *plan, const struct lines__problem *problem) {
    plan->count = 1;
    for (int i = 0; i < problem->nloops; i++) {
        const struct lines__loop *loop = &problem->loops[i];
        plan->count *= loop->n;
        if (loop->n != 1)
            plan->loops[plan->nloops++] =
                (struct lines__loop){loop->n, loop->in * (ptrdiff_t)lines__item_of(problem, 0),
                                     loop->out * (ptrdiff_t)lines__item_of(problem, 1)};
    }
}

/* Sets the factors of struct lines__contiguous: c - i s for f = c + i s of column_passes.h (combine). */
static int set_factors(struct plan *plan, const struct lines__problem *problem) {
    const long double half_turn = 3.141592653589793238462643383279502884L;
    size_t item = lines__item_bytes(problem->precision, 0);
    int n = plan->lines.n;
    plan->factors = redist_calloc((size_t)n / 2 + 1, item);
    for (int k = 0; 2 * k <= n && plan->factors != NULL; k++) {
        long double angle = half_turn * (0.5L + (long double)k / n);
        lines__store(plan->factors + (size_t)k * item, problem->precision, cosl(angle),
                     plan->lines.backward ? -sinl(angle) : sinl(angle));
    }
    plan->lines.factors = plan->factors;
    return plan->factors != NULL
               ? REDIST_OK
               : redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
}

static int fill(struct plan *plan, const struct lines__column_loops *loops,
                const struct lines__problem *problem, const struct lines__radices *radices) {
    size_t item = lines__item_bytes(problem->precision, 0);
    int n = (int)elements_of(problem), backward = problem->direction == REDIST_BACKWARD;
    int is_real = problem->kind == FFTND_R2C;
    if (n * (redist_index)item < loops->register_bytes)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "no lines of %d elements", n);
    REDIST_TRY(lines__passes_create(loops, n, problem->precision, 1, radices, &plan->passes));
    plan->run = loops->run_lines[problem->precision];
    plan->width = (int)lines__group_width(loops, problem->precision);
    plan->lines = (struct lines__contiguous){.npasses = plan->passes.n,
                                             .passes = plan->passes.pass,
                                             .n = n,
                                             .numbers = {2 * n, 2 * n},
                                             .backward = backward};
    if (is_real)
        plan->lines.numbers[!backward] += 2;
    set_loops(plan, problem);
    return is_real ? set_factors(plan, problem) : REDIST_OK;
}

static void destroy(void *data) {
    struct plan *plan = data;
    lines__passes_destroy(&plan->passes);
    redist_release(plan->factors);
    redist_release(plan);
}

int lines__contiguous_create(const struct lines__column_loops *loops,
                             const struct lines__problem *problem,
                             const struct lines__radices *radices, void **result) {
    struct plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    int code = fill(plan, loops, problem, radices);
    if (code == REDIST_OK)
        *result = plan;
    else
        destroy(plan);
    return code;
}

static int create(const struct lines__problem *problem, void *in, void *out, void **plan) {
    (void)in;
    (void)out;
    const struct lines__radices radices = lines__columns_radices(problem, elements_of(problem));
    return lines__contiguous_create(lines__column_loops_here(), problem, &radices, plan);
}

/* ---------------------------------------------------------------- running */

struct group {
    const char *in[MOST_LINES];
    char *out[MOST_LINES];
};

/* Addresses of the lines from number `done` on; the last line fills up a group. */
static struct group find_group(const struct plan *plan, long long done, const char *in, char *out,
                               struct lines__position *position) {
    struct group group;
    for (int i = 0; i < plan->width; i++) {
        group.in[i] = in + position->in;
        group.out[i] = out + position->out;
        if (done + i + 1 < plan->count)
            lines__next_line(plan->nloops, plan->loops, position);
    }
    return group;
}

static int execute(void *data, void *in, void *out) {
    struct plan *plan = data;
    void *memory, *scratch[2];
    REDIST_TRY(lines__scratch_take(&plan->passes, &memory, scratch));
    struct lines__position position = {{0}, 0, 0};
    struct group group, next = find_group(plan, 0, in, out, &position);
    for (long long done = 0; done < plan->count; done += plan->width) {
        group = next;
        next = find_group(plan, done + plan->width, in, out, &position);
        plan->run(&plan->lines, group.in, next.in, group.out, scratch);
    }
    lines__scratch_give_back(&plan->passes, memory);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- expected time */

/* FFTW plans lines in 0.05 to 0.5 s, and reuses what it has found for arrays. Interrupted after 0.05 s, its plans took
 * up to 2.3 times as long (docs/performance-notebook.md, "Trials of contiguous lines"). */
enum { TRIAL_LINES = 32, TRIAL_PAD = 4 };
static const double trial_seconds = 1;

/* Second-level caches that input and output exceed together where they are far: in six of them lines of 96 real points
 * took as long as in the first-level cache, in nine longer (docs/performance-notebook.md, "Trials of contiguous
 * lines"). */
enum { FAR_CACHES = 8 };

/* Lines of a trial: few, or as many as far arrays have. */
static redist_index trial_lines(const struct lines__problem *problem, ptrdiff_t pitch, int far) {
    size_t bytes = (size_t)pitch * lines__item_bytes(problem->precision, 0);
    return far ? (redist_index)(FAR_CACHES * redist_find_caches()->second / bytes) + TRIAL_LINES
               : TRIAL_LINES;
}

/* Percent of the time of FFTW's estimated plans up to which no measured plan made lines slower than the limit: those of
 * complex lines take down to 0.45 of that time, of real ones 0.5 (docs/performance-notebook.md, "Trials beside
 * estimates"). */
static int sure_percent(const struct lines__problem *problem, int far) {
    enum { SURE_FAR = 50, SURE_COMPLEX = 60, SURE_REAL = 75 };
    return far ? SURE_FAR : problem->kind == FFTND_R2C ? SURE_REAL : SURE_COMPLEX;
}

/* Percent of the general library's time, from array to array: in the caches, or of `far` arrays. */
static int find_percent(const struct lines__problem *problem, int far, int as_fast) {
    struct lines__trial trial = {.own = &lines__library_contiguous,
                                 .problem = *problem,
                                 .apart = 1,
                                 .as_fast = as_fast,
                                 .sure = sure_percent(problem, far)};
    struct lines__loop *lines = &trial.problem.loops[0];
    redist_index n = elements_of(problem);
    int is_real = problem->kind == FFTND_R2C,
        what = LINES__FOUND_CONTIGUOUS + 4 * far + 2 * is_real + problem->direction;
    ptrdiff_t pitch = (ptrdiff_t)n + TRIAL_PAD;
    if (problem->effort == FFTND_ESTIMATE && !(is_real && problem->precision == FFTND_FLOAT))
        return LINES__UNSUITED;
    trial.problem.seconds = trial_seconds;
    trial.problem.keep_input = 0;
    trial.problem.nloops = 1;
    *lines = (struct lines__loop){trial_lines(problem, pitch, far), pitch, pitch};
    trial.bytes = (size_t)(lines->n * pitch) * lines__item_bytes(problem->precision, 0);
    if (is_real)
        *(problem->direction == REDIST_FORWARD ? &lines->in : &lines->out) *= 2;
    return lines__trial_percent(&trial, lines__finding(problem->precision, what, n));
}

/* Percent in a trial in the caches up to which lines are as fast in a tile: here lines are fetched ahead, by the
 * library only in the trial. Pairs of 360, 480 and 1000 points gain with 105 to 125, those of 144 and 192 lose with 135
 * and more (docs/performance-notebook.md, "Trials of contiguous lines"). */
enum { AS_FAST_NEAR = 120 };

static int percent(const struct lines__problem *problem, const void *in, const void *out) {
    const struct lines__column_loops *loops = lines__column_loops_here();
    redist_index lines = 1, n = elements_of(problem);
    if (!lines__may_take(problem) || problem->naxes != 1 || problem->axes[0].in != 1 ||
        problem->axes[0].out != 1 || problem->retained[0].modes != 0 || n < LINES__SHORTEST ||
        !(problem->kind == FFTND_C2C ||
          (problem->kind == FFTND_R2C && problem->axes[0].n % 2 == 0)) ||
        !lines__passes_exist(n) || (in == out && !lines__lie_alike(problem)))
        return 0;
    for (int i = 0; i < problem->nloops; i++)
        lines *= problem->loops[i].n;
    redist_index width = lines__group_width(loops, problem->precision);
    redist_index groups = (lines + width - 1) / width;
    int far = 2 * (size_t)(lines * n) * lines__item_bytes(problem->precision, 0) >
              FAR_CACHES * redist_find_caches()->second;
    int as_fast = far ? LINES__AS_FAST : AS_FAST_NEAR;
    int full = lines > 0 ? find_percent(problem, far, as_fast) : LINES__UNSUITED;
    return full == LINES__UNSUITED ? 0 : (int)(1 + 99 * full * groups * width / (as_fast * lines));
}

const struct lines__library lines__library_contiguous = {.name = "contiguous",
                                                         .space = REDIST_SPACE_HOST,
                                                         .percent = percent,
                                                         .create = create,
                                                         .execute = execute,
                                                         .destroy = destroy};
