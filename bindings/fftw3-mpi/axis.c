/* SPDX-License-Identifier: BSD-3-Clause */
#include "axis.h"
#include "redist_support.h"

#include <math.h>

/* Returns the rows of libfftnd's array of n points: the divisor of n next to its root. */
static redist_index rows_of(redist_index n) {
    redist_index rows = (redist_index)sqrt((double)n) + 1;
    while (rows > n / rows || n % rows != 0)
        rows--;
    return rows;
}

ptrdiff_t fftnd_fftw__axis_elements(ptrdiff_t n, MPI_Comm comm) {
    int nranks;
    MPI_Comm_size(comm, &nranks);
    if (n < 1)
        return 0;
    redist_index rows = rows_of(n), columns = n / rows;
    redist_index by_rows = (rows + nranks - 1) / nranks * columns;
    redist_index by_columns = (columns + nranks - 1) / nranks * rows;
    return (ptrdiff_t)(by_rows > by_columns ? by_rows : by_columns);
}

/* Finds the parts: natural order has the rows of the transposed array; a single row is in natural order. */
static void find_parts(const struct fftnd_fftw__request *request, int spectral,
                       struct fftnd_fftw__axis *axis) {
    redist_index n = request->n[0], rows = rows_of(n);
    int nranks, rank;
    MPI_Comm_size(request->comm, &nranks);
    MPI_Comm_rank(request->comm, &rank);
    axis->scrambled = request->flags.scrambled[0] || request->flags.scrambled[1] || rows == 1;
    for (int array = 0; array < 2; array++) {
        redist_index parts = array == spectral && !axis->scrambled ? n / rows : rows;
        (void)redist_decompose(parts, nranks, rank, &axis->count[array], &axis->start[array]);
        axis->start[array] *= n / parts;
        axis->count[array] *= n / parts;
    }
}

/* Finds the sides whose parts differ from FFTW's. Collective. */
static int find_moves(const struct fftnd_fftw__request *request,
                      const struct fftnd_fftw__axis *axis, int moves[2]) {
    for (int array = 0; array < 2; array++)
        moves[array] = axis->count[array] != request->count[array] ||
                       (axis->count[array] > 0 && axis->start[array] != request->start[array]);
    return redist_all_reduce(request->comm, moves, 2, MPI_INT, MPI_MAX);
}

/* Plans a move; the numbers of a point are a second axis. */
static int plan_move(const struct fftnd_fftw__request *request, int array,
                     struct fftnd_fftw__axis *axis) {
    const redist_index numbers = 2 * (redist_index)request->howmany;
    const redist_index sizes[2] = {request->n[0], numbers};
    const redist_index *starts[2] = {request->start, axis->start};
    const redist_index *counts[2] = {request->count, axis->count};
    redist_box boxes[2] = {REDIST_BOX_DEFAULT, REDIST_BOX_DEFAULT};
    redist_options options = REDIST_OPTIONS_DEFAULT;
    for (int side = 0; side < 2; side++) {
        boxes[side].start[0] = starts[side][array];
        boxes[side].count[0] = counts[side][array];
        boxes[side].count[1] = numbers;
    }
    options.bind_a = REDIST_BIND_AT_EXECUTION;
    options.effort = REDIST_ESTIMATE;
    options.skip_agreement = 1;
    return redist_plan_boxes(request->comm, request->datatype, 2, sizes, &boxes[0], NULL, &boxes[1],
                             axis->work, &options, &axis->moves[array]);
}

int fftnd_fftw__axis_create(const struct fftnd_fftw__request *request, int spectral,
                            struct fftnd_fftw__axis *axis) {
    int moves[2];
    find_parts(request, spectral, axis);
    int code = find_moves(request, axis, moves);
    if (code == REDIST_OK && (moves[0] || moves[1]))
        code = redist_alloc_local(request->room, &axis->work);
    code = redist_agree(request->comm, code);
    for (int array = 0; array < 2 && code == REDIST_OK; array++)
        if (moves[array])
            code = plan_move(request, array, axis);
    if (code != REDIST_OK)
        fftnd_fftw__axis_destroy(axis);
    return code;
}

void fftnd_fftw__axis_destroy(struct fftnd_fftw__axis *axis) {
    for (int array = 0; array < 2; array++)
        (void)redist_plan_free(&axis->moves[array]);
    (void)redist_free(&axis->work);
}

void *fftnd_fftw__axis_array(const struct fftnd_fftw__axis *axis, int array, void *program) {
    return axis->moves[array] != NULL ? axis->work : program;
}

int fftnd_fftw__axis_move(const struct fftnd_fftw__axis *axis, int array, void *program) {
    if (axis->moves[array] == NULL)
        return REDIST_OK;
    return redist_plan_execute_arrays(
        axis->moves[array], array == 0 ? REDIST_FORWARD : REDIST_BACKWARD, program, axis->work);
}
