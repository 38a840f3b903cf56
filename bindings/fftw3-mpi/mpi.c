/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW's MPI functions. FFTW's variants for two, three and any number of axes are one function here; plans that cannot
 * be made here are FFTW's own.
 */
#include "axis.h"
#include "names.h"
#include "redist_support.h"
#include "report.h"

#include <stdint.h>
#include <string.h>

/* ---------------------------------------------------------------- global functions */

EXPORT void XM(init)(void) {
    FFTW_MPI(init)();
}

EXPORT void XM(cleanup)(void) {
    FFTW_MPI(cleanup)();
}

EXPORT void XM(gather_wisdom)(MPI_Comm comm) {
    FFTW_MPI(gather_wisdom)(comm);
}

EXPORT void XM(broadcast_wisdom)(MPI_Comm comm) {
    FFTW_MPI(broadcast_wisdom)(comm);
}

/* The program's limit. libfftnd sets limits while it plans, also in an execution, and none afterwards; then the
 * program's is restored. */
static double time_limit = FFTW_NO_TIMELIMIT;

EXPORT void X(set_timelimit)(double seconds) {
    if (!fftnd_fftw__is_inside)
        time_limit = seconds;
    FFTW(set_timelimit)(fftnd_fftw__is_inside && seconds < 0 ? time_limit : seconds);
}

EXPORT void X(forget_wisdom)(void) {
    redist_forget_wisdom();
    FFTW(forget_wisdom)();
}

/* ---------------------------------------------------------------- local sizes, as FFTW's */

/* Enlarges a local size: libfftnd splits axes that are neither the input's nor the output's first one in balanced
 * parts, of which those of the last ranks are larger than FFTW's. */
static ptrdiff_t enlarge(ptrdiff_t fftw, int rank, const ptrdiff_t *n, ptrdiff_t howmany,
                         MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    ptrdiff_t rest = howmany, larger = fftw;
    for (int axis = 2; axis < rank; axis++)
        rest *= n[axis];
    for (int axis = 0; axis < 2 && rank >= 2; axis++) {
        ptrdiff_t part = (n[axis] + size - 1) / size * n[!axis] * rest;
        larger = part > larger ? part : larger;
    }
    return larger;
}

EXPORT ptrdiff_t XM(local_size_many_transposed)(int rank, const ptrdiff_t *n, ptrdiff_t howmany,
                                                ptrdiff_t block0, ptrdiff_t block1, MPI_Comm comm,
                                                ptrdiff_t *local_n0, ptrdiff_t *local_0_start,
                                                ptrdiff_t *local_n1, ptrdiff_t *local_1_start) {
    ptrdiff_t all = FFTW_MPI(local_size_many_transposed)(
        rank, n, howmany, block0, block1, comm, local_n0, local_0_start, local_n1, local_1_start);
    return enlarge(all, rank, n, howmany, comm);
}

EXPORT ptrdiff_t XM(local_size_many)(int rank, const ptrdiff_t *n, ptrdiff_t howmany,
                                     ptrdiff_t block0, MPI_Comm comm, ptrdiff_t *local_n0,
                                     ptrdiff_t *local_0_start) {
    ptrdiff_t all =
        FFTW_MPI(local_size_many)(rank, n, howmany, block0, comm, local_n0, local_0_start);
    return enlarge(all, rank, n, howmany, comm);
}

EXPORT ptrdiff_t XM(local_size_many_1d)(ptrdiff_t n0, ptrdiff_t howmany, MPI_Comm comm, int sign,
                                        unsigned flags, ptrdiff_t *local_ni,
                                        ptrdiff_t *local_i_start, ptrdiff_t *local_no,
                                        ptrdiff_t *local_o_start) {
    ptrdiff_t all = FFTW_MPI(local_size_many_1d)(n0, howmany, comm, sign, flags, local_ni,
                                                 local_i_start, local_no, local_o_start);
    ptrdiff_t rows = fftnd_fftw__axis_elements(n0, comm) * howmany;
    return all > rows ? all : rows;
}

