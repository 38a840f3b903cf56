/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of contiguous lines, a few at once, on the host. */
#ifndef LINES__CONTIGUOUS_H
#define LINES__CONTIGUOUS_H

#include "columns.h"

extern const struct lines__library lines__library_contiguous;

/* Creates a plan of that library with these registers and radices. REDIST_ERR_SERIAL without radices, or if lines are
 * shorter than a register. */
int lines__contiguous_create(const struct lines__column_loops *loops,
                             const struct lines__problem *problem,
                             const struct lines__radices *radices, void **plan);

#endif
