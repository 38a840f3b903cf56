/* SPDX-License-Identifier: BSD-3-Clause */
/* cuFFT beside the transforms on CUDA devices: alone over the same local arrays, and on all devices of the
 * host from one process. */
#ifndef BENCH_CUFFT_H
#define BENCH_CUFFT_H

#include "transform.h"

/* As bench_serial_create, with cuFFT's in-place plans. Collective. */
bench_transform bench_cufft_create(const bench_problem *problem, const bench_transform *like,
                                   const bench_arrays *input, bench_arrays *arrays);

/* Makes a transform of rank 0 on all devices of its host; the other ranks only wait. 0 if there is none for
 * the problem: three dimensions, one field, two devices or more. Collective. */
int bench_cufft_xt_create(const bench_problem *problem, bench_arrays *arrays,
                          bench_transform *transform);

#endif
