/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of real-to-real lines on devices of tests, whose memory is the host's. */
#ifndef TESTS_R2R_ROWS_H
#define TESTS_R2R_ROWS_H

#include "../liblines/r2r_lines.h"

/** Makes rows of lines, or lines of rows `after` their transform. */
void r2r_move_lines(const struct lines__r2r_lines *lines, int after);

#endif
