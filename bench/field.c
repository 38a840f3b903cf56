/* SPDX-License-Identifier: BSD-3-Clause */
#include "field.h"
#include "scatter.h"
#include <math.h>

/* How numbers of each precision are read and written. */
static double get_double(const void *array, ptrdiff_t place) {
    return ((const double *)array)[place];
}

static double get_float(const void *array, ptrdiff_t place) {
    return (double)((const float *)array)[place];
}

static void set_double(void *array, ptrdiff_t place, double value) {
    ((double *)array)[place] = value;
}

static void set_float(void *array, ptrdiff_t place, double value) {
    ((float *)array)[place] = (float)value;
}

static const struct number {
    double (*get)(const void *array, ptrdiff_t place);
    void (*set)(void *array, ptrdiff_t place, double value);
} numbers[] = {
    [FFTND_DOUBLE] = {get_double, set_double},
    [FFTND_FLOAT] = {get_float, set_float},
};

/* A line of the local array along the last axis. */
struct row {
    ptrdiff_t place; /* of its first element in the local array, in elements */
    uint64_t index;  /* of its first element among all elements of the batch */
};

static size_t count_rows(const bench_field *field) {
    size_t nrows = (size_t)field->batch;
    for (int axis = 0; axis < field->layout.ndims - 1; axis++)
        nrows *= (size_t)field->layout.count[axis];
    return nrows;
}

static struct row find_row(const bench_field *field, size_t number) {
    const fftnd_layout *layout = &field->layout;
    int last = layout->ndims - 1;
    struct row row = {0, (uint64_t)layout->start[last]};
    uint64_t weight = (uint64_t)layout->size[last];
    for (int axis = last - 1; axis >= 0; axis--) {
        size_t i = number % (size_t)layout->count[axis];
        number /= (size_t)layout->count[axis];
        row.place += (ptrdiff_t)i * layout->stride[axis];
        row.index += weight * ((uint64_t)layout->start[axis] + i);
        weight *= (uint64_t)layout->size[axis];
    }
    row.place += (ptrdiff_t)number * layout->batch_stride;
    row.index += weight * number;
    return row;
}

static void fill_row(const bench_field *field, struct row row, void *array) {
    int last = field->layout.ndims - 1;
    for (int i = 0; i < field->layout.count[last]; i++)
        for (int part = 0; part < field->ncomponents; part++) {
            ptrdiff_t place = row.place + i * field->layout.stride[last];
            uint64_t bits = bench_scatter((2 * (row.index + (uint64_t)i) + (uint64_t)part) ^
                                          ((uint64_t)field->seed << 48));
            numbers[field->precision].set(array, place * field->ncomponents + part,
                                          ldexp((double)(bits >> 11), -52) - 1.0);
        }
}

void bench_field_fill(const bench_field *field, void *array) {
    size_t nrows = count_rows(field);
    for (size_t i = 0; i < nrows; i++)
        fill_row(field, find_row(field, i), array);
}

/* Raises worst[0] to the largest difference and worst[1] to the largest expected value. */
static void compare_row(const bench_field *field, struct row row, const void *expected,
                        const void *found, double factor, double worst[2]) {
    const struct number *number = &numbers[field->precision];
    int last = field->layout.ndims - 1;
    for (int i = 0; i < field->layout.count[last]; i++)
        for (int part = 0; part < field->ncomponents; part++) {
            ptrdiff_t place =
                (row.place + i * field->layout.stride[last]) * field->ncomponents + part;
            double wanted = number->get(expected, place);
            double difference = fabs(number->get(found, place) / factor - wanted);
            worst[0] = isfinite(difference) ? fmax(worst[0], difference) : INFINITY;
            worst[1] = fmax(worst[1], fabs(wanted));
        }
}

double bench_field_error(MPI_Comm comm, const bench_field *field, const void *expected,
                         const void *found, double factor) {
    double worst[2] = {0.0, 0.0};
    size_t nrows = count_rows(field);
    for (size_t i = 0; i < nrows; i++)
        compare_row(field, find_row(field, i), expected, found, factor, worst);
    MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, comm);
    return worst[1] > 0.0 ? worst[0] / worst[1] : worst[0];
}
