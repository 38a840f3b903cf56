/* SPDX-License-Identifier: BSD-3-Clause */
/* One kernel of panels.h: Stockham's transform, in place in shared memory, and its butterflies. The build compiles this
 * file for each kernel of each precision, since the compiler works on them one after the other: VALUE is double, or two
 * for pairs of floats, KERNEL a number of panels.h and LAUNCH the function that launches it. */
#include "panels.h"

#include <cuda_runtime_api.h>

namespace {

/* ---------------------------------------------------------------- numbers */

/* Of two lines of floats: a thread has the same to do for both. */
template <class number> struct both {
    number a, b;

    __device__ __forceinline__ both operator+(both v) const {
        return {a + v.a, b + v.b};
    }
    __device__ __forceinline__ both operator-(both v) const {
        return {a - v.a, b - v.b};
    }
    __device__ __forceinline__ both operator-() const {
        return {-a, -b};
    }
    __device__ __forceinline__ both operator*(number v) const {
        return {a * v, b * v};
    }
};

typedef both<float> two;

template <class value> struct scalar_of { typedef value type; };
template <> struct scalar_of<two> { typedef float type; };
template <class value> using scalar = typename scalar_of<value>::type;
template <class value> constexpr bool is_pair = sizeof(value) != sizeof(scalar<value>);

template <class value> struct alignas(2 * sizeof(value)) complex { value x, y; };

template <class value>
__device__ __forceinline__ complex<value> operator+(complex<value> a, complex<value> b) {
    return {a.x + b.x, a.y + b.y};
}

template <class value>
__device__ __forceinline__ complex<value> operator-(complex<value> a, complex<value> b) {
    return {a.x - b.x, a.y - b.y};
}

template <class value>
__device__ __forceinline__ complex<value> times(complex<value> a, complex<scalar<value>> b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

/* ---------------------------------------------------------------- roots of the radices */

/* cos(2 pi a / b), for 0 <= a <= b, by its series in the first octant. */
__host__ __device__ constexpr double cosine(long a, long b) {
    if (2 * a > b)
        a = b - a;
    if (4 * a > b)
        return -cosine(b - 2 * a, 2 * b);
    const double circle = 6.283185307179586476925;
    bool is_sine = 8 * a > b;
    double t = is_sine ? circle * static_cast<double>(b - 4 * a) / (4.0 * static_cast<double>(b))
                       : circle * static_cast<double>(a) / static_cast<double>(b);
    double term = is_sine ? t : 1.0, sum = term;
    for (int i = is_sine ? 2 : 1; i < 24; i += 2) {
        term *= -t * t / (static_cast<double>(i) * (i + 1));
        sum += term;
    }
    return sum;
}

__host__ __device__ constexpr double sine(long a, long b) {
    return 4 * a >= b ? cosine(4 * a - b, 4 * b) : cosine(b - 4 * a, 4 * b);
}

template <class number, int radix> struct circle {
    number cos[radix], sin[radix];
    __host__ __device__ constexpr circle() : cos(), sin() {
        for (int i = 0; i < radix; i++) {
            cos[i] = static_cast<number>(cosine(i, radix));
            sin[i] = static_cast<number>(sine(i, radix));
        }
    }
};

template <class number, int radix> __constant__ circle<number, radix> circles;

/* Times the q-th root of the radix. */
template <class value, int radix>
__device__ __forceinline__ complex<value> rotate(complex<value> z, int q) {
    const circle<scalar<value>, radix> &root = circles<scalar<value>, radix>;
    if (q == 0)
        return z;
    if (4 * q == radix)
        return {z.y, -z.x};
    if (2 * q == radix)
        return {-z.x, -z.y};
    if (4 * q == 3 * radix)
        return {-z.y, z.x};
    if (8 * q == radix)
        return {(z.x + z.y) * root.cos[q], (z.y - z.x) * root.cos[q]};
    if (8 * q == 3 * radix)
        return {(z.x - z.y) * root.cos[q], (z.x + z.y) * root.cos[q]};
    return times(z, complex<scalar<value>>{root.cos[q], -root.sin[q]});
}

/* ---------------------------------------------------------------- butterflies */

/* A factor of the radix; a prime has none but itself. */
__host__ __device__ constexpr int factor_of(int radix) {
    return radix == 4 ? 2 : radix % 4 == 0 ? 4 : radix % 2 == 0 ? 2 : radix % 3 == 0 ? 3 : radix;
}

/* By the definition; elements i and radix - i have the same cosines and opposite sines. */
template <class value, int radix>
__device__ __forceinline__ void transform_prime(complex<value> (&x)[radix]) {
    const circle<scalar<value>, radix> &root = circles<scalar<value>, radix>;
    constexpr int half = radix / 2;
    complex<value> sum[half], difference[half], first = x[0];
#pragma unroll
    for (int i = 0; i < half; i++) {
        sum[i] = x[i + 1] + x[radix - 1 - i];
        difference[i] = x[i + 1] - x[radix - 1 - i];
        x[0] = x[0] + sum[i];
    }
#pragma unroll
    for (int k = 1; k <= half; k++) {
        complex<value> even = first,
                       odd = {difference[0].x * root.sin[k], difference[0].y * root.sin[k]};
#pragma unroll
        for (int i = 0; i < half; i++) {
            const int q = k * (i + 1) % radix;
            even = {even.x + sum[i].x * root.cos[q], even.y + sum[i].y * root.cos[q]};
            if (i > 0)
                odd = {odd.x + difference[i].x * root.sin[q],
                       odd.y + difference[i].y * root.sin[q]};
        }
        x[k] = {even.x + odd.y, even.y - odd.x};
        x[radix - k] = {even.x - odd.y, even.y + odd.x};
    }
}

template <class value, int radix>
__device__ __forceinline__ void transform(complex<value> (&x)[radix]) {
    constexpr int a = factor_of(radix), b = radix / a;
    if constexpr (radix == 1) {
    } else if constexpr (radix == 2) {
        complex<value> difference = x[0] - x[1];
        x[0] = x[0] + x[1];
        x[1] = difference;
    } else if constexpr (b == 1) {
        transform_prime<value, radix>(x);
    } else {
        complex<value> y[radix];
#pragma unroll
        for (int j = 0; j < b; j++) {
            complex<value> part[a];
#pragma unroll
            for (int i = 0; i < a; i++)
                part[i] = x[j + b * i];
            transform<value, a>(part);
#pragma unroll
            for (int i = 0; i < a; i++)
                y[j + b * i] = rotate<value, radix>(part[i], i * j);
        }
#pragma unroll
        for (int i = 0; i < a; i++) {
            complex<value> part[b];
#pragma unroll
            for (int j = 0; j < b; j++)
                part[j] = y[j + b * i];
            transform<value, b>(part);
#pragma unroll
            for (int j = 0; j < b; j++)
                x[i + a * j] = part[j];
        }
    }
}

/* Times the powers of a root: those of two from the table, the others products of these. */
template <class value, int radix>
__device__ __forceinline__ void twiddle(complex<value> (&x)[radix],
                                        const complex<scalar<value>> *roots, unsigned at) {
    complex<scalar<value>> root[radix];
#pragma unroll
    for (int k = 1; k < radix; k++) {
        const int low = k >= 8 ? 8 : k >= 4 ? 4 : k >= 2 ? 2 : 1;
        if (k == low)
            root[k] = roots[at * k];
        else
            root[k] = times(root[low], root[k - low]);
        x[k] = times(x[k], root[k]);
    }
}

/* ---------------------------------------------------------------- memory */

__device__ __forceinline__ unsigned divide(unsigned i, const fftnd__panel_divisor &by) {
    return static_cast<unsigned>(static_cast<unsigned long long>(i) * by.factor >> by.shift);
}

/* What a thread works on. */
template <class value> struct place {
    const complex<scalar<value>> *in;
    complex<scalar<value>> *out;
    complex<value> *shared;
    unsigned row;
    bool is_line, has_second;
};

template <class value>
__device__ __forceinline__ place<value>
find_place(const fftnd__panels &p, const complex<scalar<value>> *in, complex<scalar<value>> *out,
           complex<value> *shared) {
    place<value> at;
    unsigned far = divide(threadIdx.x, p.threads), near = threadIdx.x - far * p.threads.n;
    unsigned line = p.along ? far : near;
    unsigned rest = divide(blockIdx.x, p.panels), panel = blockIdx.x - rest * p.panels.n;
    unsigned side = panel * p.lines + (p.adjacent ? 2 * line : line);
    at.row = p.along ? near : far;
    at.is_line = side < p.side.n;
    at.has_second = side + p.second < p.side.n;
    at.shared = shared + line * p.next;
    at.in = in + side * p.side.in;
    at.out = out + side * p.side.out;
#pragma unroll
    for (int i = 0; i < FFTND__PANEL_LOOPS; i++) {
        unsigned next = divide(rest, p.counts[i]), index = rest - next * p.counts[i].n;
        at.in += index * p.outer[i].in;
        at.out += index * p.outer[i].out;
        rest = next;
    }
    return at;
}

/* 16 bytes at once, where the compiler would read the halves of a pair of floats one after the other; and the neighbouring
 * panel's part of the 128 bytes, which comes with them, is in the cache when that panel reads it. */
template <class value>
__device__ __forceinline__ complex<value> read_at_once(const complex<scalar<value>> *from) {
    if constexpr (is_pair<value>) {
        float4 z;
        asm volatile("ld.global.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(z.x), "=f"(z.y), "=f"(z.z), "=f"(z.w)
                     : "l"(from)
                     : "memory");
        return {{z.x, z.z}, {z.y, z.w}};
    } else {
        complex<value> z;
        asm volatile("ld.global.L2::128B.v2.f64 {%0, %1}, [%2];"
                     : "=d"(z.x), "=d"(z.y)
                     : "l"(from)
                     : "memory");
        return z;
    }
}

template <class value>
__device__ __forceinline__ void write_at_once(complex<scalar<value>> *to, const complex<value> &z) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(z.x.a), "f"(z.y.a),
                 "f"(z.x.b), "f"(z.y.b)
                 : "memory");
}

