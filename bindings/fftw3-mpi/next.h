/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW's own functions, behind those of the same names here. */
#ifndef FFTND_FFTW_NEXT_H
#define FFTND_FFTW_NEXT_H

#include "own.h"

#include <stdatomic.h>

typedef void fftnd_fftw__function(void);

/* FFTW's function; ends the program with a message if there is none. Looked up once in each place. */
#define FFTND_FFTW_NEXT(name)                                                                      \
    (__extension__({                                                                               \
        static fftnd_fftw__function *_Atomic found;                                                \
        fftnd_fftw__next(name, &found);                                                            \
    }))

fftnd_fftw__function *fftnd_fftw__next(const char *name, fftnd_fftw__function *_Atomic *found);

/* FFTW's function, that a program need not have; NULL = it has none. */
fftnd_fftw__function *fftnd_fftw__find(const char *name);

#endif
