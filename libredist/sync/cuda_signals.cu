/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that signal between devices, and one that does a whole exchange. */
#include "../runtime/cuda_copy.cuh"
#include "cuda_signals.h"
#include "redist_early_launch.cuh"

#define REDIST__SIGNALS_INLINE static __device__ inline
#include "signals_protocol.h"

REDIST__SIGNALS_INLINE uint64_t redist__word_load(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

REDIST__SIGNALS_INLINE uint64_t redist__word_peek(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

REDIST__SIGNALS_INLINE void redist__word_store(uint64_t *word, uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}

REDIST__SIGNALS_INLINE void redist__word_put(uint64_t *word, uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}

REDIST__SIGNALS_INLINE uint64_t redist__word_clock(void) {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Pauses: most signals arrive soon, and long polling should not slow down other work of the device. */
REDIST__SIGNALS_INLINE void redist__word_pause(unsigned poll) {
    if (poll > 4096)
        __nanosleep(200);
}

namespace {

const int most_gate_threads = 1024;

/* Returns nonzero for the last of `count` callers. */
__device__ inline int is_last(uint32_t *counter, unsigned count) {
    return atomicInc(counter, count - 1) == count - 1;
}

/* Executes an exchange. Each block has a run of tiles; the blocks of a peer are a row of the grid, those of this rank
 * the first, and the boxes of a list are its layers. Blocks wait for other devices only, so that none waits for a block
 * that has not begun. Without a peer's flag its blocks end, the execution never completes, and the plan has failed. */
__global__ void __launch_bounds__(threads)
    exchange(const __grid_constant__ redist__signals signals, int direction,
             const redist__cuda_part *parts, int count, const char *source) {
    __shared__ redist__cuda_part part;
    __shared__ int may_copy, ends;
    const int size = signals.size, first = static_cast<int>(threadIdx.x);
    const int peer = (signals.rank + static_cast<int>(blockIdx.y)) % size;
    const int layers = static_cast<int>(gridDim.z), layer = static_cast<int>(blockIdx.z);
    await_stream();
    const int is_broken = first == 0 && redist__signal_is_broken(&signals);
    const uint64_t execution = redist__signal_execution(&signals);
    if (blockIdx.x == 0 && blockIdx.y == 0 && layer == 0)
        for (int i = first; i < size; i += threads)
            redist__signal_tell_ready(&signals, direction, execution, i);
    fetch_part(&parts[peer + layer * size], &part);
    if (first == 0) {
        part.source += reinterpret_cast<intptr_t>(source); /* was an offset */
        may_copy =
            !(is_broken && redist__signal_has_failed(&signals)) &&
            (blockIdx.y == 0 || redist__signal_await_ready(&signals, direction, execution, peer));
    }
    __syncthreads();
    if (!may_copy)
        return;
    if (part.units != 0)
        copy_units(part);
    for (int i = peer + (layer + layers) * size; i < count; i += layers * size) {
        __syncthreads();
        fetch_part(&parts[i], &part);
        if (first == 0)
            part.source += reinterpret_cast<intptr_t>(source);
        __syncthreads();
        if (part.units != 0)
            copy_units(part);
    }
    __syncthreads();
    if (first == 0) {
        __threadfence_system();
        ends = is_last(&redist__signal_words_of(signals.own, peer)->copied, gridDim.x * gridDim.z);
        if (ends) {
            __threadfence_system();
            redist__signal_tell_arrived(&signals, direction, redist__signal_counted(execution, 1),
                                        peer);
            ends = is_last(&signals.own->served, gridDim.y);
        }
    }
    __syncthreads();
    if (!ends)
        return;
    for (int i = first; i < size; i += threads)
        redist__signal_await_arrived(&signals, direction, redist__signal_counted(execution, 1), i);
    __syncthreads();
    if (first == 0)
        redist__signal_end(&signals, execution);
}

__global__ void __launch_bounds__(most_gate_threads)
    pass_gate(const __grid_constant__ redist__signals signals,
              const __grid_constant__ redist__gate gate) {
    await_stream();
    const uint64_t execution = redist__signal_execution(&signals);
    const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
    if (first == 0 && gate.actions & REDIST__FAIL)
        redist__signal_fail(&signals, REDIST__FAILED, signals.rank);
    __threadfence_system();
    __syncthreads();
    for (int i = first; i < signals.size; i += step)
        redist__gate_tell(&signals, &gate, execution, i);
    for (int i = first; i < signals.size; i += step)
        redist__gate_await(&signals, &gate, execution, i);
    __syncthreads();
    if (first == 0 && gate.actions & REDIST__END)
        redist__signal_end(&signals, execution);
}

} // namespace

/* Returns the number of blocks; for two ranks one on each multiprocessor, as more slow each other down on the link. */
unsigned redist__cuda_exchange_blocks(int ranks, uint64_t units, uint64_t largest) {
    const unsigned least = 16;
    unsigned most = blocks_for(ranks, units), enough = 2 * count_processors() / ranks;
    enough = enough < least ? least : enough;
    most = most < enough ? most : enough;
    uint64_t share = units != 0 ? (most * largest + units - 1) / units : 0;
    return share != 0 ? static_cast<unsigned>(share) : 1;
}

cudaError_t redist__cuda_exchange(const struct redist__signals *signals, int direction,
                                  const struct redist__cuda_part *parts, int count, unsigned blocks,
                                  const char *source, cudaStream_t stream) {
    const int most_layers = 64, layers = count / signals->size;
    dim3 grid(blocks, static_cast<unsigned>(signals->size),
              static_cast<unsigned>(layers < most_layers ? layers : most_layers));
    return launch_early(exchange, grid, threads, 0, stream, *signals, direction, parts, count,
                        source);
}

cudaError_t redist__cuda_gate(const struct redist__signals *signals,
                              const struct redist__gate *gate, cudaStream_t stream) {
    int wanted = (signals->size + 31) / 32 * 32;
    int block = wanted < most_gate_threads ? wanted : most_gate_threads;
    return launch_early(pass_gate, 1, static_cast<unsigned>(block), 0, stream, *signals, *gate);
}
