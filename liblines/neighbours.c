/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbours.h"

int lines__lie_alike(const struct lines__problem *problem) {
    for (int i = 0; i < problem->nloops; i++)
        if (problem->loops[i].n > 1 &&
            problem->loops[i].in * (ptrdiff_t)lines__item_of(problem, 0) !=
                problem->loops[i].out * (ptrdiff_t)lines__item_of(problem, 1))
            return 0;
    return 1;
}

int lines__find_neighbours(const struct lines__problem *problem) {
    for (int i = 0; i < problem->nloops; i++)
        if (problem->loops[i].in == 1 && problem->loops[i].out == 1)
            return i;
    return -1;
}

int lines__has_neighbours(const struct lines__problem *problem, redist_index fewest, int in_place) {
    if (problem->kind != FFTND_C2C || problem->naxes != 1)
        return 0;
    int neighbours = lines__find_neighbours(problem);
    return neighbours >= 0 && problem->loops[neighbours].n >= fewest &&
           (!in_place ||
            (problem->axes[0].in == problem->axes[0].out && lines__lie_alike(problem)));
}

redist_index lines__neighbour_group(int nloops, const struct lines__loop loops[],
                                    redist_index lines, redist_index width, long long number,
                                    const char **in, char **out) {
    redist_index done = number % loops[nloops - 1].n * width;
    for (int i = nloops - 1; i >= 0; i--) {
        ptrdiff_t at = (ptrdiff_t)(number % loops[i].n);
        *in += at * loops[i].in;
        *out += at * loops[i].out;
        number /= loops[i].n;
    }
    return lines - done < width ? lines - done : width;
}

void lines__next_line(int nloops, const struct lines__loop loops[],
                      struct lines__position *position) {
    for (int i = nloops - 1; i >= 0; i--) {
        position->in += loops[i].in;
        position->out += loops[i].out;
        if (++position->index[i] < loops[i].n)
            return;
        position->index[i] = 0;
        position->in -= loops[i].n * loops[i].in;
        position->out -= loops[i].n * loops[i].out;
    }
}
