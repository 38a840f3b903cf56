/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of panels_cuda.cu for real-to-real transforms (panels_r2r.h): radix passes are in shared memory, between a
 * loop that reads points and one that writes them, two at a time whose elements are neighbours or are combined. */

namespace {

/* Work of a thread: its first line, and the lines from there to the end of the loop. */
template <class value> struct line_place {
    const scalar<value> *in;
    scalar<value> *out;
    complex<value> *shared;
    unsigned row, left;
    bool is_line;
};

template <class value>
__device__ __forceinline__ line_place<value> find_lines(const lines__panels &p, const void *in,
                                                        void *out, complex<value> *shared) {
    unsigned far = divide(threadIdx.x, p.threads), near = threadIdx.x - far * p.threads.n;
    unsigned thread = p.along ? far : near;
    unsigned rest = divide(blockIdx.x, p.panels), panel = blockIdx.x - rest * p.panels.n;
    unsigned line = panel * p.lines + (p.adjacent ? p.each * thread : thread);
    long long from = line * p.side.in, to = line * p.side.out;
#pragma unroll
    for (int i = 0; i < LINES__PANEL_LOOPS; i++) {
        unsigned next = divide(rest, p.counts[i]), index = rest - next * p.counts[i].n;
        from += index * p.outer[i].in;
        to += index * p.outer[i].out;
        rest = next;
    }
    return {static_cast<const scalar<value> *>(in) + from,
            static_cast<scalar<value> *>(out) + to,
            shared + thread * p.next,
            p.along ? near : far,
            p.side.n - line,
            line < p.side.n};
}

template <class value>
__device__ __forceinline__ complex<value> times_conjugate(complex<value> a,
                                                          complex<scalar<value>> b) {
    return times(a, {b.x, -b.y});
}

/* ---------------------------------------------------------------- numbers of lines */

/* Offset of a line of a thread; 0 if there is none, so that the first one is read again. */
template <class value>
__device__ __forceinline__ long long find_line(const lines__panels &p, const line_place<value> &at,
                                               unsigned line) {
    long long lines = line * p.second;
    return lines < at.left ? lines * p.side.in : 0;
}

template <class value>
__device__ __forceinline__ bool has_all_at_once(const lines__panels &p,
                                                const line_place<value> &at) {
    return p.adjacent && at.left >= p.each;
}

/* The element whose numbers are the imaginary parts of those of an element. */
__device__ __forceinline__ unsigned find_other(const lines__panels &p, unsigned element) {
    return p.r2r.folds ? p.r2r.n - 1 - element : element;
}

/* The element to read: where the input has none, its last one again, which take_zeros drops. */
__device__ __forceinline__ unsigned find_read(const lines__panels &p, unsigned element) {
    return min(element, p.r2r.count[0] - 1);
}

template <class value>
__device__ __forceinline__ void take_zeros(const lines__panels &p, unsigned element,
                                           complex<value> &z) {
    if (element >= p.r2r.count[0])
        z.x = {};
    if (find_other(p, element) >= p.r2r.count[0])
        z.y = {};
}

/* Reads numbers one by one: real and imaginary part of a point, each of two lines for a pair of floats. */
template <class value>
__device__ __forceinline__ complex<value>
read_numbers(const lines__panels &p, const line_place<value> &at, unsigned element) {
    const bool folds = p.r2r.folds;
    const scalar<value> *from = at.in + find_read(p, element) * p.axis.in,
                        *other = at.in + find_read(p, find_other(p, element)) * p.axis.in;
    if constexpr (is_pair<value>) {
        const long long one = find_line(p, at, 1);
        if (folds)
            return {{from[0], from[one]}, {other[0], other[one]}};
        return {{from[0], from[find_line(p, at, 2)]}, {from[one], from[find_line(p, at, 3)]}};
    } else {
        return {from[0], other[folds ? 0 : find_line(p, at, 1)]};
    }
}

/* Writes a number, unless the output lacks its line or element. */
template <class value>
__device__ __forceinline__ void write_line(const lines__panels &p, const line_place<value> &at,
                                           unsigned element, unsigned line, scalar<value> number) {
    long long lines = line * p.second;
    if (lines < at.left && element < p.r2r.count[1])
        at.out[element * p.axis.out + lines * p.side.out] = number;
}

template <class value>
__device__ __forceinline__ void write_numbers(const lines__panels &p, const line_place<value> &at,
                                              unsigned element, const complex<value> &z) {
    const unsigned other = find_other(p, element);
    const bool folds = p.r2r.folds;
    if constexpr (is_pair<value>) {
        write_line(p, at, element, 0, z.x.a);
        write_line(p, at, other, folds ? 0 : 1, z.y.a);
        write_line(p, at, element, folds ? 1 : 2, z.x.b);
        write_line(p, at, other, folds ? 1 : 3, z.y.b);
    } else {
        write_line(p, at, element, 0, z.x);
        write_line(p, at, other, folds ? 0 : 1, z.y);
    }
}

template <class value>
__device__ __forceinline__ void write_all_at_once(scalar<value> *to, const complex<value> &z) {
    complex<scalar<value>> *first = reinterpret_cast<complex<scalar<value>> *>(to);
    if constexpr (is_pair<value>)
        write_at_once<value>(first, z);
    else
        *first = z;
}

/* ---------------------------------------------------------------- points */

/* Two points that are read or written together, and their elements. */
struct two_points {
    unsigned point[2], element[2];
    bool is_one;
};

__device__ __forceinline__ two_points find_points(const lines__panels &p,
                                                  const lines__panel_map &map, unsigned i) {
    unsigned j = lines__r2r_partner(&map, p.n, i), element = lines__r2r_element(&map, i, 0);
    return {{i, j}, {element, i == j ? element : lines__r2r_element(&map, i, 1)}, i == j};
}

/* ---------------------------------------------------------------- modes of halved lines */

/* Makes points of real and imaginary parts of modes, each of all lines of a thread. */
template <class value>
__device__ __forceinline__ void read_halved(const lines__panels &p, const line_place<value> &at,
                                            unsigned element, complex<value> &first,
                                            complex<value> &second) {
    constexpr unsigned lines = is_pair<value> ? 4 : 2;
    complex<scalar<value>> z[lines];
#pragma unroll
    for (unsigned k = 0; k < lines; k++)
        z[k] = *reinterpret_cast<const complex<scalar<value>> *>(at.in + element * p.axis.in +
                                                                 find_line(p, at, k));
    if constexpr (is_pair<value>) {
        first = {{z[0].x, z[2].x}, {z[1].x, z[3].x}};
        second = {{z[0].y, z[2].y}, {z[1].y, z[3].y}};
    } else {
        first = {z[0].x, z[1].x};
        second = {z[0].y, z[1].y};
    }
}

template <class value>
__device__ __forceinline__ void write_mode_of(const lines__panels &p, const line_place<value> &at,
                                              unsigned element, unsigned line, scalar<value> x,
                                              scalar<value> y) {
    const long long lines = line * p.second;
    if (lines < at.left)
        *reinterpret_cast<complex<scalar<value>> *>(at.out + element * p.axis.out +
                                                    lines * p.side.out) = {x, y};
}

template <class value>
__device__ __forceinline__ void write_halved(const lines__panels &p, const line_place<value> &at,
                                             unsigned element, const complex<value> &first,
                                             const complex<value> &second) {
    if constexpr (is_pair<value>) {
        write_mode_of(p, at, element, 0, first.x.a, second.x.a);
        write_mode_of(p, at, element, 1, first.y.a, second.y.a);
        write_mode_of(p, at, element, 2, first.x.b, second.x.b);
        write_mode_of(p, at, element, 3, first.y.b, second.y.b);
    } else {
        write_mode_of(p, at, element, 0, first.x, second.x);
        write_mode_of(p, at, element, 1, first.y, second.y);
    }
}

/* ---------------------------------------------------------------- both ends */

/* Changes two points at one end of the transform. */
template <class value>
__device__ __forceinline__ void
change(const lines__panels &p, int step, const complex<scalar<value>> *factors,
       const two_points &pair, complex<value> &x, complex<value> &y) {
    if (!(p.r2r.changes & step))
        return;
    const complex<scalar<value>> a = factors[pair.point[0]], b = factors[pair.point[1]];
    const bool is_before = step == LINES__BEFORE;
    complex<value> first = times(x, a), second = times(y, b);
    if (p.r2r.combines & step) {
        first = first + times_conjugate(y, is_before ? b : a);
        second = second + times_conjugate(x, is_before ? a : b);
    }
    x = first;
    y = second;
}

/* Reads points; elements that are none, or that the input lacks, are zero. */
template <class value, unsigned count>
__device__ __forceinline__ void read_points(const lines__panels &p, const line_place<value> &at,
                                            const two_points (&twos)[count],
                                            complex<value> (&x)[2 * count]) {
    if (p.r2r.in.is_halved) {
#pragma unroll
        for (unsigned k = 0; k < count; k++) {
            read_halved(p, at, twos[k].element[0], x[2 * k], x[2 * k + 1]);
            if (twos[k].is_one)
                x[2 * k + 1] = x[2 * k];
        }
        return;
    }
    if (has_all_at_once(p, at)) {
#pragma unroll
        for (unsigned k = 0; k < 2 * count; k++)
            x[k] = read_at_once<value>(reinterpret_cast<const complex<scalar<value>> *>(
                at.in + find_read(p, twos[k / 2].element[k % 2]) * p.axis.in));
    } else {
#pragma unroll
        for (unsigned k = 0; k < 2 * count; k++)
            x[k] = read_numbers(p, at, twos[k / 2].element[k % 2]);
    }
#pragma unroll
    for (unsigned k = 0; k < 2 * count; k++)
        take_zeros(p, twos[k / 2].element[k % 2], x[k]);
}

/* Reads lines, several pairs of points at once; the first pair again where there are no more. */
template <class value, unsigned count>
__device__ __forceinline__ void read_lines(const lines__panels &p, const line_place<value> &at,
                                           const complex<scalar<value>> *factors) {
    const lines__panel_map &map = p.r2r.in;
    for (unsigned i = at.row; at.is_line && 2 * i <= map.sum; i += count * p.rows) {
        two_points twos[count];
        complex<value> x[2 * count];
#pragma unroll
        for (unsigned k = 0; k < count; k++)
            twos[k] = find_points(p, map, 2 * (i + k * p.rows) <= map.sum ? i + k * p.rows : i);
        read_points(p, at, twos, x);
#pragma unroll
        for (unsigned k = 0; k < count; k++) {
            complex<value> &first = x[2 * k], &second = x[2 * k + 1];
            if (map.negates && !twos[k].is_one)
                second = {-second.x, -second.y};
            change(p, LINES__BEFORE, factors, twos[k], first, second);
            at.shared[twos[k].point[0] * p.pitch] = first;
            at.shared[twos[k].point[1] * p.pitch] = second;
        }
    }
}

template <class value>
__device__ __forceinline__ void write_point(const lines__panels &p, const line_place<value> &at,
                                            unsigned element, const complex<value> &z) {
    if (!has_all_at_once(p, at))
        write_numbers(p, at, element, p.r2r.conjugates ? complex<value>{z.x, -z.y} : z);
    else if (element < p.r2r.count[1])
        write_all_at_once<value>(at.out + element * p.axis.out, z);
}

template <class value>
__device__ __forceinline__ void write_lines(const lines__panels &p, const line_place<value> &at,
                                            const complex<scalar<value>> *factors) {
    const lines__panel_map &map = p.r2r.out;
    for (unsigned i = at.row; at.is_line && 2 * i <= map.sum; i += p.rows) {
        const two_points pair = find_points(p, map, i);
        complex<value> points[2] = {at.shared[pair.point[0] * p.pitch],
                                    at.shared[pair.point[1] * p.pitch]};
        complex<value> &first = points[0], &second = points[1];
        change(p, LINES__AFTER, factors, pair, first, second);
        multiply_all(p.scale, points);
        if (map.is_halved) {
            write_halved(p, at, pair.element[0], first, pair.is_one ? complex<value>{} : second);
            continue;
        }
        write_point(p, at, pair.element[0], first);
        if (!pair.is_one)
            write_point(p, at, pair.element[1],
                        map.negates ? complex<value>{-second.x, -second.y} : second);
    }
}

template <class value, int most>
__device__ __forceinline__ void transform_r2r_lines(const lines__panels &p, const void *in,
                                                    void *out, const complex<scalar<value>> *roots,
                                                    complex<value> *shared) {
    constexpr unsigned pairs_at_once = KERNEL == 0 ? 2 : 4;
    const line_place<value> at = find_lines(p, in, out, shared);
    place<value, WHOLE> within;
    within.shared = at.shared;
    within.row = at.row;
    within.is_line = at.is_line;
    read_lines<value, pairs_at_once>(p, at, roots + p.n);
    __syncthreads();
    for (unsigned pass = 0; pass < p.npasses; pass++) {
        choose_pass<value, 1, most, MIDDLE>(p, pass, within, roots);
        __syncthreads();
    }
    write_lines(p, at, roots + p.n);
}

} // namespace
