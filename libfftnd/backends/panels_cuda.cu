/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of panels.h: Stockham's transform, in place in shared memory, and its butterflies. */
#include "panels.h"

#include <cuda_runtime_api.h>

namespace {

/* ---------------------------------------------------------------- numbers */

/* Of two lines of floats: a thread has the same to do for both. */
struct two {
    float a, b;
};

__device__ __forceinline__ two operator+(two u, two v) {
    return {u.a + v.a, u.b + v.b};
}

__device__ __forceinline__ two operator-(two u, two v) {
    return {u.a - v.a, u.b - v.b};
}

__device__ __forceinline__ two operator-(two u) {
    return {-u.a, -u.b};
}

__device__ __forceinline__ two operator*(two u, float v) {
    return {u.a * v, u.b * v};
}

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
    if constexpr (radix == 2) {
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

/* What a thread works on. */
template <class value> struct place {
    const complex<scalar<value>> *in;
    complex<scalar<value>> *out;
    complex<value> *shared;
    unsigned row;
    bool is_line, has_second;
};

template <class value>
__device__ __forceinline__ complex<value> load(const fftnd__panels &p, const place<value> &at,
                                               long long distance) {
    const complex<scalar<value>> *from = at.in + distance;
    if constexpr (!is_pair<value>)
        return *from;
    else if (p.adjacent && at.has_second) {
        const float4 both = *reinterpret_cast<const float4 *>(from);
        return {{both.x, both.z}, {both.y, both.w}};
    } else {
        const complex<float> one = *from, other = at.has_second ? from[p.second * p.side.in] : one;
        return {{one.x, other.x}, {one.y, other.y}};
    }
}

template <class value>
__device__ __forceinline__ void store(const fftnd__panels &p, const place<value> &at,
                                      long long distance, complex<value> z) {
    complex<scalar<value>> *to = at.out + distance;
    if constexpr (!is_pair<value>)
        *to = z;
    else if (p.adjacent && at.has_second)
        *reinterpret_cast<float4 *>(to) = {z.x.a, z.y.a, z.x.b, z.y.b};
    else {
        *to = {z.x.a, z.y.a};
        if (at.has_second)
            to[p.second * p.side.out] = {z.x.b, z.y.b};
    }
}

/* Of an element in shared memory; contiguous lines have gaps, or a radix of 8 would use few banks. */
__device__ __forceinline__ unsigned position(const fftnd__panels &p, unsigned i) {
    return i * p.pitch + (p.along ? i >> 3 : 0);
}

template <class value>
__device__ __forceinline__ place<value>
find_place(const fftnd__panels &p, const complex<scalar<value>> *in, complex<scalar<value>> *out,
           complex<value> *shared) {
    place<value> at;
    unsigned line = p.along ? threadIdx.x / p.rows : threadIdx.x % p.width;
    unsigned rest = blockIdx.x / p.panels, panel = blockIdx.x - rest * p.panels;
    unsigned side = panel * p.lines + (p.adjacent ? 2 * line : line);
    at.row = p.along ? threadIdx.x - line * p.rows : threadIdx.x / p.width;
    at.is_line = side < p.side.n;
    at.has_second = side + p.second < p.side.n;
    at.shared = shared + line * p.apart;
    at.in = in + side * p.side.in;
    at.out = out + side * p.side.out;
#pragma unroll
    for (int i = 0; i < FFTND__PANEL_LOOPS; i++) {
        unsigned next = rest / p.outer[i].n, index = rest - next * p.outer[i].n;
        at.in += index * p.outer[i].in;
        at.out += index * p.outer[i].out;
        rest = next;
    }
    return at;
}

/* ---------------------------------------------------------------- passes */

enum kind { FIRST, MIDDLE, LAST, ONLY };

template <class value, int radix, kind which>
__device__ __forceinline__ void get(const fftnd__panels &p, unsigned pass, const place<value> &at,
                                    const complex<scalar<value>> *roots, unsigned butterfly,
                                    complex<value> (&x)[radix]) {
    unsigned apart = p.passes[pass].butterflies;
    if constexpr (which == FIRST || which == ONLY) {
        long long from = butterfly * p.axis.in, step = apart * p.axis.in;
#pragma unroll
        for (int k = 0; k < radix; k++, from += step)
            x[k] = load(p, at, from);
    } else {
        unsigned done = p.passes[pass].done, low = butterfly % done;
#pragma unroll
        for (int k = 0; k < radix; k++)
            x[k] = at.shared[position(p, butterfly + k * apart)];
        twiddle<value, radix>(x, roots, low * p.passes[pass].step);
    }
    transform<value, radix>(x);
}

/* The backward transform is the forward one with its elements in the opposite order. */
template <class value, int radix, kind which>
__device__ __forceinline__ void put(const fftnd__panels &p, unsigned pass, const place<value> &at,
                                    unsigned butterfly, const complex<value> (&x)[radix]) {
    unsigned done = p.passes[pass].done, low = butterfly % done;
    unsigned to = (butterfly - low) * radix + low;
#pragma unroll
    for (int k = 0; k < radix; k++, to += done)
        if constexpr (which == LAST || which == ONLY)
            store(p, at, (p.backward && to != 0 ? p.n - to : to) * p.axis.out, x[k]);
        else
            at.shared[position(p, to)] = x[k];
}

/* All threads of a block read before any of them writes. Registers that are not set on all ways take room all the
 * time, hence the zeros. */
template <class value, int radix, kind which>
__device__ __forceinline__ void do_pass(const fftnd__panels &p, unsigned pass,
                                        const place<value> &at,
                                        const complex<scalar<value>> *roots) {
    constexpr unsigned each = FFTND__PANEL_BUTTERFLIES(radix);
    complex<value> x[each][radix] = {};
    unsigned end = at.is_line ? p.passes[pass].butterflies : 0;
#pragma unroll
    for (unsigned i = 0; i < each; i++)
        if (at.row + i * p.rows < end)
            get<value, radix, which>(p, pass, at, roots, at.row + i * p.rows, x[i]);
    if constexpr (which == MIDDLE)
        __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < each; i++)
        if (at.row + i * p.rows < end)
            put<value, radix, which>(p, pass, at, at.row + i * p.rows, x[i]);
}

template <class value, int most, kind which>
__device__ __forceinline__ void choose_pass(const fftnd__panels &p, unsigned pass,
                                            const place<value> &at,
                                            const complex<scalar<value>> *roots) {
    switch (p.passes[pass].radix) {
#define RADIX(radix)                                                                               \
    case radix:                                                                                    \
        if constexpr (radix <= most)                                                               \
            do_pass<value, radix, which>(p, pass, at, roots);                                      \
        break;
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

template <class value, int first, int rest, int threads>
__global__ void __launch_bounds__(threads)
    transform_panels(const complex<scalar<value>> *in, complex<scalar<value>> *out,
                     const complex<scalar<value>> *roots, const __grid_constant__ fftnd__panels p) {
    extern __shared__ double2 memory[];
    const place<value> at =
        find_place<value>(p, in, out, reinterpret_cast<complex<value> *>(memory));
    if (p.npasses == 1) {
        choose_pass<value, first, ONLY>(p, 0, at, roots);
        return;
    }
    choose_pass<value, first, FIRST>(p, 0, at, roots);
    __syncthreads();
    for (unsigned pass = 1; pass + 1 < p.npasses; pass++) {
        choose_pass<value, rest, MIDDLE>(p, pass, at, roots);
        __syncthreads();
    }
    choose_pass<value, rest, LAST>(p, p.npasses - 1, at, roots);
}

/* ---------------------------------------------------------------- launching */

template <class value, int first, int rest, int threads>
cudaError_t launch(const fftnd__panels *p, const void *in, void *out, const void *roots,
                   cudaStream_t stream) {
    auto kernel = transform_panels<value, first, rest, threads>;
    typedef complex<scalar<value>> element;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(p->shared_bytes));
    if (error != cudaSuccess)
        return error;
    kernel<<<p->npanels, p->width * p->rows, p->shared_bytes, stream>>>(
        static_cast<const element *>(in), static_cast<element *>(out),
        static_cast<const element *>(roots), *p);
    return cudaGetLastError();
}

} // namespace

/* Addresses of floats may be between those that two complex numbers can be read from. */
static bool is_aligned(const void *in, const void *out) {
    return reinterpret_cast<size_t>(in) % sizeof(float4) == 0 &&
           reinterpret_cast<size_t>(out) % sizeof(float4) == 0;
}

int fftnd__panels_launch(const struct fftnd__panels *panels, const void *in, void *out,
                         const void *roots, void *stream) {
    static cudaError_t (*const launches[2][FFTND__PANEL_KERNELS])(
        const fftnd__panels *, const void *, void *, const void *, cudaStream_t) = {
        {launch<two, FFTND__PANEL_FIRST_0, FFTND__PANEL_REST_0, FFTND__PANEL_THREADS_0>,
         launch<two, FFTND__PANEL_FIRST_1, FFTND__PANEL_REST_1, FFTND__PANEL_THREADS_1>},
        {launch<double, FFTND__PANEL_FIRST_0, FFTND__PANEL_REST_0, FFTND__PANEL_THREADS_0>,
         launch<double, FFTND__PANEL_FIRST_1, FFTND__PANEL_REST_1, FFTND__PANEL_THREADS_1>}};
    fftnd__panels p = *panels;
    if (p.adjacent && !is_aligned(in, out)) {
        p.adjacent = 0;
        p.second = p.width;
    }
    return launches[p.is_double][p.kernel](&p, in, out, roots, static_cast<cudaStream_t>(stream));
}
