/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns.h"

const struct lines__column_loops *const lines__column_loops[] = {&lines__columns_plain, NULL};
