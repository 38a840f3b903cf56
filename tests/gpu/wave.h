/* SPDX-License-Identifier: BSD-3-Clause */
/** Large arrays of complex floats on a device: a single wave and its transform, filled and checked there. */
#ifndef TESTS_GPU_WAVE_H
#define TESTS_GPU_WAVE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The block of a three-dimensional array that a rank holds, in C order, and the wave: the points are
 * exp(2 pi i (k.x / size)), its amplitudes 1 at k and 0 elsewhere. */
typedef struct wave_block {
    int64_t size[3], start[3], count[3], k[3];
    int is_spectral;
} wave_block;

/** Writes what belongs there. */
cudaError_t wave_fill(void *array, wave_block block);

/** Finds the largest difference from that of any real or imaginary part; waits for it. */
cudaError_t wave_error(const void *array, wave_block block, float *largest);

#ifdef __cplusplus
}
#endif

#endif
