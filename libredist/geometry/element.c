/* SPDX-License-Identifier: BSD-3-Clause */
#include "element.h"

#include <stdint.h>

struct redist__element redist__element_between(size_t extent, ptrdiff_t low, ptrdiff_t high) {
    struct redist__element element = {.extent = extent, .end = extent};
    element.before = low < 0 ? (size_t)-low : 0;
    element.behind = high > (ptrdiff_t)extent ? (size_t)high - extent : 0;
    if (element.before == 0 && element.behind == 0) {
        element.first = (size_t)low;
        element.end = (size_t)high;
    }
    return element;
}

/* ---------------------------------------------------------------- runs */

static size_t greatest_common_divisor(size_t a, size_t b) {
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/* Returns the end of the run of data, or of the gap, that begins at a byte. */
static size_t end_of_run(const unsigned char map[], size_t bytes, size_t begin) {
    size_t end = begin;
    while (end < bytes && (map[end] != 0) == (map[begin] != 0))
        end++;
    return end;
}

/* Returns the longest run length into which all data can be cut. */
static size_t find_run(const unsigned char map[], size_t bytes) {
    size_t run = 0;
    for (size_t at = 0, end; at < bytes; at = end) {
        end = end_of_run(map, bytes, at);
        run = map[at] ? greatest_common_divisor(end - at, run) : run;
    }
    return run;
}

/* Returns the start of the run of data after the one at a byte; `bytes` after the last one. */
static size_t next_run(const unsigned char map[], size_t bytes, size_t run, size_t at) {
    at += run;
    return at < bytes && !map[at] ? end_of_run(map, bytes, at) : at;
}

/* Counts the runs that follow each other at the distance of the first two. */
static size_t count_equal_steps(const unsigned char map[], size_t bytes, size_t run, size_t *step) {
    size_t count = 1, at = 0, next = next_run(map, bytes, run, 0);
    *step = next;
    while (next < bytes && next - at == *step) {
        count++;
        at = next;
        next = next_run(map, bytes, run, at);
    }
    return count;
}

/* Checks that the runs are groups of `count` at the distance `step`, which repeat at the distance `stride`. */
static int are_groups(const unsigned char map[], size_t bytes, size_t run, size_t count,
                      size_t step, size_t stride, size_t *groups) {
    size_t at = 0, i = 0;
    for (; at < bytes; at = next_run(map, bytes, run, at), i++)
        if (at != i % count * step + i / count * stride)
            return 0;
    *groups = i / count;
    return i % count == 0;
}

static void add_axis(struct redist__element *element, size_t count, size_t stride) {
    if (count == 1)
        return;
    element->count[element->naxes] = (redist_index)count;
    element->stride[element->naxes] = (ptrdiff_t)stride;
    element->naxes++;
}

void redist__element_find_runs(struct redist__element *element, const unsigned char map[]) {
    if (element->before != 0 || element->behind != 0)
        return;
    size_t bytes = element->end - element->first, run = find_run(map, bytes), step, groups;
    size_t count = count_equal_steps(map, bytes, run, &step), stride = 0;
    for (size_t i = 0; i < count; i++)
        stride = next_run(map, bytes, run, stride);
    if (!are_groups(map, bytes, run, count, step, stride, &groups))
        return;
    element->run = run;
    add_axis(element, groups, stride);
    add_axis(element, count, step);
}

size_t redist__element_array_bytes(const struct redist__element *element, int ndims,
                                   const redist_index extent[]) {
    size_t bytes = redist__array_bytes(ndims, extent, element->extent);
    return bytes == 0 || bytes == SIZE_MAX ? bytes : bytes - (element->extent - element->end);
}
