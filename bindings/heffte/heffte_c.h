/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * heFFTe's interface for C, on libfftnd: the functions of heFFTe 2.4, with more results. Complex numbers are pairs of
 * numbers, real part first, behind pointers to void. `heffte.h` is this file for a C compiler.
 *
 * Functions return Heffte_SUCCESS (0) or a code of REDIST_ERRORS (redist_base.h), where heFFTe's transforms return
 * nothing. redist_error_message() explains the code. Wrong arguments of a rank, and failures while a plan is made, are
 * an error on all ranks. A transform that fails in the middle fails on all ranks, in that call or in the next one with
 * the plan, which a rank with a failure therefore makes, too, before it destroys the plan.
 */
#ifndef HEFFTE_C_H
#define HEFFTE_C_H

#include "redist_base.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a function that has not failed. */
#define Heffte_SUCCESS 0

/* Serial libraries, by which a plan's arrays are in host memory or on a device; libfftnd chooses its own one there */
#define Heffte_BACKEND_STOCK 0  /**< arrays in host memory */
#define Heffte_BACKEND_FFTW  1  /**< arrays in host memory */
#define Heffte_BACKEND_MKL   2  /**< arrays in host memory */
#define Heffte_BACKEND_CUFFT 10 /**< arrays on the current CUDA device */

/* Factors that a transform multiplies its result by */
#define Heffte_SCALE_NONE      0 /**< 1 */
#define Heffte_SCALE_FULL      1 /**< 1 / number of points */
#define Heffte_SCALE_SYMMETRIC 2 /**< 1 / root of the number of points */

/** Options of a plan, filled by heffte_set_default_options. All are accepted and change no result: libfftnd chooses how
 * its exchanges and transforms work. */
typedef struct heffte_plan_options {
    int use_reorder;   /**< nonzero: serial transforms along contiguous lines */
    int algorithm;     /**< of the exchanges, a value of heffte::reshape_algorithm */
    int use_pencils;   /**< nonzero: pencils, zero: slabs */
    int use_gpu_aware; /**< nonzero: MPI takes memory of devices */
} heffte_plan_options;

/** Transforms and boxes; programs have a pointer to it. */
typedef struct heffte_fft_plan heffte_fft_plan;

/** A plan of transforms in both directions, in float and double. */
typedef heffte_fft_plan *heffte_plan;

/**
 * Fills options with the defaults of a serial library.
 *   backend  Heffte_BACKEND_*
 *   options  out
 * Not collective. Errors: ERR_ARGUMENT (backend), ERR_NULL.
 */
REDIST_API int heffte_set_default_options(int backend, heffte_plan_options *options);

/**
 * Plans transforms of an array of three dimensions from boxes to boxes; dimension 0 is the first of each list of three.
 *   backend       Heffte_BACKEND_*; must agree
 *   inbox_low     first global index of this rank's box of the input along each dimension, from 0
 *   inbox_high    last index, inclusive; low - 1 = the box is empty
 *   inbox_order   the dimensions from the fastest in memory to the slowest; NULL = 0, 1, 2
 *   outbox_low, outbox_high, outbox_order  the same for the output of forward transforms
 *   comm          the ranks, whose boxes fill the array without overlap
 *   options       NULL = defaults
 *   plan          out: the plan, freed with heffte_plan_destroy; NULL after an error
 * The lists may be freed afterwards. Collective on comm, as are the first transforms of each type, which plan on
 * libfftnd. Errors: ERR_ARGUMENT (backend, boxes, order, comm), ERR_NULL (lists, plan), ERR_MEMORY.
 */
REDIST_API int heffte_plan_create(int backend, const int inbox_low[3], const int inbox_high[3],
                                  const int *inbox_order, const int outbox_low[3],
                                  const int outbox_high[3], const int *outbox_order, MPI_Comm comm,
                                  const heffte_plan_options *options, heffte_plan *plan);

/**
 * Plans transforms from real to complex arrays; as heffte_plan_create.
 *   r2c_direction  0, 1 or 2: the dimension of n points that has n / 2 + 1 modes in the output; must agree
 */
REDIST_API int heffte_plan_create_r2c(int backend, const int inbox_low[3], const int inbox_high[3],
                                      const int *inbox_order, const int outbox_low[3],
                                      const int outbox_high[3], const int *outbox_order,
                                      int r2c_direction, MPI_Comm comm,
                                      const heffte_plan_options *options, heffte_plan *plan);

/** Frees a plan; does nothing with NULL. Collective on the plan's communicator. Returns Heffte_SUCCESS. */
REDIST_API int heffte_plan_destroy(heffte_plan plan);

