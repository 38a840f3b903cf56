/* SPDX-License-Identifier: BSD-3-Clause */
/** Compares what a plan says about itself with what the documentation of fftnd.h promises. */
#ifndef FFT_LAYOUT_H
#define FFT_LAYOUT_H

#include "fft_case.h"

/**
 * What is wrong with the answer of fftnd_plan_get_info on this rank; NULL if nothing. A plan that
 * waits for its work space has no method yet.
 */
const char *fft_info_fault(const fft_case *given, MPI_Comm comm, const fftnd_plan_info *info,
                           int has_workspace);

/** What is wrong with the answer of fftnd_plan_layout on this rank; NULL if nothing. */
const char *fft_layout_fault(const fft_case *given, MPI_Comm comm, const fftnd_plan_info *info,
                             enum fftnd_side side, const fftnd_layout *layout);

#endif
