/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the loop nest of a copy, with the loop that is best on this machine for the length of its runs and for where
 * its arrays are.
 */
#ifndef REDIST__COPY_H
#define REDIST__COPY_H

#include "loops.h"

/* What a copy has to do with the caches. */
enum redist__copy_use {
    REDIST__COPY_CACHED,           /* between arrays, through the caches */
    REDIST__COPY_NONTEMPORAL,      /* past them */
    REDIST__COPY_AUTO,             /* past them if that is faster for so many bytes */
    REDIST__COPY_LOAD,             /* out of an array into a tile that stays in the caches */
    REDIST__COPY_STORE,            /* out of such a tile into an array, through the caches */
    REDIST__COPY_STORE_NONTEMPORAL /* past them */
};

/* Runs the copy. redist__copy_fence makes nontemporal stores visible to others. */
void redist__copy_run(const struct redist__copy *copy, const void *source, void *destination,
                      enum redist__copy_use use);
void redist__copy_fence(void);

/* Runs a copy that transposes a matrix of short elements, and fences its stores; 0 = it is no such copy. */
int redist__copy_transposed(const struct redist__copy *copy, const void *source, void *destination,
                            enum redist__copy_use use);

/* Runs several copies, out of one array as it were: what the caches take along with the rows of one of them are the
 * rows of the others, so all of them go through the array together. */
void redist__copy_run_together(int n, const struct redist__copy copies[],
                               const char *const sources[], char *const destinations[],
                               enum redist__copy_use use);

/* The loop that is best for a copy. */
const struct redist__loop *redist__copy_choose(const struct redist__copy *copy,
                                               enum redist__copy_use use);

/* The same as redist__copy_run with a given loop, which runs of its registers' least_run bytes and more suit. */
void redist__copy_run_with(const struct redist__copy *copy, const void *source, void *destination,
                           const struct redist__loop *loop);

/* ---------------------------------------------------------------- which loop */

/* Where source and destination of a copy are, which decides together with the length of its runs. */
enum redist__copy_case {
    REDIST__NEAR,   /* both in the second-level cache */
    REDIST__MIDDLE, /* in the last one */
    REDIST__FAR,    /* in memory */
    REDIST__FAR_NONTEMPORAL,
    REDIST__LOADS, /* from memory to the second-level cache */
    REDIST__STORES,
    REDIST__STORES_NONTEMPORAL,
    REDIST__CASES
};

extern const char *const redist__copy_cases[REDIST__CASES];

/* Runs of a class have at least redist__class_bytes(class) bytes, and fewer than those of the next one. */
enum { REDIST__CLASSES = 8 };
size_t redist__class_bytes(int class);

/* What is best here. */
struct redist__copy_table {
    struct redist__loop loops[REDIST__CASES][REDIST__CLASSES];
    double rates[REDIST__CASES][REDIST__CLASSES]; /* GB/s, 0 = not known */
    size_t near_bytes,
        middle_bytes;         /* copies whose arrays have no more together are near, or middle */
    size_t nontemporal_bytes; /* arrays that are larger are stored past the caches */
};

/* That of this process: the first one that was set, before that a guess. Any thread may read it at any time. */
const struct redist__copy_table *redist__copy_table(void);
void redist__copy_set_table(const struct redist__copy_table *table);
int redist__copy_is_set(void);

/* A guess for this processor. */
void redist__copy_guess(struct redist__copy_table *table);

#endif
