/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns.h"

const struct fftnd__column_loops *const fftnd__column_loops[] = {&fftnd__columns_plain, NULL};
