/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The oracle of the transforms: the whole global array of both sides on every rank, in double
 * precision. The physical side is noise, the spectral side its transform by serial FFTW, not
 * scaled.
 */
#ifndef FFT_REFERENCE_H
#define FFT_REFERENCE_H

#include "fft_case.h"

#include <stdint.h>

typedef struct fft_reference {
    int ncomponents[2];  /**< numbers per element, by side */
    size_t nelements[2]; /**< elements of one field */
    double *values[2];   /**< [field][element][component], elements in C order */
    double largest[2];   /**< the largest absolute value, or 1 if all are 0 */
} fft_reference;

/**
 * Computes both sides on rank 0 and gives them to all. Different seeds give different noise.
 * Collective on comm.
 */
void fft_reference_create(MPI_Comm comm, const fft_case *given, uint64_t seed,
                          fft_reference *reference);

void fft_reference_free(fft_reference *reference);

#endif