/** Returns the elements of this rank's input box; -1 for NULL or more than an int holds. Not collective. */
REDIST_API int heffte_size_inbox(heffte_plan plan);

/** Returns the elements of this rank's output box; as heffte_size_inbox. */
REDIST_API int heffte_size_outbox(heffte_plan plan);

/** Returns the complex elements of a workspace of the functions that end in _buffered; as heffte_size_inbox. */
REDIST_API int heffte_size_workspace(heffte_plan plan);

/** Returns the plan's Heffte_BACKEND_*; -1 for NULL. Not collective. */
REDIST_API int heffte_get_backend(heffte_plan plan);

/** Returns 1 for plans of heffte_plan_create_r2c, 0 for others, -1 for NULL. Not collective. */
REDIST_API int heffte_is_r2c(heffte_plan plan);

/**
 * Transforms forward. The letters are the input's and the output's elements: s and d are float and double, c and z
 * complex float and complex double. Real input of a plan of heffte_plan_create has all modes in the output.
 *   plan       of heffte_plan_create, or of heffte_plan_create_r2c for real input
 *   input      the elements of this rank's input box, in the box's order; not changed, unless it is the output
 *   output     out: the elements of the output box; the same pointer or another array
 *   workspace  heffte_size_workspace elements of the output's complex type, overwritten; NULL = the plan's own memory
 *   scale      Heffte_SCALE_*; must agree
 * The user owns all memory. Collective on the plan's communicator. Errors: ERR_NULL (plan) and ERR_ARGUMENT (scale;
 * complex input of a plan for real input), on this rank only; on all ranks ERR_ARGUMENT for real arrays that are NULL
 * and memory that is missing for their copies, also for an earlier failure of a rank, and those of
 * fftnd_plan_create and fftnd_forward.
 */
REDIST_API int heffte_forward_s2c(heffte_plan plan, const float *input, void *output, int scale);
/** As heffte_forward_s2c. */
REDIST_API int heffte_forward_c2c(heffte_plan plan, const void *input, void *output, int scale);
/** As heffte_forward_s2c. */
REDIST_API int heffte_forward_d2z(heffte_plan plan, const double *input, void *output, int scale);
/** As heffte_forward_s2c. */
REDIST_API int heffte_forward_z2z(heffte_plan plan, const void *input, void *output, int scale);
/** As heffte_forward_s2c, with a workspace. */
REDIST_API int heffte_forward_s2c_buffered(heffte_plan plan, const float *input, void *output,
                                           void *workspace, int scale);
/** As heffte_forward_s2c, with a workspace. */
REDIST_API int heffte_forward_c2c_buffered(heffte_plan plan, const void *input, void *output,
                                           void *workspace, int scale);
/** As heffte_forward_s2c, with a workspace. */
REDIST_API int heffte_forward_d2z_buffered(heffte_plan plan, const double *input, void *output,
                                           void *workspace, int scale);
/** As heffte_forward_s2c, with a workspace. */
REDIST_API int heffte_forward_z2z_buffered(heffte_plan plan, const void *input, void *output,
                                           void *workspace, int scale);

/** Transforms backward, from the output box to the input box; as heffte_forward_s2c with the roles exchanged. Of a plan
 * of heffte_plan_create the real output is the real part of the result. */
REDIST_API int heffte_backward_c2s(heffte_plan plan, const void *input, float *output, int scale);
/** As heffte_backward_c2s. */
REDIST_API int heffte_backward_c2c(heffte_plan plan, const void *input, void *output, int scale);
/** As heffte_backward_c2s. */
REDIST_API int heffte_backward_z2d(heffte_plan plan, const void *input, double *output, int scale);
/** As heffte_backward_c2s. */
REDIST_API int heffte_backward_z2z(heffte_plan plan, const void *input, void *output, int scale);
/** As heffte_backward_c2s, with a workspace. */
REDIST_API int heffte_backward_c2s_buffered(heffte_plan plan, const void *input, float *output,
                                            void *workspace, int scale);
/** As heffte_backward_c2s, with a workspace. */
REDIST_API int heffte_backward_c2c_buffered(heffte_plan plan, const void *input, void *output,
                                            void *workspace, int scale);
/** As heffte_backward_c2s, with a workspace. */
REDIST_API int heffte_backward_z2d_buffered(heffte_plan plan, const void *input, double *output,
                                            void *workspace, int scale);
/** As heffte_backward_c2s, with a workspace. */
REDIST_API int heffte_backward_z2z_buffered(heffte_plan plan, const void *input, void *output,
                                            void *workspace, int scale);

#ifdef __cplusplus
}
#endif

#endif
