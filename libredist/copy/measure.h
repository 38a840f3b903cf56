/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing of the loops in each case: near, in memory, from memory to the caches and back. */
#ifndef REDIST__MEASURE_H
#define REDIST__MEASURE_H

#include "copy.h"

/* Memory to measure in: two arrays that do not fit in the caches. */
struct redist__arena {
    char *arrays[2];
    size_t bytes; /* of each */
    size_t next;  /* begin of the next copy with cold caches */
};

/* Creates an arena; 0 = no memory. */
int redist__arena_create(struct redist__arena *arena, size_t bytes, int huge_pages);
void redist__arena_free(struct redist__arena *arena);

/* Rows to copy, of `bytes` in all. */
struct redist__rows {
    size_t run, bytes;
    ptrdiff_t source_stride, destination_stride;
};

/* Times one copy of these rows in a case, in seconds for a byte. */
double redist__measure(struct redist__arena *arena, enum redist__copy_case where,
                       const struct redist__rows *rows, const struct redist__loop *loop);

/* Returns the rows with which loops for a case and class are timed. */
struct redist__rows redist__typical_rows(enum redist__copy_case where, int class);

/* Times copies of arrays of `bytes` bytes forth and back, in seconds for a byte. */
double redist__measure_pair(struct redist__arena *arena, size_t bytes,
                            const struct redist__loop *loop);

/* Finds the i-th candidate for a case and class, 0 = none. The first ones differ in shape, the later ones only in
 * registers, with `abreast` and `ahead` of `best`, the best one so far. */
int redist__loop_candidate(enum redist__copy_case where, int class, int i,
                           const struct redist__loop *best, struct redist__loop *loop);

#endif