EXPORT ptrdiff_t XM(local_size_transposed)(int rank, const ptrdiff_t *n, MPI_Comm comm,
                                           ptrdiff_t *local_n0, ptrdiff_t *local_0_start,
                                           ptrdiff_t *local_n1, ptrdiff_t *local_1_start) {
    return XM(local_size_many_transposed)(rank, n, 1, FFTW_MPI_DEFAULT_BLOCK,
                                          FFTW_MPI_DEFAULT_BLOCK, comm, local_n0, local_0_start,
                                          local_n1, local_1_start);
}

EXPORT ptrdiff_t XM(local_size)(int rank, const ptrdiff_t *n, MPI_Comm comm, ptrdiff_t *local_n0,
                                ptrdiff_t *local_0_start) {
    return XM(local_size_many)(rank, n, 1, FFTW_MPI_DEFAULT_BLOCK, comm, local_n0, local_0_start);
}

EXPORT ptrdiff_t XM(local_size_1d)(ptrdiff_t n0, MPI_Comm comm, int sign, unsigned flags,
                                   ptrdiff_t *local_ni, ptrdiff_t *local_i_start,
                                   ptrdiff_t *local_no, ptrdiff_t *local_o_start) {
    return XM(local_size_many_1d)(n0, 1, comm, sign, flags, local_ni, local_i_start, local_no,
                                  local_o_start);
}

EXPORT ptrdiff_t XM(local_size_2d)(ptrdiff_t n0, ptrdiff_t n1, MPI_Comm comm, ptrdiff_t *local_n0,
                                   ptrdiff_t *local_0_start) {
    const ptrdiff_t n[] = {n0, n1};
    return XM(local_size)(2, n, comm, local_n0, local_0_start);
}

EXPORT ptrdiff_t XM(local_size_2d_transposed)(ptrdiff_t n0, ptrdiff_t n1, MPI_Comm comm,
                                              ptrdiff_t *local_n0, ptrdiff_t *local_0_start,
                                              ptrdiff_t *local_n1, ptrdiff_t *local_1_start) {
    const ptrdiff_t n[] = {n0, n1};
    return XM(local_size_transposed)(2, n, comm, local_n0, local_0_start, local_n1, local_1_start);
}

EXPORT ptrdiff_t XM(local_size_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, MPI_Comm comm,
                                   ptrdiff_t *local_n0, ptrdiff_t *local_0_start) {
    const ptrdiff_t n[] = {n0, n1, n2};
    return XM(local_size)(3, n, comm, local_n0, local_0_start);
}

EXPORT ptrdiff_t XM(local_size_3d_transposed)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2,
                                              MPI_Comm comm, ptrdiff_t *local_n0,
                                              ptrdiff_t *local_0_start, ptrdiff_t *local_n1,
                                              ptrdiff_t *local_1_start) {
    const ptrdiff_t n[] = {n0, n1, n2};
    return XM(local_size_transposed)(3, n, comm, local_n0, local_0_start, local_n1, local_1_start);
}

/* ---------------------------------------------------------------- plans */

/* Reads the flags; by default complex to real destroys its input, as in FFTW. */
static struct fftnd_fftw__flags read_flags(unsigned flags, int destroys) {
    struct fftnd_fftw__flags read = {
        .transposed = {(flags & FFTW_MPI_TRANSPOSED_IN) != 0,
                       (flags & FFTW_MPI_TRANSPOSED_OUT) != 0},
        .scrambled = {(flags & FFTW_MPI_SCRAMBLED_IN) != 0, (flags & FFTW_MPI_SCRAMBLED_OUT) != 0},
        .may_destroy_input =
            (flags & FFTW_DESTROY_INPUT) != 0 || (destroys && (flags & FFTW_PRESERVE_INPUT) == 0),
        .wisdom_only = (flags & FFTW_WISDOM_ONLY) != 0,
        .effort = FFTND_MEASURE};
    if (flags & FFTW_ESTIMATE || time_limit == 0)
        read.effort = FFTND_ESTIMATE;
    else if (flags & (FFTW_PATIENT | FFTW_EXHAUSTIVE))
        read.effort = FFTND_PATIENT;
    return read;
}

