/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Complex transforms of columns, lines that are neighbours in memory. FFTW transforms such lines one by one: it gathers
 * their elements and seldom fills the widest registers, so that a distribution's build takes 1.5 to 4 times as long
 * (docs/performance-notebook.md, "Lines side by side"). Here vectors hold elements of neighbouring columns, a group of
 * which is transformed at once. Lengths are products of 2, 3, 5 and 7.
 */
#include "columns.h"
#include "../neighbours.h"
#include "measure.h"

#include <pthread.h>
#include <string.h>

/* ---------------------------------------------------------------- plans */

struct plan {
    lines__run_columns *run;
    size_t item;
    int groups;                     /* that are transformed at once, side by side */
    redist_index n, columns, width; /* of a line; neighbours; of these in those groups */
    redist_index rows[2];           /* of the input and the output, at most n */
    struct lines__loop axis;        /* strides in bytes */
    int nloops;                     /* over groups, the last one along the neighbours */
    struct lines__loop loops[REDIST_MAX_NDIMS];
    long long ngroups;
    int backward, is_far;
    struct lines__passes passes;
};

/* Merges loops that continue where the neighbours end. Returns the columns. */
static redist_index merge_loops(const struct lines__problem *problem,
                                int merged[REDIST_MAX_NDIMS]) {
    int neighbours = lines__find_neighbours(problem);
    redist_index columns = problem->loops[neighbours].n;
    memset(merged, 0, REDIST_MAX_NDIMS * sizeof *merged);
    merged[neighbours] = 1;
    for (int i = 0; i < problem->nloops; i++) {
        const struct lines__loop *loop = &problem->loops[i];
        if (merged[i] || loop->in != columns || loop->out != columns)
            continue;
        columns *= loop->n;
        merged[i] = 1;
        i = -1; /* another loop may continue there */
    }
    return columns;
}

static void set_loops(struct plan *plan, const struct lines__problem *problem) {
    ptrdiff_t item = (ptrdiff_t)plan->item;
    int merged[REDIST_MAX_NDIMS];
    plan->columns = merge_loops(problem, merged);
    plan->axis =
        (struct lines__loop){plan->n, problem->axes[0].in * item, problem->axes[0].out * item};
    for (int i = 0; i < problem->nloops; i++)
        if (!merged[i])
            plan->loops[plan->nloops++] = (struct lines__loop){
                problem->loops[i].n, problem->loops[i].in * item, problem->loops[i].out * item};
    plan->loops[plan->nloops++] = (struct lines__loop){
        (plan->columns + plan->width - 1) / plan->width, plan->width * item, plan->width * item};
    plan->ngroups = 1;
    for (int i = 0; i < plan->nloops; i++)
        plan->ngroups *= plan->loops[i].n;
}

/* Bytes from the first row to the end of the last one. */
static size_t span_of(const struct lines__problem *problem) {
    return (size_t)problem->axes[0].n * (size_t)problem->axes[0].in *
           lines__item_bytes(problem->precision, 0);
}

static int is_far(const struct lines__problem *problem) {
    return span_of(problem) > redist_find_caches()->second;
}

static void destroy(void *data) {
    struct plan *plan = data;
    lines__passes_destroy(&plan->passes);
    redist_release(plan);
}

int lines__columns_create(const struct lines__column_loops *loops,
                          const struct lines__problem *problem,
                          const struct lines__radices *radices, int groups, void **result) {
    struct plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    plan->item = lines__item_bytes(problem->precision, 0);
    plan->n = problem->axes[0].n;
    for (int i = 0; i < 2; i++)
        plan->rows[i] =
            problem->filled[0] > 0 && i == problem->direction ? problem->filled[0] : plan->n;
    int code =
        lines__passes_create(loops, plan->n, problem->precision, groups, radices, &plan->passes);
    if (code != REDIST_OK) {
        destroy(plan);
        return code;
    }
    plan->run = loops->run[problem->precision];
    plan->groups = groups;
    plan->width = groups * lines__group_width(loops, problem->precision);
    plan->backward = problem->direction == REDIST_BACKWARD;
    set_loops(plan, problem);
    plan->is_far = is_far(problem);
    *result = plan;
    return REDIST_OK;
}

/* Groups to transform at once. Far rows are in pages of their own, whose translation each visit has to find: as much of
 * a row as tiles have is read and written at once. One group is better where two such groups and their scratch arrays
 * exceed a second-level cache, unless rows come from memory, and where many columns of zeros would fill the last
 * group. */
static int choose_groups(const struct lines__column_loops *loops,
                         const struct lines__problem *problem) {
    enum { MANY = 32 };
    const redist_caches *caches = redist_find_caches();
    int merged[REDIST_MAX_NDIMS], groups = LINES__AT_ONCE_BYTES / (2 * loops->register_bytes);
    redist_index columns = merge_loops(problem, merged);
    redist_index at_once = groups * lines__group_width(loops, problem->precision);
    int fills = columns % at_once == 0 || columns >= MANY * at_once;
    int fits = 4 * (size_t)problem->axes[0].n * LINES__AT_ONCE_BYTES <= caches->second ||
               span_of(problem) > caches->last_whole;
    return is_far(problem) && fits && fills ? groups : 1;
}

