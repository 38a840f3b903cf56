/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks.h"
#include "../r2r_lines.h"

enum { COALESCED = 32, CACHE_LINE = 128 };

/* Sorts from the slowest to the fastest. */
static void sort(int n, struct lines__loop loops[]) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && loops[j].out > loops[j - 1].out; j--) {
            struct lines__loop held = loops[j];
            loops[j] = loops[j - 1];
            loops[j - 1] = held;
        }
}

/* Removes loops of one element, and merges two that follow each other. */
static void merge_loops(struct lines__task *task) {
    int n = 0;
    sort(task->nloops, task->loops);
    for (int i = 0; i < task->nloops; i++) {
        struct lines__loop *last = &task->loops[n > 0 ? n - 1 : 0], next = task->loops[i];
        if (next.n == 1)
            continue;
        redist_index both;
        if (n > 0 && last->in == next.n * next.in && last->out == next.n * next.out &&
            !__builtin_mul_overflow(last->n, next.n, &both))
            *last = (struct lines__loop){both, next.in, next.out};
        else
            task->loops[n++] = next;
    }
    task->nloops = n;
}

static int is_aligned(ptrdiff_t stride, ptrdiff_t item) {
    return stride == 1 || stride * item % CACHE_LINE == 0;
}

int lines__rows_are_aligned(int is_double, int n, const struct lines__loop loops[]) {
    ptrdiff_t item = is_double ? 16 : 8;
    for (int i = 0; i < n; i++)
        if (loops[i].n > 1 && !(is_aligned(loops[i].in, item) && is_aligned(loops[i].out, item)))
            return 0;
    return 1;
}

/* Nonzero if a loop leads to real numbers that are not aligned to complex elements. */
static int misaligns_at(const struct lines__task *task, int loop) {
    const struct lines__loop *at = &task->loops[loop];
    return (task->is_real[0] && at->in % 2 != 0) || (task->is_real[1] && at->out % 2 != 0);
}

static int count_misaligning(const struct lines__task *task) {
    int n = 0;
    for (int i = 0; i < task->nloops; i++)
        n += misaligns_at(task, i);
    return n;
}

int lines__task_misaligns(const struct lines__task *task) {
    return task->is_odd || count_misaligning(task) > 1;
}

int lines__task_is_apart(const struct lines__task *task) {
    const struct lines__loop *last = &task->axes[task->rank - 1];
    const ptrdiff_t most = 2 * ((ptrdiff_t)last->n / 2 + 1);
    return task->rank > 1 && ((task->is_real[0] && last[-1].in > most * last->in) ||
                              (task->is_real[1] && last[-1].out > most * last->out));
}

int lines__task_batch(const struct lines__task *task) {
    int best = task->nloops - 1, only = count_misaligning(task) == 1;
    for (int i = 0; i < task->nloops && only; i++)
        if (misaligns_at(task, i))
            return i;
    if (best >= 0 && task->loops[best].n >= COALESCED)
        return best;
    for (int i = task->nloops - 2; i >= 0; i--)
        if (task->loops[i].n > task->loops[best].n)
            best = i;
    return best;
}

int lines__task_list_axes(const struct lines__problem *problem, struct lines__loop axes[]) {
    int halves = problem->kind == FFTND_R2C, n = 0;
    for (int i = 0; i < problem->naxes - halves; i++)
        if (problem->axes[i].n > 1)
            axes[n++] = problem->axes[i];
    sort(n, axes);
    if (halves || n == 0)
        axes[n++] = problem->axes[problem->naxes - 1];
    return n;
}

struct lines__task lines__task_make(const struct lines__problem *problem, int naxes,
                                    const struct lines__loop axes[], int first, int last,
                                    int side) {
    int halves = problem->kind == FFTND_R2C, backward = problem->direction == REDIST_BACKWARD;
    struct lines__task task = {
        .is_real = {halves && side < 0 && !backward, halves && side < 0 && backward},
        .is_odd = side < 0 && problem->is_odd,
        .nloops = problem->nloops};
    for (int i = 0; i < problem->nloops; i++)
        task.loops[i] = problem->loops[i];
    for (int i = 0; i < naxes; i++)
        if (i >= first && i < last)
            task.axes[task.rank++] = axes[i];
        else
            task.loops[task.nloops++] = axes[i];
    if (halves && side >= 0)
        task.loops[task.nloops - 1].n = task.loops[task.nloops - 1].n / 2 + 1;
    for (int i = 0; side >= 0 && i < task.nloops; i++)
        task.loops[i].in = task.loops[i].out = side ? task.loops[i].out : task.loops[i].in;
    for (int i = 0; side >= 0 && i < task.rank; i++)
        task.axes[i].in = task.axes[i].out = side ? task.axes[i].out : task.axes[i].in;
    merge_loops(&task);
    return task;
}

