/* SPDX-License-Identifier: BSD-3-Clause */
/** Kinds of transforms, precisions, and efforts of planners; without MPI. Included by fftnd.h. */
#ifndef FFTND_KINDS_H
#define FFTND_KINDS_H

#include "redist_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of transforms. */
enum fftnd_kind {
    FFTND_C2C = 0, /**< complex to complex, the same sizes on both sides */
    /** forward real to complex, backward back; the halved axis has n/2 + 1 elements on the complex side */
    FFTND_R2C = 1,
    FFTND_R2R = 2,  /**< real to real: a transform of enum fftnd_r2r along each axis */
    FFTND_MIXED = 3 /**< each axis by fftnd_options.axes */
};

enum fftnd_precision {
    FFTND_DOUBLE = 0,
    FFTND_FLOAT = 1, /**< in host memory if the build found FFTW in float */
    FFTND_LONG_DOUBLE =
        2 /**< for arrays in host memory that are transformed there; as FFTND_FLOAT */
};

/** Real-to-real transforms (the names and definitions of FFTW's manual, "1d Real-even DFTs" ff.). */
enum fftnd_r2r {
    FFTND_DCT1 = 0, /**< REDFT00, its own inverse, logical size 2(n-1); n >= 2 */
    FFTND_DCT2 = 1, /**< REDFT10, inverse DCT3, logical size 2n */
    FFTND_DCT3 = 2, /**< REDFT01, inverse DCT2 */
    FFTND_DCT4 = 3, /**< REDFT11, its own inverse */
    FFTND_DST1 = 4, /**< RODFT00, its own inverse, logical size 2(n+1) */
    FFTND_DST2 = 5, /**< RODFT10, inverse DST3 */
    FFTND_DST3 = 6, /**< RODFT01, inverse DST2 */
    FFTND_DST4 = 7, /**< RODFT11, its own inverse */
    FFTND_R2HC =
        8, /**< real to halfcomplex: r0, r1, .., r(n/2), i((n+1)/2 - 1), .., i1; inverse HC2R */
    FFTND_HC2R = 9, /**< halfcomplex to real, inverse R2HC; logical sizes of these and DHT: n */
    FFTND_DHT = 10  /**< discrete Hartley transform, its own inverse */
};

/** The effort of the serial library's planner and of the choice of methods. */
enum fftnd_effort { FFTND_ESTIMATE = 0, FFTND_MEASURE = 1, FFTND_PATIENT = 2 };

#ifdef __cplusplus
}
#endif

#endif
