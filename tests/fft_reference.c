/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial FFTW on the whole array: see fft_reference.h. */
#include "fft_reference.h"

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* ---------------------------------------------------------------- one field */

/* Adds a factor times one index of an axis to one index of another array. */
static void add_index(const double *from, int from_size, int from_index, double *to, int to_size,
                      int to_index, size_t before, size_t after, double factor) {
    for (size_t i = 0; i < before; i++) {
        const double *source = from + (i * (size_t)from_size + (size_t)from_index) * after;
        double *target = to + (i * (size_t)to_size + (size_t)to_index) * after;
        for (size_t j = 0; j < after; j++) {
            target[j] += factor * source[j];
        }
    }
}

/* Index of the mode number `mode` of `nmodes` along an axis of `size` elements. */
static int index_of(const fft_case *given, int mode, int nmodes, int size) {
    return given->kind == FFTND_R2R || 2 * mode < nmodes ? mode : size - nmodes + mode;
}

/* Makes an axis as long as `to`: drops the highest frequencies or puts zeros there. Of an even number
 * of modes, the one half-way stands for both signs of its frequency in the longer array. */
static double *resize_axis(const fft_case *given, double *values, int sizes[], int axis, int to) {
    const int from = sizes[axis];
    const int nmodes = from < to ? from : to;
    const int is_shared = from != to && given->kind != FFTND_R2R && nmodes % 2 == 0;
    size_t before = 1;
    size_t after = (size_t)fft_case_components(given, FFTND_SPECTRAL);
    for (int i = 0; i < given->ndims; i++) {
        *(i < axis ? &before : &after) *= i == axis ? 1 : (size_t)sizes[i];
    }
    double *made = calloc(before * (size_t)to * after, sizeof(double));
    for (int mode = 0; mode < nmodes; mode++) {
        const int is_half = is_shared && 2 * mode == nmodes;
        const double factor = is_half && from < to ? 0.5 : 1;
        add_index(values, from, index_of(given, mode, nmodes, from), made, to,
                  index_of(given, mode, nmodes, to), before, after, factor);
        if (is_half) {
            add_index(values, from, mode, made, to, mode, before, after, factor);
        }
    }
    sizes[axis] = to;
    free(values);
    return made;
}

/* Between as many modes as points and those that are retained. */
static double *resize(const fft_case *given, double *values, int sizes[], enum fftnd_side side) {
    for (int axis = 0; axis < given->ndims; axis++) {
        const int retained = fft_case_retained(given, axis);
        values = resize_axis(given, values, sizes, axis,
                             side == FFTND_SPECTRAL ? retained : given->sizes[axis]);
    }
    return values;
}

/* The elements of a complex array that remain when an axis keeps only its first half. */
static void copy_half(const fft_case *given, const double *whole, double *half) {
    int sizes[REDIST_MAX_NDIMS];
    size_t before = 1;
    size_t after = 1;
    const int halved = fft_case_halved_axis(given);
    fft_case_sizes(given, FFTND_SPECTRAL, sizes);
    for (int axis = 0; axis < given->ndims; axis++) {
        *(axis < halved ? &before : &after) *= axis == halved ? 1 : (size_t)sizes[axis];
    }
    const size_t kept = (size_t)sizes[halved] * after;
    const size_t had = (size_t)fft_case_retained(given, halved) * after;
    for (size_t i = 0; i < before; i++) {
        memcpy(half + 2 * i * kept, whole + 2 * i * had, kept * sizeof(fftw_complex));
    }
}

