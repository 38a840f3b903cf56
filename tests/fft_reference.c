/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial FFTW on the whole array: see fft_reference.h. */
#include "fft_reference.h"

#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* ---------------------------------------------------------------- one field */

/* Adds a factor times one index of an axis to one index of another array. */
static void add_index(const long double *from, int from_size, int from_index, long double *to,
                      int to_size, int to_index, size_t before, size_t after, long double factor) {
    for (size_t i = 0; i < before; i++) {
        const long double *source = from + (i * (size_t)from_size + (size_t)from_index) * after;
        long double *target = to + (i * (size_t)to_size + (size_t)to_index) * after;
        for (size_t j = 0; j < after; j++) {
            target[j] += factor * source[j];
        }
    }
}

/* Nonzero where an axis has positive and negative wavenumbers, the latter at its end. */
static int has_signs(const fft_case *given, int axis) {
    const int r2r = fft_case_r2r(given, axis);
    return r2r < 0 || r2r == FFTND_DHT || r2r == FFTND_R2HC;
}

/* Index of the mode number `mode` of `nmodes` along an axis of `size` elements. */
static int index_of(const fft_case *given, int axis, int mode, int nmodes, int size) {
    const int is_low =
        2 * mode < nmodes || (2 * mode == nmodes && fft_case_r2r(given, axis) == FFTND_R2HC);
    return !has_signs(given, axis) || is_low ? mode : size - nmodes + mode;
}

/* Makes an axis as long as `to`: drops the highest frequencies or puts zeros there. Of an even number
 * of modes, the one half-way stands for both signs of its frequency in the longer array. */
static long double *resize_axis(const fft_case *given, long double *values, int sizes[], int axis,
                                int to) {
    const int from = sizes[axis];
    const int nmodes = from < to ? from : to;
    const int is_shared = from != to && has_signs(given, axis) && nmodes % 2 == 0;
    size_t before = 1;
    size_t after = 2;
    for (int i = 0; i < given->ndims; i++) {
        *(i < axis ? &before : &after) *= i == axis ? 1 : (size_t)sizes[i];
    }
    long double *made = calloc(before * (size_t)to * after, sizeof(long double));
    for (int mode = 0; mode < nmodes; mode++) {
        const int is_half = is_shared && 2 * mode == nmodes;
        const long double factor = is_half && from < to ? 0.5 : 1;
        add_index(values, from, index_of(given, axis, mode, nmodes, from), made, to,
                  index_of(given, axis, mode, nmodes, to), before, after, factor);
        const int has_two = fft_case_r2r(given, axis) != FFTND_R2HC || from > to;
        if (is_half && has_two) {
            add_index(values, from, mode, made, to, mode, before, after, factor);
        }
    }
    sizes[axis] = to;
    free(values);
    return made;
}

/* Between as many modes as points and those that are retained. */
static long double *resize(const fft_case *given, long double *values, int sizes[],
                           enum fftnd_side side) {
    for (int axis = 0; axis < given->ndims; axis++) {
        const int retained = fft_case_retained(given, axis);
        values = resize_axis(given, values, sizes, axis,
                             side == FFTND_SPECTRAL ? retained : given->sizes[axis]);
    }
    return values;
}

/* Makes an axis as long as `to`, with zeros at its end or without the elements there. */
static long double *cut_axis(const fft_case *given, long double *values, int sizes[], int axis,
                             int to) {
    const int from = sizes[axis];
    size_t before = 1, after = 2;
    for (int i = 0; i < given->ndims; i++) {
        *(i < axis ? &before : &after) *= i == axis ? 1 : (size_t)sizes[i];
    }
    long double *made = calloc(before * (size_t)to * after, sizeof(long double));
    for (int i = 0; i < from && i < to; i++) {
        add_index(values, from, i, made, to, i, before, after, 1);
    }
    sizes[axis] = to;
    free(values);
    return made;
}