static int create(const struct lines__problem *problem, void *in, void *out, void **plan) {
    (void)in;
    (void)out;
    const struct lines__column_loops *loops = lines__column_loops_here();
    const struct lines__radices radices = lines__columns_radices(problem, problem->axes[0].n);
    return lines__columns_create(loops, problem, &radices, choose_groups(loops, problem), plan);
}

/* ---------------------------------------------------------------- running */

/* Transforms fewer columns than a group has beside columns of zeros in scratch memory: from the array that is free
 * behind the first radix pass to the one that the last radix pass does not read. */
static void transform_few(const struct plan *plan, struct lines__columns group,
                          redist_index columns, void *const scratch[2]) {
    size_t bytes = (size_t)columns * plan->item, row = (size_t)plan->width * plan->item;
    const char *in = group.in;
    char *out = group.out, *before = scratch[0], *after = scratch[plan->passes.n % 2];
    group.in = before;
    group.out = after;
    group.in_stride = group.out_stride = (ptrdiff_t)row;
    group.in_rows = group.out_rows = (int)plan->n;
    memset(before, 0, (size_t)plan->n * row);
    for (redist_index i = 0; i < plan->rows[0]; i++)
        memcpy(before + (size_t)i * row, in + i * plan->axis.in, bytes);
    plan->run(plan->passes.n, plan->passes.pass, &group, scratch);
    for (redist_index i = 0; i < plan->rows[1]; i++)
        memcpy(out + i * plan->axis.out, after + (size_t)i * row, bytes);
}

/* Transforms group by group, and fetches the next one meanwhile. */
static int execute(void *data, void *in, void *out) {
    struct plan *plan = data;
    struct lines__columns group = {.groups = plan->groups,
                                   .in_stride = plan->axis.in,
                                   .out_stride = plan->axis.out,
                                   .in_rows = (int)plan->rows[0],
                                   .out_rows = (int)plan->rows[1],
                                   .backward = plan->backward,
                                   .next = in,
                                   .next_stride = plan->axis.in};
    void *memory, *scratch[2];
    REDIST_TRY(lines__scratch_take(&plan->passes, &memory, scratch));
    char *next_out = out;
    redist_index next_columns = plan->columns < plan->width ? plan->columns : plan->width;
    for (long long i = 0; i < plan->ngroups; i++) {
        redist_index columns = next_columns;
        group.in = group.next;
        group.out = next_out;
        if (i + 1 < plan->ngroups) {
            group.next = in;
            next_out = out;
            next_columns = lines__neighbour_group(plan->nloops, plan->loops, plan->columns,
                                                  plan->width, i + 1, &group.next, &next_out);
        } else if (plan->is_far) {
            /* Probably the beginning of the next piece of the array. */
            group.next += (size_t)plan->width * plan->item;
        }
        if (columns == plan->width)
            plan->run(plan->passes.n, plan->passes.pass, &group, scratch);
        else
            transform_few(plan, group, columns, scratch);
    }
    lines__scratch_give_back(&plan->passes, memory);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- expected time */

/* Columns of a trial, at least as many as tiles have, and a distance of rows that is no power of two, as in tiles.
 * FFTW's plans of 2 s took down to half the time of those of 0.05 s, and were slower than columns except where FFTW
 * needs no more than 0.05 s (docs/performance-notebook.md, "Trials of contiguous lines"). */
enum { TRIAL_COLUMNS = 64, TRIAL_PITCH = 68 };
static const double trial_seconds = 0.05;

static struct lines__trial trial_of(const struct lines__problem *problem, redist_index n) {
    struct lines__trial trial = {.own = &lines__library_columns, .problem = *problem};
    trial.bytes = (size_t)n * TRIAL_PITCH * lines__item_bytes(problem->precision, 0);
    trial.problem.kind = FFTND_C2C;
    trial.problem.seconds = trial_seconds;
    trial.problem.keep_input = 0;
    trial.problem.filled[0] = 0; /* the result is that of other problems, too */
    trial.problem.naxes = trial.problem.nloops = 1;
    trial.problem.axes[0] = (struct lines__loop){n, TRIAL_PITCH, TRIAL_PITCH};
    trial.problem.loops[0] = (struct lines__loop){TRIAL_COLUMNS, 1, 1};
    return trial;
}

/* Number of the fastest way on this processor: 8 and 16 elements, of which the latter do not fit the registers, take
 * less time than 4, 4 and 8 on some and more on others (docs/performance-notebook.md, "Ways through a line"). */
static int find_way(const struct lines__problem *problem, redist_index n) {
    struct lines__plan plans[LINES__WAYS];
    double seconds[LINES__WAYS] = {0};
    struct lines__radices radices;
    int count = 0, best = 0;
    const struct lines__trial trial = trial_of(problem, n);
    char *memory = redist_calloc(trial.bytes, 1);
    const struct lines__column_loops *loops = lines__column_loops_here();
    while (memory != NULL && lines__radices_at(loops, n, count, &radices) &&
           lines__columns_create(loops, &trial.problem, &radices, 1, &plans[count].data) ==
               REDIST_OK)
        plans[count++].library = &lines__library_columns;
    if (count > 1)
        lines__time_plans(count, plans, n * TRIAL_COLUMNS, memory, memory, seconds);
    for (int i = 0; i < count; i++) {
        best = seconds[i] < seconds[best] ? i : best;
        lines__destroy(&plans[i]);
    }
    redist_release(memory);
    return best;
}

struct lines__radices lines__columns_radices(const struct lines__problem *problem, redist_index n) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct lines__column_loops *loops = lines__column_loops_here();
    struct lines__radices radices = {0};
    if (!lines__radices_at(loops, n, 0, &radices) || problem->effort == FFTND_ESTIMATE)
        return radices;
    short *place = lines__finding(problem->precision, LINES__FOUND_WAY, n);
    pthread_mutex_lock(&lock);
    if (*place == 0)
        *place = (short)(1 + find_way(problem, n));
    (void)lines__radices_at(loops, n, *place - 1, &radices);
    pthread_mutex_unlock(&lock);
    return radices;
}

