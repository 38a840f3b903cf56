/* SPDX-License-Identifier: BSD-3-Clause */
/* What a serial FFT library is: one const table. */
#ifndef FFTND__SERIAL_H
#define FFTND__SERIAL_H

#include "fftnd.h"

/* One loop of a transform: its length and the strides of both arrays, in elements of each. */
struct fftnd__loop {
    int n;
    ptrdiff_t in, out;
};

/* Transforms over some axes of a local array, repeated over the others. For real-to-complex and
 * complex-to-real the last transformed axis is halved, and its n is that of the real side. */
struct fftnd__serial_problem {
    enum fftnd_kind kind; /* of this step: the c2c steps of an r2c chain are FFTND_C2C */
    enum fftnd_precision precision;
    int direction; /* REDIST_FORWARD or REDIST_BACKWARD */
    enum fftnd_effort effort;
    double seconds; /* to plan in, about */
    int keep_input; /* an out-of-place complex-to-real step must not use its input as scratch */
    int naxes;      /* 0 = copy */
    struct fftnd__loop axes[REDIST_MAX_NDIMS];
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS]; /* FFTND_R2R: of each axis, in this direction */
    int nloops;
    struct fftnd__loop loops[REDIST_MAX_NDIMS];
};

struct fftnd__serial {
    const char *name;

    /* Plans on arrays that planning may overwrite; in == out for an in-place transform. Both are
     * aligned to 64 bytes. Not collective. REDIST_ERR_SERIAL, REDIST_ERR_MEMORY. */
    int (*create)(const struct fftnd__serial_problem *problem, void *in, void *out, void **plan);

    /* Transforms other arrays of the same shapes. */
    int (*execute)(void *plan, void *in, void *out);

    void (*destroy)(void *plan);
};

extern const struct fftnd__serial fftnd__serial_fftw;

#endif
