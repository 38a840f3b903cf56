/* SPDX-License-Identifier: BSD-3-Clause */
/* Real-to-real transforms for serial libraries that have Fourier transforms only. */
#ifndef FFTND__R2R_H
#define FFTND__R2R_H

#include "r2r_lines.h"
#include "serial.h"

/* The library that does a problem: the given one, or one that makes real-to-real transforms of its own. */
const struct fftnd__serial *fftnd__serial_for_problem(const struct fftnd__serial *library,
                                                      const struct fftnd__serial_problem *problem);

/* Makes rows of lines, or lines `after` the transform of rows, in memory of the host. */
void fftnd__move_r2r_lines(const struct fftnd__r2r_lines *lines, int after);

#endif
