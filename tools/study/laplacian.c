/* SPDX-License-Identifier: BSD-3-Clause */
#include "laplacian.h"
#include "options.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 2 };

static const double pi = 3.14159265358979323846;

/* Of a term along an axis: small, different, and below the highest mode of few points. */
static int wave(const study_laplacian *given, int term, int axis) {
    const fftnd_layout *layout = &given->layout[FFTND_PHYSICAL];
    redist_index points = layout->sizes[axis], k = 1 + axis + term * layout->ndims;
    redist_index most = given->kind == FFTND_R2R ? points - 1 : (points - 1) / 2;
    return (int)(k < most ? k : most);
}

static double phase(const study_laplacian *given, int term, int axis) {
    return given->kind == FFTND_R2R ? 0.0 : 0.3 + axis + 0.5 * term;
}

/* The factor of one axis, at a point of the real axis or of the half circle of a DCT-II. */
static double factor(const study_laplacian *given, int term, int axis, redist_index point) {
    double points = (double)given->layout[FFTND_PHYSICAL].sizes[axis];
    double x = given->kind == FFTND_R2R ? pi * ((double)point + 0.5) / points
                                        : 2 * pi * (double)point / points;
    return cos(wave(given, term, axis) * x + phase(given, term, axis));
}

static double wave_squares(const study_laplacian *given, int term) {
    double sum = 0.0;
    for (int axis = 0; axis < given->layout[FFTND_PHYSICAL].ndims; axis++)
        sum += (double)wave(given, term, axis) * wave(given, term, axis);
    return sum;
}

void study_laplacian_begin(study_laplacian *given) {
    const fftnd_layout *layout = &given->layout[FFTND_PHYSICAL];
    for (int i = 0; i < TERMS * layout->ndims; i++) {
        int term = i % TERMS, axis = i / TERMS;
        redist_index points = layout->sizes[axis];
        double *factors = calloc((size_t)points, sizeof *factors);
        if (!factors)
            bench_abort("no memory for a function of %lld points", (long long)points);
        for (redist_index point = 0; point < points; point++)
            factors[point] = factor(given, term, axis, point);
        given->factors[term][axis] = factors;
    }
}

void study_laplacian_end(study_laplacian *given) {
    for (int i = 0; i < TERMS * given->layout[FFTND_PHYSICAL].ndims; i++) /* as far as begun */
        free(given->factors[i % TERMS][i / TERMS]);
}

/* ---------------------------------------------------------------- elements of a local array */

/* Calls `visit` for each element with its place and its global indices. */
typedef void visitor(const study_laplacian *given, ptrdiff_t place, const redist_index index[],
                     void *data);

static void visit_all(const study_laplacian *given, enum fftnd_side side, visitor *visit,
                      void *data) {
    const fftnd_layout *layout = &given->layout[side];
    redist_index index[REDIST_MAX_NDIMS], axis = 0;
    for (int i = 0; i < layout->ndims; i++)
        if (layout->count[i] == 0)
            return;
    memcpy(index, layout->start, sizeof index);
    while (axis >= 0) {
        ptrdiff_t place = 0;
        for (int i = 0; i < layout->ndims; i++)
            place += (index[i] - layout->start[i]) * layout->stride[i];
        visit(given, place, index, data);
        for (axis = layout->ndims - 1; axis >= 0; axis--) {
            if (++index[axis] < layout->start[axis] + layout->count[axis])
                break;
            index[axis] = layout->start[axis];
        }
    }
}

static double get(const study_laplacian *given, const void *array, ptrdiff_t place) {
    return given->precision == FFTND_DOUBLE ? ((const double *)array)[place]
                                            : (double)((const float *)array)[place];
}

static void set(const study_laplacian *given, void *array, ptrdiff_t place, double value) {
    if (given->precision == FFTND_DOUBLE)
        ((double *)array)[place] = value;
    else
        ((float *)array)[place] = (float)value;
}

/* ---------------------------------------------------------------- the function */

