/* SPDX-License-Identifier: BSD-3-Clause */
/* The least time that a pair of transforms can take. */
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "transform.h"

/* Milliseconds: what a rank has to send at the rate of the link, or, if that is longer, one pass over the local array
 * for each axis and direction at the rate of a copy. NAN where the rate of the link is not known. Collective. */
double bench_bound_ms(const bench_problem *problem, const bench_arrays *arrays);

#endif
