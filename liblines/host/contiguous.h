/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms along contiguous lines, a few at once, for serial libraries of the host. */
#ifndef LINES__CONTIGUOUS_H
#define LINES__CONTIGUOUS_H

#include "columns.h"

extern const struct lines__library lines__library_contiguous;

/* As its `create`, with these registers and these passes. REDIST_ERR_SERIAL if there are no radices, or lines are
 * shorter than a register. */
int lines__contiguous_create(const struct lines__column_loops *loops,
                             const struct lines__problem *problem,
                             const struct lines__radices *radices, void **plan);

#endif
