/* SPDX-License-Identifier: BSD-3-Clause */
#include "groups.h"
#include "rates.h"

#include <limits.h>
#include <math.h>

/* Milliseconds of each of several launches. */
static const double launch_time = 0.003;

/* Rates repeat to within 3 %: panels must be faster by that, and more groups than one. */
static const double worthwhile = 0.97;

/* Time of an axis that cuFFT transforms together with others, over its time alone; where the last axis is not
 * contiguous, of all of them, which took 6 to 12 copies each (docs/performance-notebook.md, "Lines on one GPU"). */
static const double together = 0.9, strided_together = 5.0;

/* Neighbouring lines that fill an access to memory. */
enum { LEAST_SIDE = 16 };

/* ---------------------------------------------------------------- nested axes */

static int nests(ptrdiff_t outer, ptrdiff_t inner, redist_index n) {
    return inner > 0 && outer % inner == 0 && outer / inner >= n;
}

/* Nonzero if cuFFT can transform along `outer` together with axes that begin with `inner`; halved[] says on which side
 * that one is. */
static int may_join(const struct lines__loop *outer, const struct lines__loop *inner,
                    const int halved[2]) {
    redist_index n = inner->n, half = n / 2 + 1;
    return nests(outer->in, inner->in, halved[0] ? half : n) &&
           nests(outer->out, inner->out, halved[1] ? half : n);
}

/* Number of the last of `n` axes that one plan can transform; halved[] says whether the last one is halved in the
 * input, and in the output. */
static int count_nested(int n, const struct lines__loop axes[], const int halved[2]) {
    static const int whole[2] = {0, 0};
    int size = 1;
    while (size < n && size < LINES__CUFFT_AXES &&
           may_join(&axes[n - size - 1], &axes[n - size], size == 1 ? halved : whole))
        size++;
    return size;
}

/* ---------------------------------------------------------------- times */

/* Predicted milliseconds; INFINITY = cannot. */
struct times {
    double cufft, panels;
};

/* Bytes of a complex array of a task's size. */
static double count_bytes(const struct lines__task *task, int is_double) {
    double bytes = (is_double ? 16.0 : 8.0) / (task->is_real[0] || task->is_real[1] ? 2 : 1);
    for (int i = 0; i < task->rank; i++)
        bytes *= (double)task->axes[i].n;
    for (int i = 0; i < task->nloops; i++)
        bytes *= (double)task->loops[i].n;
    return bytes;
}

/* Least time of launches that do one loop each, or the loops from `first` on. */
static double time_launches(const struct lines__task *task, int only, int first) {
    double launches = 1;
    for (int i = 0; i < task->nloops; i++)
        if (i != only && i < first)
            launches *= (double)task->loops[i].n;
    return launches > 1 ? launches * launch_time : 0.0;
}

static int is_contiguous(const struct lines__task *task) {
    const struct lines__loop *last = &task->axes[task->rank - 1];
    return last->in == 1 && last->out == 1;
}

/* The kind of lines whose rate is nearest to that of the last axis. */
static int kind_of(const struct lines__task *task, const struct lines__problem *problem) {
    int is_double = problem->precision == FFTND_DOUBLE;
    int is_aligned = lines__rows_are_aligned(is_double, task->rank, task->axes) &&
                     lines__rows_are_aligned(is_double, task->nloops, task->loops);
    return task->is_real[0]      ? LINES__REAL
           : task->is_real[1]    ? LINES__TO_REAL
           : is_contiguous(task) ? LINES__CONTIGUOUS
           : is_aligned          ? LINES__STRIDED
                                 : LINES__UNALIGNED;
}

/* The part of panels that neighbouring lines fill. */
static double count_filled(redist_index side) {
    redist_index panels = (side + LEAST_SIDE - 1) / LEAST_SIDE;
    return (double)side / (double)(panels * LEAST_SIDE);
}

