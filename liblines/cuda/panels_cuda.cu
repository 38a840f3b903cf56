/* SPDX-License-Identifier: BSD-3-Clause */
/* One kernel of panels.h: Stockham's transform, in place in shared memory. The build compiles this file for each kernel
 * of each precision and each sort of lines, since a compiler works on them one after the other: VALUE is double, or two
 * for pairs of floats, KERNEL a number of panels.h, LINES the function that launches one sort of lines (at the end),
 * and LAUNCH its name for the host. */
#define LINES__PANEL_INLINE __device__ __forceinline__
#include "../operation.h"
#include "panels_targets.h"
#include "redist_early_launch.cuh"

#include "panels_butterflies.cuh"
#include "panels_device.cuh"
#include "panels_memory.cuh"

namespace {

/* ---------------------------------------------------------------- radix passes */

enum kind { FIRST, MIDDLE, LAST, MODES };

template <class value, int radix>
__device__ __forceinline__ void clear(complex<value> (&x)[radix]) {
#pragma unroll
    for (int k = 0; k < radix; k++)
        x[k] = {};
}

/* Group of a butterfly, and the element in it: groups of the first radix pass have one butterfly, the last one has one
 * group. */
struct position {
    unsigned group, element;
};

template <kind which>
__device__ __forceinline__ position find_position(const lines__panels &p, unsigned pass,
                                                  unsigned butterfly) {
    if constexpr (which == FIRST)
        return {butterfly, 0};
    else if constexpr (which == LAST)
        return {0, butterfly};
    const lines__panel_divisor &done = p.passes[pass].done;
    unsigned group = divide(butterfly, done);
    return {group, butterfly - group * done.n};
}

template <class value, int radix, sort how>
__device__ __forceinline__ void read_array(const lines__panels &p, unsigned pass,
                                           const place<value, how> &at, unsigned butterfly,
                                           complex<value> (&x)[radix]) {
    const unsigned apart = p.passes[pass].butterflies;
    const complex<scalar<value>> *from = at.lines.in + butterfly * p.axis.in;
    const long long step = apart * p.axis.in;
    if constexpr (how == RETAINED)
        if (p.backward) {
#pragma unroll
            for (int k = 0; k < radix; k++, from += step)
                x[k] = read_retained(p, at, butterfly + k * apart, from);
            return;
        }
    if (p.filled < p.n && (how == APPLIED || !p.backward))
        load_filled(p, at, butterfly, apart, from, step, x);
    else
        load(p, at, from, step, x);
}

template <class value, int radix, kind which, sort how>
__device__ __forceinline__ void
read_shared(const lines__panels &p, unsigned pass, const place<value, how> &at,
            const complex<scalar<value>> *roots, unsigned butterfly, complex<value> (&x)[radix]) {
    position i = find_position<which>(p, pass, butterfly);
    const complex<value> *from = at.shared + i.group * p.passes[pass].group + i.element * p.pitch;
#pragma unroll
    for (int k = 0; k < radix; k++)
        x[k] = from[k * p.passes[pass].apart];
    twiddle<value, radix>(x, roots, i.element * p.passes[pass].step);
}

template <class value, int radix, kind which, sort how>
__device__ __forceinline__ void write_shared(const lines__panels &p, unsigned pass,
                                             const place<value, how> &at, unsigned butterfly,
                                             const complex<value> (&x)[radix]) {
    position i = find_position<which>(p, pass, butterfly);
    complex<value> *to = at.shared + i.group * p.passes[pass + 1].group + i.element * p.pitch;
    unsigned step = which == FIRST ? p.pitch : p.passes[pass].done.n * p.pitch;
#pragma unroll
    for (int k = 0; k < radix; k++)
        to[k * step] = x[k];
}

/* Backward is forward with all elements but the first in the opposite order. */
template <class value, int radix, sort how>
__device__ __forceinline__ void write_array(const lines__panels &p, unsigned pass,
                                            const place<value, how> &at, unsigned butterfly,
                                            const complex<value> (&x)[radix]) {
    const unsigned apart = p.passes[pass].butterflies;
    unsigned i = p.backward ? p.n - butterfly : butterfly;
    if constexpr (how == STORES) {
        const unsigned end = lines__panels_end(&p);
#pragma unroll
        for (int k = 0; k < radix; k++) {
            const unsigned element = k == 0 && butterfly == 0 ? 0
                                     : p.backward             ? i - k * apart
                                                              : i + k * apart;
            if (element < end)
                write_target(p, at, element, x[k]);
        }
    } else {
        long long step = apart * p.axis.out;
        complex<scalar<value>> *to = at.lines.out + i * p.axis.out;
        if constexpr (how == RETAINED)
            if (!p.backward) {
#pragma unroll
                for (int k = 0; k < radix; k++, to += step)
                    write_retained(p, at, i + k * apart, to, x[k]);
                return;
            }
        if (p.filled < p.n && (how == APPLIED || p.backward))
            store_filled(p, at, i, apart, to, step, x);
        else
            store(p, at, butterfly == 0 ? at.lines.out : to, to, p.backward ? -step : step, x);
    }
}

template <class value, int radix, kind which, sort how>
__device__ __forceinline__ void
get(const lines__panels &p, unsigned pass, const place<value, how> &at,
    const complex<scalar<value>> *roots, unsigned butterfly, complex<value> (&x)[radix]) {
    if constexpr (which == FIRST)
        read_array<value, radix>(p, pass, at, butterfly, x);
    else
        read_shared<value, radix, which>(p, pass, at, roots, butterfly, x);
    transform<value, radix>(x);
}

template <class value, int radix, kind which, sort how>
__device__ __forceinline__ void put(const lines__panels &p, unsigned pass,
                                    const place<value, how> &at, unsigned butterfly,
                                    const complex<value> (&x)[radix]) {
    if constexpr (which == LAST)
        write_array<value, radix>(p, pass, at, butterfly, x);
    else
        write_shared<value, radix, which>(p, pass, at, butterfly, x);
}

/* Does a radix pass. Where it reads and writes shared memory, all threads of a block read before any of them writes.
 * Zeros keep the compiler from holding registers that are set on some ways only. */
template <class value, int radix, kind which, sort how>
__device__ __forceinline__ void do_pass(const lines__panels &p, unsigned pass,
                                        const place<value, how> &at,
                                        const complex<scalar<value>> *roots) {
    constexpr unsigned each = LINES__PANEL_BUTTERFLIES(KERNEL, radix);
    unsigned end = at.is_line ? p.passes[pass].butterflies : 0;
    complex<value> x[each][radix];
#pragma unroll
    for (unsigned i = 0; i < each; i++) {
        unsigned butterfly = at.row + i * p.rows;
        if (butterfly < end) {
            get<value, radix, which>(p, pass, at, roots, butterfly, x[i]);
            if constexpr (which == LAST && how != APPLIED)
                multiply_all(p.scale, x[i]);
            if constexpr (which != MIDDLE)
                put<value, radix, which>(p, pass, at, butterfly, x[i]);
        } else if constexpr (which == MIDDLE)
            clear<value, radix>(x[i]);
    }
    if constexpr (which == MIDDLE) {
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < each; i++)
            if (at.row + i * p.rows < end)
                put<value, radix, which>(p, pass, at, at.row + i * p.rows, x[i]);
    }
}

