/* SPDX-License-Identifier: BSD-3-Clause */
#include "field.h"
#include "options.h"
#include "scatter.h"
#include <math.h>
#include <pthread.h>

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
    uint64_t weight = (uint64_t)layout->sizes[last];
    for (int axis = last - 1; axis >= 0; axis--) {
        size_t i = number % (size_t)layout->count[axis];
        number /= (size_t)layout->count[axis];
        row.place += (ptrdiff_t)i * layout->stride[axis];
        row.index += weight * ((uint64_t)layout->start[axis] + i);
        weight *= (uint64_t)layout->sizes[axis];
    }
    row.place += (ptrdiff_t)number * layout->batch_stride;
    row.index += weight * number;
    return row;
}

static double value_at(const bench_field *field, uint64_t index, int part) {
    uint64_t bits = bench_scatter((2 * index + (uint64_t)part) ^ ((uint64_t)field->seed << 48));
    double value = (double)(bits >> 11) * 0x1p-52 - 1.0;
    return field->precision == FFTND_FLOAT ? (double)(float)value : value;
}

/* ---------------------------------------------------------------- rows, by several threads */

/* What is done with the rows from `first` on, up to `last`. */
struct share {
    const bench_field *field;
    void *array;          /* to be filled, */
    const void *expected; /* or to be compared with this; NULL = the field */
    double factor;        /* by which the array is too large */
    double worst[2];      /* the largest difference, the largest expected value */
    size_t first, last;
    void (*work)(struct share *share, struct row row);
};

static void *do_share(void *data) {
    struct share *share = data;
    for (size_t i = share->first; i < share->last; i++)
        share->work(share, find_row(share->field, i));
    return NULL;
}

/* All rows, each by one of the field's threads; `whole` gets the worst of all. */
static void do_rows(struct share *whole) {
    enum { MOST_THREADS = 64 };
    struct share shares[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    size_t nrows = count_rows(whole->field);
    int wanted = whole->field->threads, n = wanted < 1 ? 1 : wanted;
    n = n > MOST_THREADS ? MOST_THREADS : n;
    for (int i = 0; i < n; i++) {
        shares[i] = *whole;
        shares[i].first = nrows * (size_t)i / (size_t)n;
        shares[i].last = nrows * (size_t)(i + 1) / (size_t)n;
        if (i > 0 && pthread_create(&threads[i], NULL, do_share, &shares[i]) != 0)
            bench_abort("no thread to look at a field with");
    }
    do_share(&shares[0]);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            pthread_join(threads[i], NULL);
        for (int which = 0; which < 2; which++)
            whole->worst[which] = fmax(whole->worst[which], shares[i].worst[which]);
    }
}

static void fill_row(struct share *share, struct row row) {
    const bench_field *field = share->field;
    int last = field->layout.ndims - 1;
    for (int i = 0; i < field->layout.count[last]; i++)
        for (int part = 0; part < field->ncomponents; part++) {
            ptrdiff_t place = row.place + i * field->layout.stride[last];
            numbers[field->precision].set(share->array, place * field->ncomponents + part,
                                          value_at(field, row.index + (uint64_t)i, part));
        }
}

void bench_field_fill(const bench_field *field, void *array) {
    struct share share = {.field = field, .array = array, .work = fill_row};
    do_rows(&share);
}

static void compare_row(struct share *share, struct row row) {
    const bench_field *field = share->field;
    const struct number *number = &numbers[field->precision];
    int last = field->layout.ndims - 1;
    for (int i = 0; i < field->layout.count[last]; i++)
        for (int part = 0; part < field->ncomponents; part++) {
            ptrdiff_t place =
                (row.place + i * field->layout.stride[last]) * field->ncomponents + part;
            double wanted = share->expected != NULL
                                ? number->get(share->expected, place)
                                : value_at(field, row.index + (uint64_t)i, part);
            double difference = fabs(number->get(share->array, place) / share->factor - wanted);
            share->worst[0] = isfinite(difference) ? fmax(share->worst[0], difference) : INFINITY;
            share->worst[1] = fmax(share->worst[1], fabs(wanted));
        }
}

double bench_field_error(MPI_Comm comm, const bench_field *field, const void *expected, void *found,
                         double factor) {
    struct share share = {.field = field,
                          .array = found,
                          .expected = expected,
                          .factor = factor,
                          .work = compare_row};
    do_rows(&share);
    MPI_Allreduce(MPI_IN_PLACE, share.worst, 2, MPI_DOUBLE, MPI_MAX, comm);
    return share.worst[1] > 0.0 ? share.worst[0] / share.worst[1] : share.worst[0];
}
