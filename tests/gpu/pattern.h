/* SPDX-License-Identifier: BSD-3-Clause */
/** Large arrays of bytes on a device, filled and checked there. */
#ifndef TESTS_GPU_PATTERN_H
#define TESTS_GPU_PATTERN_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The block of a three-dimensional array of bytes that a rank holds. */
typedef struct pattern_block {
    int64_t size[3], start[3], count[3];
} pattern_block;

/** Writes what belongs there: a hash of the global index and the salt; `cycles` is how long each thread
 * waits before. */
cudaError_t pattern_fill(unsigned char *array, pattern_block block, unsigned salt, int64_t cycles,
                         cudaStream_t stream);

/** Adds to *wrong, on the device, the number of bytes that differ from that. */
cudaError_t pattern_check(const unsigned char *array, pattern_block block, unsigned salt,
                          unsigned long long *wrong, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