/* Does the radix pass of real lines that is next to the modes. */
template <class value, int radix, sort how>
__device__ __forceinline__ void do_pass_of_modes(const lines__panels &p, unsigned pass,
                                                 const place<value, how> &at,
                                                 const complex<scalar<value>> *roots);

template <class value, int least, int most, kind which, sort how>
__device__ __forceinline__ void choose_pass(const lines__panels &p, unsigned pass,
                                            const place<value, how> &at,
                                            const complex<scalar<value>> *roots) {
    switch (p.passes[pass].radix) {
#define RADIX(radix)                                                                               \
    case radix:                                                                                    \
        if constexpr (least <= radix && radix <= most) {                                           \
            if constexpr (which == MODES)                                                          \
                do_pass_of_modes<value, radix>(p, pass, at, roots);                                \
            else                                                                                   \
                do_pass<value, radix, which>(p, pass, at, roots);                                  \
        }                                                                                          \
        break;
        RADIX(1)
        RADIX(2)
        RADIX(3)
        RADIX(4)
        RADIX(5)
        RADIX(6)
        RADIX(7)
        RADIX(8)
        RADIX(9)
        RADIX(10)
        RADIX(11)
        RADIX(12)
        RADIX(13)
        RADIX(14)
        RADIX(15)
        RADIX(16)
#undef RADIX
    }
}

