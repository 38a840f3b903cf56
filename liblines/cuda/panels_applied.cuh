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

struct alignas(2 * sizeof(double)) factor {
    double re, im;
};

/* The factor of mode `i` of a line, by a formula. */
__device__ __forceinline__ factor factor_of(const lines__operation *op, const modes_mode &line,
                                            unsigned i) {
    modes_mode mode = line;
    modes_place(&op->axes[0], i, &mode, nullptr);
    return {mode.factor[0] * modes_of_square(op->kind, mode.square, &op->constants),
            mode.factor[1]};
}

__device__ __forceinline__ factor read_factor(const lines__operation *op, const char *at) {
    if (op->multiplier_numbers == 2)
        return *reinterpret_cast<const factor *>(at);
    return {*reinterpret_cast<const double *>(at), 0};
}

template <class number>
__device__ __forceinline__ void multiply(const factor &by, number &x, number &y) {
    const number re = static_cast<number>(by.re), im = static_cast<number>(by.im), old = x;
    x = re * old - im * y;
    y = re * y + im * old;
}

template <class value>
__device__ __forceinline__ void multiply_both(const factor &first, const factor &second,
                                              complex<value> &z) {
    if constexpr (is_pair<value>) {
        multiply(first, z.x.a, z.y.a);
        multiply(second, z.x.b, z.y.b);
    } else
        multiply(first, z.x, z.y);
}

/* The factor, in a table, of a thread's first mode of a line. */
template <class value>
__device__ __forceinline__ const char *find_factor(const place<value, APPLIED> &at) {
    const lines__operation *op = at.lines.operation;
    const char *factor = op->multiplier + at.row * op->axes[0].multiplier +
                         at.lines.line.side * op->axes[1].multiplier;
#pragma unroll
    for (int i = 0; i < LINES__PANEL_LOOPS; i++)
        factor += at.lines.line.outer[i] * op->axes[2 + i].multiplier;
    return factor;
}

/* Multiplies by a table, which is in device memory: factors of some modes are read before the first one is used, and
 * the first of them while other threads write the last modes. */
template <class value>
__device__ __forceinline__ void multiply_by_table(const lines__panels &p,
                                                  const place<value, APPLIED> &at) {
    constexpr unsigned ahead = is_pair<value> ? 4 : 8;
    const lines__operation *op = at.lines.operation;
    const double scale = op->scale[0] + op->scale[1];
    const ptrdiff_t step = p.rows * op->axes[0].multiplier,
                    second = at.has_second ? p.second * op->axes[1].multiplier : 0;
    const char *from = find_factor(at);
    const unsigned end = at.is_line ? p.n : 0;
    for (unsigned begin = 0; begin < p.n; begin += ahead * p.rows) {
        factor by[ahead][2] = {};
#pragma unroll
        for (unsigned k = 0; k < ahead; k++, from += step)
            if (begin + k * p.rows + at.row < end) {
                by[k][0] = read_factor(op, from);
                if constexpr (is_pair<value>)
                    by[k][1] = read_factor(op, from + second);
            }
        if (begin == 0)
            __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < ahead; k++) {
            const unsigned i = begin + k * p.rows + at.row;
            if (i < end)
                multiply_both({scale * by[k][0].re, scale * by[k][0].im},
                              {scale * by[k][1].re, scale * by[k][1].im}, at.shared[i * p.pitch]);
        }
    }
}

template <class value>
__device__ __forceinline__ void multiply_by_formula(const lines__panels &p,
                                                    const place<value, APPLIED> &at) {
    const lines__operation *op = at.lines.operation;
    const unsigned side = at.lines.line.side, end = at.is_line ? p.n : 0;
    const modes_mode first = begin_line(at, side),
                     second = begin_line(at, at.has_second ? side + p.second : side);
    __syncthreads();
    for (unsigned i = at.row; i < end; i += p.rows)
        multiply_both(factor_of(op, first, i), factor_of(op, second, i), at.shared[i * p.pitch]);
}

/* All radix passes there, all back; the last one writes. The modes are in order in shared memory between both. */
template <class value, int least, int first, int rest>
__device__ __forceinline__ void
apply_panels(const lines__panels &p, const lines_of<value, APPLIED> &lines,
             const complex<scalar<value>> *roots, complex<value> *memory) {
    const place<value, APPLIED> at = find_place(p, lines, memory);
    choose_pass<value, least, first, FIRST>(p, 0, at, roots);
    __syncthreads();
    for (unsigned pass = 1; pass + 1 < 2 * p.npasses; pass++) {
        choose_pass<value, 1, first, MIDDLE>(p, pass < p.npasses ? pass : pass - p.npasses, at,
                                             roots);
        if (pass + 1 == p.npasses) {
            if (lines.operation->multiplier != nullptr)
                multiply_by_table(p, at);
            else
                multiply_by_formula(p, at);
        }
        __syncthreads();
    }
    choose_pass<value, 1, rest, LAST>(p, p.npasses - 1, at, roots);
}

} // namespace
