/* SPDX-License-Identifier: BSD-3-Clause */
/* Wavenumbers of the elements of the spectral side. */
#ifndef FFTND__WAVENUMBERS_H
#define FFTND__WAVENUMBERS_H

#include "steps.h"

/* Returns the wavenumber of element `n` of a whole axis, by the library's number, as fftnd_plan_wavenumbers. */
double fftnd__wavenumber(const struct fftnd__transform *transform, int axis, redist_index n);

#endif
