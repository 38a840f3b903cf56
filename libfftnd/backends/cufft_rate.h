/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast cuFFT is on lines that are not contiguous. */
#ifndef FFTND__CUFFT_RATE_H
#define FFTND__CUFFT_RATE_H

#include <cuda_runtime_api.h>

/* The time of complex transforms of n elements along strided lines, in times of a copy of the same bytes on the
 * current device: a fifth more than 1 where cuFFT has a kernel for them, up to 10 where it has none. Measured once for
 * each length, precision and device, in some milliseconds; 1 where it cannot be. */
double fftnd__cufft_strided_ratio(long long n, int is_double, cudaStream_t stream);

#endif
