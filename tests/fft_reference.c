/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial FFTW on the whole array: see fft_reference.h. */
#include "fft_reference.h"

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* ---------------------------------------------------------------- one field */

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
    const size_t had = (size_t)given->sizes[halved] * after;
    for (size_t i = 0; i < before; i++) {
        memcpy(half + 2 * i * kept, whole + 2 * i * had, kept * sizeof(fftw_complex));
    }
}

static void transform_complex(const fft_case *given, size_t n, const double *physical,
                              double *spectral) {
    const int ncomponents = fft_case_components(given, FFTND_PHYSICAL);
    fftw_complex *whole = fftw_alloc_complex(n);
    for (size_t i = 0; i < n; i++) {
        whole[i][0] = physical[(size_t)ncomponents * i];
        whole[i][1] = ncomponents == 2 ? physical[2 * i + 1] : 0;
    }
    fftw_plan plan =
        fftw_plan_dft(given->ndims, given->sizes, whole, whole, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    if (fft_case_halved_axis(given) >= 0) {
        copy_half(given, whole[0], spectral);
    } else {
        memcpy(spectral, whole, n * sizeof(fftw_complex));
    }
    fftw_free(whole);
}

static void transform_real(const fft_case *given, size_t n, const double *physical,
                           double *spectral) {
    static const fftw_r2r_kind kinds[] = {
        [FFTND_DCT1] = FFTW_REDFT00, [FFTND_DCT2] = FFTW_REDFT10, [FFTND_DCT3] = FFTW_REDFT01,
        [FFTND_DCT4] = FFTW_REDFT11, [FFTND_DST1] = FFTW_RODFT00, [FFTND_DST2] = FFTW_RODFT10,
        [FFTND_DST3] = FFTW_RODFT01, [FFTND_DST4] = FFTW_RODFT11};
    fftw_r2r_kind chosen[REDIST_MAX_NDIMS];
    for (int axis = 0; axis < given->ndims; axis++) {
        chosen[axis] = kinds[given->r2r[axis]];
    }
    memcpy(spectral, physical, n * sizeof(double));
    fftw_plan plan = fftw_plan_r2r(given->ndims, given->sizes, spectral, spectral, chosen,
                                   FFTW_ESTIMATE | FFTW_UNALIGNED);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
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
    size_t n = 1;
    fft_case_sizes(given, side, sizes);
    for (int axis = 0; axis < given->ndims; axis++) {
        n *= (size_t)sizes[axis];
    }
    return n;
}

static void transform_fields(const fft_case *given, const fft_reference *made) {
    const size_t n = made->nelements[FFTND_PHYSICAL];
    const size_t step[] = {n * (size_t)made->ncomponents[0],
                           made->nelements[1] * (size_t)made->ncomponents[1]};
    for (size_t field = 0; field < (size_t)given->options.batch; field++) {
        const double *physical = made->values[0] + field * step[0];
        double *spectral = made->values[1] + field * step[1];
        if (given->kind == FFTND_R2R) {
            transform_real(given, n, physical, spectral);
        } else {
            transform_complex(given, n, physical, spectral);
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
    make_noise(given, seed, n[0], reference->values[0]);
    if (rank == 0) {
        transform_fields(given, reference);
    }
    MPI_Bcast(reference->values[1], (int)n[1], MPI_DOUBLE, 0, comm);
    for (int side = 0; side < 2; side++) {
        reference->largest[side] = find_largest(n[side], reference->values[side]);
    }
}

void fft_reference_free(fft_reference *reference) {
    free(reference->values[0]);
    free(reference->values[1]);
}
