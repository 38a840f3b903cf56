/* SPDX-License-Identifier: BSD-3-Clause */
/* A box inside an N-d array: strides, intersection, and the loop nest of a copy. */
#include "box.h"

#include <stdint.h>

void redist__strides(int ndims, const redist_index extent[], size_t item, ptrdiff_t stride[]) {
    ptrdiff_t next = (ptrdiff_t)item;
    for (int i = ndims - 1; i >= 0; i--) {
        stride[i] = next;
        next *= extent[i];
    }
}

size_t redist__array_bytes(int ndims, const redist_index extent[], size_t item) {
    size_t bytes = item;
    for (int i = 0; i < ndims; i++)
        if (extent[i] == 0)
            return 0;
    for (int i = 0; i < ndims; i++)
        if (__builtin_mul_overflow(bytes, (size_t)extent[i], &bytes) || bytes > PTRDIFF_MAX)
            return SIZE_MAX;
    return bytes;
}

/* Puts one more loop around a copy, or lengthens its outermost loop or run if it continues that. */
static void wrap(struct redist__copy *copy, size_t count, ptrdiff_t source, ptrdiff_t destination) {
    if (count == 1)
        return;
    if (copy->ndims == 0) {
        if (source == (ptrdiff_t)copy->run && destination == (ptrdiff_t)copy->run) {
            copy->run *= count;
            return;
        }
    } else {
        int last = copy->ndims - 1;
        ptrdiff_t length = (ptrdiff_t)copy->count[last];
        if (source == copy->source[last] * length &&
            destination == copy->destination[last] * length) {
            copy->count[last] *= count;
            return;
        }
    }
    copy->count[copy->ndims] = count;
    copy->source[copy->ndims] = source;
    copy->destination[copy->ndims] = destination;
    copy->ndims++;
}

static void swap_loops(struct redist__copy *copy, int i, int j) {
    size_t count = copy->count[i];
    ptrdiff_t source = copy->source[i], destination = copy->destination[i];
    copy->count[i] = copy->count[j];
    copy->source[i] = copy->source[j];
    copy->destination[i] = copy->destination[j];
    copy->count[j] = count;
    copy->source[j] = source;
    copy->destination[j] = destination;
}

void redist__copy_prepare(struct redist__copy *copy, int ndims, const redist_index count[],
                          size_t item, const ptrdiff_t source[], const ptrdiff_t destination[]) {
    *copy = (struct redist__copy){.run = item};
    for (int i = ndims - 1; i >= 0; i--) {
        if (count[i] <= 0) {
            *copy = (struct redist__copy){0};
            return;
        }
        wrap(copy, (size_t)count[i], source[i], destination[i]);
    }
    for (int i = 0, j = copy->ndims - 1; i < j; i++, j--)
        swap_loops(copy, i, j); /* collected innermost first */
}

size_t redist__copy_bytes(const struct redist__copy *copy) {
    size_t bytes = copy->run;
    for (int i = 0; i < copy->ndims; i++)
        bytes *= copy->count[i];
    return bytes;
}

size_t redist__format_bytes(const struct redist__format *format, size_t bytes) {
    if (format == NULL)
        return bytes;
    size_t numbers = bytes / format->bytes;
    size_t rows = (numbers + REDIST__FORMAT_ROW - 1) / REDIST__FORMAT_ROW;
    return rows * format->head + numbers * format->each;
}

size_t redist__copy_packed_bytes(const struct redist__copy *copy) {
    return redist__format_bytes(copy->format, redist__copy_bytes(copy));
}

/* ---------------------------------------------------------------- boxes in memory */

/* The runs of a box by address, of which `copy` describes the source. */
struct runs {
    const struct redist__copy *copy;
    uintptr_t first; /* of the current run */
    size_t index[REDIST_MAX_NDIMS];
};

/* Advances to the next run; 0 = there is none. Addresses grow, as arrays are in C order. */
static int next_run(struct runs *runs) {
    const struct redist__copy *copy = runs->copy;
    for (int i = copy->ndims - 1; i >= 0; i--) {
        runs->first += (uintptr_t)copy->source[i];
        if (++runs->index[i] < copy->count[i])
            return 1;
        runs->first -= (uintptr_t)copy->source[i] * copy->count[i];
        runs->index[i] = 0;
    }
    return 0;
}

int redist__boxes_meet(const struct redist__copy boxes[2], const void *const first[2],
                       size_t tail) {
    struct runs runs[2] = {{.copy = &boxes[0], .first = (uintptr_t)first[0]},
                           {.copy = &boxes[1], .first = (uintptr_t)first[1]}};
    int more = boxes[0].run != 0 && boxes[1].run != 0;
    while (more) {
        if (runs[0].first + boxes[0].run - tail <= runs[1].first)
            more = next_run(&runs[0]);
        else if (runs[1].first + boxes[1].run - tail <= runs[0].first)
            more = next_run(&runs[1]);
        else
            return 1;
    }
    return 0;
}

/* ---------------------------------------------------------------- boxes of indices */

size_t redist_intersect(int ndims, const redist_index start_a[], const redist_index count_a[],
                        const redist_index start_b[], const redist_index count_b[],
                        redist_index start[], redist_index count[]) {
    size_t elements = 1;
    for (int i = 0; i < ndims; i++) {
        redist_index end_a = start_a[i] + count_a[i], end_b = start_b[i] + count_b[i];
        redist_index end = end_a < end_b ? end_a : end_b;
        start[i] = start_a[i] > start_b[i] ? start_a[i] : start_b[i];
        count[i] = end > start[i] ? end - start[i] : 0;
        elements *= (size_t)count[i];
    }
    return elements;
}
