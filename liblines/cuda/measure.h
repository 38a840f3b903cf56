/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast panels, planes and cuFFT are on the current device: measured, or found in the wisdom file. */
#ifndef LINES__CUFFT_RATES_H
#define LINES__CUFFT_RATES_H

#include "panel_plans.h"
#include "rates.h"

/* How fast lines of n elements are on the current device; measured once for each length, precision and device, in some
 * milliseconds, or a guess if `measures` is 0 or there is no memory for it. The environment variable FFTND_LINES
 * chooses whatever is measured, for tests: cufft, or panels with the number of a variant behind it or none. */
void lines__rates_of_lines(struct lines__rates *rates, int measures, void *stream);

/* The same of a group: it is measured where LINES__SAMPLE_BYTES hold at least one, else .cufft becomes 0; .planes does
 * where none can do it. FFTND_LINES=planes, with the number of a variant behind it or none, takes planes wherever they
 * can, and panels elsewhere. */
void lines__rates_of_group(struct lines__group_rate *rate, void *stream);

/* REDIST_OK, or REDIST_ERR_ARGUMENT if FFTND_LINES has a value that it cannot have. */
int lines__rates_check(const char *function);

/* Whether FFTND_LINES chooses. */
int lines__rates_are_dictated(void);

/* The rates are of complex arrays of so many bytes, larger than the caches of a device. Nothing is measured for arrays
 * of few bytes, which take as long as launches do. */
enum { LINES__SAMPLE_BYTES = 1 << 27, LINES__MEASURED_BYTES = 1 << 20 };

/* Finds the rates of all these lengths in wisdom, or measures and stores them. As the functions of
 * wisdom. */
int lines__rates_learn(const struct lines__wisdom *wisdom, int nlengths,
                       const redist_index lengths[], enum fftnd_precision precision);

#endif
