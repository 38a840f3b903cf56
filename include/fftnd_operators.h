/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Operators between a transform and the one back, fused with both: differential operators, filters, the user's own.
 *
 * fftnd_apply transforms fields forward, multiplies each mode, and transforms back. The last serial transform of
 * forward, the multiplication and the first one of backward are one step: a tile is transformed, multiplied and
 * transformed back while it is in the cache, on a device a chunk. The spectral side is never stored, and needs no
 * array. Axes on whose wavenumbers an operator does not depend are not transformed, and cost no exchange: a derivative
 * along one axis transforms that axis alone, and gradient, divergence and curl, on devices the gradient only, are such
 * derivatives one after the other (if all modes are retained, the plan is not in place, and has neither boxes nor given
 * blocks or split axes; with the batch last these three transform all axes). Then sums of derivatives need room for one
 * field. Functions of the user and FFTND_MULTIPLY depend on all axes, and so does
 * FFTND_SYMBOLS of real data without a table for the halved axis. With a halved axis, functions and tables of the user
 * multiply a mode's mirror image by the conjugate of the mode's factor, so that fields stay real; the results of others
 * depend on the serial library. fftnd_apply_physical is the mirror image: spectra become fields, a function of the user
 * maps these to others point by point, and those become spectra: for products of fields (non-linear terms), with the
 * 2/3 or 3/2 rule by fftnd_options.retained_modes.
 *
 * Axes: along a Fourier axis a mode is exp(i k x) with k = 2 pi n / length. Along an axis of DCT or DST it is a cosine
 * or sine of k x with k = pi n / length, where `length` is half the logical size times the distance of points: the
 * distance between the first and the last point for FFTND_DCT1, n distances for types 2, 3 and 4, n + 1 for FFTND_DST1.
 * fftnd_plan_wavenumbers returns n.
 *
 * FFTND_OPEN_POISSON (Hockney and Eastwood) solves Poisson's equation without boundaries along its free axes, where f
 * is 0 outside of a domain: the first half of the points, sizes[i] / 2. The other half holds zeros on input, and no
 * solution on output; with fftnd_options.filled it is missing. `lengths` counts both halves, as for other operators.
 * Along the other axes it is periodic, or has the boundaries of the DCT or DST. With G(x) = -|x| / 2 in one dimension,
 * -log|x| / (2 pi) in two, 1 / (4 pi |x|) in three, the solution is u = -G * f: for the mode k = 0 of the other axes,
 * if there are any. zero_mode has no effect. FFTND_GREEN_TRUNCATED, and any function where other axes take part, is
 * computed on a grid as long as the domain's diameter along each free axis: much memory while the operator is made if
 * one is many times as long as another, and ERR_LIMIT above 2^30 points along one.
 *
 * Derivatives of odd order multiply by odd powers of i k. For an even number K of modes, the mode with n = K/2 or -K/2
 * stands for both, and its derivative of odd order is 0 at all points, so they multiply it by 0 along Fourier axes.
 * They turn cosines into sines along DCT and DST axes, and exchange k and -k along FFTND_DHT and FFTND_R2HC axes, which
 * no plan supports: operators with odd orders along such an axis are refused. Even orders multiply by powers of -k^2
 * along all of these. FFTND_HC2R axes and those that are not transformed have no derivatives.
 *
 * Conventions, failures and threads are those of fftnd.h.
 */
#ifndef FFTND_OPERATORS_H
#define FFTND_OPERATORS_H

#include "fftnd.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Operators. With D axes that take part, |k|^2 is the sum of k^2 along these. */
enum fftnd_operator_kind {
    FFTND_DERIVATIVE = 0,          /**< 1 field -> 1: of the orders `orders` along each axis */
    FFTND_GRADIENT = 1,            /**< 1 -> D: the derivatives along each axis */
    FFTND_DIVERGENCE = 2,          /**< D -> 1 */
    FFTND_CURL = 3,                /**< D = 3: 3 -> 3; D = 2: 2 -> 1, along the missing axis */
    FFTND_LERAY = 4,               /**< D -> D: without its part along k, free of divergence */
    FFTND_LAPLACIAN = 5,           /**< 1 -> 1: -|k|^2 */
    FFTND_INVERSE_LAPLACIAN = 6,   /**< solves Laplacian(u) = f: -1/|k|^2 */
    FFTND_HELMHOLTZ = 7,           /**< Laplacian + coefficient: coefficient - |k|^2 */
    FFTND_INVERSE_HELMHOLTZ = 8,   /**< solves Laplacian(u) + coefficient u = f */
    FFTND_BIHARMONIC = 9,          /**< |k|^4 */
    FFTND_INVERSE_BIHARMONIC = 10, /**< solves Laplacian(Laplacian(u)) = f: 1/|k|^4 */
    FFTND_SHELL = 11,              /**< keeps the modes with shell[0] <= |k| < shell[1] */
    FFTND_SHIFT = 12,       /**< u(x + shift); the mode K/2 of an even number by its cosine */
    FFTND_SYMBOLS = 13,     /**< 1 -> 1: the product of a table for each axis */
    FFTND_MODES = 14,       /**< `inputs` -> `outputs`: a function of the user, of rows or boxes */
    FFTND_POINTS = 15,      /**< the same for rows of points, for fftnd_apply_physical */
    FFTND_MULTIPLY = 16,    /**< 1 -> 1: a distributed array, the factor of each mode */
    FFTND_OPEN_POISSON = 17 /**< solves Laplacian(u) = f in free space along some or all axes */
};

