/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of operators: a line of the table each. */
#include "redist_support.h"
#include "rows.h"

/* ---------------------------------------------------------------- the user's functions */

static int call(const struct fftnd__operator *op, const struct fftnd__row *row) {
    redist_index start[REDIST_MAX_NDIMS] = {0};
    const double *k[REDIST_MAX_NDIMS] = {0}, *odd[REDIST_MAX_NDIMS] = {0};
    double *room = row->spare;
    fftnd_row own = {sizeof own,
                     row->n,
                     op->user_ndims,
                     op->user_axis[row->axis],
                     op->numbers,
                     op->inputs,
                     op->outputs,
                     start,
                     NULL,
                     NULL,
                     (const double *const *)row->in,
                     row->out};
    for (int i = 0; i < op->user_ndims; i++)
        start[op->user_axis[i]] = row->start[i];
    for (int a = 0; a < op->naxes && op->kind == FFTND_MODES; a++, room += 2 * FFTND__ROW) {
        const struct fftnd__symbols *along = &op->symbols[a];
        k[along->user] = fftnd__spread(row, along, along->k, room);
        odd[along->user] = fftnd__spread(row, along, along->odd, room + FFTND__ROW);
    }
    own.k = op->kind == FFTND_MODES ? k : NULL;
    own.odd = op->kind == FFTND_MODES ? odd : NULL;
    int result = op->function(op->data, &own);
    if (result == 0)
        return REDIST_OK;
    return redist_fail_in(
        op->kind == FFTND_MODES ? "fftnd_apply" : "fftnd_apply_physical", REDIST_ERR_ARGUMENT,
        "options->function of the operator returned %d for %d elements", result, row->n);
}

size_t fftnd__operator_spare(const struct fftnd__operator *op) {
    return op->kind == FFTND_MODES ? 2 * (size_t)op->naxes * FFTND__ROW : 0;
}

/* ---------------------------------------------------------------- the table */

#define ANY 0, REDIST_MAX_NDIMS
static const struct fftnd__operator_type types[] = {
    [FFTND_DERIVATIVE] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_GRADIENT] = {1, 0, 1, ANY, 0, 0, 0},
    [FFTND_DIVERGENCE] = {0, 1, 1, ANY, 0, 0, 0},
    [FFTND_CURL] = {0, 0, 1, 2, 3, 0, 0, 0},
    [FFTND_LERAY] = {0, 0, 1, ANY, 0, 1, 0},
    [FFTND_LAPLACIAN] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_INVERSE_LAPLACIAN] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_HELMHOLTZ] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_INVERSE_HELMHOLTZ] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_BIHARMONIC] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_INVERSE_BIHARMONIC] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_SHELL] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_SHIFT] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_SYMBOLS] = {1, 1, 0, ANY, 0, 1, 0},
    [FFTND_MODES] = {1, 1, 0, ANY, 1, 0, 0},
    [FFTND_POINTS] = {1, 1, 0, ANY, 1, 0, 0},
    [FFTND_MULTIPLY] = {1, 1, 0, ANY, 0, 1, 1},
    [FFTND_OPEN_POISSON] = {1, 1, 0, ANY, 0, 1, 1}};

_Static_assert((int)LINES__DERIVATIVE == FFTND_DERIVATIVE && (int)LINES__LERAY == FFTND_LERAY &&
                   (int)LINES__LAPLACIAN == FFTND_LAPLACIAN && (int)LINES__SYMBOLS == FFTND_SYMBOLS,
               "kernels have the numbers of the kinds");

const struct fftnd__operator_type *fftnd__operator_type_of(enum fftnd_operator_kind kind) {
    return (int)kind >= 0 && (size_t)kind < sizeof types / sizeof *types ? &types[kind] : NULL;
}

fftnd__run_row *fftnd__operator_run_of(enum fftnd_operator_kind kind) {
    const struct fftnd__row_loops *const *loops = fftnd__row_loops;
    while (!(*loops)->runs_here())
        loops++;
    return types[kind].of_user ? call : (*loops)->run[kind];
}
