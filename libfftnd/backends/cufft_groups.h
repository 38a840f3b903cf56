/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes one plan of cuFFT transforms, and how fast it is on lines that are not contiguous. */
#ifndef FFTND__CUFFT_GROUPS_H
#define FFTND__CUFFT_GROUPS_H

#include "serial.h"

#include <cuda_runtime_api.h>

/* Axes of one plan. */
enum { FFTND__CUFFT_AXES = 3 };

/* Whether complex transforms of n elements along strided lines take much longer than VkFFT's on the current device.
 * The times of cuFFT and of a copy are measured once for each length, precision and device, in some
 * milliseconds; 0 where they cannot be, or where VkFFT has no kernel for such lines. */
int fftnd__cufft_is_slow(long long n, int is_double, cudaStream_t stream);

/* How many of the last of `n` axes one plan of cuFFT transforms: their strides nest, and it is slow with none of
 * them. halved[]: whether the last one is halved in the input, and in the output. */
int fftnd__cufft_group_size(int n, const struct fftnd__loop axes[], const int halved[2],
                            int is_double, cudaStream_t stream);

#endif