/* Elements that are `step` apart; of a pair of lines both are read, or one of them twice. */
template <class value, int radix>
__device__ __forceinline__ void load(const fftnd__panels &p, const place<value> &at,
                                     const complex<scalar<value>> *from, long long step,
                                     complex<value> (&x)[radix]) {
    if constexpr (!is_pair<value>) {
#pragma unroll
        for (int k = 0; k < radix; k++, from += step)
            x[k] = read_at_once<value>(from);
    } else if (p.adjacent && at.has_second) {
#pragma unroll
        for (int k = 0; k < radix; k++, from += step)
            x[k] = read_at_once<value>(from);
    } else {
        const complex<float> *second = from + (at.has_second ? p.second * p.side.in : 0);
#pragma unroll
        for (int k = 0; k < radix; k++, from += step, second += step)
            x[k] = {{from->x, second->x}, {from->y, second->y}};
    }
}

/* The first element goes to a place of its own. */
template <class value, int radix>
__device__ __forceinline__ void store(const fftnd__panels &p, const place<value> &at,
                                      complex<scalar<value>> *first, complex<scalar<value>> *to,
                                      long long step, const complex<value> (&x)[radix]) {
    if constexpr (!is_pair<value>) {
        *first = x[0];
#pragma unroll
        for (int k = 1; k < radix; k++)
            *(to += step) = x[k];
    } else if (p.adjacent && at.has_second) {
        write_at_once<value>(first, x[0]);
#pragma unroll
        for (int k = 1; k < radix; k++)
            write_at_once<value>(to += step, x[k]);
    } else {
        const long long second = p.second * p.side.out;
#pragma unroll
        for (int k = 0; k < radix; k++) {
            complex<float> *here = k == 0 ? first : to += step;
            *here = {x[k].x.a, x[k].y.a};
            if (at.has_second)
                here[second] = {x[k].x.b, x[k].y.b};
        }
    }
}

