/* SPDX-License-Identifier: BSD-3-Clause */
/* Which mode an element of the spectral side is. */
#ifndef FFTND__WAVENUMBERS_H
#define FFTND__WAVENUMBERS_H

#include "program.h"

/* Of element `n` of the whole axis, by the library's number; see fftnd_plan_wavenumbers. */
double fftnd__wavenumber(const struct fftnd__transform *transform, int axis, redist_index n);

#endif