/* ---------------------------------------------------------------- panels */

/* A loop in pairs of real numbers. */
static struct lines__loop in_pairs(struct lines__loop loop, const int is_real[2]) {
    return (struct lines__loop){loop.n, loop.in / (is_real[0] ? 2 : 1),
                                loop.out / (is_real[1] ? 2 : 1)};
}

void lines__task_all_lines(const struct lines__task *task, struct lines__panel_lines *lines) {
    struct lines__loop axis = task->axes[0], side = {1, 1, 1};
    int last = task->nloops - 1, is_real = task->is_real[0] || task->is_real[1];
    *lines = (struct lines__panel_lines){
        .layout = is_real                         ? LINES__REAL
                  : axis.in == 1 && axis.out == 1 ? LINES__CONTIGUOUS
                                                  : LINES__STRIDED,
        .axis = axis,
        .side = last >= 0 ? in_pairs(task->loops[last], task->is_real) : side};
    for (int i = last - 1; i >= 0 && lines->nouter < LINES__PANEL_LOOPS; i--)
        lines->outer[lines->nouter++] = in_pairs(task->loops[i], task->is_real);
}

/* A loop in real numbers, with the numbers of an element on each side. */
static struct lines__loop in_numbers(struct lines__loop loop, const int numbers[2]) {
    return (struct lines__loop){loop.n, loop.in * numbers[0], loop.out * numbers[1]};
}

static void list_numbers(const struct lines__task *task, const int numbers[2],
                         struct lines__panel_lines *lines) {
    int last = task->nloops - 1;
    struct lines__loop axis = in_numbers(task->axes[0], numbers), side = {1, 1, 1};
    if (last >= 0)
        side = in_numbers(task->loops[last], numbers);
    int is_contiguous = last < 0 || (axis.in <= side.in && axis.out <= side.out);
    *lines =
        (struct lines__panel_lines){.is_r2r = 1,
                                    .layout = is_contiguous ? LINES__CONTIGUOUS : LINES__STRIDED,
                                    .axis = axis,
                                    .side = side};
    for (int i = last - 1; i >= 0 && lines->nouter < LINES__PANEL_LOOPS; i--)
        lines->outer[lines->nouter++] = in_numbers(task->loops[i], numbers);
}

/* Nonzero for real lines that cannot be read in pairs of numbers: two of them become one complex line. */
static int are_odd(const struct lines__task *task) {
    const struct lines__loop *axis = &task->axes[0];
    return task->is_real[0] != task->is_real[1] &&
           (task->is_odd || axis->n % 2 != 0 || axis->in != 1 || axis->out != 1 ||
            count_misaligning(task) > 0);
}

static void list_odd(const struct lines__task *task, struct lines__panel_lines *lines) {
    list_numbers(task, (const int[2]){2 - task->is_real[0], 2 - task->is_real[1]}, lines);
    lines->r2r = task->is_real[0] ? LINES__HALVED : LINES__UNHALVED;
}

void lines__task_filled_lines(const struct lines__task *task, redist_index filled,
                              struct lines__panel_lines *lines) {
    if (are_odd(task) || (task->is_real[0] != task->is_real[1] && filled % 2 != 0))
        list_odd(task, lines);
    else
        lines__task_all_lines(task, lines);
}

int lines__task_lines(const struct lines__task *task, struct lines__panel_lines *lines) {
    const struct lines__loop *axis = &task->axes[0], *side = &lines->side;
    if (task->rank == 1 && are_odd(task)) {
        list_odd(task, lines);
        return 1;
    }
    lines__task_all_lines(task, lines);
    lines->may_cut = 1;
    int are_neighbours = side->in == 1 && side->out == 1 && axis->in >= side->n &&
                         axis->out >= side->n && lines->layout == LINES__STRIDED;
    return task->rank == 1 && ((axis->in == 1 && axis->out == 1) || are_neighbours);
}

int lines__task_planes(const struct lines__task *task, struct lines__panel_lines *lines) {
    const struct lines__loop *axis = &task->axes[1], *side = &lines->side;
    lines__task_all_lines(task, lines);
    lines->rows = task->axes[0];
    lines->axis = *axis;
    int are_contiguous = axis->in == 1 && axis->out == 1;
    lines->layout = are_contiguous ? LINES__CONTIGUOUS : LINES__STRIDED;
    return task->rank == 2 && !task->is_real[0] && !task->is_real[1] &&
           (are_contiguous ||
            (side->in == 1 && side->out == 1 && axis->in >= side->n && axis->out >= side->n));
}

int lines__task_r2r_lines(const struct lines__task *task, struct lines__panel_lines *lines) {
    list_numbers(task, (const int[2]){1, 1}, lines);
    return task->nloops - 1 <= LINES__PANEL_LOOPS;
}