template <class value, int least, int first, int rest, sort how>
__device__ __forceinline__ void
transform_panels(const lines__panels &p, const lines_of<value, how> &lines,
                 const complex<scalar<value>> *roots, complex<value> *memory) {
    const place<value, how> at = find_place(p, lines, memory);
    choose_pass<value, least, first, FIRST>(p, 0, at, roots);
    __syncthreads();
    for (unsigned pass = 1; pass + 1 < p.npasses; pass++) {
        choose_pass<value, LINES__PANEL_MIDDLE, rest, MIDDLE>(p, pass, at, roots);
        __syncthreads();
    }
    choose_pass<value, 1, rest, LAST>(p, p.npasses - 1, at, roots);
}

/* ---------------------------------------------------------------- real lines */

template <class value, sort how>
__device__ __forceinline__ complex<value> read_mode(const lines__panels &p,
                                                    const place<value, how> &at, unsigned i) {
    if constexpr (how == RETAINED)
        return read_retained(p, at, i, at.lines.in + i);
    else {
        complex<value> x[1];
        load<value, 1>(p, at, at.lines.in + i, 0, x);
        return x[0];
    }
}

template <class value, sort how>
__device__ __forceinline__ void write_mode(const lines__panels &p, const place<value, how> &at,
                                           unsigned i, const complex<value> &z) {
    const complex<value> x[1] = {z};
    if constexpr (how == RETAINED)
        write_retained(p, at, i, at.lines.out + i, z);
    else
        store<value, 1>(p, at, at.lines.out + i, nullptr, 0, x);
}

/* Splits the transform of z = even + i odd, the numbers at even and odd places of a real line: with w the i-th root,
 * modes i and n - i are e + w o and the conjugate of e - w o, times the factor of results. */
template <class value, sort how>
__device__ __forceinline__ void split_one(const lines__panels &p, const place<value, how> &at,
                                          const complex<scalar<value>> *roots, unsigned i,
                                          const complex<value> &a, const complex<value> &b) {
    const scalar<value> half = static_cast<scalar<value>>(p.scale) / 2;
    complex<value> even = {(a.x + b.x) * half, (a.y - b.y) * half},
                   odd = {(a.y + b.y) * half, (b.x - a.x) * half};
    odd = times(odd, roots[i]);
    write_mode(p, at, i, even + odd);
    write_mode(p, at, p.n - i, {even.x - odd.x, odd.y - even.y});
}

template <class value, sort how>
__device__ __forceinline__ void split(const lines__panels &p, const place<value, how> &at,
                                      const complex<scalar<value>> *roots) {
    for (unsigned i = at.row; at.is_line && 2 * i <= p.n; i += p.rows)
        split_one(p, at, roots, i, at.shared[i], at.shared[i == 0 ? 0 : p.n - i]);
}

/* The opposite, times two: makes elements i and n - i of n complex ones from modes i and n - i of n + 1. The first and
 * the last mode are real. */
template <class value>
__device__ __forceinline__ void join_one(const complex<scalar<value>> *roots, unsigned i,
                                         complex<value> &a, complex<value> &b) {
    if (i == 0)
        a.y = b.y = {};
    complex<scalar<value>> root = roots[i];
    complex<value> even = {a.x + b.x, a.y - b.y}, difference = {a.x - b.x, a.y + b.y};
    complex<value> odd = times(difference, complex<scalar<value>>{root.y, root.x});
    a = even + odd;
    b = {even.x - odd.x, odd.y - even.y};
}

