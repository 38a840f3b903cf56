/* SPDX-License-Identifier: BSD-3-Clause */
#include "cufft_groups.h"
#include "cufft_lines.h"

static int nests(ptrdiff_t outer, ptrdiff_t inner, redist_index n) {
    return inner > 0 && outer % inner == 0 && outer / inner >= n;
}

/* Whether cuFFT can transform along `outer` together with axes that begin with `inner`; halved[] says on
 * which side that one is. */
static int may_join(const struct fftnd__loop *outer, const struct fftnd__loop *inner,
                    const int halved[2]) {
    redist_index n = inner->n, half = n / 2 + 1;
    return nests(outer->in, inner->in, halved[0] ? half : n) &&
           nests(outer->out, inner->out, halved[1] ? half : n);
}

/* How many of the last of `n` axes one plan can transform; halved[] says whether the last one is halved in the
 * input, and in the output. */
static int count_nested(int n, const struct fftnd__loop axes[], const int halved[2]) {
    static const int whole[2] = {0, 0};
    int size = 1;
    while (size < n && size < FFTND__CUFFT_AXES &&
           may_join(&axes[n - size - 1], &axes[n - size], size == 1 ? halved : whole))
        size++;
    return size;
}

int fftnd__cufft_group_size(int n, const struct fftnd__loop axes[], const int halved[2],
                            redist_index side, int is_double, int may_have_panels, void *stream) {
    const struct fftnd__loop *last = &axes[n - 1];
    int most = count_nested(n, axes, halved), size = 1,
        is_contiguous = last->in == 1 && last->out == 1;
    if (!may_have_panels)
        return most;
    if (most > 1 && !halved[0] && !halved[1] &&
        fftnd__lines_prefer_panels(last->n, side, is_double, is_contiguous, stream))
        return 1;
    while (size < most &&
           !fftnd__lines_prefer_panels(axes[n - size - 1].n, last->n, is_double, 0, stream))
        size++;
    return size;
}
