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

/* Calls a formula for each element of a block. It is inline so that the formula can be too, and with work of its own,
 * which no result of a formula can change. */
static inline void each(const struct work *shared,
                        void (*formula)(const struct work *work, int i, int j, int k)) {
    const struct work work = *shared;
    const int *count = work.block.count;
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            for (int k = 0; k < count[2]; k++)
                formula(&work, i, j, k);
}

static void start(const struct work *work) {
    each(work, set_vortex);
}

static void advance(const struct work *work) {
    each(work, advance_wave);
}

static void measure(const struct work *work) {
    each(work, measure_wave);
}

/* No result is where something else is, so that the compiler can make vectors of points. */
static void multiply_points(int n, const double *u, const double *v, const double *w,
                            double *restrict xx, double *restrict yy, double *restrict xy,
                            double *restrict xz, double *restrict yz) {
    for (int i = 0; i < n; i++)
        multiply(u[i], v[i], w[i], &xx[i], &yy[i], &xy[i], &xz[i], &yz[i]);
}

static int multiply_row(void *data, const fftnd_row *row) {
    const double *const *in = row->inputs;
    double *const *out = row->outputs;
    (void)data;
    multiply_points(row->n, in[0], in[1], in[2], out[0], out[1], out[2], out[3], out[4]);
    return 0;
}

static void set_products(fftnd_operator_options *options) {
    options->function = multiply_row;
}

static double largest_speed(ptrdiff_t n, const double *velocity) {
    double largest = 0;
    for (ptrdiff_t p = 0; p < n; p++)
        largest = fmax(largest, speed_at(n, velocity, p));
    return largest;
}

const struct space space_host = {.name = "host",
                                 .redist = REDIST_SPACE_HOST,
                                 .absent = absent,
                                 .clear = clear,
                                 .copy = copy,
                                 .set_vortex = start,
                                 .advance = advance,
                                 .measure = measure,
                                 .set_products = set_products,
                                 .largest_speed = largest_speed};