template <class value, sort how>
__device__ __forceinline__ void join(const lines__panels &p, const place<value, how> &at,
                                     const complex<scalar<value>> *roots) {
    for (unsigned i = at.row; at.is_line && 2 * i <= p.n; i += p.rows) {
        complex<value> a = read_mode(p, at, i), b = read_mode(p, at, p.n - i);
        join_one(roots, i, a, b);
        at.shared[i] = a;
        if (i > 0)
            at.shared[p.n - i] = b;
    }
}

/* ---------------------------------------------------------------- real lines, two butterflies at once */

/*
 * Two butterflies of a thread in the radix pass next to the modes: elements n - i of one are the counterparts of
 * elements i of the other, in the opposite order. They are number `item` and, of m butterflies, number m - item. So
 * halves need not be exchanged through shared memory to become modes, nor the opposite. For item 0 they are butterflies
 * 0 and m / 2, whose elements in turn are the multiples of m / 2; number `radix` is its own counterpart.
 */
template <class value, int radix> struct butterflies {
    complex<value> first[radix], second[radix];

    /* Number of the second one, of m. */
    __device__ __forceinline__ static unsigned counterpart(unsigned item, unsigned m) {
        return item == 0 ? m / 2 : m - item;
    }

    /* A multiple of m / 2. */
    __device__ __forceinline__ complex<value> &multiple(int i) {
        return i % 2 == 0 ? first[i / 2] : second[i / 2];
    }
};

template <class value>
__device__ __forceinline__ complex<value> either(bool is_one, const complex<value> &one,
                                                 const complex<value> &other) {
    return is_one ? one : other;
}

template <class value, int radix, sort how>
__device__ __forceinline__ void end_with_modes(const lines__panels &p, unsigned pass,
                                               const place<value, how> &at,
                                               const complex<scalar<value>> *roots) {
    const unsigned m = p.passes[pass].butterflies, end = at.is_line ? m / 2 : 0;
    for (unsigned item = at.row; item < end; item += p.rows) {
        butterflies<value, radix> x;
        get<value, radix, LAST>(p, pass, at, roots, item, x.first);
        get<value, radix, LAST>(p, pass, at, roots, x.counterpart(item, m), x.second);
        const bool is_zero = item == 0;
#pragma unroll
        for (int k = 0; k < radix; k++)
            split_one(p, at, roots, is_zero ? k * (m / 2) : item + k * m,
                      either(is_zero, x.multiple(k), x.first[k]),
                      either(is_zero, k == 0 ? x.first[0] : x.multiple(2 * radix - k),
                             x.second[radix - 1 - k]));
        if (is_zero) {
            complex<value> middle[1] = {{x.multiple(radix).x, -x.multiple(radix).y}};
            multiply_all(p.scale, middle);
            write_mode(p, at, p.n / 2, middle[0]);
        }
    }
}

template <class value, int radix, sort how>
__device__ __forceinline__ void begin_with_modes(const lines__panels &p,
                                                 const place<value, how> &at,
                                                 const complex<scalar<value>> *roots) {
    const unsigned m = p.passes[0].butterflies, end = at.is_line ? m / 2 : 0;
    for (unsigned item = at.row; item < end; item += p.rows) {
        butterflies<value, radix> x;
        complex<value> low[radix], high[radix], middle = {};
        const bool is_zero = item == 0;
        const unsigned begin = item, step = is_zero ? m / 2 : m;
        if (is_zero)
            middle = read_mode(p, at, p.n / 2);
#pragma unroll
        for (int k = 0; k < radix; k++) {
            low[k] = read_mode(p, at, begin + k * step);
            high[k] = read_mode(p, at, p.n - begin - k * step);
        }
#pragma unroll
        for (int k = 0; k < radix; k++)
            join_one(roots, begin + k * step, low[k], high[k]);
        middle = {middle.x + middle.x, -(middle.y + middle.y)};
#pragma unroll
        for (int i = 0; i < 2 * radix; i++)
            x.multiple(i) = either(is_zero,
                                   i < radix    ? low[i]
                                   : i == radix ? middle
                                                : high[2 * radix - i],
                                   i % 2 == 0 ? low[i / 2] : high[radix - 1 - i / 2]);
        transform<value, radix>(x.first);
        put<value, radix, FIRST>(p, 0, at, item, x.first);
        transform<value, radix>(x.second);
        put<value, radix, FIRST>(p, 0, at, x.counterpart(item, m), x.second);
    }
}

