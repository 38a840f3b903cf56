/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW's names in one precision. Files that include this header are compiled once for each precision, with FFTW's own
 * declarations of their functions, so that the compiler compares the two.
 */
#ifndef FFTND_FFTW_NAMES_H
#define FFTND_FFTW_NAMES_H

#include "next.h"
#include "plan.h"

#include <fftw3-mpi.h>

/* PREFIX is fftw, fftwf or fftwl. */
#define JOIN_OF(a, b) a##b
#define JOIN(a, b)    JOIN_OF(a, b)
#define X(name)       JOIN(PREFIX, _##name)
#define XM(name)      JOIN(PREFIX, _mpi_##name)
typedef X(complex) complex_number;
typedef __typeof__(**(complex_number *)0) real;

#define PRECISION                                                                                  \
    _Generic((real)0, double : FFTND_DOUBLE, float : FFTND_FLOAT, long double : FFTND_LONG_DOUBLE)
#define DATATYPE                                                                                   \
    _Generic((real)0, double : MPI_DOUBLE, float : MPI_FLOAT, long double : MPI_LONG_DOUBLE)

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

/* FFTW's own function of this name. */
#define FFTW(name)     ((__typeof__(&X(name)))FFTND_FFTW_NEXT(TEXT(X(name))))
#define FFTW_MPI(name) ((__typeof__(&XM(name)))FFTND_FFTW_NEXT(TEXT(XM(name))))

#define EXPORT __attribute__((visibility("default")))

#endif
