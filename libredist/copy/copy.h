/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the loop nest of a copy, with the loops that suit this processor. */
#ifndef REDIST__COPY_H
#define REDIST__COPY_H

#include "../geometry/box.h"

/* Runs the copy. With `nontemporal`, large enough runs are stored past the caches;
 * redist__copy_fence then makes them visible to others. */
void redist__copy_run(const struct redist__copy *copy, const void *source, void *destination,
                      int nontemporal);
void redist__copy_fence(void);

/* Runs a copy that transposes a matrix of short elements; 0 = it is no such copy. */
int redist__copy_transposed(const struct redist__copy *copy, const void *source, void *destination,
                            int nontemporal);

/* Copies `rows` runs of `run` bytes. */
typedef void redist__copy_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                               ptrdiff_t source_stride, size_t rows, size_t run);

/* The loops of one kind of processor for long runs: one const table, and its name in copy.c. */
struct redist__copy_loops {
    int (*runs_here)(void);
    redist__copy_rows *nontemporal; /* past the caches */
    redist__copy_rows *cached;      /* into the caches */
    void (*fence)(void);            /* orders the stores of `nontemporal` */
};

extern const struct redist__copy_loops redist__copy_avx512, redist__copy_sse2;

#endif
