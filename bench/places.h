/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the ranks of a study run: to see whether each is next to its device. */
#ifndef BENCH_PLACES_H
#define BENCH_PLACES_H

#include "space.h"

/* Writes a line for each rank: its host, the processors that it may run on, its device, and the
 * processors next to that, as Linux numbers them. What nobody knows is left empty. Collective over
 * MPI_COMM_WORLD. */
void bench_places_write(const char *path, const bench_space *space);

#endif
