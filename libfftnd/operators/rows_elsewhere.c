/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

const struct fftnd__row_loops *const fftnd__row_loops[] = {&fftnd__rows_plain, NULL};