/* ---------------------------------------------------------------- passes */

enum kind { FIRST, MIDDLE, LAST };

template <class value, int radix>
__device__ __forceinline__ void clear(complex<value> (&x)[radix]) {
#pragma unroll
    for (int k = 0; k < radix; k++)
        x[k] = {};
}

/* Of a butterfly, and the element in it: butterflies of the first pass are groups of one, and the last pass has one group. */
struct position {
    unsigned group, element;
};

template <kind which>
__device__ __forceinline__ position find_position(const fftnd__panels &p, unsigned pass,
                                                  unsigned butterfly) {
    if constexpr (which == FIRST)
        return {butterfly, 0};
    else if constexpr (which == LAST)
        return {0, butterfly};
    const fftnd__panel_divisor &done = p.passes[pass].done;
    unsigned group = divide(butterfly, done);
    return {group, butterfly - group * done.n};
}

template <class value, int radix>
__device__ __forceinline__ void read_array(const fftnd__panels &p, unsigned pass,
                                           const place<value> &at, unsigned butterfly,
                                           complex<value> (&x)[radix]) {
    load(p, at, at.in + butterfly * p.axis.in, p.passes[pass].butterflies * p.axis.in, x);
}

template <class value, int radix, kind which>
__device__ __forceinline__ void
read_shared(const fftnd__panels &p, unsigned pass, const place<value> &at,
            const complex<scalar<value>> *roots, unsigned butterfly, complex<value> (&x)[radix]) {
    position i = find_position<which>(p, pass, butterfly);
    const complex<value> *from = at.shared + i.group * p.passes[pass].group + i.element * p.pitch;
#pragma unroll
    for (int k = 0; k < radix; k++)
        x[k] = from[k * p.passes[pass].apart];
    twiddle<value, radix>(x, roots, i.element * p.passes[pass].step);
}

