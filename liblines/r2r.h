/* SPDX-License-Identifier: BSD-3-Clause */
/* Real-to-real transforms for serial libraries that have Fourier transforms only. */
#ifndef LINES__R2R_H
#define LINES__R2R_H

#include "lines.h"
#include "r2r_lines.h"

/* Makes rows of lines, or lines of rows `after` their transform, in memory of the host. */
void lines__move_r2r_lines(const struct lines__r2r_lines *lines, int after);

#endif
