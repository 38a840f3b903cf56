/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of panels, planes and cuFFT on the current device: measured, or found in wisdom. */
#ifndef LINES__CUFFT_RATES_H
#define LINES__CUFFT_RATES_H

#include "panel_plans.h"
#include "rates.h"

/* Finds the rates of lines of n elements on the current device: measured once for each length, precision and device, in
 * some milliseconds, or a guess if `measures` is 0 or no memory is left. The environment variable FFTND_LINES overrides
 * them, for tests: cufft, or panels, perhaps with the number of a variant. */
void lines__rates_of_lines(struct lines__rates *rates, int measures, void *stream);

/* Finds the rate of a group. It is measured if LINES__SAMPLE_BYTES hold one, else .cufft is 0; .planes is 0 where
 * planes cannot. FFTND_LINES=planes, perhaps with the number of a variant, takes planes wherever they can, and panels
 * elsewhere. */
void lines__rates_of_group(struct lines__group_rate *rate, void *stream);

/* REDIST_OK, or REDIST_ERR_ARGUMENT if FFTND_LINES has a value that it cannot have. */
int lines__rates_check(const char *function);

/* Nonzero if FFTND_LINES is set. */
int lines__rates_are_dictated(void);

/* Bytes of the complex arrays that rates are of, which exceed the caches of devices; and bytes of the smallest array
 * for which rates are measured: smaller ones take as long as their launches. */
enum { LINES__SAMPLE_BYTES = 1 << 27, LINES__MEASURED_BYTES = 1 << 20 };

/* Reads the rates of all these lengths from wisdom, or measures and stores them. As the functions of wisdom. */
int lines__rates_learn(const struct lines__wisdom *wisdom, int nlengths,
                       const redist_index lengths[], enum fftnd_precision precision);

#endif