/* Finds the threads set by plan_with_nthreads. */
static int find_threads(void) {
    int (*threads)(void) = (int (*)(void))fftnd_fftw__find(TEXT(X(planner_nthreads)));
    return threads != NULL ? threads() : 1;
}

/* Agrees that all ranks transform in place, or none; those without data may have no arrays. */
static int agree_in_place(MPI_Comm comm, const void *in, const void *out) {
    int same = in == out;
    return redist_all_lowest(comm, same, &same) == REDIST_OK && same;
}

/* Finds this rank's part of one axis, and the elements to allocate. */
static ptrdiff_t find_parts(struct fftnd_fftw__request *request, unsigned flags) {
    ptrdiff_t count[2], start[2];
    int nranks, rank, sign = request->backward ? FFTW_BACKWARD : FFTW_FORWARD;
    MPI_Comm_size(request->comm, &nranks);
    MPI_Comm_rank(request->comm, &rank);
    ptrdiff_t all = XM(local_size_many_1d)(request->n[0], request->howmany, request->comm, sign,
                                           flags, &count[0], &start[0], &count[1], &start[1]);
    for (int array = 0; array < 2; array++) {
        request->start[array] = start[array];
        request->count[array] = count[array];
        if (request->blocks[array] > 0)
            fftnd_fftw__block(request->n[0], request->blocks[array], nranks, rank,
                              &request->start[array], &request->count[array]);
    }
    return all;
}

/* Returns the elements to allocate for several axes. */
static ptrdiff_t find_elements(const struct fftnd_fftw__request *request) {
    ptrdiff_t n[REDIST_MAX_NDIMS], count[2], start[2], most = 0;
    const int *split = request->flags.transposed;
    memcpy(n, request->n, (size_t)request->rank * sizeof *n);
    if (request->kind == FFTND_R2C)
        n[request->rank - 1] = n[request->rank - 1] / 2 + 1;
    for (int array = 0; array < 2; array++) {
        ptrdiff_t blocks[2] = {0, 0};
        blocks[split[!array]] = request->blocks[!array];
        blocks[split[array]] = request->blocks[array];
        ptrdiff_t all = XM(local_size_many_transposed)(request->rank, n, request->howmany,
                                                       blocks[0], blocks[1], request->comm,
                                                       &count[0], &start[0], &count[1], &start[1]);
        most = all > most ? all : most;
    }
    return most;
}

/* Finds the sizes of local_size. Extents without elements and negative blocks, by which FFTW's local_size divides, are
 * refused later. */
static void find_sizes(struct fftnd_fftw__request *request, unsigned flags) {
    size_t number = (request->kind == FFTND_R2R ? 1 : 2) * sizeof(real);
    request->room = SIZE_MAX;
    if (request->rank < 1 || request->rank >= REDIST_MAX_NDIMS || request->howmany < 1)
        return;
    if (request->blocks[0] < 0 || request->blocks[1] < 0)
        return;
    for (int axis = 0; axis < request->rank; axis++)
        if (request->n[axis] < 1)
            return;
    if (request->rank > 1)
        request->room = (size_t)find_elements(request) * number;
    else if (request->kind == FFTND_C2C)
        request->room = (size_t)find_parts(request, flags) * number;
}

/* Makes a plan here, or returns 0 if FFTW has to make it. Scrambled plans are never FFTW's, as the order of their modes
 * is this library's. */
