/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the ranks of a study run: to see whether each is next to its device. */
#ifndef STUDY_PLACEMENT_H
#define STUDY_PLACEMENT_H

#include "space.h"

/* Writes a line for each rank: its host, the processors that it may run on, its device, and the
 * processors next to that, as Linux numbers them. What is unknown is left empty. Collective over
 * MPI_COMM_WORLD. */
void study_placement_write(const char *path, const bench_space *space);

#endif
