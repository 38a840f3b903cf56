/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of panels_planes.h. Each axis is transformed in two radix passes: all but the first one of a plane read
 * shared memory, all but the last one write it, where they have read. The blocks of a cluster read each other's memory
 * in the last one only. The build compiles this file for each precision: VALUE is double or float. */
#include "panels_planes.h"
#include "redist_early_launch.cuh"

#include "panels_butterflies.cuh"
#include "panels_device.cuh"

namespace {

/* Divides i; returns the remainder. */
__device__ __forceinline__ unsigned take(unsigned &i, const lines__panel_divisor &by) {
    unsigned quotient = divide(i, by), rest = i - quotient * by.n;
    i = quotient;
    return rest;
}

/* ---------------------------------------------------------------- clusters */

/* Waits for all threads of a cluster. */
__device__ __forceinline__ void await_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release;\n\t"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
#endif
}

/* Loads a complex number from an address of the given state space, in a register of the given kind. */
#define LOAD_OF(z, space, type, number, kind, address)                                             \
    asm volatile("ld." space ".v2." type " {%0, %1}, [%2];"                                        \
                 : number(z.x), number(z.y)                                                        \
                 : kind(address)                                                                   \
                 : "memory")
#define LOAD(z, space, kind, address)                                                              \
    do {                                                                                           \
        if constexpr (sizeof(z.x) == sizeof(double))                                               \
            LOAD_OF(z, space, "f64", "=d", kind, address);                                         \
        else                                                                                       \
            LOAD_OF(z, space, "f32", "=f", kind, address);                                         \
    } while (0)

/* The element at the same place as `from` in another block's shared memory. */
template <class value>
__device__ __forceinline__ complex<value> read_block(unsigned block, const complex<value> *from) {
#if __CUDA_ARCH__ >= 900
    unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(from)), there;
    complex<value> z;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(block));
    LOAD(z, "shared::cluster", "r", there);
    return z;
#else
    return *from;
#endif
}

/* ---------------------------------------------------------------- radix passes */

enum pass { ROWS, ROWS_END, COLUMNS, COLUMNS_END };

/* Work of a block. */
template <class value> struct work {
    const complex<value> *in, *roots;
    complex<value> *out, *shared;
    unsigned block, neighbours;
};

/* Reads an element; the rest of the 128 bytes is in the cache when a neighbour reads it. */
template <class value>
__device__ __forceinline__ complex<value> read_array(const complex<value> *from) {
    complex<value> z;
    LOAD(z, "global.L2::128B", "l", from);
    return z;
}

template <class value, int radix>
__device__ __forceinline__ void transform_in_place(complex<value> *at, unsigned step,
                                                   const complex<value> *roots, unsigned root) {
    complex<value> x[radix];
#pragma unroll
    for (int i = 0; i < radix; i++)
        x[i] = at[i * step];
    if (roots != nullptr)
        twiddle<value, radix>(x, roots, root);
    transform<value, radix>(x);
#pragma unroll
    for (int i = 0; i < radix; i++)
        at[i * step] = x[i];
}

/* The same, and multiplies elements by roots that are `apart` from each other. */
template <class value, int radix>
__device__ __forceinline__ void transform_times(complex<value> *at, unsigned step,
                                                const complex<value> *root, unsigned apart) {
    complex<value> x[radix];
#pragma unroll
    for (int i = 0; i < radix; i++)
        x[i] = times(at[i * step], root[i * apart]);
    transform<value, radix>(x);
#pragma unroll
    for (int i = 0; i < radix; i++)
        at[i * step] = x[i];
}