static struct times single_times(const struct lines__task *task,
                                 const struct lines__problem *problem,
                                 struct lines__panel_lines *lines) {
    double bytes = count_bytes(task, problem->precision == FFTND_DOUBLE),
           samples = bytes / LINES__SAMPLE_BYTES;
    struct lines__rates rates =
        lines__rates_of_lines(problem, task->axes[0].n, bytes >= LINES__MEASURED_BYTES);
    int kind = kind_of(task, problem), has_lines = lines__task_lines(task, lines);
    struct times times = {samples * rates.cufft[kind], INFINITY};
    times.cufft = fmax(times.cufft, time_launches(task, lines__task_batch(task), INT_MAX));
    if (!has_lines || rates.panels[kind] <= 0.0)
        return times;
    lines->variant = rates.variant[kind];
    times.panels = samples * rates.panels[kind] /
                   (lines->layout == LINES__STRIDED ? count_filled(lines->side.n) : 1.0);
    times.panels = fmax(times.panels, time_launches(task, -1, task->nloops - 1 - lines->nouter));
    return times;
}

/* Milliseconds of a sample for the axes from `first` on together: measured, or, where a group exceeds the sample, the
 * sum over its axes. */
static double group_rate(const struct lines__task *task, const struct lines__problem *problem,
                         double bytes, int first) {
    int is_real = task->is_real[0] || task->is_real[1], is_last = first == task->rank - 1,
        kind = kind_of(task, problem), is_strided = !is_contiguous(task);
    struct lines__group_rate rate = {.n = {1, 1, 1},
                                     .is_double = problem->precision == FFTND_DOUBLE,
                                     .is_real = is_real,
                                     .to_real = task->is_real[1]};
    for (int i = first; i < task->rank; i++)
        rate.n[i] = task->axes[i].n;
    if (!is_last && !is_strided && bytes >= LINES__MEASURED_BYTES)
        lines__rates_of_group(&rate, problem->stream);
    if (rate.cufft > 0.0)
        return rate.cufft;
    struct lines__rates rates =
        lines__rates_of_lines(problem, task->axes[first].n, bytes >= LINES__MEASURED_BYTES);
    double alone = rates.cufft[is_last ? kind : LINES__STRIDED],
           part = alone * (is_strided ? strided_together
                           : is_last  ? 1.0
                                      : together);
    return is_last ? part : part + group_rate(task, problem, bytes, first + 1);
}

static double group_time(const struct lines__task *task, const struct lines__problem *problem) {
    double bytes = count_bytes(task, problem->precision == FFTND_DOUBLE),
           time = bytes / LINES__SAMPLE_BYTES * group_rate(task, problem, bytes, 0);
    return fmax(time, time_launches(task, lines__task_batch(task), INT_MAX));
}

/* Time of planes of two axes that cuFFT would take together; small arrays have them only if FFTND_LINES says so. */
static double planes_time(const struct lines__task *task, const struct lines__problem *problem,
                          struct lines__panel_lines *lines) {
    struct lines__group_rate rate = {.n = {task->axes[0].n, task->axes[1].n, 1},
                                     .is_double = problem->precision == FFTND_DOUBLE,
                                     .is_strided = !is_contiguous(task)};
    double bytes = count_bytes(task, rate.is_double), samples = bytes / LINES__SAMPLE_BYTES;
    int is_small = bytes < LINES__MEASURED_BYTES && !lines__rates_are_dictated();
    if (is_small || !lines__task_planes(task, lines))
        return INFINITY;
    lines__rates_of_group(&rate, problem->stream);
    if (rate.planes <= 0.0)
        return INFINITY;
    lines->variant = rate.variant;
    return fmax(samples * rate.planes / (rate.is_strided ? count_filled(lines->side.n) : 1.0),
                time_launches(task, -1, task->nloops - 1 - lines->nouter));
}

/* Nonzero if cuFFT takes several axes at once, and its time for them is known. */
static int suits_group(const struct lines__task *task) {
    return !lines__task_misaligns(task) && !lines__task_is_apart(task);
}

