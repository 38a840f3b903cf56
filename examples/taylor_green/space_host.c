/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields in host memory. */
#include "space.h"
#include <string.h>

static const char *absent(void) {
    return NULL;
}

static void clear(void *array, size_t bytes) {
    memset(array, 0, bytes);
}

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* Calls a formula for each element of a block. It is inline so that the formula can be too. */
static inline void each(const struct work *work,
                        void (*formula)(const struct work *work, int i, int j, int k)) {
    const int *count = work->block.count;
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            for (int k = 0; k < count[2]; k++)
                formula(work, i, j, k);
}

static void start(const struct work *work) {
    each(work, set_vortex);
}

static void cut(const struct work *work) {
    each(work, cut_wave);
}

static void curl(const struct work *work) {
    each(work, curl_of_wave);
}

static void finish_slope(const struct work *work) {
    each(work, finish_slope_of_wave);
}

static void measure(const struct work *work) {
    each(work, measure_wave);
}

static int cross_row(void *data, const fftnd_row *row) {
    (void)data;
    for (int i = 0; i < row->n; i++)
        cross_at(row->inputs, row->outputs, i, i);
    return 0;
}

static void set_cross(fftnd_operator_options *options) {
    options->function = cross_row;
}

static double largest_speed(ptrdiff_t n, const double *velocity) {
    double largest = 0;
    for (ptrdiff_t p = 0; p < n; p++)
        largest = fmax(largest, speed_at(n, velocity, p));
    return largest;
}

static void move_along(size_t n, double *result, const double *base, double factor,
                       const double *slope) {
    for (size_t i = 0; i < n; i++)
        result[i] = base[i] + factor * slope[i];
}

const struct space space_host = {.name = "host",
                                 .redist = REDIST_SPACE_HOST,
                                 .absent = absent,
                                 .clear = clear,
                                 .copy = copy,
                                 .set_vortex = start,
                                 .cut = cut,
                                 .curl = curl,
                                 .finish_slope = finish_slope,
                                 .measure = measure,
                                 .set_cross = set_cross,
                                 .largest_speed = largest_speed,
                                 .move_along = move_along};