/* Real and imaginary part of the sum of both terms, each times its weight. */
static void evaluate(const study_laplacian *given, const redist_index index[],
                     const double weights[TERMS], double value[2]) {
    double terms[TERMS];
    for (int term = 0; term < TERMS; term++) {
        terms[term] = weights[term];
        for (int axis = 0; axis < given->layout[FFTND_PHYSICAL].ndims; axis++)
            terms[term] *= given->factors[term][axis][index[axis]];
    }
    value[0] = terms[0] + 0.5 * terms[1];
    value[1] = 0.5 * terms[0] - terms[1];
}

static int components(const study_laplacian *given) {
    return given->kind == FFTND_C2C ? 2 : 1;
}

static void fill_element(const study_laplacian *given, ptrdiff_t place, const redist_index index[],
                         void *array) {
    static const double weights[TERMS] = {1.0, 1.0};
    double value[2];
    evaluate(given, index, weights, value);
    for (int part = 0; part < components(given); part++)
        set(given, array, place * components(given) + part, value[part]);
}

void study_laplacian_fill(const study_laplacian *given, void *physical) {
    visit_all(given, FFTND_PHYSICAL, fill_element, physical);
}

/* ---------------------------------------------------------------- the spectral side */

/* Modes above the half are the negative ones; a halved axis and a DCT have none. */
static double mode_square(const study_laplacian *given, const redist_index index[]) {
    const fftnd_layout *points = &given->layout[FFTND_PHYSICAL];
    double sum = 0.0;
    for (int axis = 0; axis < points->ndims; axis++) {
        redist_index k = index[axis], n = points->sizes[axis];
        double mode = (double)(given->kind != FFTND_R2R && 2 * k > n ? n - k : k);
        sum += mode * mode;
    }
    return sum;
}

static void apply_element(const study_laplacian *given, ptrdiff_t place, const redist_index index[],
                          void *array) {
    int numbers = given->kind == FFTND_R2R ? 1 : 2;
    for (int part = 0; part < numbers; part++)
        set(given, array, place * numbers + part,
            -mode_square(given, index) * get(given, array, place * numbers + part));
}

void study_laplacian_apply(const study_laplacian *given, void *spectral) {
    visit_all(given, FFTND_SPECTRAL, apply_element, spectral);
}

/* ---------------------------------------------------------------- the error */

struct comparison {
    const void *array;
    double growth;
    double weights[TERMS];
    double worst[2]; /* difference, value */
};

static void compare_element(const study_laplacian *given, ptrdiff_t place,
                            const redist_index index[], void *data) {
    struct comparison *comparison = data;
    double value[2];
    evaluate(given, index, comparison->weights, value);
    for (int part = 0; part < components(given); part++) {
        double found = get(given, comparison->array, place * components(given) + part);
        double difference = fabs(found / comparison->growth - value[part]);
        comparison->worst[0] =
            isfinite(difference) ? fmax(comparison->worst[0], difference) : INFINITY;
        comparison->worst[1] = fmax(comparison->worst[1], fabs(value[part]));
    }
}

double study_laplacian_error(MPI_Comm comm, const study_laplacian *given, const void *physical,
                             double growth) {
    struct comparison comparison = {physical, growth, {0}, {0.0, 0.0}};
    for (int term = 0; term < TERMS; term++)
        comparison.weights[term] = -wave_squares(given, term);
    visit_all(given, FFTND_PHYSICAL, compare_element, &comparison);
    MPI_Allreduce(MPI_IN_PLACE, comparison.worst, 2, MPI_DOUBLE, MPI_MAX, comm);
    return comparison.worst[1] > 0.0 ? comparison.worst[0] / comparison.worst[1]
                                     : comparison.worst[0];
}

/* Rounding errors of the transform, which the highest modes multiply. */
double study_laplacian_tolerance(const study_laplacian *given) {
    const fftnd_layout *points = &given->layout[FFTND_PHYSICAL];
    double highest = 0.0, number = 1.0;
    for (int axis = 0; axis < points->ndims; axis++) {
        double points_along = (double)points->sizes[axis];
        double mode = given->kind == FFTND_R2R ? points_along : floor(points_along / 2);
        highest += mode * mode;
        number *= points_along;
    }
    double growth = highest / fmax(1.0, wave_squares(given, 0));
    double unit = given->precision == FFTND_DOUBLE ? 1e-15 : 5.4e-7;
    return 10 * unit * fmax(1.0, log2(number)) * fmax(1.0, growth);
}
