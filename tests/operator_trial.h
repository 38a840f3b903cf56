/* SPDX-License-Identifier: BSD-3-Clause */
/** An operator at random for a case of fft_case.h, and what it does by the definitions in fftnd_operators.h. */
#ifndef OPERATOR_TRIAL_H
#define OPERATOR_TRIAL_H

#include <complex.h>

#include "arrays.h"
#include "fft_case.h"
#include "fftnd_operators.h"

enum { TRIAL_MOST_FIELDS = 8 };

struct trial {
    const fft_case *given;
    const test_device *device; /* where operators work, or NULL */
    fftnd_plan *plan;
    fftnd_layout side[2];
    enum fftnd_operator_kind kind;
    fftnd_operator_options options;
    double lengths[REDIST_MAX_NDIMS], shift[REDIST_MAX_NDIMS];
    int axes[REDIST_MAX_NDIMS], orders[REDIST_MAX_NDIMS];
    double complex *symbols[REDIST_MAX_NDIMS];
    const double *symbol_lists[REDIST_MAX_NDIMS];
    int naxes, listed[REDIST_MAX_NDIMS]; /* axes that take part */
    int inputs, outputs;
    double *k[REDIST_MAX_NDIMS]; /* of this rank, with units */
    int odd[REDIST_MAX_NDIMS];   /* whether derivatives of odd order exist */
    char *arrays[2];             /* of the plan, the same one in place */
};

/** What an axis of a case is. */
enum fftnd_axis trial_axis_kind(const fft_case *given, int axis);

/** The wavenumber of mode 1 along an axis. */
double trial_unit(const struct trial *trial, int axis);

/** Options at random, and which axes take part. */
void trial_choose_options(struct trial *trial);

/** An operator that the plan's axes have. */
void trial_choose_kind(struct trial *trial);

/** What the operator multiplies input `in` of the mode at local place `at` by on its way to output `out`. */
double complex trial_symbol(const struct trial *trial, const redist_index at[], int out, int in);

/** FFTND_MULTIPLY: the factor of the mode at local place `at`, which keeps fields real. */
double complex trial_factor(const struct trial *trial, const redist_index at[]);

/** FFTND_POINTS: what output `out` is at a point: a product of fields, and of where the point is. */
double complex trial_combine(const double complex values[], int inputs, int out,
                             const redist_index at[], int ndims);

#endif