/* Transforms the block's lines of axis 1, which follow each other as the elements of its butterflies of axis 0. */
template <class value, int radix>
__device__ __forceinline__ void begin_rows(const lines__planes &p, const work<value> &at) {
    const unsigned end = p.wide.n * p.radix[1][1].n * p.per_block.n * p.radix[0][0].n;
    const long long step = p.radix[1][1].n * p.axis[1].in;
    for (unsigned t = threadIdx.x; t < end; t += LINES__PLANES_THREADS) {
        unsigned line = t, side = take(line, p.wide), j = take(line, p.radix[1][1]), k = line,
                 mine = take(k, p.per_block),
                 row = at.block + (mine << p.log_cluster) + k * p.radix[0][1].n;
        const complex<value> *from = at.in + side + row * p.axis[0].in + j * p.axis[1].in;
        complex<value> x[radix], *to = at.shared + (line * p.pitch + j) * p.wide.n + side;
        if (side >= at.neighbours)
            continue;
#pragma unroll
        for (int i = 0; i < radix; i++, from += step)
            x[i] = read_array(from);
        transform<value, radix>(x);
#pragma unroll
        for (int i = 0; i < radix; i++)
            to[i * p.group * p.wide.n] = x[i];
    }
}

template <class value, int radix>
__device__ __forceinline__ void end_rows(const lines__planes &p, const work<value> &at) {
    const unsigned end = p.wide.n * p.radix[1][0].n * p.per_block.n * p.radix[0][0].n;
    for (unsigned t = threadIdx.x; t < end; t += LINES__PLANES_THREADS) {
        unsigned line = t, side = take(line, p.wide), i = take(line, p.radix[1][0]);
        transform_in_place<value, radix>(at.shared + (line * p.pitch + i * p.group) * p.wide.n +
                                             side,
                                         p.wide.n, at.roots + p.axis[0].n, i);
    }
}

/* Begins columns; elements of row r and column c of a long line are multiplied by its root r * c. */
template <class value, int radix, bool is_line>
__device__ __forceinline__ void begin_columns(const lines__planes &p, const work<value> &at) {
    const unsigned end = p.wide.n * p.axis[1].n * p.per_block.n,
                   step = p.per_block.n * p.pitch * p.wide.n;
    for (unsigned t = threadIdx.x; t < end; t += LINES__PLANES_THREADS) {
        unsigned line = t, side = take(line, p.wide), j = take(line, p.radix[1][1]),
                 i = take(line, p.radix[1][0]);
        complex<value> *place = at.shared + (line * p.pitch + i * p.group + j) * p.wide.n + side;
        if constexpr (is_line) {
            unsigned row = at.block + (line << p.log_cluster), column = i + j * p.radix[1][0].n;
            transform_times<value, radix>(place, step,
                                          at.roots + p.axis[0].n + p.axis[1].n + row * column,
                                          p.radix[0][1].n * column);
        } else
            transform_in_place<value, radix>(place, step, nullptr, 0);
    }
}

/* Stores results. Backward is forward with all elements but the first in the opposite order; for long lines, whose rows
 * follow each other, all but that of row and column 0. */
template <class value, int radix, bool is_line>
__device__ __forceinline__ void store(const lines__planes &p, const work<value> &at, unsigned side,
                                      unsigned row, unsigned column,
                                      const complex<value> (&x)[radix]) {
    const long long step = p.radix[0][0].n * p.axis[0].out;
    const bool borrows = is_line && p.backward && column > 0;
    complex<value> *first =
        at.out + side + (p.backward && column > 0 ? p.axis[1].n - column : column) * p.axis[1].out;
    complex<value> *to = first + (p.backward ? p.axis[0].n - borrows - row : row) * p.axis[0].out;
    *(row == 0 && !borrows ? first : to) = x[0];
#pragma unroll
    for (int i = 1; i < radix; i++)
        *(to += p.backward ? -step : step) = x[i];
}

/* Ends columns; the blocks divide the butterflies. */
template <class value, int radix, bool is_line>
__device__ __forceinline__ void end_columns(const lines__planes &p, const work<value> &at) {
    const unsigned end = p.wide.n * p.axis[1].n * p.radix[0][0].n, mask = (1U << p.log_cluster) - 1,
                   step = LINES__PLANES_THREADS << p.log_cluster;
    for (unsigned t = at.block * LINES__PLANES_THREADS + threadIdx.x; t < end; t += step) {
        unsigned row = t, side = take(row, p.wide), i = take(row, p.radix[1][0]),
                 j = take(row, p.radix[1][1]);
        const complex<value> *from =
            at.shared + (row * p.per_block.n * p.pitch + i * p.group + j) * p.wide.n + side;
        complex<value> x[radix];
        if (side >= at.neighbours)
            continue;
#pragma unroll
        for (int k = 0; k < radix; k++)
            x[k] = read_block(k & mask, from + (k >> p.log_cluster) * p.pitch * p.wide.n);
        twiddle<value, radix>(x, at.roots, row);
        transform<value, radix>(x);
        multiply_all(p.scale, x);
        store<value, radix, is_line>(p, at, side, row, i + j * p.radix[1][0].n, x);
    }
}

