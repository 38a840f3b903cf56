/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of cuda_signals.cu. */
#ifndef REDIST__CUDA_SIGNALS_H
#define REDIST__CUDA_SIGNALS_H

#include "../runtime/cuda_device.h"
#include "signals.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the kernel's blocks for each part, if the parts of a rank have `units` units together, the largest one
 * `largest`. */
unsigned redist__cuda_exchange_blocks(int ranks, uint64_t units, uint64_t largest);

/* Launches a whole execution. The parts are as many for each rank, part i for rank i modulo the number of ranks; their
 * sources are offsets in `source`. */
cudaError_t redist__cuda_exchange(const struct redist__signals *signals, int direction,
                                  const struct redist__cuda_part *parts, int count, unsigned blocks,
                                  const char *source, cudaStream_t stream);

cudaError_t redist__cuda_gate(const struct redist__signals *signals,
                              const struct redist__gate *gate, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
