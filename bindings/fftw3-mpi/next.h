/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW's own functions of the same names. */
#ifndef FFTND_FFTW_NEXT_H
#define FFTND_FFTW_NEXT_H

#include "own.h"

#include <stdatomic.h>

typedef void fftnd_fftw__function(void);

/* Returns FFTW's function, or ends the program with a message. Looked up once in each place. */
#define FFTND_FFTW_NEXT(name)                                                                      \
    (__extension__({                                                                               \
        static fftnd_fftw__function *_Atomic found;                                                \
        fftnd_fftw__next(name, &found);                                                            \
    }))

fftnd_fftw__function *fftnd_fftw__next(const char *name, fftnd_fftw__function *_Atomic *found);

/* Returns FFTW's function, or NULL if the program has none. */
fftnd_fftw__function *fftnd_fftw__find(const char *name);

#endif
