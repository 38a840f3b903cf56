/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers that all processors of the kind have. */
#define NAME(name) name##_plain
#define TARGET

#include "row_loops.h"

static int runs_here(void) {
    return 1;
}

const struct fftnd__row_loops fftnd__rows_plain = {runs_here, run_plain};