template <class value, pass which, bool is_line>
__device__ __forceinline__ void choose_pass(const lines__planes &p, const work<value> &at) {
    switch (p.radix[which / 2 == 0][which % 2].n) {
#define RADIX(radix)                                                                               \
    case radix:                                                                                    \
        if constexpr (which == ROWS)                                                               \
            begin_rows<value, radix>(p, at);                                                       \
        else if constexpr (which == ROWS_END)                                                      \
            end_rows<value, radix>(p, at);                                                         \
        else if constexpr (which == COLUMNS)                                                       \
            begin_columns<value, radix, is_line>(p, at);                                           \
        else                                                                                       \
            end_columns<value, radix, is_line>(p, at);                                             \
        break;
        RADIX(4)
        RADIX(5)
        RADIX(6)
        RADIX(7)
        RADIX(8)
        RADIX(9)
        RADIX(10)
        RADIX(12)
        RADIX(14)
        RADIX(15)
        RADIX(16)
#undef RADIX
    }
}

extern __shared__ double2 memory[];

/* Two blocks a multiprocessor: 16 complex doubles of each of 512 threads fill its registers. */
template <class value, bool is_line>
__global__ void __launch_bounds__(LINES__PLANES_THREADS, sizeof(value) == sizeof(double) ? 2 : 4)
    transform_planes(const complex<value> *in, complex<value> *out, const complex<value> *roots,
                     const __grid_constant__ lines__planes p) {
    await_stream();
    let_next_begin();
    unsigned cluster = blockIdx.x >> p.log_cluster, side = take(cluster, p.sides) * p.wide.n;
    work<value> at = {in + side * p.side.in,
                      roots,
                      out + side * p.side.out,
                      reinterpret_cast<complex<value> *>(memory),
                      blockIdx.x - (blockIdx.x >> p.log_cluster << p.log_cluster),
                      p.side.n - side};
#pragma unroll
    for (int i = 0; i < LINES__PANEL_LOOPS; i++) {
        unsigned index = take(cluster, p.counts[i]);
        at.in += index * p.outer[i].in;
        at.out += index * p.outer[i].out;
    }
    choose_pass<value, ROWS, is_line>(p, at);
    __syncthreads();
    choose_pass<value, ROWS_END, is_line>(p, at);
    __syncthreads();
    choose_pass<value, COLUMNS, is_line>(p, at);
    if (p.log_cluster > 0)
        await_cluster();
    else
        __syncthreads();
    choose_pass<value, COLUMNS_END, is_line>(p, at);
    if (p.log_cluster > 0)
        await_cluster(); /* other blocks read its memory until here */
}

} // namespace

#define JOIN(a, b)  a##b
#define NAMED(a, b) JOIN(a, b)

extern "C" int NAMED(lines__planes_variants_, VALUE)() {
    return can_launch_early() ? LINES__PLANES_VARIANTS : 1;
}

extern "C" int NAMED(lines__planes_launch_, VALUE)(const lines__planes *planes, const void *in,
                                                   void *out, const void *roots, void *stream) {
    typedef complex<VALUE> element;
    static contexts allowed[2];
    const auto kernel =
        planes->is_line ? transform_planes<VALUE, true> : transform_planes<VALUE, false>;
    cudaError_t error = allow_memory(kernel, allowed[planes->is_line]);
    if (error != cudaSuccess)
        return error;
    return launch_clusters(kernel, 1U << planes->log_cluster,
                           planes->nplanes << planes->log_cluster, LINES__PLANES_THREADS,
                           planes->shared_bytes, static_cast<cudaStream_t>(stream),
                           static_cast<const element *>(in), static_cast<element *>(out),
                           static_cast<const element *>(roots), *planes);
}
