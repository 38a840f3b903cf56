/* SPDX-License-Identifier: BSD-3-Clause */
/* Round trips of panels_cuda.cu: lines are transformed, multiplied mode by mode and transformed back, in one sweep. */

namespace {

LINES__OPERATE_ELEMENT(modes, double, double)

/* Finds what all modes of a line have in common. */
template <class value>
__device__ __forceinline__ modes_mode begin_line(const place<value, APPLIED> &at, unsigned side) {
    const lines__operation *op = at.lines.operation;
    modes_mode mode;
    modes_begin(op, &mode);
    modes_place(&op->axes[1], side, &mode, nullptr);
#pragma unroll
    for (int i = 0; i < LINES__PANEL_LOOPS; i++)
        modes_place(&op->axes[2 + i], at.lines.line.outer[i], &mode, nullptr);
    return mode;
}

struct factor {
    double re, im;
};

__device__ __forceinline__ factor factor_of(const lines__operation *op, const modes_mode &line,
                                            unsigned i) {
    modes_mode mode = line;
    double by[2];
    modes_place(&op->axes[0], i, &mode, nullptr);
    modes_symbol(op, &mode, by);
    return {by[0], by[1]};
}

template <class number>
__device__ __forceinline__ void multiply(const factor &by, number &x, number &y) {
    const number re = static_cast<number>(by.re), im = static_cast<number>(by.im), old = x;
    x = re * old - im * y;
    y = re * y + im * old;
}

/* Multiplies the modes, which are in order in shared memory. */
template <class value>
__device__ __forceinline__ void multiply_modes(const lines__panels &p,
                                               const place<value, APPLIED> &at) {
    const lines__operation *op = at.lines.operation;
    const unsigned side = at.lines.line.side;
    if (!at.is_line)
        return;
    const modes_mode first = begin_line(at, side),
                     second = begin_line(at, at.has_second ? side + p.second : side);
    for (unsigned i = at.row; i < p.n; i += p.rows) {
        complex<value> &z = at.shared[i * p.pitch];
        if constexpr (is_pair<value>) {
            multiply(factor_of(op, first, i), z.x.a, z.y.a);
            multiply(factor_of(op, second, i), z.x.b, z.y.b);
        } else
            multiply(factor_of(op, first, i), z.x, z.y);
    }
}

/* All radix passes there, all back; the last one writes. */
template <class value, int least, int first, int rest>
__device__ __forceinline__ void
apply_panels(const lines__panels &p, const lines_of<value, APPLIED> &lines,
             const complex<scalar<value>> *roots, complex<value> *memory) {
    const place<value, APPLIED> at = find_place(p, lines, memory);
    choose_pass<value, least, first, FIRST>(p, 0, at, roots);
    __syncthreads();
    for (unsigned pass = 1; pass + 1 < 2 * p.npasses; pass++) {
        if (pass == p.npasses) {
            multiply_modes(p, at);
            __syncthreads();
        }
        choose_pass<value, 1, first, MIDDLE>(p, pass < p.npasses ? pass : pass - p.npasses, at,
                                             roots);
        __syncthreads();
    }
    choose_pass<value, 1, rest, LAST>(p, p.npasses - 1, at, roots);
}

} // namespace