/** Green's functions G of FFTND_OPEN_POISSON, which convolves with them. Modes of the other axes with k > 0 take the
 * truncated one in any case. */
enum fftnd_green {
    FFTND_GREEN_TRUNCATED =
        0, /**< 0 beyond the diameter of the domain: spectral accuracy for smooth f */
    FFTND_GREEN_INTEGRATED = 1, /**< the integral over the cell of each grid point: second order */
    FFTND_GREEN_POINT =
        2 /**< the value at each grid point, at 0 the mean of the cell: second order */
};

/** A row of modes or points, of all fields, consecutive along one axis. */
typedef struct fftnd_row {
    size_t size; /**< sizeof(fftnd_row) of the library */
    int n;       /**< elements, some hundreds at most */
    int ndims;   /**< axes d of the plan */
    int axis;    /**< along which they are consecutive */
    int numbers; /**< of an element: 1 = real, 2 = complex (real and imaginary part); modes always have 2 */
    int ninputs, noutputs;
    const redist_index
        *start; /**< global indices of the first element along each axis (d values) */
    /** modes: n wavenumbers along each axis, with its length; NULL for an axis that takes no part */
    const double *const *k;
    /** the same, with 0 where derivatives of odd order are */
    const double *const *odd;
    const double *const
        *inputs;            /**< n elements of each field, double in any precision of the plan */
    double *const *outputs; /**< to be filled in; do not overlap the inputs */
} fftnd_row;

/**
 * The user's function of rows. Values of modes are scaled as by fftnd_forward, those of points as by fftnd_backward;
 * written values are scaled by the other one. Imaginary parts of modes of a real spectral side are 0, and ignored when
 * written. Several threads of a plan call it at once, for rows in any order. Rows and arrays of a call are valid during
 * it; it calls neither MPI nor this library. Returns 0, or else fails the execution on all ranks.
 */
typedef int fftnd_row_function(void *data, const fftnd_row *row);

/** A box of modes or points, of all fields, in place and in the plan's precision. Lists are in host memory. */
typedef struct fftnd_box {
    size_t size;                    /**< sizeof(fftnd_box) of the library */
    enum fftnd_precision precision; /**< of the plan */
    int ndims;                      /**< axes d of the plan */
    int numbers;                    /**< of an element: 1 = real, 2 = complex */
    int ninputs, noutputs;
    /** global indices of the first element, and counts, along each axis (d values) */
    const redist_index *start, *count;
    /** strides in elements along each axis (d values), of inputs and outputs */
    const ptrdiff_t *input_stride, *output_stride;
    /** modes: count[axis] wavenumbers along each axis, in the memory of the fields; NULL for an axis that takes no
     * part */
    const double *const *k;
    /** the same, with 0 where derivatives of odd order are */
    const double *const *odd;
    /** the first element of each field, in memory of the plan's device */
    const void *const *inputs;
    /** to be filled in; the same as the inputs if both have as many fields */
    void *const *outputs;
    void *stream; /**< of the device (cudaStream_t; NULL = the default one), for all work */
} fftnd_box;

/**
 * The user's function of boxes, in the precision of the plan. On a device, which is current then, it enqueues its work
 * in the stream, and does not wait for it. Otherwise as fftnd_row_function, except that on a device only one thread
 * calls it.
 */
typedef int fftnd_box_function(void *data, const fftnd_box *box);

/** Parameters of an operator. All must agree, lists being given on all ranks or on none, except the functions and data.
 * All lists may be freed once the operator is made: lengths, axes, orders, shift, symbols (its tables, too), free_axes;
 * and so may the multiplier, of which the operator keeps a copy. */