template <class value, int radix, sort how>
__device__ __forceinline__ void do_pass_of_modes(const lines__panels &p, unsigned pass,
                                                 const place<value, how> &at,
                                                 const complex<scalar<value>> *roots) {
    if (p.backward)
        begin_with_modes<value, radix>(p, at, roots);
    else
        end_with_modes<value, radix>(p, pass, at, roots);
}

template <class value, int least, int first, int rest, sort how>
__device__ __forceinline__ void
transform_real_lines(const lines__panels &p, const lines_of<value, how> &lines,
                     const complex<scalar<value>> *roots, complex<value> *memory) {
    const place<value, how> at = find_place(p, lines, memory);
    constexpr int pairs = KERNEL == 0 ? LINES__PANEL_PAIRS_0 : LINES__PANEL_PAIRS_1;
    const unsigned last = p.npasses - 1, modes_before = p.backward && !p.has_pairs,
                   modes_behind = !p.backward && !p.has_pairs;
    if (modes_before)
        join(p, at, roots);
    else if (p.backward)
        choose_pass<value, 2, pairs, MODES>(p, 0, at, roots);
    else
        choose_pass<value, least, first, FIRST>(p, 0, at, roots);
    __syncthreads();
    for (unsigned pass = modes_before ? 0 : 1; pass < last + modes_behind; pass++) {
        choose_pass<value, 1, first, MIDDLE>(p, pass, at, roots);
        __syncthreads();
    }
    if (modes_behind)
        split(p, at, roots);
    else if (!p.backward)
        choose_pass<value, 2, pairs, MODES>(p, last, at, roots);
    else
        choose_pass<value, 1, rest, LAST>(p, last, at, roots);
}

} // namespace

#include "panels_applied.cuh"
#include "panels_r2r.cuh"

/* ---------------------------------------------------------------- kernels */

