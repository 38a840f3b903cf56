/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex transforms along short lines that lie side by side, like the columns of a matrix, for serial libraries of the
 * host. */
#ifndef LINES__COLUMNS_H
#define LINES__COLUMNS_H

#include "../lines.h"

#include <stdatomic.h>

extern const struct lines__library lines__library_columns;

/* ---------------------------------------------------------------- for each kind of registers */

/* One pass: DFTs of `radix` elements. The passes before it have done a factor of the length, which `done` is times the
 * groups of columns, `left` remains. */
struct lines__column_pass {
    int radix, left, done;
    const void *factors; /* complex ones for all results but each first */
};

/* Groups side by side, each of as many columns as two registers have complex elements. */
struct lines__columns {
    int groups;
    const char *in;
    char *out;
    ptrdiff_t in_stride, out_stride; /* bytes between elements of a column */
    int backward;
    double factor;         /* results are multiplied by it */
    const char *next;      /* columns that are fetched meanwhile */
    ptrdiff_t next_stride; /* bytes between their elements */
};

typedef void lines__run_columns(int npasses, const struct lines__column_pass passes[],
                                const struct lines__columns *columns, void *const scratch[2]);

/* Contiguous lines, as many as a register has numbers: complex ones, or real ones of an even number of points, which
 * are taken as half as many complex elements. */
struct lines__contiguous {
    int npasses;
    const struct lines__column_pass *passes;
    int n;          /* complex elements of a line in these */
    int numbers[2]; /* real ones, of a line in and out */
    int backward;
    const void *factors; /* to and from the modes of real lines; NULL = complex ones */
};

/* Results may be where the lines themselves were; the lines `next` are fetched. Scratch has an element more than a
 * line. */
typedef void lines__run_contiguous(const struct lines__contiguous *lines, const char *const in[],
                                   const char *const next[], char *const out[],
                                   void *const scratch[2]);

/* A pass of each radix, from 2 passes on; scratch[0] is free after the first one. */
struct lines__column_loops {
    int (*runs_here)(void);
    int register_bytes, largest_radix;
    lines__run_columns *run[FFTND_FLOAT + 1]; /* by precision */
    lines__run_contiguous *run_lines[FFTND_FLOAT + 1];
};

extern const struct lines__column_loops lines__columns_plain, lines__columns_avx2,
    lines__columns_avx512;

/* All of them, the widest registers first, then NULL; the last ones run everywhere. */
extern const struct lines__column_loops *const lines__column_loops[];

/* The widest registers of this processor. */
const struct lines__column_loops *lines__column_loops_here(void);

/* Columns or lines of a group. */
static inline redist_index lines__group_width(const struct lines__column_loops *loops,
                                              enum fftnd_precision precision) {
    return 2 * loops->register_bytes / (redist_index)lines__item_bytes(precision, 0);
}

/* Whether there are passes for n complex elements: at most LONGEST, whose factors are 2, 3, 5 and 7. */
int lines__passes_exist(redist_index n);

enum {
    LINES__MOST_PASSES = 16,
    LINES__WAYS = 6, /* through the elements of a line, at most */
    LINES__LONGEST = 1 << 12,
    LINES__SHORTEST = 17, /* libraries transform up to 16 elements in registers, in one pass */
    LINES__SCRATCH_ALIGNMENT = 64,
    LINES__SPARES = 16,
};

/* Of the passes, in their order. */
struct lines__radices {
    int n, sum, radix[LINES__MOST_PASSES];
};

/* Number `which` of the ways through n elements that may be the fastest, of which the first one is the guess. 0 = there
 * are no more, or none as the length has other factors than 2, 3, 5 and 7 or is too long. */
int lines__radices_at(const struct lines__column_loops *loops, redist_index n, int which,
                      struct lines__radices *radices);

struct lines__passes {
    int n;
    struct lines__column_pass pass[LINES__MOST_PASSES];
    char *factors;
    size_t scratch_bytes;                 /* of an array, with room for an element more */
    _Atomic(void *) spare[LINES__SPARES]; /* scratch memory that no thread uses */
};

/* Of so many groups at once; zeroed before. REDIST_ERR_SERIAL if there are no radices, REDIST_ERR_MEMORY. */
int lines__passes_create(const struct lines__column_loops *loops, redist_index n, size_t item,
                         int groups, const struct lines__radices *radices,
                         struct lines__passes *passes);
void lines__passes_destroy(struct lines__passes *passes);

/* Scratch memory for one execution, by any thread: the first one takes what the plan has, further ones at the same time
 * have their own made, which stays for later. REDIST_ERR_MEMORY if there is none; then nothing is to be given back. */
int lines__scratch_take(struct lines__passes *passes, void **memory, void *scratch[2]);
void lines__scratch_give_back(struct lines__passes *passes, void *memory);

/* cos(angle) + i sin(angle), a complex element of `item` bytes */
void lines__store_factor(char *to, size_t item, long double angle);

/* As lines__library_columns.create, with these registers, these passes and so many groups at once. REDIST_ERR_SERIAL if
 * there are no radices. */
int lines__columns_create(const struct lines__column_loops *loops,
                          const struct lines__problem *problem,
                          const struct lines__radices *radices, int groups, void **plan);

/* The way through n elements of columns that is fastest here, measured when it is first asked for, or guessed with
 * FFTND_ESTIMATE; none if there is none. */
struct lines__radices lines__columns_radices(const struct lines__problem *problem, redist_index n);

#endif
