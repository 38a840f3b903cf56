/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The oracle of the transforms: the whole global array of both sides on every rank, in long double
 * precision. The physical side is noise, the spectral side its transform by serial FFTW, not
 * scaled; where modes are dropped, what comes back from the spectral side is less than the noise. Points behind those
 * of the physical side are zero before the transform, and left out of what comes back.
 */
#ifndef FFT_REFERENCE_H
#define FFT_REFERENCE_H

#include "fft_case.h"

#include <stdint.h>

typedef struct fft_reference {
    int ncomponents[2];     /**< numbers per element, by side */
    size_t nelements[2];    /**< elements of one field */
    long double *values[2]; /**< [field][element][component], elements in C order */
    long double *returned;  /**< the backward transform of values[1] over the logical size */
    /** the largest absolute value, of modes at least what is typical, or 1 if all are 0 */
    long double largest[2];
    long double largest_returned;
} fft_reference;

/**
 * Computes both sides on rank 0 and gives them to all. Different seeds give different noise.
 * Collective on comm.
 */
void fft_reference_create(MPI_Comm comm, const fft_case *given, uint64_t seed,
                          fft_reference *reference);

/** Makes what comes back the physical side: a field that has retained modes only. */
void fft_reference_use_returned(fft_reference *reference);

void fft_reference_free(fft_reference *reference);

#endif
