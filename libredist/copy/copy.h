/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the loop nest of a copy, with the fastest loop of this machine for the length of its runs and the place of its
 * arrays in caches or memory.
 */
#ifndef REDIST__COPY_H
#define REDIST__COPY_H

#include "loops.h"

/* Use of the caches by a copy. */
enum redist__copy_use {
    REDIST__COPY_CACHED,           /* between arrays, through the caches */
    REDIST__COPY_NONTEMPORAL,      /* past them */
    REDIST__COPY_AUTO,             /* past them if faster for this size */
    REDIST__COPY_LOAD,             /* from an array into a tile that stays in the caches */
    REDIST__COPY_STORE,            /* from such a tile into an array, through the caches */
    REDIST__COPY_STORE_NONTEMPORAL /* past them */
};

/* Runs the copy, or adds if it adds; redist__copy_fence orders its nontemporal stores. */
void redist__copy_run(const struct redist__copy *copy, const void *source, void *destination,
                      enum redist__copy_use use);

/* Returns how numbers of a kind are added; NULL for none. */
const struct redist__sum *redist__sum_of(enum redist__number number);

/* Adds the box at the source to that at the destination. */
void redist__copy_add(const struct redist__copy *copy, const void *source, void *destination);

/* Returns a format for numbers of a kind; NULL = they are the same, or there is none. */
const struct redist__format *redist__format_of(enum redist_wire wire, enum redist__number number);

/* Narrows or widens a box, or widens and adds it. */
void redist__copy_format(const struct redist__copy *copy, const void *source, void *destination);

/* Runs a copy that transposes a matrix of short elements, and fences its stores; 0 = not such a copy. */
int redist__copy_transposed(const struct redist__copy *copy, const void *source, void *destination,
                            enum redist__copy_use use);

/* Runs copies of one array together, in bands: the cache lines of one copy's rows contain rows of the others. */
void redist__copy_run_together(int n, const struct redist__copy copies[],
                               const char *const sources[], char *const destinations[],
                               enum redist__copy_use use);

/* Chooses the loop for a copy. */
const struct redist__loop *redist__copy_choose(const struct redist__copy *copy,
                                               enum redist__copy_use use);

/* Runs a copy with a given loop; its runs must have at least the registers' least_run bytes. */
void redist__copy_run_with(const struct redist__copy *copy, const void *source, void *destination,
                           const struct redist__loop *loop);

/* ---------------------------------------------------------------- table of loops */

/* Place of source and destination of a copy; it determines the loop, with the length of the runs. */
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

/* Returns whether the copies of a case store past the caches. */
static inline int redist__stores_past(enum redist__copy_case where) {
    return where == REDIST__FAR_NONTEMPORAL || where == REDIST__STORES_NONTEMPORAL;
}

/* Runs of a class have at least redist__class_bytes(class) bytes, and fewer than those of the next one. */
enum { REDIST__CLASSES = 8 };
size_t redist__class_bytes(int class);

/* The best loops of this machine. */
struct redist__copy_table {
    struct redist__loop loops[REDIST__CASES][REDIST__CLASSES];
    double rates[REDIST__CASES][REDIST__CLASSES]; /* GB/s, 0 = unknown */
    size_t near_bytes,
        middle_bytes;         /* largest size of both arrays of near, and of middle, copies */
    size_t nontemporal_bytes; /* larger arrays are stored past the caches */
};

/* Returns the table of this process: the first one set, before that a guess. Thread-safe. */
const struct redist__copy_table *redist__copy_table(void);
void redist__copy_set_table(const struct redist__copy_table *table);
int redist__copy_is_set(void);

/* Guesses the table for this processor. */
void redist__copy_guess(struct redist__copy_table *table);

#endif
