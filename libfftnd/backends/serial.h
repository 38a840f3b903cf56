/* SPDX-License-Identifier: BSD-3-Clause */
/* What a serial FFT library is: a file with one const table, and a line in libfftnd/meson.build. */
#ifndef FFTND__SERIAL_H
#define FFTND__SERIAL_H

#include "../thread_pool.h"
#include "fftnd.h"
#include "modes.h"

/* One loop of a transform: its length and the strides of both arrays, in elements of each. */
struct fftnd__loop {
    redist_index n;
    ptrdiff_t in, out;
};

struct fftnd__operation;
struct fftnd__r2r_lines;
struct fftnd__serial;

/* Transforms over some axes of a local array, repeated over the others. For real-to-complex and
 * complex-to-real the last transformed axis is halved, and its n is that of the real side. */
struct fftnd__serial_problem {
    enum fftnd_kind kind; /* of this step: the c2c steps of an r2c chain are FFTND_C2C */
    enum fftnd_precision precision;
    int direction; /* REDIST_FORWARD or REDIST_BACKWARD */
    enum fftnd_effort effort;
    double seconds; /* to plan in, about */
    int keep_input; /* an out-of-place complex-to-real step must not use its input as scratch */
    struct fftnd__pool
        *pool; /* threads that execute it together; NULL = any thread alone, several at once */
    int naxes; /* 0 = copy */
    struct fftnd__loop axes[REDIST_MAX_NDIMS];
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS]; /* FFTND_R2R: of each axis, in this direction */
    int nloops;
    struct fftnd__loop loops[REDIST_MAX_NDIMS];
    void *stream;                        /* of the user, where work runs in streams */
    const struct fftnd__serial *library; /* of the space, where another one gives it work (r2r.c) */
};

struct fftnd__serial {
    const char *name;
    enum redist_space space; /* of the arrays */

    /* REDIST_OK if an array lies where the library can use it; `bytes` of an element. Without this function
     * all arrays do. */
    int (*check)(const char *function, const char *name, const void *array, size_t bytes);

    /* Learns how fast it is with lines of these lengths, from the wisdom file `file` (redist_wisdom_find) or by measuring
     * what is not known, so that plans need not. NULL = it has nothing to learn. Collective on comm. REDIST_ERR_MPI. */
    int (*learn)(MPI_Comm comm, const char *file, int nlengths, const redist_index lengths[],
                 enum fftnd_precision precision);

    /* Whether a copy, and a backward transform of all axes that ruins it, costs less than transforms of the other axes before
     * that of the halved one; the same on all ranks. NULL = it does not. */
    int (*prefers_copy)(int naxes, const redist_index lengths[], enum fftnd_precision precision);

    /* Plans on arrays that planning may overwrite; in == out for an in-place transform. Both are
     * aligned to 64 bytes. For a device they are no addresses to use, and differ or not all the same.
     * Not collective. REDIST_ERR_SERIAL, REDIST_ERR_MEMORY, REDIST_ERR_LIMIT. */
    int (*create)(const struct fftnd__serial_problem *problem, void *in, void *out, void **plan);

    /* Scratch memory that a plan needs, and one to use that other plans use too when it does not. NULL =
     * none. */
    size_t (*area_bytes)(const void *plan);
    int (*set_area)(void *plan, void *area);

    /* Transforms other arrays of the same shapes. Where work runs in streams, it has only begun; after a call
     * that fails, of this or of the next ones, nothing of it is under way. */
    int (*execute)(void *plan, void *in, void *out);

    /* Multiplies all real numbers in `bytes` bytes. The same. */
    int (*scale)(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream);

    void (*destroy)(void *plan);

    /* Changes modes, in a stream; as `scale`. NULL = arrays are in memory of the host. */
    int (*change)(const struct fftnd__modes *modes, void *stream);

    /* An operator on a box of modes, in a stream; as `scale` (operators/symbol.h). NULL = arrays are in memory of the
     * host. */
    int (*operate)(const struct fftnd__operation *operation, void *stream);

    /* Begins to make rows of lines, or lines `after` the transform of rows, in a stream (r2r_lines.h). NULL = the library
     * has real-to-real transforms itself. */
    int (*r2r)(const struct fftnd__r2r_lines *lines, int after, void *stream);
};

/* Bytes of a real or complex element. */
static inline size_t fftnd__item_bytes(enum fftnd_precision precision, int real) {
    static const size_t bytes[] = {[FFTND_DOUBLE] = sizeof(double),
                                   [FFTND_FLOAT] = sizeof(float),
                                   [FFTND_LONG_DOUBLE] = sizeof(long double)};
    return bytes[precision] * (real ? 1 : 2);
}

/* The first registered library for arrays in a space, AUTO = host; NULL = this build has none. */
const struct fftnd__serial *fftnd__serial_for(enum redist_space space);

/* Why there is no such library, or no such memory on this machine; NULL = there is. */
const char *fftnd__serial_unavailable(enum redist_space space);

#endif
