/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex transforms of columns, short lines that are neighbours in memory, and of contiguous lines, a few at once, on
 * the host. */
#ifndef LINES__COLUMNS_H
#define LINES__COLUMNS_H

#include "../lines.h"

#include <stdatomic.h>

extern const struct lines__library lines__library_columns, lines__library_contiguous;

/* ---------------------------------------------------------------- for each kind of registers */

/* A radix pass: DFTs of `radix` elements. Of the length, `left` remains before it; `done` is the product of earlier
 * radices times the groups of columns. */
struct lines__column_pass {
    int radix, left, done;
    const void *factors; /* complex factors of all results but each first */
};

/* Groups of neighbouring columns, each as many as two registers have complex elements. */
struct lines__columns {
    int groups;
    const char *in;
    char *out;
    ptrdiff_t in_stride, out_stride; /* bytes between elements of a column */
    int in_rows, out_rows; /* elements of a column in memory; of the input the others are zero */
    int backward;
    const char *next;      /* columns to fetch meanwhile */
    ptrdiff_t next_stride; /* bytes between their elements */
};

typedef void lines__run_columns(int npasses, const struct lines__column_pass passes[],
                                const struct lines__columns *columns, void *const scratch[2]);

/* Contiguous lines, as many as a register has numbers: complex ones, or real ones of an even number of points, taken as
 * half as many complex elements. */
struct lines__contiguous {
    int npasses;
    const struct lines__column_pass *passes;
    int n;          /* complex elements of a line */
    int numbers[2]; /* real numbers of a line, in and out */
    int backward;
    const void
        *factors; /* between complex elements and modes of real lines; NULL = complex lines */
};

/* Transforms lines, in place or not, and fetches the lines `next`. Scratch arrays have an element more than a line. */
typedef void lines__run_contiguous(const struct lines__contiguous *lines, const char *const in[],
                                   const char *const next[], char *const out[],
                                   void *const scratch[2]);

/* Radix passes in one kind of registers, at least two for a line; scratch[0] is free behind the first one. */
struct lines__column_loops {
    int (*runs_here)(void);
    int register_bytes, largest_radix;
    lines__run_columns *run[FFTND_FLOAT + 1]; /* by precision */
    lines__run_contiguous *run_lines[FFTND_FLOAT + 1];
};

extern const struct lines__column_loops lines__columns_plain, lines__columns_avx2,
    lines__columns_avx512;

/* All kinds of registers, the widest first, then NULL. The last kind is on every processor. */
extern const struct lines__column_loops *const lines__column_loops[];

/* The widest kind of this processor. */
const struct lines__column_loops *lines__column_loops_here(void);

/* Columns, or lines, of a group. */
static inline redist_index lines__group_width(const struct lines__column_loops *loops,
                                              enum fftnd_precision precision) {
    return 2 * loops->register_bytes / (redist_index)lines__item_bytes(precision, 0);
}

/* Nonzero if n complex elements have radix passes: at most LONGEST, a product of 2, 3, 5 and 7. */
int lines__passes_exist(redist_index n);

enum {
    LINES__MOST_PASSES = 16,
    LINES__WAYS = 6, /* ways through a length, at most */
    LINES__LONGEST = 1 << 12,
    LINES__SHORTEST = 17, /* FFTW transforms up to 16 elements in registers, in one sweep */
    LINES__SCRATCH_ALIGNMENT = 64,
    LINES__SPARES = 16,
};

/* A way through a length: the radices in their order. */
struct lines__radices {
    int n, sum, radix[LINES__MOST_PASSES];
};

/* Way number `which` of those that may be the fastest; 0 is the guess. Returns 0 if there are no more, or none as the
 * length has other factors or is too long. */
int lines__radices_at(const struct lines__column_loops *loops, redist_index n, int which,
                      struct lines__radices *radices);

struct lines__passes {
    int n;
    struct lines__column_pass pass[LINES__MOST_PASSES];
    char *factors;
    size_t scratch_bytes;                 /* of an array, an element longer than a line */
    _Atomic(void *) spare[LINES__SPARES]; /* scratch memory that no thread uses */
};

/* Plans radix passes of so many groups at once; *passes is zeroed before. REDIST_ERR_SERIAL without radices,
 * REDIST_ERR_MEMORY. */
int lines__passes_create(const struct lines__column_loops *loops, redist_index n,
                         enum fftnd_precision precision, int groups,
                         const struct lines__radices *radices, struct lines__passes *passes);
void lines__passes_destroy(struct lines__passes *passes);

/* Scratch memory of one execution, by any thread. The plan keeps up to LINES__SPARES for later ones. REDIST_ERR_MEMORY;
 * then nothing is to be given back. */
int lines__scratch_take(struct lines__passes *passes, void **memory, void *scratch[2]);
void lines__scratch_give_back(struct lines__passes *passes, void *memory);

/* Stores a complex number of a precision. */
void lines__store(void *element, enum fftnd_precision precision, long double re, long double im);

/* Creates a plan of lines__library_columns with these registers, radices and groups at once. REDIST_ERR_SERIAL without
 * radices. */
int lines__columns_create(const struct lines__column_loops *loops,
                          const struct lines__problem *problem,
                          const struct lines__radices *radices, int groups, void **plan);

/* The same of lines__library_contiguous. REDIST_ERR_SERIAL also if lines are shorter than a register. */
int lines__contiguous_create(const struct lines__column_loops *loops,
                             const struct lines__problem *problem,
                             const struct lines__radices *radices, void **plan);

/* The fastest way through n elements of columns: measured by the first call, or guessed with FFTND_ESTIMATE; no radices
 * if there is none. */
struct lines__radices lines__columns_radices(const struct lines__problem *problem, redist_index n);

#endif
