/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW's names in one precision. Files that include this header are compiled once for each precision: FFTW's own
 * header declares what they define, so that the compiler compares the two.
 */
#ifndef FFTND_FFTW_NAMES_H
#define FFTND_FFTW_NAMES_H

#include "next.h"
#include "plan.h"

#include <fftw3-mpi.h>

#ifdef FFTND_FFTW_FLOAT
#define X(name)  fftwf_##name
#define XM(name) fftwf_mpi_##name
typedef float real;
typedef fftwf_complex complex_number;
#define PRECISION FFTND_FLOAT
#else
#define X(name)   fftw_##name
#define XM(name)  fftw_mpi_##name
typedef double real;
typedef fftw_complex complex_number;
#define PRECISION FFTND_DOUBLE
#endif

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

/* FFTW's own function of this name. */
#define FFTW(name)     ((__typeof__(&X(name)))FFTND_FFTW_NEXT(TEXT(X(name))))
#define FFTW_MPI(name) ((__typeof__(&XM(name)))FFTND_FFTW_NEXT(TEXT(XM(name))))

#define EXPORT __attribute__((visibility("default")))

#endif