static int make(struct fftnd_fftw__request request, unsigned flags, X(plan) * result) {
    struct fftnd_fftw__plan *plan = NULL;
    double begun = MPI_Wtime();
    request.precision = PRECISION;
    request.datatype = DATATYPE;
    request.number_bytes = sizeof(real);
    request.in_place = agree_in_place(request.comm, request.in, request.out);
    request.flags = read_flags(flags, request.kind == FFTND_R2C && request.backward);
    request.threads = find_threads();
    request.time_limit = time_limit;
    find_sizes(&request, flags);
    fftnd_fftw__is_inside = 1;
    int code = fftnd_fftw__plan_create(&request, &plan);
    fftnd_fftw__is_inside = 0;
    FFTW(set_timelimit)(time_limit);
    if (code == REDIST_OK)
        fftnd_fftw__report_plan(request.function, MPI_Wtime() - begun);
    else
        fftnd_fftw__report_passed(request.function, redist_error_message());
    *result = (X(plan))(void *)plan;
    return plan != NULL || request.flags.scrambled[0] || request.flags.scrambled[1];
}

/* The common call of most of FFTW's functions for plans. */
#define REQUEST(name, ...)                                                                         \
    (struct fftnd_fftw__request) {                                                                 \
        .function = #name, .comm = comm, .howmany = howmany, .in = in, .out = out, __VA_ARGS__     \
    }
#define TRANSFORM(name, type, ...)                                                                 \
    REQUEST(name, .create = fftnd_fftw__transform_create, .rank = rank, .n = n,                    \
            .blocks = {iblock, oblock}, .kind = type, __VA_ARGS__)

EXPORT X(plan)
    XM(plan_many_transpose)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t howmany, ptrdiff_t block0,
                            ptrdiff_t block1, real *in, real *out, MPI_Comm comm, unsigned flags) {
    const ptrdiff_t n[] = {n0, n1};
    X(plan) plan;
    return make(REQUEST(plan_many_transpose, .create = fftnd_fftw__transpose_create, .rank = 2,
                        .n = n, .blocks = {block0, block1}),
                flags, &plan)
               ? plan
               : FFTW_MPI(plan_many_transpose)(n0, n1, howmany, block0, block1, in, out, comm,
                                               flags);
}

EXPORT X(plan) XM(plan_transpose)(ptrdiff_t n0, ptrdiff_t n1, real *in, real *out, MPI_Comm comm,
                                  unsigned flags) {
    return XM(plan_many_transpose)(n0, n1, 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK, in,
                                   out, comm, flags);
}

EXPORT X(plan) XM(plan_many_dft)(int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t iblock,
                                 ptrdiff_t oblock, complex_number *in, complex_number *out,
                                 MPI_Comm comm, int sign, unsigned flags) {
    X(plan) plan;
    return make(TRANSFORM(plan_many_dft, FFTND_C2C, .backward = sign == FFTW_BACKWARD), flags,
                &plan)
               ? plan
               : FFTW_MPI(plan_many_dft)(rank, n, howmany, iblock, oblock, in, out, comm, sign,
                                         flags);
}

EXPORT X(plan) XM(plan_dft)(int rank, const ptrdiff_t *n, complex_number *in, complex_number *out,
                            MPI_Comm comm, int sign, unsigned flags) {
    return XM(plan_many_dft)(rank, n, 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK, in, out,
                             comm, sign, flags);
}

EXPORT X(plan) XM(plan_dft_1d)(ptrdiff_t n0, complex_number *in, complex_number *out, MPI_Comm comm,
                               int sign, unsigned flags) {
    return XM(plan_dft)(1, &n0, in, out, comm, sign, flags);
}

EXPORT X(plan) XM(plan_dft_2d)(ptrdiff_t n0, ptrdiff_t n1, complex_number *in, complex_number *out,
                               MPI_Comm comm, int sign, unsigned flags) {
    const ptrdiff_t n[] = {n0, n1};
    return XM(plan_dft)(2, n, in, out, comm, sign, flags);
}

EXPORT X(plan) XM(plan_dft_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, complex_number *in,
                               complex_number *out, MPI_Comm comm, int sign, unsigned flags) {
    const ptrdiff_t n[] = {n0, n1, n2};
    return XM(plan_dft)(3, n, in, out, comm, sign, flags);
}

