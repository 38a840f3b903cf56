/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FFTND__NODE_GRID_H
#define FFTND__NODE_GRID_H

#include "redist_support.h"

/* Changes the dims of a grid over several nodes, none of which gets larger than `largest`, if a rank then
 * sends less to other nodes; node_of[rank] numbers the nodes. Not collective, the same on all ranks. */
void fftnd__node_grid(int nranks, const int node_of[], int largest, int ndims, int dims[]);

#endif