typedef struct fftnd_operator_options {
    size_t size; /**< sizeof(fftnd_operator_options) */
    /** physical length along each axis (d values > 0), see above; NULL = 2 pi, and pi for DCT and DST, so that k = n */
    const double *lengths;
    /** nonzero for each axis that takes part (d values); NULL = all that are transformed, or named in a list below.
     * fftnd_row.k is for these. An axis left out has order 0, shift 0, and no table */
    const int *axes;
    const int *orders;   /**< FFTND_DERIVATIVE: along each axis, >= 0 (d values) */
    const double *shift; /**< FFTND_SHIFT: along each axis (d values) */
    /** factor of the modes that an inverse operator would divide by 0, usually the mean. 0 makes a solution of mean
     * 0 */
    double zero_mode;
    double coefficient; /**< FFTND_HELMHOLTZ and its inverse */
    double shell[2];    /**< FFTND_SHELL: smallest |k| and the one beyond the largest */
    /** FFTND_SYMBOLS: a complex number (two doubles) for each mode of the whole spectral side along each axis, in its
     * order; an axis with NULL counts as 1 */
    const double *const *symbols;
    int inputs, outputs;          /**< FFTND_MODES, FFTND_POINTS: fields, 1..64 */
    fftnd_row_function *function; /**< FFTND_MODES, FFTND_POINTS */
    void *data; /**< of the function; must exist as long as the operator is used */
    fftnd_box_function *box_function; /**< instead of `function`; required on devices */
    /** nonzero: the first component of a vector is along the last axis that takes part, as Fortran counts axes */
    int last_axis_first;
    int reserved; /**< 0 */
    /** FFTND_MULTIPLY: the factors of the modes on this rank, in an array as fftnd_forward writes it: of
     * fftnd_plan_layout(plan, FFTND_SPECTRAL), in the plan's precision and memory space, of whose batch the first field
     * is read. Need not agree; NULL where this rank has no modes. All transformed axes take part. fftnd_forward of a
     * kernel has sums half-way along truncated axes, see fftnd.h: for a convolution halve them, as
     * fftnd_operator_from_kernel does */
    const void *multiplier;
    /** nonzero: its elements are real numbers, with the strides of that layout in elements; implied by a real spectral
     * side */
    int real_multiplier;
    /** FFTND_MULTIPLY: nonzero = by the conjugates: the correlation with a kernel instead of the convolution */
    int conjugated;
    /** FFTND_OPEN_POISSON: nonzero for each axis in free space (d values), 1 to 3 of those that take part; NULL = all.
     * Fourier axes of an even number of points, without dropped modes, of which all points are filled, or at most
     * half */
    const int *free_axes;
    enum fftnd_green green; /**< FFTND_OPEN_POISSON */
    int reserved2;          /**< 0; no padding follows */
    /** fftnd_operator_from_kernel: the plan of whose physical side the kernel is an array; NULL = that of the operator.
     * It must agree in communicator, precision, memory space, axes, sizes, halved axis and retained modes, and differ
     * only in what it fills, in its grid, layouts and options; it is needed in this call only */
    fftnd_plan *kernel_plan;
} fftnd_operator_options;

/** All axes that are transformed, of length 2 pi (DCT and DST: pi); inverse operators give a mean of 0. */
#define FFTND_OPERATOR_OPTIONS_DEFAULT                                                             \
    REDIST_VALUE(fftnd_operator_options) {                                                         \
        .size = sizeof(fftnd_operator_options), .lengths = NULL, .axes = NULL, .orders = NULL,     \
        .shift = NULL, .zero_mode = 0.0, .coefficient = 0.0, .shell = {0.0, 0.0}, .symbols = NULL, \
        .inputs = 1, .outputs = 1, .function = NULL, .data = NULL, .box_function = NULL,           \
        .last_axis_first = 0, .reserved = 0, .multiplier = NULL, .real_multiplier = 0,             \
        .conjugated = 0, .free_axes = NULL, .green = FFTND_GREEN_TRUNCATED, .reserved2 = 0,        \
        .kernel_plan = NULL                                                                        \
    }

/** FFTND_OPERATOR_OPTIONS_DEFAULT as a function; as redist_box_init. */
REDIST_API int fftnd_operator_options_init(fftnd_operator_options *options, size_t size);

/** An operator, for one plan. */
typedef struct fftnd_operator fftnd_operator;

/**
 * Makes an operator for a plan. It shares the plan's process grid, threads, device, configuration and work space, and
 * allocates what that has no room for, which later operators share (fftnd_plan_info.operator_bytes). With
 * options.user_workspace it allocates all of its work space, in the plan's memory space.
 *   plan     outlives the operator; not one of a single axis over several ranks
 *   kind     what it does
 *   options  NULL = defaults; its arrays may be freed after the call
 *   op       out: the operator, freed with fftnd_operator_free
 * Collective on the plan's communicator; kind and options must agree.
 * Errors: ERR_STATE (plan freed, or a transform is pending), on this rank only; ERR_ARGUMENT (kind, options, an
 * unsupported plan), ERR_AXIS (an axis that has no such derivative, cannot be in free space, or is left out but named
 * in a list, or a number of axes that has no curl), ERR_NULL, ERR_DISAGREE, ERR_LIMIT (fields times batch, elements, or
 * lengths of free axes that differ too much), ERR_METHOD, ERR_MEMORY, ERR_MPI, ERR_SERIAL, ERR_DEVICE.
 */
