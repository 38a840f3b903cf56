/* SPDX-License-Identifier: BSD-3-Clause */
/** The tiles of a job, as an asynchronous plan takes them: put or stored in any cut, and taken in partitions. */
#ifndef TESTS_STREAM_TILES_H
#define TESTS_STREAM_TILES_H

#include "stream_job.h"

/** Puts or stores all of array A: each rank cuts as it likes, along the axis of the segments where these are told. The
 * sequence of random numbers is that of the rank. Returns 0, or nonzero after a failure. */
int put_all(const struct job *job, uint64_t *sequence);

/** Enqueues all tiles while the stream is captured, and returns the graph; partitions are copied to `taken`, memory of
 * the device as large as array B, as soon as the stream has them. Collective. */
void *capture_tiles(const struct job *job, uint64_t *sequence, char *taken);

/** Executes once, or replays a graph, on each rank in any order that its edges allow; compares array B, and what was
 * taken of it. Collective. */
void check_tiles(const struct job *job, uint64_t *sequence, void *graph, char *taken);

#endif
