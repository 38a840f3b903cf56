/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the loops of the family where they are used: near, in memory, from memory to the caches and back. */
#ifndef REDIST__MEASURE_H
#define REDIST__MEASURE_H

#include "copy.h"

/* Memory to measure in: two arrays that do not fit in the caches. */
struct redist__arena {
    char *arrays[2];
    size_t bytes; /* of each */
    size_t next;  /* where the next copy begins that is to find nothing in the caches */
};

/* 0 = there is no memory for that. */
int redist__arena_create(struct redist__arena *arena, size_t bytes, int huge_pages);
void redist__arena_free(struct redist__arena *arena);

/* Rows to copy, of `bytes` in all. */
struct redist__rows {
    size_t run, bytes;
    ptrdiff_t source_stride, destination_stride;
};

/* Seconds for a byte by one copy of these rows in such a case. */
double redist__measure(struct redist__arena *arena, enum redist__copy_case where,
                       const struct redist__rows *rows, const struct redist__loop *loop);

/* The rows by which a loop for a case and class is judged. */
struct redist__rows redist__typical_rows(enum redist__copy_case where, int class);

/* Seconds for a byte of copies of arrays of `bytes` bytes forth and back. */
double redist__measure_pair(struct redist__arena *arena, size_t bytes,
                            const struct redist__loop *loop);

/* The i-th loop to be tried for a case and class, 0 = there is none. The first ones differ in what they do with rows,
 * the later ones only in their registers: these have `abreast` and `ahead` of `best`, the best one so far. */
int redist__loop_candidate(enum redist__copy_case where, int class, int i,
                           const struct redist__loop *best, struct redist__loop *loop);

#endif
