/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents by which an exchange is checked: the bytes of each element are a hash of its global
 * index, so that what should stand anywhere is known without any communication.
 */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include "redist.h"
#include "space.h"

/* The block of the global array that this rank holds, whole and without padding. */
typedef struct bench_block {
    int ndims;
    redist_index size[REDIST_MAX_NDIMS];  /* of the global array */
    redist_index start[REDIST_MAX_NDIMS]; /* first global index held here */
    redist_index count[REDIST_MAX_NDIMS]; /* elements held here */
    size_t element_bytes;
    int seed;
} bench_block;

size_t bench_block_elements(const bench_block *block);

/* Writes what belongs there. */
void bench_pattern_fill(const bench_space *space, const bench_block *block, void *array);

/* Writes what belongs nowhere. */
void bench_pattern_poison(const bench_space *space, const bench_block *block, void *array);

/* How many elements differ from what belongs there. */
long long bench_pattern_wrong(const bench_space *space, const bench_block *block, void *array);

#endif