/* Transforms of real numbers to complex ones, or back. */
#define REAL_TRANSFORMS(name, source, target, is_backward)                                         \
    EXPORT X(plan) XM(plan_many_##name)(int rank, const ptrdiff_t *n, ptrdiff_t howmany,           \
                                        ptrdiff_t iblock, ptrdiff_t oblock, source *in,            \
                                        target *out, MPI_Comm comm, unsigned flags) {              \
        X(plan) plan;                                                                              \
        return make(TRANSFORM(plan_many_##name, FFTND_R2C, .backward = is_backward), flags, &plan) \
                   ? plan                                                                          \
                   : FFTW_MPI(plan_many_##name)(rank, n, howmany, iblock, oblock, in, out, comm,   \
                                                flags);                                            \
    }                                                                                              \
    EXPORT X(plan) XM(plan_##name)(int rank, const ptrdiff_t *n, source *in, target *out,          \
                                   MPI_Comm comm, unsigned flags) {                                \
        return XM(plan_many_##name)(rank, n, 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK,    \
                                    in, out, comm, flags);                                         \
    }                                                                                              \
    EXPORT X(plan) XM(plan_##name##_2d)(ptrdiff_t n0, ptrdiff_t n1, source * in, target * out,     \
                                        MPI_Comm comm, unsigned flags) {                           \
        const ptrdiff_t n[] = {n0, n1};                                                            \
        return XM(plan_##name)(2, n, in, out, comm, flags);                                        \
    }                                                                                              \
    EXPORT X(plan) XM(plan_##name##_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, source * in,     \
                                        target * out, MPI_Comm comm, unsigned flags) {             \
        const ptrdiff_t n[] = {n0, n1, n2};                                                        \
        return XM(plan_##name)(3, n, in, out, comm, flags);                                        \
    }
REAL_TRANSFORMS(dft_r2c, real, complex_number, 0)
REAL_TRANSFORMS(dft_c2r, complex_number, real, 1)

EXPORT X(plan) XM(plan_many_r2r)(int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t iblock,
                                 ptrdiff_t oblock, real *in, real *out, MPI_Comm comm,
                                 const X(r2r_kind) * kind, unsigned flags) {
    int kinds[REDIST_MAX_NDIMS];
    X(plan) plan;
    for (int axis = 0; axis < rank && axis < REDIST_MAX_NDIMS; axis++)
        kinds[axis] = (int)kind[axis];
    return make(TRANSFORM(plan_many_r2r, FFTND_R2R, .r2r = kinds), flags, &plan)
               ? plan
               : FFTW_MPI(plan_many_r2r)(rank, n, howmany, iblock, oblock, in, out, comm, kind,
                                         flags);
}

EXPORT X(plan) XM(plan_r2r)(int rank, const ptrdiff_t *n, real *in, real *out, MPI_Comm comm,
                            const X(r2r_kind) * kind, unsigned flags) {
    return XM(plan_many_r2r)(rank, n, 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK, in, out,
                             comm, kind, flags);
}

EXPORT X(plan) XM(plan_r2r_2d)(ptrdiff_t n0, ptrdiff_t n1, real *in, real *out, MPI_Comm comm,
                               X(r2r_kind) kind0, X(r2r_kind) kind1, unsigned flags) {
    const ptrdiff_t n[] = {n0, n1};
    const X(r2r_kind) kind[] = {kind0, kind1};
    return XM(plan_r2r)(2, n, in, out, comm, kind, flags);
}

EXPORT X(plan)
    XM(plan_r2r_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, real *in, real *out, MPI_Comm comm,
                    X(r2r_kind) kind0, X(r2r_kind) kind1, X(r2r_kind) kind2, unsigned flags) {
    const ptrdiff_t n[] = {n0, n1, n2};
    const X(r2r_kind) kind[] = {kind0, kind1, kind2};
    return XM(plan_r2r)(3, n, in, out, comm, kind, flags);
}
