/* SPDX-License-Identifier: BSD-3-Clause */
/** Enumerations: kinds of transforms, precisions, sides, and values of options; without MPI. Included by fftnd.h. */
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

/** Values of fftnd_options.ranks besides numbers. */
enum fftnd_ranks {
    FFTND_CHOOSE_RANKS = -1 /**< the planner tries all ranks, half of them, a quarter and so on */
};

/** Precisions of the numbers on both sides. */
enum fftnd_precision {
    FFTND_DOUBLE = 0, /**< always there */
    FFTND_FLOAT = 1,  /**< in host memory if the build found FFTW in float */
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

/**
 * Transforms of an axis with FFTND_MIXED. With a halved axis the physical side is real, with complex axes alone both
 * sides are complex, with neither both are real. Real-to-real axes of complex elements transform real and imaginary
 * parts. The order in which axes are transformed changes no result. Backward, a halved spectrum is one of a real field:
 * modes k = 0 and n/2 are the conjugates of their mirror images. The results of others depend on the serial library.
 */
enum fftnd_axis {
    FFTND_AXIS_NONE = 0,    /**< not transformed: the same length on the spectral side */
    FFTND_AXIS_COMPLEX = 1, /**< complex to complex */
    FFTND_AXIS_HALVED = 2,  /**< real to complex, one axis at most: n/2 + 1 spectral elements */
    FFTND_AXIS_R2R = 3      /**< real to real, by fftnd_options.r2r */
};

/** Blocks of an axis along a grid dimension. */
enum fftnd_blocks {
    FFTND_BLOCKS_BALANCED = 0, /**< as redist_decompose: block sizes differ by 1 at most */
    FFTND_BLOCKS_CEILING = 1   /**< as FFTW: ceil(n/P) elements each, the last ones fewer or none */
};

/** The direction that divides by the product of the logical sizes. */
enum fftnd_scaling {
    FFTND_SCALE_NONE = 0,     /**< neither: a round trip multiplies by the product */
    FFTND_SCALE_BACKWARD = 1, /**< backward divides: a round trip is the identity */
    FFTND_SCALE_FORWARD = 2,  /**< forward divides: coefficients are amplitudes */
    FFTND_SCALE_UNITARY = 3   /**< both divide by the square root */
};

/** The alignment of the spectral side. */
enum fftnd_alignment {
    FFTND_ALIGN_CHAIN = 0, /**< as the chain ends: whole along axis 0 (no further exchange) */
    FFTND_ALIGN_INPUT = 1  /**< carried back to the input's alignment (one more exchange) */
};

/** The position of the batch index in the local arrays. */
enum fftnd_batch_position {
    FFTND_BATCH_FIRST = 0, /**< whole fields one after the other: the slowest index */
    FFTND_BATCH_LAST = 1   /**< components side by side at each point: the fastest index */
};

/** Fusion of serial transforms and exchanges in one pass over memory. */
enum fftnd_fusion {
    /** if the peers' memory can be mapped and tiles fit the caches */
    FFTND_FUSION_AUTO = 0,
    FFTND_FUSION_NEVER = 1, /**< one after the other, over whole arrays */
    FFTND_FUSION_ALWAYS = 2 /**< ERR_METHOD if that is impossible, as always on a device */
};

/** Transposition of the local array by transforms over whole arrays, so that the rows of the next transform are
 * contiguous (Egger, chapter 4: Realigned); input and output always have C order. */
enum fftnd_local_transpose {
    FFTND_LOCAL_TRANSPOSE_AUTO = 0,  /**< between devices of several nodes as measured, else not */
    FFTND_LOCAL_TRANSPOSE_NEVER = 1, /**< all arrays in C order (Egger's layout "Default") */
    /** not with FFTND_FUSION_ALWAYS, nor with dropped modes; in place and with overwrite_input it may need a second
     * work array */
    FFTND_LOCAL_TRANSPOSE_ALWAYS = 2
};

/** The two sides of a transform. */
enum fftnd_side {
    FFTND_PHYSICAL = 0, /**< input of forward, output of backward */
    FFTND_SPECTRAL = 1  /**< output of forward, input of backward */
};

/** The effort of the serial library's planner, and of the choice of configurations and methods. */
enum fftnd_effort {
    FFTND_ESTIMATE = 0, /**< nothing is measured: best guesses, and methods that are remembered */
    FFTND_MEASURE = 1,  /**< measured, within fftnd_options.plan_seconds */
    FFTND_PATIENT = 2   /**< as FFTND_MEASURE; FFTW tries more (FFTW_PATIENT), and for longer */
};

#ifdef __cplusplus
}
#endif

#endif