namespace {

enum : int {
    least = KERNEL == 0 ? LINES__PANEL_LEAST_0 : LINES__PANEL_LEAST_1,
    first = KERNEL == 0 ? LINES__PANEL_FIRST_0 : LINES__PANEL_FIRST_1,
    rest = KERNEL == 0 ? LINES__PANEL_REST_0 : LINES__PANEL_REST_1,
    threads = KERNEL == 0 ? LINES__PANEL_THREADS_0 : LINES__PANEL_THREADS_1
};

extern __shared__ double2 memory[];

/* No kernel of panels waits for another device. */
__device__ __forceinline__ void begin_kernel() {
    await_stream();
    let_next_begin();
}

template <bool is_real, class value, sort how>
__device__ __forceinline__ void run(const lines__panels &p, const lines_of<value, how> &lines,
                                    const complex<scalar<value>> *roots) {
    complex<value> *shared = reinterpret_cast<complex<value> *>(memory);
    if constexpr (is_real)
        transform_real_lines<value, least, first, rest>(p, lines, roots, shared);
    else
        transform_panels<value, least, first, rest>(p, lines, roots, shared);
}

template <class value, bool is_real>
__global__ void __launch_bounds__(threads)
    transform_whole(const complex<scalar<value>> *in, complex<scalar<value>> *out,
                    const complex<scalar<value>> *roots, const __grid_constant__ lines__panels p) {
    begin_kernel();
    run<is_real>(p, lines_of<value, WHOLE>{in, out}, roots);
}

template <class value, bool is_real>
__global__ void __launch_bounds__(threads)
    transform_retained(const complex<scalar<value>> *in, complex<scalar<value>> *out,
                       const complex<scalar<value>> *roots, const __grid_constant__ lines__panels p,
                       const __grid_constant__ lines__panel_gap gap) {
    begin_kernel();
    run<is_real>(p,
                 lines_of<value, RETAINED>{
                     {in, out}, &gap, static_cast<complex<scalar<value>> *>(gap.half_way)},
                 roots);
}

template <class value>
__global__ void __launch_bounds__(threads)
    transform_stores(const complex<scalar<value>> *in, const complex<scalar<value>> *roots,
                     const __grid_constant__ lines__panels p,
                     const __grid_constant__ lines__panel_targets targets) {
    begin_kernel();
    run<false>(p, lines_of<value, STORES>{in, &targets, {}}, roots);
}

template <class value>
__global__ void __launch_bounds__(threads)
    transform_applied(const complex<scalar<value>> *in, complex<scalar<value>> *out,
                      const complex<scalar<value>> *roots, const __grid_constant__ lines__panels p,
                      const __grid_constant__ lines__operation operation) {
    begin_kernel();
    apply_panels<value, least, first, rest>(p, lines_of<value, APPLIED>{{in, out}, &operation, {}},
                                            roots, reinterpret_cast<complex<value> *>(memory));
}

template <class value>
__global__ void __launch_bounds__(threads)
    transform_r2r(const complex<scalar<value>> *in, complex<scalar<value>> *out,
                  const complex<scalar<value>> *roots, const __grid_constant__ lines__panels p) {
    begin_kernel();
    transform_r2r_lines<value, first>(p, in, out, roots,
                                      reinterpret_cast<complex<value> *>(memory));
}

/* Arguments of a launch. */
template <class value> struct given {
    const lines__panels *panels;
    const complex<scalar<value>> *in, *roots;
    complex<scalar<value>> *out;
    cudaStream_t stream;
    const lines__panel_work *work;
};

template <class value, class kernel, class... arguments>
cudaError_t launch(const given<value> &to, kernel function, contexts &allowed, arguments... all) {
    const lines__panels *panels = to.panels;
    cudaError_t error = allow_memory(function, allowed);
    if (error != cudaSuccess)
        return error;
    return launch_early(function, panels->npanels, panels->width * panels->rows,
                        panels->shared_bytes, to.stream, all...);
}

template <class value> cudaError_t launch_whole(const given<value> &to) {
    static contexts allowed[2];
    return launch(to,
                  to.panels->is_real ? transform_whole<value, true> : transform_whole<value, false>,
                  allowed[to.panels->is_real], to.in, to.out, to.roots, *to.panels);
}

template <class value> cudaError_t launch_retained(const given<value> &to) {
    static contexts allowed[2];
    return launch(
        to, to.panels->is_real ? transform_retained<value, true> : transform_retained<value, false>,
        allowed[to.panels->is_real], to.in, to.out, to.roots, *to.panels, *to.work->gap);
}

template <class value> cudaError_t launch_stores(const given<value> &to) {
    static contexts allowed;
    return launch(to, transform_stores<value>, allowed, to.in, to.roots, *to.panels,
                  *to.work->targets);
}

template <class value> cudaError_t launch_applied(const given<value> &to) {
    static contexts allowed;
    return launch(to, transform_applied<value>, allowed, to.in, to.out, to.roots, *to.panels,
                  *to.work->operation);
}

template <class value> cudaError_t launch_r2r(const given<value> &to) {
    static contexts allowed;
    return launch(to, transform_r2r<value>, allowed, to.in, to.out, to.roots, *to.panels);
}

} // namespace

extern "C" int LAUNCH(const lines__panels *panels, const lines__panel_work *work, const void *in,
                      void *out, const void *roots, void *stream) {
    typedef complex<scalar<VALUE>> element;
    return LINES<VALUE>({panels, static_cast<const element *>(in),
                         static_cast<const element *>(roots), static_cast<element *>(out),
                         static_cast<cudaStream_t>(stream), work});
}