template <class value, int radix, kind which>
__device__ __forceinline__ void write_shared(const fftnd__panels &p, unsigned pass,
                                             const place<value> &at, unsigned butterfly,
                                             const complex<value> (&x)[radix]) {
    position i = find_position<which>(p, pass, butterfly);
    complex<value> *to = at.shared + i.group * p.passes[pass + 1].group + i.element * p.pitch;
    unsigned step = which == FIRST ? p.pitch : p.passes[pass].done.n * p.pitch;
#pragma unroll
    for (int k = 0; k < radix; k++)
        to[k * step] = x[k];
}

/* The backward transform is the forward one with its elements in the opposite order, but for the first one. */
template <class value, int radix>
__device__ __forceinline__ void write_array(const fftnd__panels &p, unsigned pass,
                                            const place<value> &at, unsigned butterfly,
                                            const complex<value> (&x)[radix]) {
    long long step = p.passes[pass].butterflies * p.axis.out;
    unsigned i = p.backward ? p.n - butterfly : butterfly;
    complex<scalar<value>> *to = at.out + i * p.axis.out;
    store(p, at, butterfly == 0 ? at.out : to, to, p.backward ? -step : step, x);
}

template <class value, int radix, kind which>
__device__ __forceinline__ void get(const fftnd__panels &p, unsigned pass, const place<value> &at,
                                    const complex<scalar<value>> *roots, unsigned butterfly,
                                    complex<value> (&x)[radix]) {
    if constexpr (which == FIRST)
        read_array<value, radix>(p, pass, at, butterfly, x);
    else
        read_shared<value, radix, which>(p, pass, at, roots, butterfly, x);
    transform<value, radix>(x);
}

template <class value, int radix, kind which>
__device__ __forceinline__ void put(const fftnd__panels &p, unsigned pass, const place<value> &at,
                                    unsigned butterfly, const complex<value> (&x)[radix]) {
    if constexpr (which == LAST)
        write_array<value, radix>(p, pass, at, butterfly, x);
    else
        write_shared<value, radix, which>(p, pass, at, butterfly, x);
}

/* Where shared memory is read and written, all threads of a block read before any of them writes. Registers that are not
 * set on all ways take room all the time, hence the zeros. */
