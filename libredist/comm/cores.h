/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the processes of a node have enough cores. */
#ifndef REDIST__CORES_H
#define REDIST__CORES_H

#include <mpi.h>

/* Finds out whether more processes than there are cores may run on the cores of this one: `crowded` is
 * nonzero then. Processes outside of the communicator count too, as far as they can be seen. Collective on
 * the communicator, whose ranks share a node. */
int redist__cores_count(MPI_Comm node, int *crowded);

#endif
