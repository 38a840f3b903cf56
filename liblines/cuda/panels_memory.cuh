/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of a thread's lines in panels_cuda.cu, for each sort of lines, and access to their elements. */

namespace {

/* Sorts of lines: whole, with a gap in one array, stored directly in targets, whole with an operator. */
enum sort { WHOLE, RETAINED, STORES, APPLIED };

/* Addresses of a thread's lines. */
template <class value, sort how> struct lines_of {
    const complex<scalar<value>> *in;
    complex<scalar<value>> *out;

    __device__ __forceinline__ void set(const lines__panels &p, unsigned side) {
        in += side * p.side.in;
        out += side * p.side.out;
    }
    __device__ __forceinline__ void set_outer(const lines__panels &p, int loop, unsigned index) {
        in += index * p.outer[loop].in;
        out += index * p.outer[loop].out;
    }
};

/* The same, and their modes half-way. */
template <class value> struct lines_of<value, RETAINED> : lines_of<value, WHOLE> {
    const lines__panel_gap *gap;
    complex<scalar<value>> *half_way;

    __device__ __forceinline__ void set(const lines__panels &p, unsigned side) {
        lines_of<value, WHOLE>::set(p, side);
        half_way += side * gap->side;
    }
    __device__ __forceinline__ void set_outer(const lines__panels &p, int loop, unsigned index) {
        lines_of<value, WHOLE>::set_outer(p, loop, index);
        half_way += index * gap->outer[loop];
    }
};

/* Addresses of the input, and numbers of the lines in the targets. */
template <class value> struct lines_of<value, STORES> {
    const complex<scalar<value>> *in;
    const lines__panel_targets *targets;
    lines__panel_line line;

    __device__ __forceinline__ void set(const lines__panels &p, unsigned side) {
        in += side * p.side.in;
        line.side = side;
    }
    __device__ __forceinline__ void set_outer(const lines__panels &p, int loop, unsigned index) {
        in += index * p.outer[loop].in;
        line.outer[loop] = index;
    }
};

/* The same, and their numbers in the operation. */
template <class value> struct lines_of<value, APPLIED> : lines_of<value, WHOLE> {
    const lines__operation *operation;
    lines__panel_line line;

    __device__ __forceinline__ void set(const lines__panels &p, unsigned side) {
        lines_of<value, WHOLE>::set(p, side);
        line.side = side;
    }
    __device__ __forceinline__ void set_outer(const lines__panels &p, int loop, unsigned index) {
        lines_of<value, WHOLE>::set_outer(p, loop, index);
        line.outer[loop] = index;
    }
};

/* Work of a thread. */
template <class value, sort how> struct place {
    lines_of<value, how> lines;
    complex<value> *shared;
    unsigned row;
    bool is_line, has_second;
};

template <class value, sort how>
__device__ __forceinline__ place<value, how>
find_place(const lines__panels &p, const lines_of<value, how> &lines, complex<value> *shared) {
    place<value, how> at;
    unsigned far = divide(threadIdx.x, p.threads), near = threadIdx.x - far * p.threads.n;
    unsigned line = p.along ? far : near;
    unsigned rest = divide(blockIdx.x, p.panels), panel = blockIdx.x - rest * p.panels.n;
    unsigned side = panel * p.lines + (p.adjacent ? 2 * line : line);
    at.row = p.along ? near : far;
    at.is_line = side < p.side.n;
    at.has_second = side + p.second < p.side.n;
    at.shared = shared + line * p.next;
    at.lines = lines;
    at.lines.set(p, side);
#pragma unroll
    for (int i = 0; i < LINES__PANEL_LOOPS; i++) {
        unsigned next = divide(rest, p.counts[i]);
        at.lines.set_outer(p, i, rest - next * p.counts[i].n);
        rest = next;
    }
    return at;
}

/* Reads 16 bytes in one access, where the compiler would read the halves of a pair of floats one after the other. The
 * rest of the 128 bytes is in the cache when the neighbouring panel reads it, which saves 4 % where panels are narrow
 * (docs/performance-notebook.md, "Lines on one GPU"). */
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

/* Loads elements `step` apart; of a pair of lines both, or the only one twice. */
template <class value, int radix, sort how>
__device__ __forceinline__ void load(const lines__panels &p, const place<value, how> &at,
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

/* Stores elements `step` apart, the first one elsewhere. */
template <class value, int radix, sort how>
__device__ __forceinline__ void store(const lines__panels &p, const place<value, how> &at,
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

/* Moves *at, the place of element `i` of a line without a gap, to where it is, and sets the distance of the second
 * line; false in the gap. */
template <class value, class pointer>
__device__ __forceinline__ bool find_retained(const lines__panels &p,
                                              const lines_of<value, RETAINED> &lines, unsigned i,
                                              pointer *at, long long *second) {
    const lines__panel_gap &gap = *lines.gap;
    bool is_half_way = i == gap.half[0] || i == gap.half[1];
    *at = is_half_way ? lines.half_way : i >= gap.high ? *at - gap.shift : *at;
    *second = is_half_way ? p.second * gap.side : *second;
    return is_half_way || i < gap.low || i >= gap.high;
}

/* Reads an element; the second line is `second` elements further. */
template <class value, sort how>
__device__ __forceinline__ complex<value>
read_one(const lines__panels &p, const place<value, how> &at, const complex<scalar<value>> *from,
         long long second) {
    if constexpr (!is_pair<value>) {
        return read_at_once<value>(from);
    } else {
        if (p.adjacent && at.has_second)
            return read_at_once<value>(from);
        const complex<float> *other = from + (at.has_second ? second : 0);
        return {{from->x, other->x}, {from->y, other->y}};
    }
}

template <class value>
__device__ __forceinline__ complex<value>
read_retained(const lines__panels &p, const place<value, RETAINED> &at, unsigned i,
              const complex<scalar<value>> *from) {
    long long second = p.second * p.side.in;
    if (!find_retained(p, at.lines, i, &from, &second))
        return {};
    return read_one(p, at, from, second);
}

/* Writes an element; the second line is `second` elements further. */
template <class value, sort how>
__device__ __forceinline__ void write_one(const lines__panels &p, const place<value, how> &at,
                                          complex<scalar<value>> *to, long long second,
                                          const complex<value> &z) {
    if constexpr (!is_pair<value>) {
        *to = z;
    } else if (p.adjacent && at.has_second) {
        write_at_once<value>(to, z);
    } else {
        *to = {z.x.a, z.y.a};
        if (at.has_second)
            to[second] = {z.x.b, z.y.b};
    }
}

template <class value>
__device__ __forceinline__ void
write_retained(const lines__panels &p, const place<value, RETAINED> &at, unsigned i,
               complex<scalar<value>> *to, const complex<value> &z) {
    long long second = p.second * p.side.out;
    if (find_retained(p, at.lines, i, &to, &second))
        write_one(p, at, to, second, z);
}

/* Loads elements of a butterfly, `apart` in the line and `step` in memory; those that are not filled are zero. */
template <class value, int radix, sort how>
__device__ __forceinline__ void
load_filled(const lines__panels &p, const place<value, how> &at, unsigned butterfly, unsigned apart,
            const complex<scalar<value>> *from, long long step, complex<value> (&x)[radix]) {
#pragma unroll
    for (int k = 0; k < radix; k++, from += step) {
        x[k] = {};
        if (butterfly + k * apart < p.filled)
            x[k] = read_one(p, at, from, p.second * p.side.in);
    }
}

/* Stores elements from `i` on in falling order, except those that are not filled; number n is the first one. */
template <class value, int radix, sort how>
__device__ __forceinline__ void store_filled(const lines__panels &p, const place<value, how> &at,
                                             unsigned i, unsigned apart, complex<scalar<value>> *to,
                                             long long step, const complex<value> (&x)[radix]) {
    if (i == p.n)
        write_one(p, at, at.lines.out, p.second * p.side.out, x[0]);
#pragma unroll
    for (int k = 0; k < radix; k++, to -= step)
        if (i - k * apart < p.filled)
            write_one(p, at, to, p.second * p.side.out, x[k]);
}

template <class value>
__device__ __forceinline__ void write_target(const lines__panels &p, const place<value, STORES> &at,
                                             unsigned i, const complex<value> &z) {
    const lines__panel_target *target = lines__panel_target_of(at.lines.targets, i);
    complex<scalar<value>> *to = static_cast<complex<scalar<value>> *>(target->base) +
                                 lines__panel_place(target, &at.lines.line, i);
    write_one(p, at, to, p.second * target->side, z);
}

} // namespace