static double task_time(const struct lines__task *task, const struct lines__problem *problem) {
    struct lines__panel_lines lines;
    if (task->rank > 1) {
        double planes = planes_time(task, problem, &lines);
        return suits_group(task) ? fmin(planes, worthwhile * group_time(task, problem)) : planes;
    }
    struct times times = single_times(task, problem, &lines);
    return fmin(times.cufft, times.panels);
}

int lines__groups_prefer_panels(const struct lines__task *task,
                                const struct lines__problem *problem, enum lines__way way,
                                struct lines__panel_lines *lines) {
    if (way == LINES__CUFFT_ALONE)
        return 0;
    struct times times = {0.0, 0.0};
    if (task->rank == 1)
        times = single_times(task, problem, lines);
    else {
        times.panels = planes_time(task, problem, lines);
        times.cufft = isinf(times.panels) ? 0.0 : group_time(task, problem);
    }
    lines->is_double = problem->precision == FFTND_DOUBLE;
    lines->direction = problem->direction;
    return times.panels < (way == LINES__PANELS ? INFINITY : worthwhile * times.cufft);
}

int lines__groups_guess(const struct lines__problem *problem) {
    double bytes = (double)lines__item_bytes(problem->precision, 0);
    for (int i = 0; i < problem->naxes; i++)
        bytes *= (double)problem->axes[i].n;
    return problem->naxes > 1 && 2 * bytes > LINES__SAMPLE_BYTES;
}

/* Panels are always faster than rows for cuFFT, which sweep device memory three times. */
int lines__groups_have_r2r(const struct lines__problem *problem, struct lines__panel_lines *lines) {
    struct lines__task task = lines__task_make(problem, 1, problem->axes, 0, 1, -1);
    if (!lines__task_r2r_lines(&task, lines))
        return 0;
    const struct lines__rates rates = lines__rates_of_lines(
        problem, lines__r2r_points((int)problem->r2r[0], problem->axes[0].n), 0);
    lines->r2r = (int)problem->r2r[0];
    lines->direction = problem->direction;
    lines->filled = problem->filled[0];
    lines->is_double = rates.is_double;
    lines->variant = rates.variant[lines->layout];
    return rates.panels[lines->layout] > 0.0;
}

/* ---------------------------------------------------------------- groups */

/* Cost of a group: its time, or one. */
static double cost_of(const struct lines__task *task, const struct lines__problem *problem,
                      enum lines__way way) {
    int is_bad = task->rank > 1 && (way == LINES__PANELS || !suits_group(task));
    return way == LINES__FASTEST ? task_time(task, problem) : is_bad ? INFINITY : 1.0;
}

/* Takes the longest last group of equal divisions, as its axes are the fastest. best[i] is the least cost of the first
 * i axes, last[i] the size of their last group. */
int lines__cufft_groups(const struct lines__problem *problem, enum lines__way way, int n,
                        const struct lines__loop axes[], int sizes[]) {
    int is_real = problem->kind == FFTND_R2C, to_real = problem->direction == REDIST_BACKWARD,
        last[REDIST_MAX_NDIMS + 1] = {0}, ngroups = 0;
    double best[REDIST_MAX_NDIMS + 1] = {0.0};
    for (int i = 1; i <= n; i++) {
        const int halved[2] = {is_real && to_real && i == n, is_real && !to_real && i == n};
        for (int size = 1, most = count_nested(i, axes, halved); size <= most; size++) {
            struct lines__task task = lines__task_make(problem, n, axes, i - size, i,
                                                       i == n ? -1 : !(is_real && to_real));
            double cost = best[i - size] + cost_of(&task, problem, way);
            if (size == 1 || cost <= best[i]) {
                best[i] = cost;
                last[i] = size;
            }
        }
    }
    for (int i = n; i > 0; i -= last[i])
        sizes[ngroups++] = last[i];
    return ngroups;
}
