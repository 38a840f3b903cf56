/* SPDX-License-Identifier: BSD-3-Clause */
/* Balanced blocks. */
#include "redist_support.h"

static int check(redist_index n, int nparts, int part, const redist_index *count,
                 const redist_index *start) {
    if (n < 0)
        return redist_fail_in("redist_decompose", REDIST_ERR_ARGUMENT, "n = %lld is negative",
                              (long long)n);
    if (nparts < 1)
        return redist_fail_in("redist_decompose", REDIST_ERR_ARGUMENT, "nparts = %d is below 1",
                              nparts);
    if (part < 0 || part >= nparts)
        return redist_fail_in("redist_decompose", REDIST_ERR_ARGUMENT,
                              "part = %d is not in 0..%d (nparts - 1)", part, nparts - 1);
    if (count == NULL || start == NULL)
        return redist_fail_in("redist_decompose", REDIST_ERR_NULL, "%s = NULL",
                              count == NULL ? "count" : "start");
    return REDIST_OK;
}

int redist_decompose(redist_index n, int nparts, int part, redist_index *count,
                     redist_index *start) {
    REDIST_TRY(check(n, nparts, part, count, start));
    redist_index quotient = n / nparts, remainder = n % nparts;
    *count = quotient + (part < remainder);
    *start = quotient * part + (part < remainder ? part : remainder);
    return REDIST_OK;
}
