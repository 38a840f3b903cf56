/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

const struct fftnd__row_loops *fftnd__find_row_loops(void) {
    return fftnd__rows_avx512.runs_here() ? &fftnd__rows_avx512
           : fftnd__rows_avx2.runs_here() ? &fftnd__rows_avx2
                                          : &fftnd__rows_plain;
}
