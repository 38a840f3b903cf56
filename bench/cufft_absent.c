/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for cufft.c and cufft_xt.c in builds without CUDA. */
#include "cufft.h"
#include "options.h"

bench_transform bench_cufft_create(const bench_problem *problem, const bench_transform *like,
                                   const bench_arrays *input, bench_arrays *arrays) {
    (void)problem, (void)like, (void)input, (void)arrays;
    bench_abort("this build has no CUDA");
}

int bench_cufft_xt_create(const bench_problem *problem, bench_arrays *arrays,
                          bench_transform *transform) {
    (void)problem, (void)arrays, (void)transform;
    return 0;
}