/* Percent in a trial up to which columns are as fast in the array. Far rows are fetched while others are transformed,
 * which FFTW does not do (docs/performance-notebook.md, "Lines side by side": far rows). */
static int as_fast_percent(int far) {
    enum { FAR_PERCENT = 150 };
    return far ? FAR_PERCENT : LINES__AS_FAST;
}

/* Percent of the general library's time, in the caches, for the limit of near or far columns. FFTW's measured plans are
 * much faster than its estimated ones only where columns take at most 0.55 of the latter, and 0.72 of the former
 * (docs/performance-notebook.md, "Trials beside estimates"). */
static int find_percent(const struct lines__problem *problem, redist_index n, int far) {
    if (!lines__may_take(problem) || n < LINES__SHORTEST || !lines__passes_exist(n))
        return LINES__UNSUITED;
    struct lines__trial trial = trial_of(problem, n);
    trial.as_fast = as_fast_percent(far);
    trial.sure = trial.as_fast * 4 / 5;
    return lines__trial_percent(&trial,
                                lines__finding(problem->precision, LINES__FOUND_COLUMNS, n));
}

int lines__columns_gain(const struct lines__problem *problem, redist_index n, int far) {
    return find_percent(problem, n, far) < as_fast_percent(far);
}

redist_index lines__columns_fill(const struct lines__problem *problem, redist_index n,
                                 redist_index columns) {
    redist_index width = lines__group_width(lines__column_loops_here(), problem->precision);
    return lines__columns_gain(problem, n, 0) ? (columns + width - 1) / width * width : columns;
}

/* Nonzero for lines whose rows share so few sets of a first-level cache that it does not hold one line. FFTW, which
 * transforms columns one by one, fetches each row again for each of them. Caches have at least eight ways of 4 KiB. */
static int rows_conflict(const struct lines__problem *problem) {
    enum { WAY_BYTES = 4096, CACHE_LINE = 64, WAYS = 8 };
    const struct lines__loop *rows = &problem->axes[0];
    size_t apart = (size_t)rows->in * lines__item_bytes(problem->precision, 0);
    size_t distance = CACHE_LINE;
    while (distance < WAY_BYTES && apart % (2 * distance) == 0)
        distance *= 2;
    return rows->n > (redist_index)(WAYS * (WAY_BYTES / distance));
}

/* A group that is not full takes about one and a half times as long as a full one. */
static int percent(const struct lines__problem *problem, const void *in, const void *out) {
    int merged[REDIST_MAX_NDIMS];
    if (!lines__may_take(problem) || !lines__has_neighbours(problem, 1, in == out))
        return 0;
    redist_index width = lines__group_width(lines__column_loops_here(), problem->precision);
    redist_index columns = merge_loops(problem, merged), rest = columns % width;
    redist_index paid = columns - rest + (rest > 0 ? width + width / 2 : 0);
    int far = is_far(problem) || rows_conflict(problem);
    int full =
        columns >= width / 4 ? find_percent(problem, problem->axes[0].n, far) : LINES__UNSUITED;
    return full == LINES__UNSUITED ? 0
                                   : (int)(1 + 99 * full * paid / (as_fast_percent(far) * columns));
}

const struct lines__library lines__library_columns = {.name = "columns",
                                                      .space = REDIST_SPACE_HOST,
                                                      .percent = percent,
                                                      .fills = 1,
                                                      .create = create,
                                                      .execute = execute,
                                                      .destroy = destroy,
                                                      .tell_found = lines__tell_findings,
                                                      .take_found = lines__take_findings};
