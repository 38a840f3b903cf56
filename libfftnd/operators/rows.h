/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of the library on a row of modes, for each kind of registers of a processor. */
#ifndef FFTND__OPERATOR_ROWS_H
#define FFTND__OPERATOR_ROWS_H

#include "operator.h"

struct fftnd__row_loops {
    int (*runs_here)(void);
    fftnd__run_row *const *run; /* by kind; NULL for those of the user */
};

extern const struct fftnd__row_loops fftnd__rows_plain, fftnd__rows_avx2, fftnd__rows_avx512;

/* All of them, the widest registers first, then NULL; the last ones run everywhere. */
extern const struct fftnd__row_loops *const fftnd__row_loops[];

#endif