template <class value, int radix, kind which>
__device__ __forceinline__ void do_pass(const fftnd__panels &p, unsigned pass,
                                        const place<value> &at,
                                        const complex<scalar<value>> *roots) {
    constexpr unsigned each = FFTND__PANEL_BUTTERFLIES(KERNEL, radix);
    unsigned end = at.is_line ? p.passes[pass].butterflies : 0;
    complex<value> x[each][radix];
#pragma unroll
    for (unsigned i = 0; i < each; i++) {
        unsigned butterfly = at.row + i * p.rows;
        if (butterfly < end) {
            get<value, radix, which>(p, pass, at, roots, butterfly, x[i]);
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

template <class value, int least, int most, kind which>
__device__ __forceinline__ void choose_pass(const fftnd__panels &p, unsigned pass,
                                            const place<value> &at,
                                            const complex<scalar<value>> *roots) {
    switch (p.passes[pass].radix) {
#define RADIX(radix)                                                                               \
    case radix:                                                                                    \
        if constexpr (least <= radix && radix <= most)                                             \
            do_pass<value, radix, which>(p, pass, at, roots);                                      \
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

template <class value, int least, int first, int rest, int threads>
__global__ void __launch_bounds__(threads)
    transform_panels(const complex<scalar<value>> *in, complex<scalar<value>> *out,
                     const complex<scalar<value>> *roots, const __grid_constant__ fftnd__panels p) {
    extern __shared__ double2 memory[];
    const place<value> at =
        find_place<value>(p, in, out, reinterpret_cast<complex<value> *>(memory));
    choose_pass<value, least, first, FIRST>(p, 0, at, roots);
    __syncthreads();
    for (unsigned pass = 1; pass + 1 < p.npasses; pass++) {
        choose_pass<value, FFTND__PANEL_MIDDLE, rest, MIDDLE>(p, pass, at, roots);
        __syncthreads();
    }
    choose_pass<value, 1, rest, LAST>(p, p.npasses - 1, at, roots);
}

/* ---------------------------------------------------------------- real lines */

template <class value>
__device__ __forceinline__ complex<value> read_mode(const fftnd__panels &p, const place<value> &at,
                                                    unsigned i) {
    complex<value> x[1];
    load<value, 1>(p, at, at.in + i, 0, x);
    return x[0];
}

template <class value>
__device__ __forceinline__ void write_mode(const fftnd__panels &p, const place<value> &at,
                                           unsigned i, const complex<value> &z) {
    const complex<value> x[1] = {z};
    store<value, 1>(p, at, at.out + i, nullptr, 0, x);
}

/* The numbers at even and at odd places of a real line, z = even + i odd, are transformed at once: with w the i-th root,
 * modes i and n - i are e + w o and the conjugate of e - w o. */
template <class value>
__device__ __forceinline__ void split(const fftnd__panels &p, const place<value> &at,
                                      const complex<scalar<value>> *roots) {
    const scalar<value> half = 0.5;
    for (unsigned i = at.row; at.is_line && 2 * i <= p.n; i += p.rows) {
        complex<value> a = at.shared[i], b = at.shared[i == 0 ? 0 : p.n - i],
                       even = {(a.x + b.x) * half, (a.y - b.y) * half},
                       odd = {(a.y + b.y) * half, (b.x - a.x) * half};
        odd = times(odd, roots[i]);
        write_mode(p, at, i, even + odd);
        write_mode(p, at, p.n - i, {even.x - odd.x, odd.y - even.y});
    }
}

/* The opposite, times two: modes of a real line are as many as it has numbers, and of those n of each half. The first and
 * the last mode are real. */
template <class value>
__device__ __forceinline__ void join(const fftnd__panels &p, const place<value> &at,
                                     const complex<scalar<value>> *roots) {
    for (unsigned i = at.row; at.is_line && 2 * i <= p.n; i += p.rows) {
        complex<value> a = read_mode(p, at, i), b = read_mode(p, at, p.n - i);
        if (i == 0)
            a.y = b.y = {};
        complex<scalar<value>> root = roots[i];
        complex<value> even = {a.x + b.x, a.y - b.y}, difference = {a.x - b.x, a.y + b.y};
        complex<value> odd = times(difference, complex<scalar<value>>{root.y, root.x});
        at.shared[i] = even + odd;
        if (i > 0)
            at.shared[p.n - i] = {even.x - odd.x, odd.y - even.y};
    }
}

template <class value, int least, int first, int rest, int threads>
__global__ void __launch_bounds__(threads)
    transform_real_lines(const complex<scalar<value>> *in, complex<scalar<value>> *out,
                         const complex<scalar<value>> *roots,
                         const __grid_constant__ fftnd__panels p) {
    extern __shared__ double2 memory[];
    const place<value> at =
        find_place<value>(p, in, out, reinterpret_cast<complex<value> *>(memory));
    if (p.backward)
        join(p, at, roots);
    else
        choose_pass<value, least, first, FIRST>(p, 0, at, roots);
    __syncthreads();
    for (unsigned pass = p.backward ? 0 : 1; pass + (p.backward ? 1 : 0) < p.npasses; pass++) {
        choose_pass<value, 1, first, MIDDLE>(p, pass, at, roots);
        __syncthreads();
    }
    if (p.backward)
        choose_pass<value, 1, rest, LAST>(p, p.npasses - 1, at, roots);
    else
        split(p, at, roots);
}

} // namespace

extern "C" int LAUNCH(const fftnd__panels *panels, const void *in, void *out, const void *roots,
                      void *stream) {
    constexpr int least = KERNEL == 0 ? FFTND__PANEL_LEAST_0 : FFTND__PANEL_LEAST_1,
                  first = KERNEL == 0 ? FFTND__PANEL_FIRST_0 : FFTND__PANEL_FIRST_1,
                  rest = KERNEL == 0 ? FFTND__PANEL_REST_0 : FFTND__PANEL_REST_1,
                  threads = KERNEL == 0 ? FFTND__PANEL_THREADS_0 : FFTND__PANEL_THREADS_1;
    auto kernel = panels->is_real ? transform_real_lines<VALUE, least, first, rest, threads>
                                  : transform_panels<VALUE, least, first, rest, threads>;
    typedef complex<scalar<VALUE>> element;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(panels->shared_bytes));
    if (error != cudaSuccess)
        return error;
    kernel<<<panels->npanels, panels->width * panels->rows, panels->shared_bytes,
             static_cast<cudaStream_t>(stream)>>>(static_cast<const element *>(in),
                                                  static_cast<element *>(out),
                                                  static_cast<const element *>(roots), *panels);
    return cudaGetLastError();
}