static void run_complex(const fft_case *given, double *values, int sign) {
    fftw_complex *whole = (fftw_complex *)values;
    fftw_plan plan = fftw_plan_dft(given->ndims, given->sizes, whole, whole, sign,
                                   FFTW_ESTIMATE | FFTW_UNALIGNED);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

static size_t product(int ndims, const int sizes[]) {
    size_t n = 1;
    for (int axis = 0; axis < ndims; axis++) {
        n *= (size_t)sizes[axis];
    }
    return n;
}

static void transform_complex(const fft_case *given, size_t n, const double *physical,
                              double *spectral, double *returned) {
    const size_t ncomponents = (size_t)fft_case_components(given, FFTND_PHYSICAL);
    int sizes[REDIST_MAX_NDIMS];
    double *whole = calloc(2 * n, sizeof(double));
    fft_case_sizes(given, FFTND_PHYSICAL, sizes);
    for (size_t i = 0; i < n; i++) {
        memcpy(whole + 2 * i, physical + ncomponents * i, ncomponents * sizeof(double));
    }
    run_complex(given, whole, FFTW_FORWARD);
    whole = resize(given, whole, sizes, FFTND_SPECTRAL);
    if (fft_case_halved_axis(given) >= 0) {
        copy_half(given, whole, spectral);
    } else {
        memcpy(spectral, whole, product(given->ndims, sizes) * sizeof(fftw_complex));
    }
    whole = resize(given, whole, sizes, FFTND_PHYSICAL);
    run_complex(given, whole, FFTW_BACKWARD);
    for (size_t i = 0; i < n * ncomponents; i++) {
        returned[i] = whole[ncomponents == 2 ? i : 2 * i] / (double)n;
    }
    free(whole);
}

static void run_real(const fft_case *given, double *values, int backward) {
    static const fftw_r2r_kind kinds[][2] = {
        [FFTND_DCT1] = {FFTW_REDFT00, FFTW_REDFT00}, [FFTND_DCT2] = {FFTW_REDFT10, FFTW_REDFT01},
        [FFTND_DCT3] = {FFTW_REDFT01, FFTW_REDFT10}, [FFTND_DCT4] = {FFTW_REDFT11, FFTW_REDFT11},
        [FFTND_DST1] = {FFTW_RODFT00, FFTW_RODFT00}, [FFTND_DST2] = {FFTW_RODFT10, FFTW_RODFT01},
        [FFTND_DST3] = {FFTW_RODFT01, FFTW_RODFT10}, [FFTND_DST4] = {FFTW_RODFT11, FFTW_RODFT11}};
    fftw_r2r_kind chosen[REDIST_MAX_NDIMS];
    for (int axis = 0; axis < given->ndims; axis++) {
        chosen[axis] = kinds[given->r2r[axis]][backward];
    }
    fftw_plan plan = fftw_plan_r2r(given->ndims, given->sizes, values, values, chosen,
                                   FFTW_ESTIMATE | FFTW_UNALIGNED);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

static void transform_real(const fft_case *given, size_t n, const double *physical,
                           double *spectral, double *returned) {
    int sizes[REDIST_MAX_NDIMS];
    double *whole = malloc(n * sizeof(double));
    fft_case_sizes(given, FFTND_PHYSICAL, sizes);
    memcpy(whole, physical, n * sizeof(double));
    run_real(given, whole, 0);
    whole = resize(given, whole, sizes, FFTND_SPECTRAL);
    memcpy(spectral, whole, product(given->ndims, sizes) * sizeof(double));
    whole = resize(given, whole, sizes, FFTND_PHYSICAL);
    run_real(given, whole, 1);
    for (size_t i = 0; i < n; i++) {
        returned[i] = whole[i] / fft_case_logical_size(given);
    }
    free(whole);
}

/* ---------------------------------------------------------------- all fields */

/* Noise between -1 and 1 that the case's precision can hold exactly. */
static void make_noise(const fft_case *given, uint64_t seed, size_t n, double *values) {
    const int bits = given->precision == FFTND_DOUBLE ? 50 : 22;
    for (size_t i = 0; i < n; i++) {
        const uint64_t random = random_hash(random_hash(seed) + i) >> (64 - bits);
        values[i] = ldexp((double)random, 1 - bits) - 1;
    }
}

static double find_largest(size_t n, const double *values) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(values[i]));
    }
    return largest > 0 ? largest : 1;
}

static size_t count_elements(const fft_case *given, enum fftnd_side side) {
    int sizes[REDIST_MAX_NDIMS];
    fft_case_sizes(given, side, sizes);
    return product(given->ndims, sizes);
}

static void transform_fields(const fft_case *given, const fft_reference *made) {
    const size_t n = made->nelements[FFTND_PHYSICAL];
    const size_t step[] = {n * (size_t)made->ncomponents[0],
                           made->nelements[1] * (size_t)made->ncomponents[1]};
    for (size_t field = 0; field < (size_t)given->options.batch; field++) {
        const double *physical = made->values[0] + field * step[0];
        double *spectral = made->values[1] + field * step[1];
        double *returned = made->returned + field * step[0];
        if (given->kind == FFTND_R2R) {
            transform_real(given, n, physical, spectral, returned);
        } else {
            transform_complex(given, n, physical, spectral, returned);
        }
    }
}

void fft_reference_create(MPI_Comm comm, const fft_case *given, uint64_t seed,
                          fft_reference *reference) {
    size_t n[2];
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (enum fftnd_side side = FFTND_PHYSICAL; side <= FFTND_SPECTRAL; side++) {
        reference->ncomponents[side] = fft_case_components(given, side);
        reference->nelements[side] = count_elements(given, side);
        n[side] = (size_t)given->options.batch * reference->nelements[side] *
                  (size_t)reference->ncomponents[side];
        reference->values[side] = malloc(n[side] * sizeof(double));
    }
    reference->returned = malloc(n[0] * sizeof(double));
    make_noise(given, seed, n[0], reference->values[0]);
    if (rank == 0) {
        transform_fields(given, reference);
    }
    MPI_Bcast(reference->values[1], (int)n[1], MPI_DOUBLE, 0, comm);
    MPI_Bcast(reference->returned, (int)n[0], MPI_DOUBLE, 0, comm);
    for (int side = 0; side < 2; side++) {
        reference->largest[side] = find_largest(n[side], reference->values[side]);
    }
    reference->largest_returned = find_largest(n[0], reference->returned);
}

void fft_reference_use_returned(fft_reference *reference) {
    double *noise = reference->values[0];
    reference->values[0] = reference->returned;
    reference->largest[0] = reference->largest_returned;
    reference->returned = noise;
}

void fft_reference_free(fft_reference *reference) {
    free(reference->returned);
    free(reference->values[0]);
    free(reference->values[1]);
}
