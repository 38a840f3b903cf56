/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial plans that one rank measures for all. */
#ifndef FFTND__TEACH_H
#define FFTND__TEACH_H

#include "../program/program.h"

/* Returns whether rank 0 measures first, alone, and the others take what it has found: for arrays of at most
 * `largest_bytes` on this rank that fit the caches of all ranks, if the serial library can pass its findings on.
 * Collective, the same on all ranks. */
int fftnd__has_teacher(const struct fftnd__transform *transform, size_t largest_bytes);

/* Passes on what rank 0 has found. Where it fails, ranks measure for themselves. Collective. */
void fftnd__teach(const struct fftnd__transform *transform);

#endif
