/* SPDX-License-Identifier: BSD-3-Clause */
/* Which extents a benchmark goes through. */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

/* Reads "N,N,..." or "random:COUNT:SEED": different numbers 2^a 3^b 5^c 7^d from 64 to 1152, in ascending order, the
 * same ones for the same seed. Returns an array that the caller frees and sets its length, or NULL if it is neither. */
int *bench_read_sizes(const char *text, int *count);

#endif
