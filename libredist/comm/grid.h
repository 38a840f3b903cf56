/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REDIST__GRID_H
#define REDIST__GRID_H

#include "context.h"

/* Frees the grids that a context remembers. Collective. */
void redist__grid_entries_free(struct redist__context *context);

#endif