/* The elements of a complex array that remain when an axis keeps only its first half. */
static void copy_half(const fft_case *given, const long double *whole, long double *half) {
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
        memcpy(half + 2 * i * kept, whole + 2 * i * had, kept * 2 * sizeof(long double));
    }
}

/* Along one axis of complex numbers; from real to real both parts. In the widest precision that FFTW has here. */
static void run_axis(const fft_case *given, long double *values, const int sizes[], int axis,
                     int backward) {
    static const fftw_r2r_kind kinds[][2] = {
        [FFTND_DCT1] = {FFTW_REDFT00, FFTW_REDFT00}, [FFTND_DCT2] = {FFTW_REDFT10, FFTW_REDFT01},
        [FFTND_DCT3] = {FFTW_REDFT01, FFTW_REDFT10}, [FFTND_DCT4] = {FFTW_REDFT11, FFTW_REDFT11},
        [FFTND_DST1] = {FFTW_RODFT00, FFTW_RODFT00}, [FFTND_DST2] = {FFTW_RODFT10, FFTW_RODFT01},
        [FFTND_DST3] = {FFTW_RODFT01, FFTW_RODFT10}, [FFTND_DST4] = {FFTW_RODFT11, FFTW_RODFT11},
        [FFTND_R2HC] = {FFTW_R2HC, FFTW_HC2R},       [FFTND_HC2R] = {FFTW_HC2R, FFTW_R2HC},
        [FFTND_DHT] = {FFTW_DHT, FFTW_DHT}};
    const int r2r = fft_case_r2r(given, axis), unit = r2r >= 0 ? 2 : 1;
    int before = 1, after = 1;
    for (int i = 0; i < given->ndims; i++) {
        *(i < axis ? &before : &after) *= i == axis ? 1 : sizes[i];
    }
    const fftw_iodim line = {sizes[axis], after * unit, after * unit};
    const fftw_iodim rest[] = {{before, after * sizes[axis] * unit, after * sizes[axis] * unit},
                               {after * unit, 1, 1}};
    const size_t n = 2 * (size_t)before * (size_t)sizes[axis] * (size_t)after;
    REFERENCE_NUMBER *numbers = malloc(n * sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (REFERENCE_NUMBER)values[i];
    }
    REFERENCE(plan)
    plan = r2r >= 0
               ? REFERENCE(plan_guru_r2r)(1, &line, 2, rest, numbers, numbers,
                                          &kinds[r2r][backward], FFTW_ESTIMATE | FFTW_UNALIGNED)
               : REFERENCE(plan_guru_dft)(1, &line, 2, rest, (REFERENCE(complex) *)numbers,
                                          (REFERENCE(complex) *)numbers, backward ? 1 : -1,
                                          FFTW_ESTIMATE | FFTW_UNALIGNED);
    REFERENCE(execute)(plan);
    REFERENCE(destroy_plan)(plan);
    for (size_t i = 0; i < n; i++) {
        values[i] = numbers[i];
    }
    free(numbers);
}

static void run_axes(const fft_case *given, long double *values, const int sizes[], int backward) {
    for (int axis = 0; axis < given->ndims; axis++) {
        if (given->kind != FFTND_MIXED || given->axes[axis] != FFTND_AXIS_NONE) {
            run_axis(given, values, sizes, axis, backward);
        }
    }
}

static size_t product(int ndims, const int sizes[]) {
    size_t n = 1;
    for (int axis = 0; axis < ndims; axis++) {
        n *= (size_t)sizes[axis];
    }
    return n;
}

/* Between numbers of a side and complex ones. */
static void copy_numbers(size_t n, int from_components, const long double *from, int to_components,
                         long double *to, long double factor) {
    const int both = from_components < to_components ? from_components : to_components;
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < both; j++) {
            to[i * (size_t)to_components + (size_t)j] =
                factor * from[i * (size_t)from_components + (size_t)j];
        }
    }
}

