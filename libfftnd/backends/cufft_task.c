/* SPDX-License-Identifier: BSD-3-Clause */
#include "cufft_task.h"

#include <limits.h>

enum { COALESCED = 32 };

/* From the slowest to the fastest. */
static void sort(int n, struct fftnd__loop loops[]) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && loops[j].out > loops[j - 1].out; j--) {
            struct fftnd__loop held = loops[j];
            loops[j] = loops[j - 1];
            loops[j - 1] = held;
        }
}

static int nests(ptrdiff_t outer, ptrdiff_t inner, int n) {
    return inner > 0 && outer % inner == 0 && outer / inner >= n;
}

/* Whether cuFFT can transform along `outer` together with axes that begin with `inner`; halved[] says on
 * which side that one is. */
static int may_join(const struct fftnd__loop *outer, const struct fftnd__loop *inner,
                    const int halved[2]) {
    int n = inner->n, half = n / 2 + 1;
    return nests(outer->in, inner->in, halved[0] ? half : n) &&
           nests(outer->out, inner->out, halved[1] ? half : n);
}

/* Loops of one element are none, and two that follow each other are one. */
static void merge_loops(struct fftnd__cufft_task *task) {
    int n = 0;
    sort(task->nloops, task->loops);
    for (int i = 0; i < task->nloops; i++) {
        struct fftnd__loop *last = &task->loops[n > 0 ? n - 1 : 0], next = task->loops[i];
        if (next.n == 1)
            continue;
        if (n > 0 && last->in == next.n * next.in && last->out == next.n * next.out &&
            (long long)last->n * next.n <= INT_MAX)
            *last = (struct fftnd__loop){last->n * next.n, next.in, next.out};
        else
            task->loops[n++] = next;
    }
    task->nloops = n;
}

/* Whether a loop leads to real numbers that are not aligned as complex ones are. */
static int misaligns(const struct fftnd__cufft_task *task, int loop) {
    const struct fftnd__loop *at = &task->loops[loop];
    return (task->is_real[0] && at->in % 2 != 0) || (task->is_real[1] && at->out % 2 != 0);
}

int fftnd__cufft_count_misaligning(const struct fftnd__cufft_task *task, int *last) {
    int n = 0;
    for (int i = 0; i < task->nloops; i++)
        if (misaligns(task, i)) {
            *last = i;
            n++;
        }
    return n;
}

int fftnd__cufft_choose_batch(const struct fftnd__cufft_task *task) {
    int best = task->nloops - 1, odd = -1;
    if (fftnd__cufft_count_misaligning(task, &odd) == 1)
        return odd;
    if (best >= 0 && task->loops[best].n >= COALESCED)
        return best;
    for (int i = task->nloops - 2; i >= 0; i--)
        if (task->loops[i].n > task->loops[best].n)
            best = i;
    return best;
}

int fftnd__cufft_list_axes(const struct fftnd__serial_problem *problem, struct fftnd__loop axes[]) {
    int halves = problem->kind == FFTND_R2C, n = 0;
    for (int i = 0; i < problem->naxes - halves; i++)
        if (problem->axes[i].n > 1)
            axes[n++] = problem->axes[i];
    sort(n, axes);
    if (halves || n == 0)
        axes[n++] = problem->axes[problem->naxes - 1];
    return n;
}

int fftnd__cufft_group_size(int n, const struct fftnd__loop axes[], const int halved[2]) {
    static const int whole[2] = {0, 0};
    int size = 1;
    while (size < n && size < FFTND__CUFFT_RANK &&
           may_join(&axes[n - size - 1], &axes[n - size], size == 1 ? halved : whole))
        size++;
    return size;
}

struct fftnd__cufft_task fftnd__cufft_make_task(const struct fftnd__serial_problem *problem,
                                                int naxes, const struct fftnd__loop axes[],
                                                int first, int last, int side) {
    int halves = problem->kind == FFTND_R2C, backward = problem->direction == REDIST_BACKWARD;
    struct fftnd__cufft_task task = {
        {halves && side < 0 && !backward, halves && side < 0 && backward},
        0,
        {{0}},
        problem->nloops,
        {{0}}};
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
