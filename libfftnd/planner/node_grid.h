/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FFTND__NODE_GRID_H
#define FFTND__NODE_GRID_H

#include "../check.h"
#include "../program.h"

/* Changes the grid of a choice over several nodes, if the user left it open and a rank then sends less to
 * other nodes, but not to dims that exceed the shortest axis. The same on all ranks. */
void fftnd__align_grid(const struct fftnd__request *request, int nranks,
                       struct fftnd__choice *choice);

#endif