/* In complex numbers, whatever the kinds. */
static void transform_field(const fft_case *given, size_t n, const long double *physical,
                            long double *spectral, long double *returned) {
    const int ncomponents = fft_case_components(given, FFTND_PHYSICAL);
    int sizes[REDIST_MAX_NDIMS];
    long double *whole = calloc(2 * n, sizeof(long double));
    fft_case_sizes(given, FFTND_PHYSICAL, sizes);
    copy_numbers(n, ncomponents, physical, 2, whole, 1);
    for (int axis = 0; axis < given->ndims; axis++) {
        whole = cut_axis(given, whole, sizes, axis, given->sizes[axis]);
    }
    run_axes(given, whole, sizes, 0);
    whole = resize(given, whole, sizes, FFTND_SPECTRAL);
    if (fft_case_halved_axis(given) >= 0) {
        copy_half(given, whole, spectral);
    } else {
        copy_numbers(product(given->ndims, sizes), 2, whole,
                     fft_case_components(given, FFTND_SPECTRAL), spectral, 1);
    }
    whole = resize(given, whole, sizes, FFTND_PHYSICAL);
    run_axes(given, whole, sizes, 1);
    for (int axis = 0; axis < given->ndims; axis++) {
        whole = cut_axis(given, whole, sizes, axis, fft_case_filled(given, axis));
    }
    copy_numbers(n, 2, whole, ncomponents, returned, 1 / fft_case_logical_size(given));
    free(whole);
}

/* ---------------------------------------------------------------- all fields */

/* Noise between -1 and 1 that the case's precision can hold exactly. */
static void make_noise(const fft_case *given, uint64_t seed, size_t n, long double *values) {
    static const int precisions[] = {[FFTND_DOUBLE] = 50,
                                     [FFTND_FLOAT] = 22,
                                     [FFTND_LONG_DOUBLE] = LDBL_MANT_DIG > 62 ? 60 : 50};
    const int bits = precisions[given->precision];
    for (size_t i = 0; i < n; i++) {
        const uint64_t random = random_hash(random_hash(seed) + i) >> (64 - bits);
        values[i] = ldexpl((long double)random, 1 - bits) - 1;
    }
}

/* Not less than `typical`: errors are those of all that was added up, also where few modes remain, which cancel. */
static long double find_largest(size_t n, const long double *values, long double typical) {
    long double largest = n > 0 ? typical : 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmaxl(largest, fabsl(values[i]));
    }
    return largest > 0 ? largest : 1;
}

/* The root mean square of noise between -1 and 1 of `n` elements, after a transform that is not scaled. */
static long double typical_mode(size_t n) {
    return sqrtl((long double)n / 3);
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
        const long double *physical = made->values[0] + field * step[0];
        long double *spectral = made->values[1] + field * step[1];
        long double *returned = made->returned + field * step[0];
        transform_field(given, n, physical, spectral, returned);
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
        reference->values[side] = malloc(n[side] * sizeof(long double));
    }
    reference->returned = malloc(n[0] * sizeof(long double));
    make_noise(given, seed, n[0], reference->values[0]);
    if (rank == 0) {
        transform_fields(given, reference);
    }
    MPI_Bcast(reference->values[1], (int)n[1], MPI_LONG_DOUBLE, 0, comm);
    MPI_Bcast(reference->returned, (int)n[0], MPI_LONG_DOUBLE, 0, comm);
    const long double mode = typical_mode(reference->nelements[0]);
    reference->largest[0] = find_largest(n[0], reference->values[0], 0);
    reference->largest[1] = find_largest(n[1], reference->values[1], mode);
    reference->largest_returned =
        find_largest(n[0], reference->returned, mode / fft_case_logical_size(given));
}

void fft_reference_use_returned(fft_reference *reference) {
    long double *noise = reference->values[0];
    reference->values[0] = reference->returned;
    reference->largest[0] = reference->largest_returned;
    reference->returned = noise;
}

void fft_reference_free(fft_reference *reference) {
    free(reference->returned);
    free(reference->values[0]);
    free(reference->values[1]);
}