REDIST_API int fftnd_operator_create(fftnd_plan *plan, enum fftnd_operator_kind kind,
                                     const fftnd_operator_options *options, fftnd_operator **op);

/**
 * Makes the operator of FFTND_MULTIPLY that convolves fields with a kernel, which is transformed once:
 * u(x) = sum over y of kernel(y) f(x - y), periodic along each transformed axis. With options.conjugated it is the
 * correlation: the sum of conj(kernel(y)) f(x + y). Both times the factor of a round trip, if the plan scales neither
 * direction. With fftnd_options.retained_modes both are those of the retained modes. Where an even number K of them is
 * below the points of an axis, the mode with n = K/2 or -K/2 stands for both, in the field the sum: it is multiplied by
 * the mean of the kernel's two.
 *   plan     as in fftnd_operator_create; its transformed axes are Fourier axes, and its work space is set
 *   kernel   this rank's part, in an array of fftnd_plan_layout(plan, FFTND_PHYSICAL), of whose batch the first field
 *            is read: the kernel's value at 0 is the element of index 0, negative offsets follow at the end (-1 is the
 *            last element of an axis). With fftnd_options.filled it has no negative offsets: with them it is an array
 *            of a plan without `filled`, options.kernel_plan. Unchanged; NULL where this rank has no points
 *   options  NULL = defaults; only `conjugated` and `kernel_plan` have an effect
 *   op       out: the operator, freed with fftnd_operator_free
 * Collective on the plan's communicator; options must agree. It transforms forward once, and needs memory for both
 * sides while it does; a failure in the middle breaks the plan, or options.kernel_plan, as in fftnd_forward. Errors: as
 * fftnd_operator_create and fftnd_forward; ERR_AXIS for a real-to-real axis; ERR_ARGUMENT for another kernel_plan.
 */
REDIST_API int fftnd_operator_from_kernel(fftnd_plan *plan, const void *kernel,
                                          const fftnd_operator_options *options,
                                          fftnd_operator **op);

/** Frees an operator and sets *op to NULL; does nothing when *op is NULL. Collective on the plan's communicator; after
 * MPI_Finalize as redist_plan_free. Errors: ERR_NULL, ERR_STATE. */
REDIST_API int fftnd_operator_free(fftnd_operator **op);

/**
 * Returns the layout of the local array that an operator reads (is_output = 0) or writes: that of the plan's physical
 * side, of FFTND_POINTS of the spectral side, with all fields in the place of the batch. Fields follow one another at
 * batch_stride; if the plan has a batch of b itself, element number f b + i of them is number i of field f.
 *   layout  in: size; out: the rest; `bytes` counts all fields
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size), ERR_STATE.
 */
REDIST_API int fftnd_operator_layout(const fftnd_operator *op, int is_output, fftnd_layout *layout);

/**
 * Applies an operator: forward transforms of `input`, the operator, backward transforms to `output`, fused.
 *   plan    that of the operator
 *   op      not of FFTND_POINTS; the same one on all ranks
 *   input   array of fftnd_operator_layout(op, 0); unchanged unless the plan's options allow otherwise
 *   output  array of fftnd_operator_layout(op, 1), overwritten; the same pointer if and only if the plan is in place
 * Collective on the plan's communicator. After an error that is not one of arguments the output is undefined, and the
 * operator is broken, the plan is not; with options.asynchronous, unless options.user_workspace is set, the plan and
 * all its operators are, as the device may still write to the work space that they share.
 * Errors: as fftnd_forward; ERR_ARGUMENT (another plan's operator, or one of the other kind), ERR_DISAGREE (another
 * operator than on rank 0), both before any array is changed unless options.skip_agreement; ERR_PEER or ERR_ARGUMENT
 * when a function of the user returned an error, on all ranks, now or in the next call with the operator.
 */
REDIST_API int fftnd_apply(fftnd_plan *plan, fftnd_operator *op, void *input, void *output);

/** Applies an operator of FFTND_POINTS: backward transforms of spectra, the user's function of points, forward
 * transforms to spectra, fused; as fftnd_apply. */
REDIST_API int fftnd_apply_physical(fftnd_plan *plan, fftnd_operator *op, void *input,
                                    void *output);

#ifdef __cplusplus
}
#endif

#endif
