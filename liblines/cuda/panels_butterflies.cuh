/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex numbers of panels_cuda.cu, in pairs for floats, and the DFTs of few of them. */

namespace {

/* ---------------------------------------------------------------- numbers */

/* Numbers of two lines of floats, which a thread transforms alike. */
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

/* Multiplies by a factor that all threads have. */
template <class value, int n>
__device__ __forceinline__ void multiply_all(double factor, complex<value> (&x)[n]) {
    const scalar<value> by = static_cast<scalar<value>>(factor);
#pragma unroll
    for (int k = 0; k < n; k++)
        x[k] = {x[k].x * by, x[k].y * by};
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

/* Multiplies by the q-th root of the radix. */
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

/* A factor of the radix, itself if it is prime. */
__host__ __device__ constexpr int factor_of(int radix) {
    return radix == 4 ? 2 : radix % 4 == 0 ? 4 : radix % 2 == 0 ? 2 : radix % 3 == 0 ? 3 : radix;
}

/* DFT by its definition; elements i and radix - i have the same cosines and opposite sines. */
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

/* Multiplies by powers of a root: powers of two from the table, others as their products. */
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

} // namespace
